internal import KafkaClient

/// A topic that a worker with these settings needs.
struct TopicDeclaration {
    /// What it is for.
    enum Role: String {
        case input = "input"
        case output = "output"
        case deadLetters = "dead letters"
    }

    /// The name.
    let name: String
    /// What it is for.
    let role: Role
    /// For dead letters the input that they come from.
    let input: String?

    /// All topics of these settings, inputs first.
    static func all(of names: TopicNames) -> [TopicDeclaration] {
        names.inputs.map { TopicDeclaration(name: $0, role: .input, input: nil) }
            + [TopicDeclaration(name: names.output, role: .output, input: nil)]
            + zip(names.deadLetters, names.inputs).map { TopicDeclaration(name: $0, role: .deadLetters, input: $1) }
    }

    /// Kafka's default of `max.message.bytes`.
    static let defaultMessageBytes: Int64 = 1_048_588

    /// Room for a dead letter's own headers beside the original record.
    static let deadLetterRoom: Int64 = 64 << 10
}

/// What the cluster has of the declared topics.
struct TopicState {
    /// What a broker says of each, in their order.
    let descriptions: [TopicDescription]
    /// Their settings by name; empty where these may not be read.
    private let settings: [String: [String: String]]

    /// Asks the cluster.
    init(_ declarations: [TopicDeclaration], _ admin: KafkaAdmin) throws(CommandFailure) {
        let names = declarations.map(\.name)
        do throws(KafkaError) {
            descriptions = try admin.describe(topics: names, timeoutMilliseconds: 10_000)
            let there = descriptions.filter { $0.error == nil }.map(\.name)
            let results = try admin.settings(ofTopics: there, timeoutMilliseconds: 10_000)
            settings = Dictionary(
                results.filter { $0.error == nil }.map { ($0.name, $0.values) }, uniquingKeysWith: { first, _ in first }
            )
        } catch {
            throw CommandFailure(error, while: "looking at the topics")
        }
        for description in descriptions {
            guard let error = description.error, description.exists else { continue }
            throw CommandFailure(error, while: "looking at topic \(description.name)")
        }
    }

    /// A setting of a topic, or nil.
    func setting(_ name: String, of topic: String) -> String? { settings[topic]?[name] }

    /// What a broker says of a topic.
    func description(of topic: String) -> TopicDescription? { descriptions.first { $0.name == topic } }
}
