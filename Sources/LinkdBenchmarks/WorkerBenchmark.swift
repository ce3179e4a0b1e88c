internal import Foundation

/// The benchmark `worker`: `linkd worker` and a minimal C program that copies records, on the same broker with the same
/// records.
enum WorkerBenchmark {
    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        guard let broker = options.broker, let peers = options.peers else { return }
        report.heading(
            "the worker, one lane, commits every 100 ms (\(options.records) records, \(options.rounds) rounds)")
        let linkd = try linkdPath()
        let floor = try buildFloor(peers)
        let run = "bench-\(ProcessInfo.processInfo.processIdentifier)"
        let input = "\(run)-in"
        for output in ["\(run)-out", "\(run)-floor"] {
            _ = try Program.run(
                linkd,
                ["topics", "create", "-b", broker, "--input", input, "--output", output, "--partitions", "6", "-q"])
        }
        let file = try writeValues(options)
        _ = try Program.run(linkd, ["produce", "-b", broker, "--topic", input, "-q", file])
        for guarantee in ["exactly-once", "at-least-once"] {
            try measure(
                guarantee, options, report, linkd: linkd, floor: floor, broker: broker, run: run, input: input)
        }
    }

    private static func measure(
        _ guarantee: String, _ options: BenchmarkOptions, _ report: Report, linkd: String, floor: String,
        broker: String, run: String, input: String
    ) throws {
        var ours: [Double] = []
        var floors: [Double] = []
        var rates: [Double] = []
        var peer: [Double] = []
        let mode = guarantee == "exactly-once" ? "eos" : "alo"
        let count = "\(options.records)"
        for round in 0..<options.rounds {
            let group = "\(run)-\(mode)-\(round)"
            let line = try Program.run(
                linkd,
                [
                    "worker", "-b", broker, "--input", input, "--output", "\(run)-out", "--group", group, "--lanes",
                    "1",
                    "--guarantee", guarantee, "--table", options.table, "--stop-after", count, "--report", "json",
                    "--log-level", "error",
                ])
            guard let cpu = Program.number("cpu_us_per_record", in: line) else {
                throw BenchmarkError(text: "the worker's report has no cpu_us_per_record: \(line)", code: 70)
            }
            ours.append(cpu)
            rates.append((Program.number("per_s", in: line) ?? .nan) / 1000)
            let copy = [broker, input, "\(run)-floor", "\(group)-floor", mode, count, "100"]
            floors.append(Program.number("cpu_us_per_record", in: try Program.run(floor, copy)) ?? .nan)
            guard let rust = options.peer("rust-peer") else { continue }
            let arguments = [broker, input, "\(run)-floor", "\(group)-rust", mode, count, "100"]
            peer.append(Program.number("cpu_us_per_record", in: try Program.run(rust, arguments)) ?? .nan)
        }
        report.figure(
            "\(guarantee), CPU per record", unit: "µs", ours, baseline: ("passthrough.c", floors), bound: 1.0)
        if !peer.isEmpty { report.figure("  compared with rust-peer", unit: "µs", ours, baseline: ("rust-peer", peer)) }
        report.figure("  throughput", unit: "thousand records/s", rates)
    }

    /// Returns the path of `linkd` in the same build.
    static func linkdPath() throws -> String {
        let own = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let path = own.appending(path: "linkd").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw BenchmarkError(
                text:
                    "linkd was not found beside this program: run `swift build -c release --product linkd`")
        }
        return path
    }

    private static func buildFloor(_ peers: String) throws -> String {
        let program = FileManager.default.temporaryDirectory.appending(path: "linkd-passthrough").path
        _ = try Program.run("/usr/bin/gcc", ["-O2", "-o", program, "\(peers)/passthrough.c", "-lrdkafka"])
        return program
    }

    /// Writes the values of the workload's records, one per line, for `linkd produce`.
    static func writeValues(_ options: BenchmarkOptions) throws -> String {
        let work = try Workload.generated(options.records)
        var text = Data()
        for span in work.spans {
            text.append(contentsOf: work.bytes[span])
            text.append(UInt8(ascii: "\n"))
        }
        let path = FileManager.default.temporaryDirectory.appending(path: "linkd-values-\(options.records).jsonl").path
        try text.write(to: URL(filePath: path))
        return path
    }
}
