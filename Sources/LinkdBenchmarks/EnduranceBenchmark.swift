internal import Foundation

/// The benchmark `endurance`: the memory of one worker over 200 reloads, 200 rebalances, and the records of the option
/// `--records` (by default 10 million).
enum EnduranceBenchmark {
    private static let reloads = 200
    private static let rebalances = 200
    /// The records that one call of `linkd produce` sends.
    private static let part = 250_000

    static func run(_ options: BenchmarkOptions) throws -> Int32 {
        guard let broker = options.broker else {
            throw BenchmarkError(text: "endurance needs --broker HOST:PORT or KAFKA_BOOTSTRAP_SERVERS", code: 64)
        }
        let group = try EnduranceGroup(options, broker: broker, part: part)
        say("records in  reloads  rebalances  resident MB")
        let turns = max(reloads, rebalances)
        let parts = max(1, options.records / part)
        let turnsPerPart = (turns + parts - 1) / parts
        var sent = 0
        var turn = 0
        var figures: [Double] = []
        while sent < options.records || turn < turns {
            if sent < options.records {
                try group.produce()
                sent += part
            }
            for _ in 0..<min(turnsPerPart, turns - turn) {
                turn += 1
                try group.reloadAndRebalance()
                try waitForTurn(of: group.worker, turn, partitions: group.other == nil ? 6 : 4)
            }
            guard let page = group.worker.metrics() else {
                throw BenchmarkError(text: "the worker does not answer", code: 70)
            }
            figures.append(ScrapedWorker.sum("process_resident_memory_bytes", in: page) / 1e6)
            say(row(page, figures.last ?? .nan))
        }
        try group.endOther()
        try waitForEnd(of: group.worker)
        group.worker.signal(SIGTERM)
        _ = try group.worker.wait()
        return verdict(figures)
    }

    /// Waits until the table is loaded again, and the partitions are divided among the members.
    private static func waitForTurn(of worker: ScrapedWorker, _ turn: Int, partitions: Double) throws {
        try wait(for: worker) { page in
            ScrapedWorker.sum("linkd_assigned_partitions", in: page) == partitions
                && ScrapedWorker.sum("linkd_table_reloads_total", in: page) >= Double(turn)
        }
    }

    /// Waits until all records are processed.
    private static func waitForEnd(of worker: ScrapedWorker) throws {
        try wait(for: worker) { ScrapedWorker.sum("linkd_consumer_lag", in: $0) == 0 }
        guard let page = worker.metrics() else { return }
        say("at the end: \(row(page, ScrapedWorker.sum("process_resident_memory_bytes", in: page) / 1e6))")
    }

    private static func wait(for worker: ScrapedWorker, until isDone: (String) -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            if let page = worker.metrics(), isDone(page) { return }
            guard worker.isRunning else { break }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw BenchmarkError(text: "the worker has not gone on within 2 minutes", code: 70)
    }

    private static func row(_ page: String, _ megabytes: Double) -> String {
        let names = ["linkd_records_in_total", "linkd_table_reloads_total", "linkd_rebalances_total"]
        return names.map { String(format: "%10.0f", ScrapedWorker.sum($0, in: page)) }.joined(separator: "  ")
            + String(format: "  %8.1f", megabytes)
    }

    /// Compares the last third with the second one.
    ///
    /// The first third contains the growth of caches to their bounds.
    private static func verdict(_ figures: [Double]) -> Int32 {
        let third = figures.count / 3
        let middle = Spread(Array(figures[third..<2 * third])).median
        let last = Spread(Array(figures[(2 * third)...])).median
        let isFlat = last <= middle * 1.05
        say(
            String(
                format: "resident memory, medians: %.1f MB in the second third, %.1f MB in the last: %@", middle, last,
                isFlat ? "flat" : "GROWING"))
        return isFlat ? 0 : 1
    }
}

/// The measured worker, the member that joins and leaves its group, and their topics.
private final class EnduranceGroup {
    let worker: ScrapedWorker
    private(set) var other: ScrapedWorker?
    private let topics: MeasuredTopics
    private let settings: [String]
    private let values: String
    private let table: (path: String, text: String)
    private var spaces = 0

    /// Creates the topics, the values of one part, and the measured worker.
    init(_ options: BenchmarkOptions, broker: String, part: Int) throws {
        topics = MeasuredTopics("endurance", broker: broker)
        try topics.create()
        var options = options
        options.records = part
        values = try WorkerBenchmark.writeValues(options)
        table = (
            FileManager.default.temporaryDirectory.appending(path: "\(topics.name).json").path,
            try String(contentsOfFile: options.table, encoding: .utf8)
        )
        try Self.write(table.text, to: table.path)
        settings = topics.flags + ["--group", topics.name, "--table", table.path, "--log-level", "error"]
        worker = try ScrapedWorker(["worker", "--lanes", "2"] + settings)
    }

    /// Sends the values of one part.
    func produce() throws { try topics.produce(values) }

    /// Reloads the table, and lets the other member join or leave, which causes a rebalance.
    func reloadAndRebalance() throws {
        spaces = spaces % 7 + 1
        // Other bytes with the same meaning, so that the table is loaded again.
        try Self.write(table.text + String(repeating: " ", count: spaces), to: table.path)
        worker.signal(SIGHUP)
        if other == nil {
            other = try ScrapedWorker(["worker", "--lanes", "1"] + settings)
        } else {
            try endOther()
        }
    }

    /// Ends the other member if it has joined.
    func endOther() throws {
        guard let member = other else { return }
        member.signal(SIGTERM)
        _ = try member.wait()
        other = nil
    }

    private static func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
}
