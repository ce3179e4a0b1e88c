import Foundation
import TestSupport

/// A `linkd dlq replay` that can be killed.
final class ReplayProcess {
    private let process = Process()
    private let ended = DispatchSemaphore(value: 0)
    private let output: URL
    private let errors: URL

    /// Starts the process.
    ///
    /// `command` is the program and its arguments.
    init(_ command: [String], logs: URL) throws {
        output = logs.appending(path: "replay-\(UUID().uuidString).out")
        errors = logs.appending(path: "replay-\(UUID().uuidString).err")
        for file in [output, errors] { try Data().write(to: file) }
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        let own = ProcessInfo.processInfo.environment
        process.environment = own.filter { ["PATH", "HOME", "LD_LIBRARY_PATH"].contains($0.key) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.start()
    }

    /// Waits for the end, and kills the process if it runs longer than the time.
    ///
    /// Returns the exit code, or nil if it was killed.
    func end(withinMilliseconds limit: Int) throws -> Int32? {
        if ended.wait(timeout: .now() + .milliseconds(limit)) == .success { return try exitCode() }
        kill(process.processIdentifier, SIGKILL)
        guard ended.wait(timeout: .now() + 10) == .success else { throw RunFailure("the replay cannot be killed") }
        return process.terminationReason == .uncaughtSignal ? nil : try exitCode()
    }

    /// A Boolean value that indicates whether the process is running.
    var isRunning: Bool { process.isRunning }

    private func exitCode() throws -> Int32 {
        guard process.terminationReason == .exit else { throw RunFailure("the replay crashed: \(log)") }
        return process.terminationStatus
    }

    /// The standard output.
    var text: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// The standard error.
    var log: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }
}
