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
        let linkd = try WorkerBenchmark.linkdPath()
        let run = "endurance-\(ProcessInfo.processInfo.processIdentifier)"
        let topics = ["--input", "\(run)-in", "--output", "\(run)-out"]
        _ = try Program.run(linkd, ["topics", "create", "-b", broker] + topics + ["--partitions", "6", "-q"])
        var values = options
        values.records = part
        let file = try WorkerBenchmark.writeValues(values)
        let table = FileManager.default.temporaryDirectory.appending(path: "\(run).json").path
        let text = try String(contentsOfFile: options.table, encoding: .utf8)
        try write(text, spaces: 0, to: table)
        let common = ["-b", broker, "--group", run, "--table", table, "--log-level", "error"]
        let worker = try ScrapedWorker(linkd, ["worker", "--lanes", "2"] + topics + common)
        say("records in  reloads  rebalances  resident MB")
        var spaces = 0
        var other: ScrapedWorker?
        var sent = 0
        var turn = 0
        var figures: [Double] = []
        while sent < options.records || turn < max(reloads, rebalances) {
            if sent < options.records {
                _ = try Program.run(linkd, ["produce", "-b", broker, "--topic", "\(run)-in", "-q", file])
                sent += part
            }
            let turns = (max(reloads, rebalances) + options.records / part - 1) / max(1, options.records / part)
            for _ in 0..<turns where turn < max(reloads, rebalances) {
                turn += 1
                spaces = spaces % 7 + 1
                try write(text, spaces: spaces, to: table)
                worker.signal(SIGHUP)
                // Another member joins or leaves, and both cause a rebalance.
                if let member = other {
                    member.signal(SIGTERM)
                    _ = try member.wait()
                    other = nil
                } else {
                    other = try ScrapedWorker(linkd, ["worker", "--lanes", "1"] + topics + common)
                }
                try waitForTurn(of: worker, turn, partitions: other == nil ? 6 : 4)
            }
            guard let page = worker.metrics() else {
                throw BenchmarkError(text: "the worker does not answer", code: 70)
            }
            figures.append(ScrapedWorker.sum("process_resident_memory_bytes", in: page) / 1e6)
            say(row(page, figures.last ?? .nan))
        }
        if let member = other {
            member.signal(SIGTERM)
            _ = try member.wait()
        }
        try waitForEnd(of: worker, records: sent)
        worker.signal(SIGTERM)
        _ = try worker.wait()
        return verdict(figures)
    }

    /// Writes the table with other bytes and the same meaning, so that it is loaded again.
    private static func write(_ text: String, spaces: Int, to path: String) throws {
        try (text + String(repeating: " ", count: spaces)).write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Waits until the table is loaded again, and the partitions are divided among the members.
    private static func waitForTurn(of worker: ScrapedWorker, _ turn: Int, partitions: Double) throws {
        try wait(for: worker) { page in
            ScrapedWorker.sum("linkd_assigned_partitions", in: page) == partitions
                && ScrapedWorker.sum("linkd_table_reloads_total", in: page) >= Double(turn)
        }
    }

    /// Waits until all records are processed.
    private static func waitForEnd(of worker: ScrapedWorker, records: Int) throws {
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

    /// Prints a line at once, also into a file.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

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
