internal import Foundation
internal import TestSupport

/// The benchmark `worker`: `linkd worker` and a minimal C program that copies records, on the same broker with the same
/// records.
enum WorkerBenchmark {
    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        guard let broker = options.broker, let peers = options.peers else { return }
        report.heading(
            "the worker, one lane, commits every 100 ms (\(options.records) records, \(options.rounds) rounds)")
        let floor = try buildFloor(peers)
        let topics = MeasuredTopics("bench", broker: broker)
        for output in ["out", "floor"] { try topics.create(output) }
        try topics.produce(writeValues(options))
        for guarantee in ["exactly-once", "at-least-once"] {
            try measure(guarantee, options, report, topics, floor: floor)
        }
    }

    private static func measure(
        _ guarantee: String, _ options: BenchmarkOptions, _ report: Report, _ topics: MeasuredTopics, floor: String
    ) throws {
        var ours: [Double] = []
        var floors: [Double] = []
        var rates: [Double] = []
        var peer: [Double] = []
        let mode = guarantee == "exactly-once" ? "eos" : "alo"
        let count = "\(options.records)"
        for round in 0..<options.rounds {
            let group = "\(topics.name)-\(mode)-\(round)"
            let line = try PeerProgram.run(
                topics.linkd,
                topics.worker(group, options, stopAfter: options.records) + ["--guarantee", guarantee])
            ours.append(try cpu(line))
            rates.append((PeerProgram.number("per_s", in: line) ?? .nan) / 1000)
            let names = [topics.broker, "\(topics.name)-in", "\(topics.name)-floor"]
            floors.append(try cpu(PeerProgram.run(floor, names + ["\(group)-floor", mode, count, "100"])))
            guard let rust = options.peer("rust-peer") else { continue }
            peer.append(try cpu(PeerProgram.run(rust, names + ["\(group)-rust", mode, count, "100"])))
        }
        report.figure(
            "\(guarantee), CPU per record", unit: "µs", ours, baseline: ("passthrough.c", floors), bound: 1.0)
        if !peer.isEmpty { report.figure("  compared with rust-peer", unit: "µs", ours, baseline: ("rust-peer", peer)) }
        report.figure("  throughput", unit: "thousand records/s", rates)
    }

    /// Returns the CPU time per record in a report, in microseconds.
    static func cpu(_ line: String) throws -> Double {
        guard let cpu = PeerProgram.number("cpu_us_per_record", in: line) else {
            throw BenchmarkError(text: "a report has no cpu_us_per_record: \(line)", code: 70)
        }
        return cpu
    }

    private static func buildFloor(_ peers: String) throws -> String {
        let program = FileManager.default.temporaryDirectory.appending(path: "linkd-passthrough").path
        try PeerProgram.run("/usr/bin/gcc", ["-O2", "-o", program, "\(peers)/passthrough.c", "-lrdkafka"])
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

/// The topics of a measurement, with six partitions each.
struct MeasuredTopics {
    let broker: String
    let name: String
    var linkd = BuiltProgram.linkd

    /// - Parameter kind: The beginning of the topics' names.
    init(_ kind: String, broker: String) {
        self.broker = broker
        name = "\(kind)-\(ProcessInfo.processInfo.processIdentifier)"
    }

    /// The flags that name the broker and the topics.
    var flags: [String] { flags("out") }

    private func flags(_ output: String) -> [String] {
        ["-b", broker, "--input", "\(name)-in", "--output", "\(name)-\(output)"]
    }

    func create(_ output: String = "out") throws {
        try PeerProgram.run(linkd, ["topics", "create", "--partitions", "6", "-q"] + flags(output))
    }

    /// Sends the lines of a file.
    func produce(_ file: String) throws {
        try PeerProgram.run(linkd, ["produce", "-b", broker, "--topic", "\(name)-in", "-q", file])
    }

    /// Returns the arguments of a worker with one lane that ends after a number of records and reports its figures.
    func worker(_ group: String, _ options: BenchmarkOptions, stopAfter count: Int) -> [String] {
        ["worker", "--group", group, "--lanes", "1", "--table", options.table, "--log-level", "error"] + flags
            + ["--stop-after", "\(count)", "--report", "json"]
    }
}
