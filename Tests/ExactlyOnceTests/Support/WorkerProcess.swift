import Foundation
import StrictJSON
import TestSupport

/// A `linkd worker` that is started and killed repeatedly with one instance name.
final class WorkerProcess {
    /// The instance name.
    let name: String
    /// Its log over all starts.
    let log: URL
    private let command: [String]
    private var process = Process()
    private var ended = DispatchSemaphore(value: 0)
    /// The position in the log of the current start.
    private var logStart: UInt64 = 0
    /// The number of SIGKILLs.
    private(set) var kills = 0

    private let environment: [String: String]

    /// Creates a worker.
    ///
    /// `command` is the program and its arguments.
    init(name: String, command: [String], logs: URL, environment: [String: String] = [:]) throws {
        self.name = name
        self.environment = environment
        self.command = command
        log = logs.appending(path: "\(name).log")
        try Data().write(to: log)
    }

    /// Starts the process.
    func start() throws {
        let file = try FileHandle(forWritingTo: log)
        logStart = try file.seekToEnd()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        let own = ProcessInfo.processInfo.environment
        process.environment = own.filter { ["PATH", "HOME", "LD_LIBRARY_PATH"].contains($0.key) }
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = file
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.start()
        try file.close()
        self.process = process
        self.ended = ended
    }

    /// A Boolean value that indicates whether the process is running.
    var isRunning: Bool { process.isRunning }

    /// Returns a Boolean value that indicates whether all lanes were assigned partitions since the last start.
    func isAssigned(lanes: Int) throws -> Bool { try hasLogged("assigned", lanes: lanes) }

    /// Returns a Boolean value that indicates whether all lanes have logged an event since the last start.
    func hasLogged(_ event: String, lanes: Int) throws -> Bool {
        let file = try FileHandle(forReadingFrom: log)
        defer { try? file.close() }
        try file.seek(toOffset: logStart)
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        return (0..<lanes).allSatisfy { text.contains(#""event":"\#(event)","lane":\#($0),"#) }
    }

    /// Kills the process with SIGKILL and waits for its end.
    func kill() throws {
        let status = try end(by: SIGKILL, seconds: 10)
        guard status == SIGKILL, process.terminationReason == .uncaughtSignal else {
            throw RunFailure("\(name) had ended with \(status) before it was killed\n\(lastLines)")
        }
        kills += 1
    }

    /// Stops the process with SIGTERM.
    ///
    /// Throws if its exit code is not 0.
    func stop() throws {
        let status = try end(by: SIGTERM, seconds: 60)
        guard status == 0, process.terminationReason == .exit else {
            throw RunFailure("\(name) ended with \(status) after SIGTERM\n\(lastLines)")
        }
    }

    /// Waits for the end of the process, and returns its exit code, or throws if it does not end in time.
    func waitForEnd(seconds: Double) throws -> Int32 {
        guard ended.wait(timeout: .now() + seconds) == .success else {
            throw RunFailure("\(name) did not end within \(seconds) s\n\(lastLines)")
        }
        return process.terminationStatus
    }

    /// Sends a signal.
    func signal(_ number: Int32) { Foundation.kill(process.processIdentifier, number) }

    /// Requests that the process stops, without waiting for its end.
    func requestStop() { Foundation.kill(process.processIdentifier, SIGTERM) }

    /// Checks that a process that has ended did so with exit code 0.
    func checkEnd() throws {
        guard !process.isRunning, process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw RunFailure("\(name) did not end with 0 after SIGTERM\n\(lastLines)")
        }
    }

    /// Requests that the process loads its tables again.
    ///
    /// Call it only when the worker handles signals.
    func reload() { Foundation.kill(process.processIdentifier, SIGHUP) }

    /// Ends the process if it still runs.
    func clear() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    }

    private func end(by signal: Int32, seconds: Double) throws -> Int32 {
        Foundation.kill(process.processIdentifier, signal)
        guard ended.wait(timeout: .now() + seconds) == .success else {
            throw RunFailure("\(name) did not end within \(seconds) s of signal \(signal)\n\(lastLines)")
        }
        return process.terminationStatus
    }

    /// The last lines of its log.
    var lastLines: String {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(12).joined(separator: "\n")
    }

    /// Returns a number of the last line of its log with this event, or nil if there is none.
    func number(_ member: String, of event: String) throws -> Int? {
        let text = try String(contentsOf: log, encoding: .utf8)
        let line = text.split(separator: "\n").last { $0.contains(#""event":"\#(event)""#) }
        return try line.flatMap { try JSONValue.parse(Array($0.utf8))[member]?.integer }.map { Int($0) }
    }

    /// Returns the number of lines of its log with this event.
    func count(of event: String) -> Int {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").count { $0.contains(#""event":"\#(event)""#) }
    }
}
