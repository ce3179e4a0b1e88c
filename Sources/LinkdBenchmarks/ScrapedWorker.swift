internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A running `linkd worker` with an HTTP server.
final class ScrapedWorker {
    private let process = Process()
    private let output = Pipe()
    private let address: String
    private let begun = ContinuousClock.now

    /// Starts a worker with a free port for HTTP.
    init(_ linkd: String, _ arguments: [String]) throws {
        address = "127.0.0.1:\(try Self.freePort())"
        process.executableURL = URL(filePath: linkd)
        process.arguments = arguments + ["--http-listen", address]
        process.standardOutput = output
        try process.run()
    }

    /// The process identifier.
    var identifier: Int32 { process.processIdentifier }

    /// A Boolean value that indicates whether the process runs.
    var isRunning: Bool { process.isRunning }

    /// Sends a signal.
    func signal(_ number: Int32) { kill(identifier, number) }

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
        while process.isRunning {
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
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError(text: "the worker ended with status \(process.terminationStatus)", code: 70)
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns the CPU time of the worker's HTTP threads in seconds.
    private func httpSeconds() -> Double {
        let tasks = "/proc/\(identifier)/task"
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
