package import Foundation

/// Runs a program to its end and keeps what it said.
package enum ChildProcess {
    /// A program that could not be started, or did not end in time.
    package struct Failure: Error, CustomStringConvertible {
        /// What happened, in words.
        package let text: String

        /// Makes a failure from its words.
        package init(text: String) { self.text = text }

        package var description: String { text }
    }

    /// How a program ended and what it wrote.
    package struct Result: Sendable {
        /// The exit status, or the number of the signal that ended it plus 128.
        package let status: Int32
        /// What it wrote to standard output; ill-formed bytes are repaired.
        package let output: String
        /// What it wrote to standard error, likewise.
        package let errors: String
    }

    /// Runs a program that is looked for in `PATH`, and waits for its end.
    ///
    /// Standard output and error go through files: a program that writes much never waits for a reader.
    ///
    /// - Parameters:
    ///   - command: the program's name or path, then its arguments.
    ///   - directory: where it runs; here when nil.
    ///   - environment: what is set beside this process's own environment.
    ///   - input: its standard input, empty by default.
    ///   - seconds: how long it may take before it is killed.
    /// - Throws: `Failure` when it cannot be started or took too long; file errors of the temporary directory.
    package static func run(
        _ command: [String], in directory: URL? = nil, environment: [String: String] = [:], input: String = "",
        seconds: Double = 120
    ) throws -> Result {
        let place = FileManager.default.temporaryDirectory.appending(path: "child-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let files = try ["in", "out", "err"].map { name in
            let file = place.appending(path: name)
            try Data((name == "in" ? input : "").utf8).write(to: file)
            return try name == "in" ? FileHandle(forReadingFrom: file) : FileHandle(forWritingTo: file)
        }
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
        try process.run()
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            process.terminate()
            if ended.wait(timeout: .now() + 5) == .timedOut { kill(process.processIdentifier, SIGKILL) }
            throw Failure(text: "\(command.joined(separator: " ")) took longer than \(seconds) s")
        }
        let output = try Data(contentsOf: place.appending(path: "out"))
        let errors = try Data(contentsOf: place.appending(path: "err"))
        let signalled = process.terminationReason == .uncaughtSignal
        return Result(
            status: process.terminationStatus + (signalled ? 128 : 0),
            output: String(decoding: output, as: UTF8.self), errors: String(decoding: errors, as: UTF8.self))
    }
}
