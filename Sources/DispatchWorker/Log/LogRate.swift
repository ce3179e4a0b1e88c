/// A rate limit for log lines.
///
/// Of one event and lane, 10 lines pass in 10 s. Further lines are replaced by one line with their count.
package struct LogRate: Sendable {
    /// The number of lines of one event and lane that pass in a window.
    package static let linesPerWindow = 10
    /// The length of a window.
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

    /// Creates a rate limit without history.
    package init() {}

    /// Returns the lines to write for `line` at `now`: the summary of a window that has ended, then the line itself if
    /// it passes.
    ///
    /// The line that states why the process ends is always the last one. All summaries precede it, and no line passes
    /// after it. A requested status and traces, which have
    /// a limit of their own, always pass.
    package mutating func admit(_ line: LogEntry, now: UInt64) -> [LogEntry] {
        if hasEnded { return [] }
        if line.event == LogEntry.exit {
            hasEnded = true
            return due(now: now, final: true) + [line]
        }
        if line.event == LogEntry.status || line.event == LogEntry.trace { return [line] }
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

    /// Returns the summaries of windows that have ended at `now`, or of all windows if `final` is true.
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
            window.level, source.event, lane: source.lane, "similar lines suppressed",
            [LogField("suppressed", .number(window.suppressed))])
    }
}
