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

    /// The problems of requests that have ended, or nil for a request without one.
    private typealias Ends = Monitor<[ConsoleProblem?]>

    /// Runs requests at the same time.
    private static func start(
        _ count: Int = 1, _ body: @escaping @Sendable () throws(ConsoleProblem) -> Void
    ) -> Ends {
        let ends = Ends([])
        for _ in 0..<count {
            SystemThread.start("request") {
                var problem: ConsoleProblem?
                do throws(ConsoleProblem) { try body() } catch { problem = error }
                ends.signal { $0.append(problem) }
            }
        }
        return ends
    }

    /// Waits until a number of requests have ended, and returns the codes of their problems in the order of their ends.
    private static func codes(_ count: Int = 1, of ends: Ends) -> [String?] {
        ends.wait(milliseconds: 60_000) { $0.count >= count ? $0.map { $0?.code } : nil } ?? []
    }

    @Test func `A broker that does not answer holds a request until its deadline, which is in 5 s`() throws {
        let broker = try SilentBroker()
        let fetcher = try Self.fetcher(broker)
        let place = TopicPartition(topic: "decisions", partition: 0)
        let ends = Self.start { () throws(ConsoleProblem) in try fetcher.read([place: [1, 2]]) { _ in } }
        #expect(Self.codes(of: ends) == ["broker"])
        #expect(RecordFetcher.deadline - Platform.monotonicSeconds <= 5)
    }

    @Test func `While a request reads, few others wait, and the rest is refused at once`() throws {
        let broker = try SilentBroker()
        let fetcher = try Self.fetcher(broker)
        let deadline = Platform.monotonicSeconds + 600
        let (isReading, mayEnd) = (Monitor(false), Monitor(false))
        let first = Self.start { () throws(ConsoleProblem) in
            try fetcher.withScan(until: deadline) { (_) throws(CommandFailure) in
                isReading.signal { $0 = true }
                _ = mayEnd.wait(milliseconds: 600_000) { $0 ? true : nil }
            }
        }
        try #require(isReading.wait(milliseconds: 60_000) { $0 ? true : nil } != nil)
        let others = Self.start(15) { () throws(ConsoleProblem) in
            try fetcher.withScan(until: deadline) { (_) throws(CommandFailure) in }
        }
        let refused = [String?](repeating: "busy", count: 15 - RecordFetcher.maxWaiting)
        #expect(Self.codes(refused.count, of: others) == refused)
        mayEnd.signal { $0 = true }
        #expect(Self.codes(of: first) == [nil])
        #expect(Self.codes(15, of: others) == refused + Array(repeating: nil, count: RecordFetcher.maxWaiting))
    }

    @Test func `A decision ends with the deadline, however many questions it asks the broker`() throws {
        let broker = try SilentBroker()
        let fetcher = try Self.fetcher(broker)
        let ends = Self.start { () throws(ConsoleProblem) in
            try fetcher.withScan(until: Platform.monotonicSeconds + 1) { (scan) throws(CommandFailure) in
                // Each of them has a limit of 10 s of its own, which together are longer than the test waits.
                for _ in 0..<10 { _ = try? scan.description(of: "decisions") }
                _ = try? scan.offsets(of: "decisions", [0], atOrAfter: 0)
                var plan = ScanPlan()
                plan.partitions[TopicPartition(topic: "decisions", partition: 0)] = ScanPlan.Span(from: 0, to: 1)
                try RecordFetcher.run(&scan, plan) { _ in true }
            }
        }
        #expect(Self.codes(of: ends) == ["broker"])
    }

    @Test func `After a request that failed, the next one is admitted`() throws {
        let broker = try SilentBroker()
        let fetcher = try Self.fetcher(broker)
        for _ in 0..<2 * RecordFetcher.maxWaiting {
            let ends = Self.start { () throws(ConsoleProblem) in
                try fetcher.withScan(until: 0) { (scan) throws(CommandFailure) in
                    _ = try scan.description(of: "decisions")
                }
            }
            #expect(Self.codes(of: ends) == ["broker"])
        }
    }
}
