#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif
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
                    [LogField("dropped", .number(dropped))])
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
