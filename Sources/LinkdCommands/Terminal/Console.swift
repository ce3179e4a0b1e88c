internal import RouteTools

/// One output of a command: a descriptor with a buffer, or memory in tests.
final class Channel {
    /// Whether a terminal is behind it.
    let isTerminal: Bool
    /// Columns of that terminal, or nil.
    let columns: Int?
    /// How to colour on it.
    var style: Style
    private let descriptor: Int32?
    private var buffer: [UInt8] = []

    /// Writes to a descriptor.
    init(descriptor: Int32, style: Style) {
        self.descriptor = descriptor
        self.style = style
        isTerminal = Platform.isTerminal(descriptor)
        columns = isTerminal ? Platform.terminalColumns(descriptor) : nil
    }

    /// Collects what is written.
    init(collecting style: Style = Style(enabled: false)) {
        descriptor = nil
        isTerminal = false
        columns = nil
        self.style = style
    }

    deinit { flush() }

    /// What was collected so far.
    var text: String { String(decoding: buffer, as: UTF8.self) }

    /// Appends text.
    func write(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        settle()
    }

    /// Appends bytes as they are.
    func write(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
        settle()
    }

    /// Appends text and ends the line.
    func line(_ text: String = "") { write(text + "\n") }

    /// Hands over what is waiting.
    func flush() {
        guard let descriptor, !buffer.isEmpty else { return }
        buffer.withUnsafeBytes { _ = Platform.write(descriptor, $0) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func settle() {
        guard descriptor != nil else { return }
        if isTerminal || buffer.count >= 65536 { flush() }
    }
}

/// Where a command prints: results on `out`, everything else on `err`.
final class Console {
    /// Results.
    let out: Channel
    /// Messages for people.
    let err: Channel
    /// Whether only results and errors are wanted (`-q`).
    var quiet = false

    /// Prints on two channels.
    init(out: Channel, err: Channel) {
        self.out = out
        self.err = err
    }

    /// The console of this process.
    static func standard() -> Console {
        Console(
            out: Channel(descriptor: 1, style: Style(enabled: false)),
            err: Channel(descriptor: 2, style: Style(enabled: false)))
    }

    /// Takes over what the user said about colours.
    func choose(_ color: ColorChoice, environment: [String: String]) {
        out.style.enabled = color.enabled(terminal: out.isTerminal, environment: environment)
        err.style.enabled = color.enabled(terminal: err.isTerminal, environment: environment)
    }

    /// A message for people, unless they asked for quiet.
    func note(_ text: String) {
        guard !quiet else { return }
        out.flush()
        err.line(text)
        err.flush()
    }

    /// A message that quiet does not hide.
    func warn(_ text: String) {
        out.flush()
        err.line(err.style.paint(text, .warning))
        err.flush()
    }

    /// The last line of a command that failed.
    func end(_ failure: CommandFailure) {
        out.flush()
        err.line(err.style.paint(Escaping.visible(failure.line), .bad))
        err.flush()
    }

    /// Hands over everything.
    func flush() {
        out.flush()
        err.flush()
    }
}
