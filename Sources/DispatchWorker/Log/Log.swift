internal import SystemThreads

/// The worker's log.
///
/// Lines are added to a bounded queue and written by one thread, so that no lane waits for a terminal.
package final class Log: Sendable {
    /// The maximum number of waiting lines.
    ///
    /// Further lines are dropped and counted.
    package static let capacity = 1_024

    private struct State {
        var lines: [(line: LogEntry, milliseconds: Int64)] = []
        var dropped: Int64 = 0
        /// The number of all lines that were dropped.
        var droppedInTotal: Int64 = 0
        var isClosed = false
        var isWritten = false
    }

    private let state = Monitor(State())
    private let level: LogLevel
    private let format: LogFormat
    private let write: @Sendable (String) -> Void

    /// Starts a log that writes lines of at least this severity with `write`, by default to standard error.
    package init(level: LogLevel, format: LogFormat, write: @escaping @Sendable (String) -> Void = Log.standardError) {
        self.level = level
        self.format = format
        self.write = write
        SystemThread.start("log") { [self] in run() }
    }

    /// Returns a Boolean value that indicates whether lines of this severity are written.
    ///
    /// Check it before building a line on a warm path.
    package func isEnabled(_ level: LogLevel) -> Bool { level <= self.level }

    /// The number of lines that were dropped since the start.
    package var dropped: Int64 { state.withLock { $0.droppedInTotal } }

    /// Adds a line, or drops it if too many are waiting.
    package func log(_ line: LogEntry) {
        guard isEnabled(line.level) else { return }
        let now = SystemClock.wallMilliseconds()
        state.signal { state in
            if state.lines.count < Self.capacity {
                state.lines.append((line, now))
            } else {
                state.dropped += 1
                state.droppedInTotal += 1
            }
        }
    }

    /// Adds a line with these parts.
    package func log(
        _ level: LogLevel, _ event: String, lane: Int? = nil, _ message: String, _ fields: LogFields = [:]
    ) { log(LogEntry(level, event, lane: lane, message, fields)) }

    /// Adds a line and waits up to a second until it is written, for the last line before a forced exit.
    package func logAndFlush(_ line: LogEntry) {
        log(line)
        _ = state.wait(milliseconds: 1_000) { $0.lines.isEmpty && $0.isWritten ? true : nil }
    }

    /// Writes the waiting lines and ends the thread.
    ///
    /// Waits up to 2 s.
    package func close() {
        state.signal { $0.isClosed = true }
        _ = state.wait(milliseconds: 2_000) { $0.isClosed && $0.lines.isEmpty && $0.isWritten ? true : nil }
    }

    /// Writes a line to standard error, with one system call if the system accepts the whole line.
    package static let standardError: @Sendable (String) -> Void = { text in
        var bytes = Array(text.utf8)
        bytes.append(UInt8(ascii: "\n"))
        bytes.withUnsafeBytes { buffer in
            var done = 0
            // The buffer has a base address because it contains at least the line feed.
            while done < buffer.count {
                let count = systemWrite(2, buffer.baseAddress! + done, buffer.count - done)
                if count <= 0 { return }
                done += count
            }
        }
    }

    private func run() {
        var rate = LogRate()
        while true {
            let (lines, dropped, closed) =
                state.wait(milliseconds: 1_000) { state -> ([(line: LogEntry, milliseconds: Int64)], Int64, Bool)? in
                    guard !state.lines.isEmpty || state.isClosed else { return nil }
                    let pending = (state.lines, state.dropped, state.isClosed)
                    state.lines.removeAll(keepingCapacity: true)
                    state.dropped = 0
                    state.isWritten = false
                    return pending
                } ?? ([], 0, false)
            let now = SystemClock.monotonicNanoseconds()
            for (line, time) in lines {
                for passed in rate.admit(line, now: now) { write(passed, time) }
            }
            for sum in rate.due(now: now, final: closed) { write(sum, SystemClock.wallMilliseconds()) }
            if dropped > 0 {
                let line = LogEntry(
                    .warning, "log", "log lines were dropped because the output is too slow",
                    ["dropped": .number(dropped)])
                write(line, SystemClock.wallMilliseconds())
            }
            let isDone = state.signal { state in
                state.isWritten = true
                return closed && state.lines.isEmpty
            }
            if isDone { return }
        }
    }

    private func write(_ line: LogEntry, _ milliseconds: Int64) {
        write(LogFormatter.text(of: line, milliseconds: milliseconds, format: format))
    }
}

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
            ["suppressed": .number(window.suppressed)])
    }
}

/// The lines that the log has had lately, so that the same line is not repeated.
///
/// A line that differs only in numbers and in quoted names is the same line.
package struct RepeatedLines: Sendable {
    /// The maximum number of different lines.
    ///
    /// Further lines count as one.
    package static let capacity = 256
    /// The length of a text that is compared, in UTF-8 bytes.
    private static let textLimit = 512

    private struct Known {
        var loggedAt: UInt64
        var count = 0
    }

    /// The time after which the same line is logged again, in nanoseconds.
    private let interval: UInt64
    private var lines: [String: Known] = [:]

    /// Creates a value that has had no lines.
    package init(interval: UInt64) { self.interval = interval }

    /// Returns the number of lines that a line stands for, or nil if it is not logged.
    ///
    /// The number includes the same lines that were not logged before it.
    ///
    /// - Parameters:
    ///   - facility: The part of the library that logs, the name of an error, or a call.
    ///   - text: The text.
    ///   - now: The time, in nanoseconds of the monotonic clock.
    package mutating func admit(facility: String, text: String, now: UInt64) -> Int? {
        var key = Self.key(facility, text)
        if lines[key] == nil, lines.count >= Self.capacity {
            lines = lines.filter { now.saturatingSubtract($0.value.loggedAt) < interval }
            if lines.count >= Self.capacity { key = "" }
        }
        guard var known = lines[key] else {
            lines[key] = Known(loggedAt: now)
            return 1
        }
        defer { lines[key] = known }
        known.count += 1
        guard now.saturatingSubtract(known.loggedAt) >= interval else { return nil }
        let count = known.count
        known = Known(loggedAt: now)
        return count
    }

    /// Returns the parts of a line that are the same in all lines of its kind: without digits and quoted texts.
    private static func key(_ facility: String, _ text: String) -> String {
        var result = Array((facility + " ").utf8)
        var rest = Array(text.utf8.prefix(textLimit))[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): continue
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                // An apostrophe has no other end.
                guard let end = rest.firstIndex(of: byte) else { continue }
                rest = rest[(end + 1)...]
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
