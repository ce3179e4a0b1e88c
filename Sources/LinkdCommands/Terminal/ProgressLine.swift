internal import RouteTools

/// One line on a terminal that says how far a command is; without a terminal nothing is printed.
struct ProgressLine {
    private let channel: Channel
    private let active: Bool
    private var last = -1.0
    private var shown = false

    /// Shows progress on the console's error output, when that is a terminal and not quiet.
    init(_ console: Console) {
        channel = console.err
        active = console.err.isTerminal && !console.quiet
    }

    /// Shows the text, at most ten times a second.
    mutating func show(_ text: @autoclosure () -> String) {
        guard active else { return }
        let now = Platform.monotonicSeconds
        guard now - last >= 0.1 else { return }
        last = now
        shown = true
        channel.write("\r\u{1B}[K" + DisplayWidth.cut(text(), to: (channel.columns ?? 80) - 1))
        channel.flush()
    }

    /// Takes the line away.
    mutating func clear() {
        guard shown else { return }
        shown = false
        channel.write("\r\u{1B}[K")
        channel.flush()
    }
}
