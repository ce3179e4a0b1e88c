internal import Foundation

/// A program that ends at the latest when this process ends, even if that is killed.
///
/// A shell beside it waits for the end of a pipe from this process.
final class GuardedProgram {
    /// The shell: it prints the identifier of the program, and ends the program at the end of standard input.
    private static let script = #"""
        "$@" < /dev/null &
        child=$!
        echo "$child"
        exec > /dev/null
        cat
        kill -TERM "$child" 2> /dev/null
        wait "$child"
        """#

    /// The process identifier.
    private(set) var identifier: Int32 = 0
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var read = ""

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments.
    init(_ path: String, _ arguments: [String]) throws {
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.script, "guarded", path] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let number = try line { !$0.isEmpty && $0.allSatisfy(\.isNumber) }
        identifier = Int32(number) ?? 0
    }

    deinit { stop() }

    /// Reads the output until there is a line that a condition selects, and returns the line.
    func line(where isWanted: (Substring) -> Bool) throws -> String {
        while true {
            let lines = read.split(separator: "\n", omittingEmptySubsequences: false)
            if let line = lines.dropLast().first(where: isWanted) { return String(line) }
            let part = output.fileHandleForReading.availableData
            if part.isEmpty {
                throw BenchmarkError(
                    text: "a program has ended early: \(process.arguments?.dropFirst(3) ?? [])", code: 70)
            }
            read += String(decoding: part, as: UTF8.self)
        }
    }

    /// Ends the program, and waits for its end.
    func stop() {
        guard process.isRunning else { return }
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
