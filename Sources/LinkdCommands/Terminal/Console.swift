internal import RouteTools
internal import StrictJSON

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

    /// Creates an output that collects its text in memory, as if for a terminal if `isTerminal` is true.
    init(collecting style: Style = Style(enabled: false), isTerminal: Bool = false) {
        descriptor = nil
        self.isTerminal = isTerminal
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

    /// Appends a JSON object, whose members a function writes, and a line feed.
    func json(_ write: (inout JSONText) -> Void) { line(JSONText.object(write)) }

    /// Appends the lines of a table.
    func table(_ table: TextTable) {
        for line in table.lines(style: style) { self.line(line) }
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

/// The user's choice of color.
enum ColorChoice: String, CaseIterable {
    case auto, always, never

    /// Returns a Boolean value that indicates whether an output uses color.
    ///
    /// `auto` uses it on a terminal unless `NO_COLOR` is set (no-color.org).
    func enabled(terminal: Bool, environment: [String: String]) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto:
            terminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        }
    }
}

/// The colors of an output.
///
/// Without color a text stays unchanged.
struct Style: Sendable {
    /// A Boolean value that indicates whether color is used.
    var enabled: Bool

    /// The meaning of a text, which determines its color.
    enum TextRole: String, Sendable {
        /// A heading.
        case heading = "1"
        /// Less important text.
        case dim = "2"
        /// A success.
        case good = "32"
        /// A warning.
        case warning = "33"
        /// An error.
        case bad = "31"
        /// A name that the user can type.
        case name = "36"
    }

    /// Returns the text in the color of its meaning, or unchanged for nil.
    func paint(_ text: String, _ role: TextRole?) -> String {
        guard enabled, let role, !text.isEmpty else { return text }
        return "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m"
    }

    /// Returns the text as a heading.
    func heading(_ text: String) -> String { paint(text, .heading) }
    /// Returns the text as a name that the user can type.
    func name(_ text: String) -> String { paint(text, .name) }
}

/// A table of text, aligned by display width.
struct TextTable {
    /// The alignment of a column.
    enum Alignment { case left, right }

    private let titles: [String]
    private let alignments: [Alignment]
    private var rows: [[(text: String, role: Style.TextRole?)]] = []

    /// Creates a table with the given columns.
    init(_ columns: [(title: String, alignment: Alignment)]) {
        titles = columns.map(\.title)
        alignments = columns.map(\.alignment)
    }

    /// Adds a row with one text per column, without control characters, and the meanings of the first of them.
    mutating func add(_ texts: [String], _ roles: [Style.TextRole?] = []) {
        precondition(texts.count == titles.count)
        rows.append(texts.enumerated().map { ($1, $0 < roles.count ? roles[$0] : nil) })
    }

    /// Returns the lines, beginning with the titles.
    ///
    /// A column is as wide as its widest cell.
    func lines(style: Style) -> [String] {
        var widths = titles.map(DisplayWidth.width)
        for row in rows {
            for (index, cell) in row.enumerated() {
                widths[index] = max(widths[index], DisplayWidth.width(of: cell.text))
            }
        }
        let heading = titles.map { (text: $0, role: Style.TextRole?.some(.heading)) }
        return ([heading] + rows).map { line($0, widths: widths, style: style) }
    }

    private func line(_ cells: [(text: String, role: Style.TextRole?)], widths: [Int], style: Style) -> String {
        var parts: [String] = []
        for (index, cell) in cells.enumerated() {
            let last = index == cells.count - 1
            let right = alignments[index] == .right
            let text = last && !right ? cell.text : DisplayWidth.pad(cell.text, to: widths[index], right: right)
            parts.append(style.paint(text, cell.role))
        }
        return trimmed(parts.joined(separator: "  "))
    }

    private func trimmed(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}

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

extension Console {
    /// Returns a Boolean value that indicates whether the locale of a terminal has UTF-8.
    static func isUTF8(_ environment: [String: String]) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.filter { !$0.isEmpty }
        let name = names.first?.uppercased() ?? ""
        return name.contains("UTF-8") || name.contains("UTF8")
    }
}
