internal import Foundation
internal import TestSupport

/// The built `linkd` as a separate process that receives signals from the test.
final class RunningLinkd {
    private let process = Process()
    private let directory: URL
    private let ended = DispatchSemaphore(value: 0)

    /// Starts a command line.
    ///
    /// Only the library path of the test's environment is inherited, and `environment` is added.
    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "running-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let files = try ["out", "err"].map { name in
            try Data().write(to: directory.appending(path: name))
            return try FileHandle(forWritingTo: directory.appending(path: name))
        }
        process.executableURL = URL(fileURLWithPath: BuiltProgram.linkd)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.filter {
            ["PATH", "LD_LIBRARY_PATH"].contains($0.key)
        }.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = files[0]
        process.standardError = files[1]
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.start()
    }

    deinit {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: directory)
    }

    /// The standard error so far.
    var log: String { (try? String(contentsOf: directory.appending(path: "err"), encoding: .utf8)) ?? "" }

    /// The standard output so far.
    var output: String { (try? String(contentsOf: directory.appending(path: "out"), encoding: .utf8)) ?? "" }

    /// The last line of `log`.
    var lastLine: String { log.split(separator: "\n").last.map(String.init) ?? "" }

    /// A Boolean value that indicates whether the process is running.
    var isRunning: Bool { process.isRunning }

    /// Waits until the log contains a text.
    ///
    /// - Returns: False if the time limit passes before.
    func says(_ text: String, within seconds: Double = 60) -> Bool {
        becomesTrue(withinSeconds: seconds) {
            if log.contains(text) { return true }
            Thread.sleep(forTimeInterval: 0.01)
            return !isRunning && log.contains(text)
        }
    }

    /// Sends a signal.
    func signal(_ number: Int32) { Foundation.kill(process.processIdentifier, number) }

    /// Waits for the end of the process.
    ///
    /// - Returns: The exit code, or 128 plus the number of the signal that ended the process.
    ///
    /// - Throws: `ChildProcess.Failure` if the process is still running after the time limit.
    func end(within seconds: Double = 60) throws -> Int32 {
        guard ended.wait(timeout: .now() + seconds) == .success else {
            throw ChildProcess.Failure(text: "linkd still runs after \(seconds) s\n\(log.suffix(2_000))")
        }
        return process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0)
    }
}
