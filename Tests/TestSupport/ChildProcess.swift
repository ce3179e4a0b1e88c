package import Foundation
internal import Synchronization

/// The execution of a program with captured output.
package enum ChildProcess {
    /// A program that could not be started, or did not end in time.
    package struct Failure: Error, CustomStringConvertible {
        /// A description of the failure.
        package let text: String

        /// Creates a failure.
        package init(text: String) { self.text = text }

        package var description: String { text }
    }

    /// The exit status and the output of a program.
    package struct Result: Sendable {
        /// The exit status, or 128 plus the number of the signal that ended the program.
        package let status: Int32
        /// The standard output, in which ill-formed bytes are repaired.
        package let output: String
        /// The standard error, in which ill-formed bytes are repaired.
        package let errors: String
    }

    /// Runs a program that is found in `PATH`, and waits for its end.
    ///
    /// Standard output and error are files, so that a program with much output never waits for a reader.
    ///
    /// - Parameters:
    ///   - command: The name or path of the program, and its arguments.
    ///   - directory: The working directory, or nil for the current one.
    ///   - environment: Variables in addition to the environment of this process.
    ///   - input: The standard input.
    ///   - seconds: The time limit, after which the program is killed.
    /// - Throws: `Failure` if the program cannot be started or takes too long, and file errors of the temporary
    ///   directory.
    package static func run(
        _ command: [String], in directory: URL? = nil, environment: [String: String] = [:], input: String = "",
        seconds: Double = 120
    ) throws -> Result {
        let scratchDirectory = try TemporaryFolder()
        let files = try ["in", "out", "err"].map { name in
            let file = scratchDirectory.url.appending(path: name)
            try Data((name == "in" ? input : "").utf8).write(to: file)
            return try name == "in" ? FileHandle(forReadingFrom: file) : FileHandle(forWritingTo: file)
        }
        // `Process` keeps its file handles. With more than 1,300 open files, its `run` reads behind the end of a buffer
        // that has a directory.
        defer { for file in files { try? file.close() } }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = directory
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = files[0]
        process.standardOutput = files[1]
        process.standardError = files[2]
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.start()
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            process.terminate()
            if ended.wait(timeout: .now() + 5) == .timedOut { kill(process.processIdentifier, SIGKILL) }
            throw Failure(text: "\(command.joined(separator: " ")) took longer than \(seconds) s")
        }
        let output = try Data(contentsOf: scratchDirectory.url.appending(path: "out"))
        let errors = try Data(contentsOf: scratchDirectory.url.appending(path: "err"))
        let signalled = process.terminationReason == .uncaughtSignal
        return Result(
            status: process.terminationStatus + (signalled ? 128 : 0),
            output: String(decoding: output, as: UTF8.self), errors: String(decoding: errors, as: UTF8.self))
    }
}

extension Process {
    private static let launch = Mutex(())

    /// Starts the process, while no other thread starts one with this function.
    ///
    /// Tests use it instead of `run()`, which on Linux closes the file descriptors in the child that were open when it
    /// last looked. A child that another thread starts at the same time can inherit the socket whose end tells
    /// Foundation that this process has ended. `terminationHandler` and `waitUntilExit()` then wait for the other one.
    package func start() throws { try Self.launch.withLock { _ in try run() } }
}
