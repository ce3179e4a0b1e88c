import Foundation
import TestSupport
import Testing

/// The guarantee of replays: `linkd dlq replay` is killed at random moments on a real broker, and each chosen dead
/// letter must come back exactly once.
///
/// `LINKD_TEST_SEED` is the seed, and `LINKD_TEST_ROUNDS` the number of runs.
@Suite(
    .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"), .serialized,
    .timeLimit(.minutes(30)))
struct ReplayTests {
    private static let rounds = LongTests.size("LINKD_TEST_ROUNDS") ?? (LongTests.areWanted ? 2 : 1)

    @Test("Each chosen dead letter is replayed or parked exactly once while the replay is killed repeatedly")
    func killed() async throws {
        try await onThread {
            var total = ReplayKillRun.Statistics()
            for round in 0..<Self.rounds {
                let statistics = try Self.run(round)
                #expect(
                    statistics.contradictions == [], "seed \(ExactlyOnceTests.seed), round \(round): \(statistics)")
                total.kills += statistics.kills
                total.killsInTransaction += statistics.killsInTransaction
                total.killsInMiddle += statistics.killsInMiddle
                total.abortedEntries += statistics.abortedEntries
            }
            // Otherwise, the runs prove nothing.
            #expect(total.killsInTransaction > 0 && total.killsInMiddle > 0, "seed \(ExactlyOnceTests.seed): \(total)")
            #expect(total.abortedEntries > 0, "no kill aborted an entry, seed \(ExactlyOnceTests.seed): \(total)")
        }
    }

    private static func run(_ round: Int) throws -> ReplayKillRun.Statistics {
        let logs = try TemporaryFolder()
        let topics = try RunTopics(
            bootstrap: BrokerEnvironment.bootstrapServers ?? "", settings: ["max.message.bytes=4000000"])
        defer { topics.close() }
        let run = ReplayKillRun(
            topics, seed: ExactlyOnceTests.seed &+ UInt64(round), isWorkerRunning: round % 2 == 1, logs: logs.url)
        try run.run()
        let result = run.statistics
        print(
            "replay: seed \(ExactlyOnceTests.seed), round \(round), \(round % 2 == 1 ? "with" : "without") a worker, "
                + "\(result.chosen) chosen (\(result.parked) to park), \(result.kills) kills "
                + "(\(result.killsInTransaction) with a transaction open, \(result.killsInMiddle) in the middle)")
        return result
    }
}
