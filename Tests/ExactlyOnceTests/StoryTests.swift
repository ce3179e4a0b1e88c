import Foundation
import TestSupport
import Testing

/// The stories of `config/kubernetes` on a real broker, with processes for pods: scale-out, roll, eviction, the loss of
/// a node, and scale-in.
///
/// Memberships expire after 45 s, as by default.
@Suite(
    .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"),
    .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"), .serialized,
    .timeLimit(.minutes(15)))
struct StoryTests {
    /// The time after which the membership of a killed worker expires, in milliseconds.
    static let sessionTimeout: Int64 = 45_000

    @Test("Each event is decided exactly once while pods are started, replaced, and lost", arguments: Overlay.allCases)
    func stories(_ overlay: Overlay) async throws {
        try await onThread { try Self.play(overlay) }
    }

    private static func play(_ overlay: Overlay) throws {
        let scratch = try TemporaryFolder()
        let topics = try RunTopics(bootstrap: BrokerEnvironment.bootstrapServers ?? "", settings: [])
        defer { topics.close() }
        let records = ExactlyOnceTests.generated(150_000)
        let run = try StoryRun(topics, overlay, records: records, scratch: scratch.url)
        try run.run()
        let decisions = try topics.read(topics.output)
        let input = try topics.read(topics.input)
        let oracle = try Oracle(input, topic: topics.input, tables: ServedFile.shop.allVersions)
        #expect(oracle.contradictions == [])
        let check = OutcomeCheck(
            oracle, topic: topics.input, decisions: decisions, deadLetters: try topics.read(topics.deadLetters))
        #expect(check.isRight, "\(check.summary)")
        #expect(try topics.verify() == Int64(input.count))
        #expect(decisions.count == input.count && decisions.count > 5_000)
        try report(overlay, StoryPauses.all(run.stories, decisions: decisions), decisions: decisions.count)
    }

    /// Prints the pauses, and checks that none is longer than the membership and the transaction of a killed worker.
    private static func report(_ overlay: Overlay, _ pauses: [StoryPauses], decisions: Int) throws {
        var text = "stories: \(overlay.rawValue), \(decisions) decisions, twice 0, lost 0\n"
        for pause in pauses {
            #expect((pause.partitions.last ?? 0) < sessionTimeout + 60_000, "\(pause.line)")
            text += pause.line + "\n"
        }
        print(text)
        #expect(try documented(overlay) == pauses.map(\.name))
    }

    /// The stories of an overlay in the table of the README.
    private static func documented(_ overlay: Overlay) throws -> [String] {
        let file = Checkout.root.appending(path: "config/kubernetes/README.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0 != "| `\(overlay.rawValue)` | Median | Slowest |" }.dropFirst(2)
            .prefix { $0.hasPrefix("|") }
            .compactMap { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) }
    }
}
