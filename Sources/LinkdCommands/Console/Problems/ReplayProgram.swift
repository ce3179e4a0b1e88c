internal import StrictJSON
internal import Synchronization

/// Runs of `linkd dlq replay` as a child process, with the settings of the console.
///
/// A child process has the guarantees of the command, whatever happens to the console. One runs at a time, because a
/// second replay would end the first one.
final class ReplayProgram: Sendable {
    /// The result of a run.
    struct Result {
        /// The summary of the command, or nil if there is none.
        var summary: JSONValue?
        /// The warnings and the failure of the command, line by line.
        var messages: [String]
        /// The exit code, or nil if the process ended in another way.
        var code: Int32?
    }

    /// The time after which a run is ended, in seconds.
    ///
    /// The same request continues an ended run.
    static let maxSeconds = 50.0
    /// The maximum size of the output in bytes.
    private static let maxBytes = 1 << 20

    private let words: [String]
    private let environment: [String: String]
    private let running = Mutex(())

    /// Creates the runs with the settings of a call.
    init(_ call: Invocation) {
        var words: [String] = []
        for row in SettingsTable.rows where row.commands.contains(.deadLetters) {
            for text in call.arguments.settings[row.name]?.texts ?? [] { words.append("\(row.flags[0])=\(text)") }
        }
        if let path = call.text("config") { words.append("--config=\(path)") }
        self.words = words
        environment = call.environment
    }

    /// Runs the command, or returns nil if another run has not ended.
    func run(_ choice: ReplayFlags, isDryRun: Bool) -> Result? {
        running.withLockIfAvailable { _ in
            start(choice.words + ["--json", "--color=never", isDryRun ? "--dry-run" : "--yes"])
        }
    }

    private func start(_ choice: [String]) -> Result {
        guard let program = Platform.executablePath, let output = ChildProgram.makePipe() else {
            return Result(summary: nil, messages: ["linkd: the program cannot be started"], code: nil)
        }
        defer { Platform.close(output.read) }
        let started = ChildProgram.start(
            [program, "dlq", "replay"] + words + choice, environment: environment, output: output.write,
            joinsErrors: true)
        Platform.close(output.write)
        let deadline = Platform.monotonicSeconds + Self.maxSeconds
        switch started {
        case .failure(let error): return Result(summary: nil, messages: ["linkd: \(error.text)"], code: nil)
        case .success(let child):
            let bytes = Self.read(output.read, until: deadline)
            guard let end = child.wait(until: deadline) else {
                child.end()
                return Self.result(bytes, code: nil)
            }
            if case .exit(let code) = end { return Self.result(bytes, code: code) }
            return Self.result(bytes, code: nil)
        }
    }

    private static func read(_ descriptor: Int32, until deadline: Double) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let left = deadline - Platform.monotonicSeconds
            guard left > 0, Platform.canRead(descriptor, milliseconds: Int32(left * 1000) + 1) else { break }
            let count = buffer.withUnsafeMutableBytes { Platform.read(descriptor, into: $0) }
            guard count > 0 else { break }
            // The rest is read too, because the program waits for it.
            bytes += buffer[..<min(count, maxBytes - bytes.count)]
        }
        return bytes
    }

    /// Returns the summary, which is the line of JSON, and the other lines.
    private static func result(_ bytes: [UInt8], code: Int32?) -> Result {
        var result = Result(summary: nil, messages: [], code: code)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "{"), let summary = try? JSONValue.parse(Array(line), maxDepth: 16) {
                result.summary = summary
            } else {
                result.messages.append(String(decoding: line, as: UTF8.self))
            }
        }
        return result
    }
}
