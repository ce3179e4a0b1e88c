internal import KafkaClient

/// A topic that a worker with these settings uses.
struct TopicDeclaration {
    /// The purpose of a topic.
    enum Role: String {
        case input = "input"
        case output = "output"
        case deadLetters = "dead letters"
    }

    /// The name.
    let name: String
    /// The purpose.
    let role: Role
    /// The input of a dead-letter topic, otherwise nil.
    let input: String?

    /// Returns all topics of the settings, inputs first.
    static func all(of names: TopicNames) -> [TopicDeclaration] {
        names.inputs.map { TopicDeclaration(name: $0, role: .input, input: nil) }
            + [TopicDeclaration(name: names.output, role: .output, input: nil)]
            + zip(names.deadLetters, names.inputs).map { TopicDeclaration(name: $0, role: .deadLetters, input: $1) }
    }

    /// Kafka's default of `max.message.bytes`.
    static let defaultMessageBytes: Int64 = 1_048_588

    /// The bytes reserved for the headers that a dead letter has in addition to the original record.
    static let deadLetterHeaderBytes: Int64 = 64 << 10
}

/// The state of the declared topics in the cluster.
struct TopicState {
    /// The descriptions from a broker, in the order of the declarations.
    let descriptions: [TopicDescription]
    /// The settings by topic and name.
    ///
    /// A topic whose settings the user is not allowed to read has none.
    private let settings: [String: [String: String]]

    /// Fetches the state from the cluster.
    init(_ declarations: [TopicDeclaration], _ admin: KafkaAdmin) throws(CommandFailure) {
        let names = declarations.map(\.name)
        do throws(KafkaError) {
            descriptions = try admin.describe(topics: names, timeoutMilliseconds: 10_000)
            let existing = descriptions.filter { $0.error == nil }.map(\.name)
            let results = try admin.settings(ofTopics: existing, timeoutMilliseconds: 10_000)
            settings = Dictionary(
                results.filter { $0.error == nil }.map { ($0.name, $0.values) }, uniquingKeysWith: { first, _ in first }
            )
        } catch {
            throw CommandFailure(error, while: "describing the topics")
        }
        for description in descriptions where !description.isDenied {
            guard let error = description.error, description.exists else { continue }
            throw CommandFailure(error, while: "describing topic \(description.name)")
        }
    }

    /// Creates a state from its parts.
    init(descriptions: [TopicDescription], settings: [String: [String: String]]) {
        self.descriptions = descriptions
        self.settings = settings
    }

    /// Throws a failure that names all topics that this user is not allowed to describe.
    func requireDescriptions(as principal: String) throws(CommandFailure) {
        let denied = descriptions.filter(\.isDenied)
        guard let error = denied.first?.error else { return }
        throw CommandFailure(
            error, while: "describing the topics",
            needing: AccessRight(["Describe"], on: .topic, denied.map(\.name)), as: principal)
    }

    /// Returns a setting of a topic, or nil.
    func setting(_ name: String, of topic: String) -> String? { settings[topic]?[name] }

    /// Returns a Boolean value that indicates whether the topic exists and this user is allowed to describe it.
    func isReadable(_ topic: String) -> Bool {
        description(of: topic).map { $0.exists && !$0.isDenied } ?? false
    }

    /// Returns the description of a topic, or nil.
    func description(of topic: String) -> TopicDescription? { descriptions.first { $0.name == topic } }
}

extension TopicDescription {
    /// A Boolean value that indicates whether this user is not allowed to describe the topic.
    ///
    /// Then it is unknown whether the topic exists.
    var isDenied: Bool { error?.code == .topicAuthorizationFailed }
}
