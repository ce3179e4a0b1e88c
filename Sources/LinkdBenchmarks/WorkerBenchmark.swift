internal import Foundation
internal import TestSupport

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

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
        let topics = MeasuredTopics("monitor", broker: broker)
        try topics.create()
        let file = try WorkerBenchmark.writeValues(options)
        for _ in 0..<copies { try topics.produce(file) }
        var scraped: [Double] = []
        var plain: [Double] = []
        var shares: [Double] = []
        for round in 0..<options.rounds {
            func arguments(_ kind: String) -> [String] {
                topics.worker("\(topics.name)-\(kind)-\(round)", options, stopAfter: count)
            }
            // The order changes, because the second run of a pair may find more in the broker's cache.
            for isScraped in round.isMultiple(of: 2) ? [true, false] : [false, true] {
                if isScraped {
                    let worker = try ScrapedWorker(arguments("scraped"))
                    let result = try worker.finish()
                    scraped.append(try WorkerBenchmark.cpu(result.report))
                    shares.append(result.httpShare)
                } else {
                    plain.append(try WorkerBenchmark.cpu(PeerProgram.run(topics.linkd, arguments("plain"))))
                }
            }
        }
        report.figure("CPU per record, scraped", unit: "µs", scraped, baseline: ("plain", plain), bound: 1.03)
        report.figure("HTTP threads, share of a core", unit: "%", shares.map { $0 * 100 })
    }
}

/// A running `linkd worker` with an HTTP server.
final class ScrapedWorker {
    private let process: GuardedProcess
    private let address: String
    private let begun = ContinuousClock.now

    /// Starts a worker with a free port for HTTP.
    init(_ arguments: [String]) throws {
        address = "127.0.0.1:\(try Self.freePort())"
        process = try GuardedProcess([BuiltProgram.linkd] + arguments + ["--http-listen", address])
    }

    /// A Boolean value that indicates whether the process runs.
    var isRunning: Bool { process.status == nil }

    /// Sends a signal.
    func signal(_ number: Int32) { process.signal(number) }

    /// Returns the text of `/metrics`, or nil without an answer.
    func metrics() -> String? {
        guard let url = URL(string: "http://\(address)/metrics") else { return nil }
        return (try? Data(contentsOf: url)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the sum of the samples of a metric.
    static func sum(_ metric: String, in text: String) -> Double {
        var sum = 0.0
        for line in text.split(separator: "\n") where line.hasPrefix(metric + "{") || line.hasPrefix(metric + " ") {
            sum += line.split(separator: " ").last.flatMap { Double($0) } ?? 0
        }
        return sum
    }

    /// Scrapes every second until the worker ends.
    ///
    /// Returns its report, and the share of a core that its HTTP threads used.
    func finish() throws -> (report: String, httpShare: Double) {
        var cpu = 0.0
        var scrapes = 0
        var last = begun
        while isRunning {
            if metrics() != nil { scrapes += 1 }
            let now = httpSeconds()
            if now > 0 {
                cpu = now
                last = .now
            }
            Thread.sleep(forTimeInterval: 1)
        }
        let text = try wait()
        guard scrapes > 1 else { throw BenchmarkError(text: "the run was too short for a scrape every second") }
        let elapsed = (last - begun) / .seconds(1)
        return (text, cpu / elapsed)
    }

    /// Waits until the worker has ended, and returns its standard output.
    func wait() throws -> String {
        while isRunning { Thread.sleep(forTimeInterval: 0.02) }
        guard let status = process.status, status == 0 else {
            throw BenchmarkError(text: "the worker failed: \(process.errors)", code: 70)
        }
        return process.output
    }

    /// Returns the CPU time of the worker's HTTP threads in seconds.
    private func httpSeconds() -> Double {
        let tasks = "/proc/\(process.child ?? 0)/task"
        var nanoseconds = 0.0
        for task in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
            guard let name = try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8),
                name.hasPrefix("http"),
                let times = try? String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8)
            else { continue }
            nanoseconds += times.split(separator: " ").first.flatMap { Double($0) } ?? 0
        }
        return nanoseconds / 1e9
    }

    /// Returns a port of the loopback interface that is free now.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw BenchmarkError(text: "no port is free") }
        return UInt16(bigEndian: address.sin_port)
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
