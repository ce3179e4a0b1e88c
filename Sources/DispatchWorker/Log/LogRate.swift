/// Keeps one event of one lane from flooding the log: more than 10 in 10 s become one line with their number.
package struct LogRate: Sendable {
    /// Lines of one event and lane that pass in a window.
    package static let linesPerWindow = 10
    /// Length of a window.
    package static let windowNanoseconds: UInt64 = 10_000_000_000

    private struct Source: Hashable {
        var event: String
        var lane: Int?
    }

    private struct Window {
        var began: UInt64
        var passed = 0
        var suppressed: Int64 = 0
        var level: LogLevel
    }

    private var windows: [Source: Window] = [:]
    private var hasEnded = false

    /// Makes a rate that has seen nothing.
    package init() {}

    /// The lines to write for `line` at `now`: a sum that came due, then the line itself, if it passes.
    ///
    /// The line that says why the process ends is the last one: all sums stand before it, and nothing passes after it.
    package mutating func admit(_ line: LogEntry, now: UInt64) -> [LogEntry] {
        if hasEnded { return [] }
        if line.event == LogEntry.exit {
            hasEnded = true
            return due(now: now, final: true) + [line]
        }
        let source = Source(event: line.event, lane: line.lane)
        var result: [LogEntry] = []
        if let window = windows[source], now &- window.began >= Self.windowNanoseconds {
            if let sum = Self.sum(source, window) { result.append(sum) }
            windows[source] = nil
        }
        var window = windows[source] ?? Window(began: now, level: line.level)
        if window.passed < Self.linesPerWindow {
            window.passed += 1
            result.append(line)
        } else {
            window.suppressed += 1
            window.level = min(window.level, line.level)
        }
        windows[source] = window
        return result
    }

    /// The sums of windows that are over at `now`; all of them when `final`.
    package mutating func due(now: UInt64, final: Bool = false) -> [LogEntry] {
        var result: [LogEntry] = []
        for (source, window) in windows where final || now &- window.began >= Self.windowNanoseconds {
            if let sum = Self.sum(source, window) { result.append(sum) }
            windows[source] = nil
        }
        return result.sorted { ($0.event, $0.lane ?? -1) < ($1.event, $1.lane ?? -1) }
    }

    private static func sum(_ source: Source, _ window: Window) -> LogEntry? {
        guard window.suppressed > 0 else { return nil }
        return LogEntry(
            window.level, source.event, lane: source.lane, "more of the same",
            [LogField("suppressed", .number(window.suppressed))])
    }
}
