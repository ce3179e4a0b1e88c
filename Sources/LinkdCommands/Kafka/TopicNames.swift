internal import DispatchWorker
internal import KafkaClient
internal import RouteTools

/// The topics that a worker with these settings reads and writes.
struct TopicNames {
    /// The input topics.
    ///
    /// For a regular expression, the matching topics of the cluster.
    let inputs: [String]
    /// The topic for decisions.
    let output: String
    /// The topics for dead letters, one for each input.
    let deadLetters: [String]
    /// A Boolean value that indicates whether the setting `input` is a regular expression.
    let isPattern: Bool

    /// Determines the topics.
    ///
    /// A regular expression requires a request to the cluster.
    init(_ settings: Settings, _ admin: KafkaAdmin) throws(CommandFailure) {
        output = settings.text("output") ?? "link-decisions"
        let named = settings.list("input")
        isPattern = named.first?.hasPrefix("^") == true
        inputs = isPattern ? try Self.matching(named[0], output, settings, admin) : named
        deadLetters = inputs.map(settings.deadLetterTopic)
    }

    private static func matching(
        _ expression: String, _ output: String, _ settings: Settings, _ admin: KafkaAdmin
    ) throws(CommandFailure) -> [String] {
        guard let pattern = PosixPattern(expression) else {
            let source = settings.entry("input").source
            throw CommandFailure(
                source.code,
                "\(source.description): `\(Escaping.visible(expression))` is not a valid regular expression",
                advice: "write a POSIX extended regular expression that begins with ^")
        }
        let metadata: ClusterMetadata
        do throws(KafkaError) {
            metadata = try admin.metadata(timeoutMilliseconds: 10_000)
        } catch {
            throw CommandFailure(error, while: "listing topics")
        }
        // Excludes the worker's own topics, which the expression can also match.
        return LaneTopics(output: output, deadLetterTemplate: settings.text("dlq.topic") ?? "{input}.dlq")
            .inputs(matching: pattern, among: metadata.topics.map(\.name)).sorted()
    }
}
