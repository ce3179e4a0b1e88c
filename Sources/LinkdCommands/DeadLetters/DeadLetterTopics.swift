internal import KafkaClient
internal import RouteTools

/// The topics of the dead letters of one input.
struct DeadLetterTopics: Equatable {
    /// The input.
    let input: String
    /// The dead-letter topic.
    let deadLetters: String
    /// The topic that lists the dead letters that were replayed.
    var ledger: String { Settings.replayed(of: deadLetters) }

    /// Returns the topics of each input, or of the input that `--topic` names.
    static func all(
        _ call: Invocation, _ settings: Settings, _ admin: KafkaAdmin
    ) throws(CommandFailure) -> [DeadLetterTopics] {
        let inputs = if let topic = call.text("topic") { [topic] } else { try TopicNames(settings, admin).inputs }
        return inputs.map { DeadLetterTopics(input: $0, deadLetters: settings.deadLetterTopic(of: $0)) }
    }

    /// Returns the descriptions of topics by name.
    static func describe(
        _ names: [String], _ admin: KafkaAdmin
    ) throws(CommandFailure) -> [String: TopicDescription] {
        do throws(KafkaError) {
            let descriptions = try admin.describe(topics: names, timeoutMilliseconds: 10_000)
            return Dictionary(descriptions.map { ($0.name, $0) }) { first, _ in first }
        } catch {
            throw CommandFailure(error, while: "describing the topics of dead letters")
        }
    }
}
