internal import Foundation
internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The effects of signals on worker processes, with librdkafka's mock cluster in the process of the test.
@Suite(.serialized) struct WorkerSignalTests {
    private static let table = Checkout.root.appending(path: "config/routes/shop.json").path
    /// An address without a listener.
    private static let nowhere = "127.0.0.1:9"

    private static func cluster() throws -> MockCluster {
        let cluster = try MockCluster()
        for topic in ["in", "in.out", "in.dlq"] { try cluster.createTopic(topic, partitions: 2) }
        return cluster
    }

    /// Starts a worker without transactions, which the mock cluster does not support.
    private static func worker(_ bootstrap: String, _ flags: String...) throws -> RunningLinkd {
        try RunningLinkd(
            ["worker", "-b", bootstrap, "--input", "in", "--output", "in.out", "--table", table]
                + ["--guarantee", "at-least-once", "--lanes", "1", "--log-format", "json"] + flags)
    }

    @Test("A stop signal during the requests at the start ends the worker, in five of five runs")
    func stopDuringStart() async throws {
        try await onThread {
            let cluster = try Self.cluster()
            // Each request takes so long that all signals arrive between the first and the last.
            try cluster.setRoundTripTime(milliseconds: 900)
            let workers = try (0..<5).map { _ in try Self.worker(cluster.bootstrapServers) }
            for (number, worker) in workers.enumerated() {
                try #require(worker.says(#""event":"start""#))
                Thread.sleep(forTimeInterval: 0.2 * Double(number))
                worker.signal(number % 2 == 0 ? SIGTERM : SIGINT)
            }
            for worker in workers {
                #expect(try worker.end(within: 60) == 0)
                #expect(worker.lastLine.contains(#""event":"stopped""#), "\(worker.log)")
                #expect(!worker.log.contains(#""event":"assigned""#))
            }
        }
    }

    @Test("A stop signal is handled from the start of the process on", arguments: [0, 5, 15, 30, 60, 120])
    func stopAtOnce(milliseconds: Int) async throws {
        try await onThread {
            let worker = try Self.worker(Self.nowhere, "--start-timeout", "5m")
            Thread.sleep(forTimeInterval: Double(milliseconds) / 1_000)
            worker.signal(SIGTERM)
            // Before the program's first instruction, the default action of the signal applies.
            let code = try worker.end(within: 60)
            #expect([0, 128 + SIGTERM].contains(code), "\(worker.log)")
            if code == 0 { #expect(worker.lastLine.contains(#""event":"stopped""#), "\(worker.log)") }
        }
    }

    @Test("SIGUSR1 pauses consumption, SIGUSR2 resumes it, and a paused worker stops on SIGTERM")
    func pauseAndResume() async throws {
        try await onThread {
            let cluster = try Self.cluster()
            let worker = try Self.worker(cluster.bootstrapServers)
            try #require(worker.says(#""event":"ready""#), "\(worker.log)")
            worker.signal(SIGUSR1)
            try #require(worker.says(#""event":"paused""#), "\(worker.log)")
            worker.signal(SIGUSR2)
            try #require(worker.says(#""event":"resumed""#), "\(worker.log)")
            for _ in 0..<50 { for number in [SIGUSR2, SIGUSR1, SIGUSR2] { worker.signal(number) } }
            let lines = { (event: String) in worker.log.split(separator: #""event":"\#(event)""#).count }
            // Each pause ends. The log can lack pauses that were short.
            Thread.sleep(forTimeInterval: 2)
            #expect(becomesTrue(withinSeconds: 30) { lines("paused") == lines("resumed") }, "\(worker.log)")
            worker.signal(SIGUSR1)
            worker.signal(SIGTERM)
            #expect(try worker.end(within: 60) == 0)
            #expect(worker.lastLine.contains(#""event":"stopped""#), "\(worker.log)")
        }
    }

    @Test(
        "A second signal after at least one second ends the worker at once with exit code 80, also during the start"
    )
    func forcedEnd() async throws {
        try await onThread {
            let cluster = try Self.cluster()
            let port = try #require(cluster.bootstrapServers.split(separator: ":").last.flatMap { UInt16($0) })
            let proxy = try KafkaProxy(port: 0, target: port)
            defer { proxy.close() }
            // The broker does not answer, so the start does not end.
            proxy.hold(true)
            // A start that is just between two of its requests ends at the first signal, before the second one.
            for _ in 0..<8 {
                let asked = proxy.count(of: .apiVersions)
                let worker = try Self.worker(proxy.bootstrapServers, "--start-timeout", "5m")
                let isAsking = becomesTrue(withinSeconds: 60) {
                    proxy.count(of: .apiVersions) > asked
                }
                try #require(isAsking)
                worker.signal(SIGTERM)
                Thread.sleep(forTimeInterval: 1.1)
                worker.signal(SIGTERM)
                let code = try worker.end(within: 3)
                let last = try JSONValue.parse(Array(worker.lastLine.utf8))
                if code == 0, last["event"]?.string == "stopped" { continue }
                #expect(code == 80)
                #expect(last["event"]?.string == "exit")
                #expect(last["code"]?.integer == Int64(80))
                #expect(last["reason"]?.string == "a second stop signal was received")
                return
            }
            Issue.record("the worker ended at the first signal eight times")
        }
    }

    @Test("After SIGQUIT the log has the status, also in the start, and the worker continues")
    func status() async throws {
        try await onThread {
            let cluster = try Self.cluster()
            for bootstrap in [cluster.bootstrapServers, Self.nowhere] {
                let worker = try Self.worker(bootstrap, "--start-timeout", "5m")
                try #require(worker.says(bootstrap == Self.nowhere ? #""event":"start""# : #""event":"ready""#))
                worker.signal(SIGQUIT)
                try #require(worker.says(#""event":"status""#, within: 10), "\(worker.log)")
                let line = try #require(worker.log.split(separator: "\n").first { $0.contains(#""event":"status""#) })
                let status = try JSONValue.parse(Array(line.utf8))["status"]
                #expect(status?["version"]?.string == LinkdVersion.text)
                #expect(status?["lanes"] != nil)
                worker.signal(SIGTERM)
                #expect(try worker.end(within: 60) == 0, "\(worker.log)")
            }
        }
    }

    @Test("SIGQUIT, SIGUSR1, and SIGUSR2 do not end the worker")
    func operatorSignals() async throws {
        try await onThread {
            let cluster = try Self.cluster()
            let worker = try Self.worker(cluster.bootstrapServers)
            try #require(worker.says(#""event":"ready""#), "\(worker.log)")
            for number in [SIGUSR1, SIGQUIT, SIGUSR2] { worker.signal(number) }
            // The answer to a later signal shows that the worker has received the ones before it.
            worker.signal(SIGHUP)
            try #require(worker.says(#""event":"tables.unchanged""#), "\(worker.log)")
            #expect(worker.isRunning)
            worker.signal(SIGTERM)
            #expect(try worker.end(within: 60) == 0, "\(worker.log)")
        }
    }

    @Test("SIGHUP loads the tables again, and two signals within a second count as one")
    func hangUpAndTwice() async throws {
        try await onThread {
            let cluster = try Self.cluster()
            let shop = try String(contentsOfFile: Self.table, encoding: .utf8)
            let other = Checkout.root.appending(path: "config/routes/seeds/easydev991.json").path
            try withTemporaryFile(shop) { path in
                try reload(cluster, path, other)
            }
        }
    }

    /// Runs a worker whose table is replaced by another one, and then by an invalid one.
    private func reload(_ cluster: MockCluster, _ path: String, _ other: String) throws {
        let worker = try RunningLinkd(
            ["worker", "-b", cluster.bootstrapServers, "--input", "in", "--output", "in.out", "--table", path]
                + ["--guarantee", "at-least-once", "--lanes", "1", "--log-format", "json"])
        try #require(worker.says(#""event":"ready""#), "\(worker.log)")
        worker.signal(SIGHUP)
        try #require(worker.says(#""event":"tables.unchanged""#), "\(worker.log)")
        try Data(contentsOf: URL(fileURLWithPath: other)).write(to: URL(fileURLWithPath: path), options: .atomic)
        worker.signal(SIGHUP)
        try #require(worker.says(#""event":"tables.reloaded""#), "\(worker.log)")
        #expect(worker.log.contains(#""tables":["easydev991@1+"#))
        try Data("{".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        worker.signal(SIGHUP)
        try #require(worker.says(#""event":"tables.kept""#), "\(worker.log)")
        #expect(worker.log.contains(#""event":"table.refused""#))
        #expect(worker.isRunning)
        try cluster.setRoundTripTime(milliseconds: 300)
        worker.signal(SIGTERM)
        worker.signal(SIGINT)
        worker.signal(SIGHUP)
        #expect(try worker.end(within: 60) == 0, "\(worker.log)")
        #expect(worker.log.contains(#""event":"draining""#))
    }
}
