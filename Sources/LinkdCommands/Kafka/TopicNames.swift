#if canImport(Glibc)
internal import RouteTools
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import KafkaClient

/// The topics that a worker with these settings reads and writes.
struct TopicNames {
    /// Input topics, or with a regular expression those of the cluster that match.
    let inputs: [String]
    /// Topic for decisions.
    let output: String
    /// Topics for dead letters, one for each input.
    let deadLetters: [String]
    /// Whether the inputs came from a regular expression.
    let isPattern: Bool

    /// Finds the topics; only a regular expression needs to ask the cluster.
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
        guard let pattern = TopicPattern(expression) else {
            let source = settings.entry("input").source
            throw CommandFailure(
                source.code, "\(source.description): `\(Escaping.visible(expression))` is no regular expression",
                advice: "write a POSIX extended regular expression that begins with ^")
        }
        let metadata: ClusterMetadata
        do throws(KafkaError) {
            metadata = try admin.metadata(timeoutMilliseconds: 10_000)
        } catch {
            throw CommandFailure(error, while: "listing topics")
        }
        let names = metadata.topics.map(\.name).filter(pattern.matches)
        // The worker's own topics are no inputs, whatever the expression says.
        let own = Set(names.map(settings.deadLetterTopic) + [output])
        return names.filter { !own.contains($0) }.sorted()
    }
}

/// A POSIX extended regular expression, as librdkafka takes them for topics.
final class TopicPattern {
    private var compiled = regex_t()

    /// Compiles the expression; nil when it is none.
    init?(_ expression: String) {
        guard regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB) == 0 else { return nil }
    }

    deinit { regfree(&compiled) }

    /// Whether a topic's name matches.
    func matches(_ name: String) -> Bool { regexec(&compiled, name, 0, nil, 0) == 0 }
}
