internal import RouteTools
/// A progress line on a terminal.
///
/// Without a terminal nothing is printed.
struct ProgressLine {
    private let channel: Channel
    private let active: Bool
    private var last = -1.0
    private var shown = false

    /// Creates a progress line on the error output, which is active if that is a terminal and quiet mode is off.
    init(_ console: Console) {
        channel = console.err
        active = console.err.isTerminal && !console.quiet
    }

    /// Prints the text, at most ten times per second.
    mutating func show(_ text: @autoclosure () -> String) {
        guard active else { return }
        let now = Platform.monotonicSeconds
        guard now - last >= 0.1 else { return }
        last = now
        shown = true
        channel.write("\r\u{1B}[K" + DisplayWidth.cut(text(), to: (channel.columns ?? 80) - 1))
        channel.flush()
    }

    /// Erases the line.
    mutating func clear() {
        guard shown else { return }
        shown = false
        channel.write("\r\u{1B}[K")
        channel.flush()
    }
}
