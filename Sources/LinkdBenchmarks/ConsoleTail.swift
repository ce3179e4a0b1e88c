internal import Foundation
internal import Synchronization

/// The memory and the answers of a console while decisions arrive.
struct ConsoleTail {
    /// The resident memory in MB, one value each second.
    private(set) var memory: [Double] = []
    /// The times of a page in milliseconds, one each second.
    private(set) var pages: [Double] = []
    /// The rows that the live client received.
    private(set) var received = 0
    /// The rows that the console has dropped for the live client.
    private(set) var dropped = 0

    /// The rows that a thread has read from `/api/decisions/live`.
    private final class LiveReader: Sendable {
        private let state = Mutex<(rows: Int, dropped: Int, ended: String?)>((0, 0, nil))

        /// The rows received and dropped, and the reason of an early end.
        var seen: (rows: Int, dropped: Int, ended: String?) { state.withLock { $0 } }

        init(_ endpoints: ConsoleEndpoints) {
            Thread.detachNewThread { [self] in
                do {
                    let client = try endpoints.open("/api/decisions/live")
                    var line: [UInt8] = []
                    while let part = try client.next() {
                        for piece in part.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
                            if piece.offset > 0 {
                                take(line)
                                line = []
                            }
                            line += piece.element
                        }
                    }
                    state.withLock { $0.ended = "the console has ended the stream" }
                } catch {
                    state.withLock { $0.ended = "\(error)" }
                }
            }
        }

        private func take(_ line: [UInt8]) {
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix("data: {\"rows\":") else { return }
            let rows = text.components(separatedBy: "\"cursor\":").count - 1
            let dropped = text.range(of: "\"dropped\":", options: .backwards)
                .flatMap { Int(text[$0.upperBound...].prefix { $0.isNumber }) }
            state.withLock {
                $0.rows += rows
                $0.dropped += dropped ?? 0
            }
        }
    }

    /// Samples until a time is over, and prints a line for each twentieth of it.
    ///
    /// - Parameters:
    ///   - console: The console.
    ///   - seconds: The time.
    mutating func run(_ console: MeasuredConsole, seconds: Int) throws {
        let endpoints = console.endpoints
        let reader = LiveReader(endpoints)
        let start = ContinuousClock.now
        let stride = max(1, seconds / 20)
        Self.say("  second     MB   page ms  rows received  dropped     indexed        read")
        for second in 1...seconds {
            let left = start + .seconds(second) - ContinuousClock.now
            if left > .zero { Thread.sleep(forTimeInterval: left / .seconds(1)) }
            var page = ""
            pages.append(
                try nanoseconds { page = try endpoints.answer("/api/decisions?limit=100&histogram=100") } / 1e6)
            memory.append(try console.memory().now)
            let seen = reader.seen
            if let ended = seen.ended { throw BenchmarkError(text: "the live client: \(ended)", code: 70) }
            (received, dropped) = (seen.rows, seen.dropped)
            guard second % stride == 0 || second == seconds else { continue }
            let numbers = ["indexed", "read"].map { Program.number($0, in: page) ?? .nan }
            Self.say(
                String(
                    format: "%8d %6.1f %9.1f %14d %8d %11.0f %11.0f", second, memory.last ?? .nan, pages.last ?? .nan,
                    received, dropped, numbers[0], numbers[1]))
        }
    }

    /// The medians of the memory in the first and the last third, and the maximum.
    var thirds: (first: Double, last: Double, most: Double) {
        let third = max(1, memory.count / 3)
        return (
            Spread(Array(memory.prefix(third))).median, Spread(Array(memory.suffix(third))).median,
            memory.max() ?? .nan
        )
    }

    /// Prints a line at once, also into a file.
    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
