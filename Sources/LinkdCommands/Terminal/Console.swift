internal import RouteTools
/// An output of a command: a buffered descriptor, or memory in tests.
final class Channel {
    /// A Boolean value that indicates whether the output is a terminal.
    let isTerminal: Bool
    /// The number of columns of the terminal, or nil.
    let columns: Int?
    /// The style of the text.
    var style: Style
    /// The first error of a write, or nil.
    ///
    /// A reader that closed its pipe is no error.
    private(set) var writeError: SystemError?
    private let descriptor: Int32?
    private var buffer: [UInt8] = []

    /// Creates an output for a descriptor.
    init(descriptor: Int32, style: Style) {
        self.descriptor = descriptor
        self.style = style
        isTerminal = Platform.isTerminal(descriptor)
        columns = isTerminal ? Platform.terminalColumns(descriptor) : nil
    }

    /// Creates an output that collects its text in memory.
    init(collecting style: Style = Style(enabled: false)) {
        descriptor = nil
        isTerminal = false
        columns = nil
        self.style = style
    }

    deinit { flush() }

    /// The text collected so far.
    var text: String { String(decoding: buffer, as: UTF8.self) }

    /// Appends a text.
    func write(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        flushIfNeeded()
    }

    /// Appends bytes.
    func write(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
        flushIfNeeded()
    }

    /// Appends a text and a line feed.
    func line(_ text: String = "") { write(text + "\n") }

    /// Writes the buffer to the descriptor.
    func flush() {
        guard let descriptor, !buffer.isEmpty else { return }
        let isWritten = buffer.withUnsafeBytes { Platform.write(descriptor, $0) }
        if !isWritten, writeError == nil, !Platform.isClosedPipe { writeError = SystemError.last }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes the buffer, and ends with exit code 78 if any output could not be written.
    func finish() throws(CommandFailure) {
        flush()
        guard let writeError else { return }
        throw CommandFailure(
            .configuration, "the output cannot be written: \(writeError.text)",
            advice: "free space where the output is written, and run the command again")
    }

    private func flushIfNeeded() {
        guard descriptor != nil else { return }
        if isTerminal || buffer.count >= 65536 { flush() }
    }
}

/// The outputs of a command: results on `out`, everything else on `err`.
final class Console {
    /// The output for results.
    let out: Channel
    /// The output for messages.
    let err: Channel
    /// A Boolean value that indicates whether only results and errors are printed (`-q`).
    var quiet = false

    /// Creates a console with two outputs.
    init(out: Channel, err: Channel) {
        self.out = out
        self.err = err
    }

    /// Returns the console of this process.
    static func standard() -> Console {
        Console(
            out: Channel(descriptor: 1, style: Style(enabled: false)),
            err: Channel(descriptor: 2, style: Style(enabled: false)))
    }

    /// Applies the user's choice of color.
    func apply(_ color: ColorChoice, environment: [String: String]) {
        out.style.enabled = color.enabled(terminal: out.isTerminal, environment: environment)
        err.style.enabled = color.enabled(terminal: err.isTerminal, environment: environment)
    }

    /// Prints a message, except in quiet mode.
    func note(_ text: String) {
        guard !quiet else { return }
        out.flush()
        err.line(text)
        err.flush()
    }

    /// Prints a warning, also in quiet mode.
    func warn(_ text: String) {
        out.flush()
        err.line(err.style.paint(text, .warning))
        err.flush()
    }

    /// Prints the last line of a command that failed.
    func printFailure(_ failure: CommandFailure) {
        out.flush()
        err.line(err.style.paint(Escaping.visible(failure.line), .bad))
        err.flush()
    }

    /// Writes the buffers of both outputs.
    func flush() {
        out.flush()
        err.flush()
    }
}
