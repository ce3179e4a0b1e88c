internal import Foundation

/// The benchmark `monitor`: the CPU time per record of a worker that is scraped every second, relative to the same
/// worker without an HTTP server.
enum MonitorBenchmark {
    /// The number of times that the records are produced, so that a run is scraped several times.
    private static let copies = 10

    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        guard let broker = options.broker else { return }
        let count = options.records * copies
        report.heading(
            "a worker with a scrape every second, and one without an HTTP server (\(count) records, "
                + "\(options.rounds) rounds)")
        let linkd = try WorkerBenchmark.linkdPath()
        let run = "monitor-\(ProcessInfo.processInfo.processIdentifier)"
        _ = try Program.run(
            linkd,
            [
                "topics", "create", "-b", broker, "--input", "\(run)-in", "--output", "\(run)-out", "--partitions", "6",
                "-q",
            ])
        let file = try WorkerBenchmark.writeValues(options)
        for _ in 0..<copies {
            _ = try Program.run(linkd, ["produce", "-b", broker, "--topic", "\(run)-in", "-q", file])
        }
        var scraped: [Double] = []
        var plain: [Double] = []
        var shares: [Double] = []
        for round in 0..<options.rounds {
            func arguments(_ kind: String) -> [String] {
                [
                    "worker", "-b", broker, "--input", "\(run)-in", "--output", "\(run)-out", "--group",
                    "\(run)-\(kind)-\(round)", "--lanes", "1", "--table", options.table, "--stop-after", "\(count)",
                    "--report", "json", "--log-level", "error",
                ]
            }
            // The order changes, because the second run of a pair may find more in the broker's cache.
            for isScraped in round.isMultiple(of: 2) ? [true, false] : [false, true] {
                if isScraped {
                    let worker = try ScrapedWorker(linkd, arguments("scraped"))
                    let result = try worker.finish()
                    scraped.append(try cpu(result.report))
                    shares.append(result.httpShare)
                } else {
                    plain.append(try cpu(try Program.run(linkd, arguments("plain"))))
                }
            }
        }
        report.figure("CPU per record, scraped", unit: "µs", scraped, baseline: ("plain", plain), bound: 1.03)
        report.figure("HTTP threads, share of a core", unit: "%", shares.map { $0 * 100 })
    }

    private static func cpu(_ line: String) throws -> Double {
        guard let cpu = Program.number("cpu_us_per_record", in: line) else {
            throw BenchmarkError(text: "the worker's report has no cpu_us_per_record: \(line)", code: 70)
        }
        return cpu
    }
}
