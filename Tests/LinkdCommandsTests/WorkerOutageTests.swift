internal import Foundation
internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The log of worker processes whose brokers do not answer.
@Suite(.serialized) struct WorkerOutageTests {
    private static let table = Checkout.root.appending(path: "config/routes/shop.json").path

    private static func worker(_ bootstrap: String, _ flags: String...) throws -> RunningLinkd {
        try RunningLinkd(
            ["worker", "-b", bootstrap, "--input", "in", "--output", "in.out", "--table", table]
                + ["--guarantee", "at-least-once", "--lanes", "2", "--log-format", "json"] + flags)
    }

    /// Returns the lines of a log with one of these events.
    private static func lines(_ log: String, _ events: String...) throws -> [JSONValue] {
        try log.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8)) }.filter { line in
            line["event"]?.string.map(events.contains) ?? false
        }
    }

    @Test(
        "An outage of 40 s has one line for each cause and one when it ends, and ends no worker",
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    func outage() async {
        await #expect(processExitsWith: .success) {
            try await onThread {
                let cluster = try MockCluster()
                for topic in ["in", "in.out", "in.dlq"] { try cluster.createTopic(topic, partitions: 2) }
                let worker = try WorkerOutageTests.worker(cluster.bootstrapServers)
                try #require(worker.says(#""event":"ready""#), "\(worker.log)")
                try cluster.setDown()
                try #require(worker.says(#""event":"brokers.unreachable""#, within: 60), "\(worker.log)")
                // The length of the outage is the subject of the test.
                Thread.sleep(forTimeInterval: 32)
                #expect(worker.isRunning)
                try cluster.setUp()
                try #require(worker.says(#""event":"brokers.reachable""#, within: 60), "\(worker.log)")
                worker.signal(SIGTERM)
                #expect(try worker.end(within: 60) == 0, "\(worker.log)")
                let outage = try WorkerOutageTests.lines(worker.log, "brokers.unreachable", "brokers.reachable")
                let causes = outage.dropLast().map { $0["cause"]?.string ?? "" }
                #expect(outage.dropLast().allSatisfy { $0["event"]?.string == "brokers.unreachable" }, "\(worker.log)")
                #expect(outage.last?["event"]?.string == "brokers.reachable", "\(worker.log)")
                // On a slow machine, the first line can come before the library has named the broker.
                #expect((1...2).contains(causes.count) && Set(causes).count == causes.count, "\(worker.log)")
                #expect(causes.last?.contains("127.0.0.1") == true, "\(worker.log)")
                // The library warns about the mock cluster when it connects.
                let others = try WorkerOutageTests.lines(worker.log, "hung", "librdkafka", "failed", "exit")
                    .filter { $0["facility"]?.string != "AUTOCREATE" }
                #expect(others.isEmpty, "\(worker.log)")
            }
        }
    }

    @Test("The end of a producer's idle connections is no warning while brokers answer")
    func idle() async {
        await #expect(processExitsWith: .success) {
            try await onThread {
                let cluster = try MockCluster()
                for topic in ["in", "in.out", "in.dlq"] { try cluster.createTopic(topic, partitions: 2) }
                let worker = try WorkerOutageTests.worker(
                    cluster.bootstrapServers, "--log-level", "debug", "-X", "producer.connections.max.idle.ms=1000")
                try #require(worker.says(#""event":"ready""#), "\(worker.log)")
                try #require(worker.says("brokers are down", within: 60), "\(worker.log)")
                worker.signal(SIGTERM)
                #expect(try worker.end(within: 60) == 0, "\(worker.log)")
                let lines = try WorkerOutageTests.lines(worker.log, "librdkafka", "brokers.unreachable").filter {
                    ["_ALL_BROKERS_DOWN", nil].contains($0["facility"]?.string)
                }
                #expect(lines.allSatisfy { $0["level"]?.string == "debug" }, "\(lines)")
            }
        }
    }

    /// An address without a broker, and the expected cause.
    static let addresses = [
        ("nosuchhost.invalid:9092", "Failed to resolve 'nosuchhost.invalid'"),
        ("127.0.0.1:9", "127.0.0.1:9 refused the connection"),
    ]

    @Test("A start without a broker names the cause before its timeout, and again at its end", arguments: addresses)
    func start(address: String, cause: String) async throws {
        try await onThread {
            let worker = try Self.worker(address, "--start-timeout", "12s")
            // The worker ends after 12 s, so the line is there before.
            try #require(worker.says(#""event":"brokers.unreachable""#, within: 60), "\(worker.log)")
            #expect(try worker.end(within: 60) == 69)
            let line = try #require(try Self.lines(worker.log, "brokers.unreachable").first)
            #expect(line["cause"]?.string == cause)
            #expect(line["advice"]?.string?.isEmpty == false)
            #expect(worker.lastLine.contains(cause), "\(worker.log)")
        }
    }

    @Test("A limit on open files that is too low is named at the start")
    func files() throws {
        let result = try ChildProcess.run(
            [
                "env", "-i", "PATH=/usr/bin:/bin", "LINKD_VENDORS=none", "LINKD_LINK_PLATFORMS=none", "sh", "-c",
                "ulimit -n 100; exec \"$0\" \"$@\"", BuiltProgram.linkd, "worker", "-b", "127.0.0.1:9", "--input", "in",
                "--output", "in.out", "--table", Self.table, "--start-timeout", "1s", "--log-format", "json",
            ], in: FileManager.default.temporaryDirectory, input: "", seconds: 60)
        let line = try #require(try Self.lines(result.errors, "files.limited").first, "\(result.errors)")
        #expect(line["limit"]?.integer == 100 && line["needed"]?.integer ?? 0 > 100, "\(result.errors)")
    }
}
