internal import Foundation
internal import KafkaClient
internal import SystemThreads
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The reader of single records, with a broker that accepts connections and never answers.
@Suite struct RecordFetcherTests {
    /// Returns a fetcher for the port of a socket.
    private static func fetcher(_ broker: SilentBroker) throws -> RecordFetcher {
        let texts = ["bootstrap": "127.0.0.1:\(broker.port)", "output": "decisions", "input": "events"]
        let settings = try Settings(
            flags: texts.mapValues { SettingTexts(texts: [$0], splitting: true, source: .flag("--test")) },
            environment: [:], configFile: nil, isKnownProperty: { _ in false })
        return RecordFetcher(try Connection(settings))
    }

    /// The end of a request: its status and code, and its seconds.
    private struct End {
        var problem: ConsoleProblem?
        var seconds: Double
    }

    /// Runs requests at the same time, and returns their ends in order.
    private static func ends(_ count: Int, _ body: @escaping @Sendable () throws(ConsoleProblem) -> Void) -> [End] {
        let ends = Monitor<[End]>([])
        for _ in 0..<count {
            SystemThread.start("request") {
                let start = Platform.monotonicSeconds
                var problem: ConsoleProblem?
                do throws(ConsoleProblem) { try body() } catch { problem = error }
                ends.signal { $0.append(End(problem: problem, seconds: Platform.monotonicSeconds - start)) }
            }
        }
        return ends.wait(milliseconds: 60_000) { $0.count == count ? $0 : nil } ?? []
    }

    @Test func `A broker that does not answer holds few requests, and each for 5 s at most`() throws {
        let broker = try SilentBroker()
        let fetcher = try Self.fetcher(broker)
        let place = TopicPartition(topic: "decisions", partition: 0)
        let ends = Self.ends(16) { () throws(ConsoleProblem) in try fetcher.read([place: [1, 2]]) { _ in } }
        #expect(ends.count == 16 && ends.allSatisfy { $0.problem?.status == 503 })
        #expect(ends.allSatisfy { $0.seconds < 9 }, "\(ends.map(\.seconds))")
        // One reads, and the others that are admitted wait for it.
        let refused = ends.filter { $0.problem?.code == "busy" && $0.seconds < 2 }
        #expect(refused.count >= 15 - RecordFetcher.maxWaiting, "\(ends)")
    }

    @Test func `A decision ends with the deadline, however many questions it asks the broker`() throws {
        let broker = try SilentBroker()
        let fetcher = try Self.fetcher(broker)
        let ends = Self.ends(1) { () throws(ConsoleProblem) in
            let deadline = Platform.monotonicSeconds + 1
            try fetcher.withScan(until: deadline) { (scan) throws(CommandFailure) in
                // Each of them has a limit of 10 s of its own.
                for topic in ["decisions", "events"] { _ = try? scan.description(of: topic) }
                _ = try? scan.offsets(of: "decisions", [0], atOrAfter: 0)
                var plan = ScanPlan()
                plan.partitions[TopicPartition(topic: "decisions", partition: 0)] = ScanPlan.Span(from: 0, to: 1)
                try RecordFetcher.run(&scan, plan) { _ in true }
            }
        }
        #expect(ends.first?.problem?.code == "broker")
        #expect((ends.first?.seconds ?? 99) < 5, "\(ends)")
    }

    @Test func `After a request that failed, the next one is admitted`() throws {
        let broker = try SilentBroker()
        let fetcher = try Self.fetcher(broker)
        for _ in 0..<2 * RecordFetcher.maxWaiting {
            let ends = Self.ends(1) { () throws(ConsoleProblem) in
                try fetcher.withScan(until: 0) { (scan) throws(CommandFailure) in
                    _ = try scan.description(of: "decisions")
                }
            }
            #expect(ends.first?.problem?.code == "broker" && (ends.first?.seconds ?? 99) < 5)
        }
    }
}
