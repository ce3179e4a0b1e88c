internal import ByteStorage
internal import RouteTools
internal import StrictJSON

/// A printer of records: for people, as JSON lines, as CSV, or in a format.
struct RecordPrinter: ~Copyable {
    /// The output format.
    enum Mode {
        case readable
        case json
        case csv
        case format(FormatTokens)
    }

    private let mode: Mode
    private let out: Channel
    private let view: DecisionView
    private let isLocal: Bool
    private var line = OutputArena(chunkBytes: 1 << 16)

    /// Creates a printer for a channel.
    ///
    /// - Parameter local: A Boolean value that indicates whether times are in the local time zone.
    init(_ mode: Mode, on out: Channel, local: Bool = false) {
        self.mode = mode
        self.out = out
        view = DecisionView(style: out.style)
        isLocal = local
    }

    /// Prints the line before the records, if the format has one.
    func printHeader() {
        if case .csv = mode { out.line(CSVText.columns) }
    }

    /// Prints a record.
    ///
    /// - Parameter decision: The members of the record's value.
    mutating func print(_ record: ScannedRecord, _ decision: inout DecisionTape) {
        line.reset()
        line.begin()
        switch mode {
        case .readable: appendReadable(record, &decision)
        case .json:
            Self.appendEnvelope(record, &decision, to: &line)
            line.append("\n")
        case .csv: CSVText.append(record, &decision, local: isLocal, escaped: out.isTerminal, to: &line)
        case .format(let tokens): tokens.append(record, &decision, escaped: out.isTerminal, to: &line)
        }
        let bytes = line.finish()
        if case .json = mode, OutputArena.mayControlTerminal(bytes) {
            out.write(TerminalControl.escaped(json: bytes.string))
        } else {
            out.write(bytes.buffer)
        }
    }

    // MARK: Text

    private mutating func appendReadable(_ record: ScannedRecord, _ decision: inout DecisionTape) {
        let style = out.style
        let isLocal = isLocal
        line.paint(.dim, style) { line in
            if record.timestamp < 0 {
                line.append("no time")
            } else {
                Timestamps.append(record.timestamp, local: isLocal, to: &line)
            }
            line.append("  ")
            line.append(text: record.topic)
            line.append("-")
            line.append(decimal: Int64(record.partition))
            line.append("-")
            line.append(decimal: record.offset)
        }
        line.append("  ")
        line.paint(.name, style) { $0.append(visible: record.key ?? ByteView("no key" as StaticString)) }
        if record.isDeadLetter { return appendDeadLetter(record) }
        guard decision.member("outcome") >= 0 else {
            line.append("\n    ")
            if let value = record.value {
                line.append(visible: value)
            } else {
                line.paint(.dim, style) { $0.append("null") }
            }
            line.append("\n")
            return
        }
        line.append("  ")
        view.appendOutcome(&decision, to: &line)
        if let route = decision.string("route") {
            line.append("  ")
            line.append(visible: route)
        }
        if let superseded = decision.string("supersedes") {
            line.append("  corrects ")
            line.append(visible: superseded)
        }
        line.append("\n")
        appendIndented { view, line in view.appendSummary(&decision, to: &line) }
        view.appendData(&decision, indent: "      ", .dim, to: &line)
    }

    /// Appends an indented line, or nothing if a function appends nothing.
    private mutating func appendIndented(_ body: (DecisionView, inout OutputArena) -> Void) {
        let before = line.recordBytes
        line.append("    ")
        let start = line.recordBytes
        body(view, &line)
        if line.recordBytes == start { line.truncateRecord(to: before) } else { line.append("\n") }
    }

    private mutating func appendDeadLetter(_ record: ScannedRecord) {
        line.append("  ")
        line.paint(.bad, out.style) { $0.append(visible: record.header("dlq.reason") ?? .empty) }
        if let stage = record.header("dlq.stage") {
            line.append(" (")
            line.append(visible: stage)
            line.append(")")
        }
        line.append("\n")
        appendIndented { _, line in
            var separator: StaticString = ""
            if let detail = record.header("dlq.detail") {
                line.append(visible: detail)
                separator = ", "
            }
            if let pointer = record.header("dlq.pointer") {
                line.append(separator)
                line.append("at ")
                line.append(visible: pointer)
                separator = ", "
            }
            guard let topic = record.header("dlq.source.topic"),
                let partition = record.header("dlq.source.partition"), let offset = record.header("dlq.source.offset")
            else { return }
            line.append(separator)
            line.append("from ")
            line.append(visible: topic)
            line.append("-")
            line.append(visible: partition)
            line.append("-")
            line.append(visible: offset)
            guard let item = record.header("dlq.item") else { return }
            line.append(".")
            line.append(visible: item)
        }
    }

    // MARK: JSON

    /// Appends a record in the form `{"topic","partition","offset","timestamp","key","headers","value"}`.
    ///
    /// The name of a member whose bytes are not UTF-8 has the suffix `_base64`.
    static func appendEnvelope(
        _ record: ScannedRecord, _ decision: inout DecisionTape, to line: inout OutputArena
    ) {
        line.append("{\"topic\":\"")
        line.append(text: record.topic)
        line.append("\",\"partition\":")
        line.append(decimal: Int64(record.partition))
        line.append(",\"offset\":")
        line.append(decimal: record.offset)
        line.append(",\"timestamp\":")
        if record.timestamp < 0 { line.append("null") } else { line.append(decimal: record.timestamp) }
        append(",", ByteView("key" as StaticString), record.key, to: &line)
        if !record.headers.isEmpty {
            line.append(",\"headers\":{")
            for (index, header) in record.headers.enumerated() {
                append(index == 0 ? "" : ",", header.name, header.value, to: &line)
            }
            line.append("}")
        }
        if let value = record.value, decision.read() {
            line.append(",\"value\":")
            if value.firstIndex(of: 0x0A) == nil, value.firstIndex(of: 0x0D) == nil {
                line.append(value)
            } else if let json = try? JSONValue.parse(value.array, maxDepth: DecisionTape.depth) {
                line.append(text: json.text)
            } else {
                line.append("null")
            }
        } else {
            append(",", ByteView("value" as StaticString), record.value, to: &line)
        }
        line.append("}")
    }

    private static func append(
        _ separator: StaticString, _ name: ByteView, _ bytes: ByteView?, to line: inout OutputArena
    ) {
        line.append(separator)
        line.append("\"")
        if OutputArena.isPlain(name) {
            line.appendEscaped(name)
        } else {
            var name = name.string
            name.withUTF8 { line.appendEscaped(ByteView($0)) }
        }
        guard let bytes else { return line.append("\":null") }
        if OutputArena.isPlain(bytes) || String(validating: bytes.buffer, as: UTF8.self) != nil {
            line.append("\":")
            line.appendString(bytes)
        } else {
            line.append("_base64\":\"")
            line.append(text: Platform.base64(bytes.array))
            line.append("\"")
        }
    }
}

/// Output of comma-separated values (RFC 4180) with a line feed at the end of each line.
///
/// A cell that a spreadsheet would read as a formula begins with an apostrophe.
enum CSVText {
    /// The names of the columns of a record.
    static let columns =
        "time,topic,partition,offset,device,outcome,route,reason,detail,table,decision"
        + ",event,campaign,application,user"

    /// Appends the line of a record.
    ///
    /// - Parameters:
    ///   - local: A Boolean value that indicates whether the time is in the local time zone.
    ///   - escaped: A Boolean value that indicates whether control characters become visible escapes.
    ///   - mask: The replacement of what identifies people, or nil for none.
    static func append(
        _ record: ScannedRecord, _ decision: inout DecisionTape, local: Bool, escaped: Bool, mask: RecordMask? = nil,
        to line: inout OutputArena
    ) {
        if record.timestamp >= 0 { Timestamps.append(record.timestamp, local: local, to: &line) }
        line.append(",")
        line.append(text: record.topic)
        line.append(",")
        line.append(decimal: Int64(record.partition))
        line.append(",")
        line.append(decimal: record.offset)
        let isDeadLetter = record.isDeadLetter
        let cells: [ByteView?] = [
            decision.device(key: record.key), isDeadLetter ? nil : decision.string("outcome"),
            isDeadLetter ? nil : decision.string("route"),
            isDeadLetter ? record.header("dlq.reason") : decision.string("reason"),
            isDeadLetter ? record.header("dlq.detail") : decision.string("detail"),
            isDeadLetter ? nil : decision.string("table"), isDeadLetter ? nil : decision.string("decision"),
            isDeadLetter ? record.header("dlq.event") : decision.string("event"), decision.campaign,
            decision.application, decision.string("user"),
        ]
        for (index, cell) in cells.enumerated() {
            line.append(",")
            // The ids of the device, the event, and the user, and the detail, are values of the record.
            guard let mask, mask.isOn, [0, 4, 7, 10].contains(index) else {
                append(cell ?? .empty, escaped: escaped, to: &line)
                continue
            }
            if index != 4, let cell { line.append(text: mask.id(cell.string)) }
        }
        line.append("\n")
    }

    /// The characters with which a formula begins, and their full-width forms.
    private static let formulaStarts: [StaticString] = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]

    /// Returns a Boolean value that indicates whether a spreadsheet can read a cell as a formula.
    ///
    /// Some spreadsheets remove spaces at the start.
    private static func isFormula(_ cell: ByteView) -> Bool {
        let start = cell.buffer.drop { $0 == 0x20 }
        return formulaStarts.contains { text in text.withUTF8Buffer { start.starts(with: $0) } }
    }

    /// Appends a cell.
    static func append(_ cell: ByteView, escaped: Bool = false, to line: inout OutputArena) {
        if escaped, !OutputArena.isPlain(cell) {
            var text = Escaping.visible(cell.buffer)
            text.withUTF8 { append(ByteView($0), to: &line) }
            return
        }
        let isFormula = isFormula(cell)
        let isQuoted = cell.buffer.contains { ByteView("\",\r\n" as StaticString).firstIndex(of: $0) != nil }
        if isQuoted { line.append("\"") }
        if isFormula { line.append("'") }
        if isQuoted {
            for byte in cell.buffer {
                if byte == UInt8(ascii: "\"") { line.append("\"") }
                line.append(byte: byte)
            }
            line.append("\"")
        } else {
            line.append(cell)
        }
    }
}

/// A format in the style of kcat: `%t %p %o %k %K %s %S %T %h %%`, `\n \t`, and `%{member}` of a decision or a header.
struct FormatTokens: Equatable {
    /// A part of a format.
    enum Part: Equatable {
        case text([UInt8])
        case topic, partition, offset, key, keyLength, value, valueLength, timestamp, headers
        case member(MemberPath)
    }

    /// The name of a member or a header, or the path of a member, with a period before each further step.
    struct MemberPath: Equatable {
        /// The whole name.
        let name: [UInt8]
        /// The steps of the path.
        let steps: [[UInt8]]

        init(_ text: Substring) {
            name = Array(text.utf8)
            steps = text.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        }
    }

    /// The parts, in order.
    let parts: [Part]

    /// Parses a format.
    ///
    /// An unknown token ends with exit code 64.
    init(_ format: String) throws(CommandFailure) {
        var parts: [Part] = []
        var text: [UInt8] = []
        var rest = Substring(format)
        while let character = rest.popFirst() {
            switch character {
            case "%":
                guard let part = try Self.token(&rest) else {
                    text.append(UInt8(ascii: "%"))
                    continue
                }
                if !text.isEmpty { parts.append(.text(text)) }
                text = []
                parts.append(part)
            case "\\": text += try Self.escape(&rest)
            default: text += Array(String(character).utf8)
            }
        }
        if !text.isEmpty { parts.append(.text(text)) }
        self.parts = parts
    }

    /// Parses the text after a percent sign.
    ///
    /// Returns nil for a second percent sign.
    private static func token(_ rest: inout Substring) throws(CommandFailure) -> Part? {
        switch rest.popFirst() {
        case "%": return nil
        case "t": return .topic
        case "p": return .partition
        case "o": return .offset
        case "k": return .key
        case "K": return .keyLength
        case "s": return .value
        case "S": return .valueLength
        case "T": return .timestamp
        case "h": return .headers
        case "{":
            guard let end = rest.firstIndex(of: "}"), end != rest.startIndex else { throw unknown("%{") }
            defer { rest = rest[rest.index(after: end)...] }
            return .member(MemberPath(rest[..<end]))
        case let other: throw unknown("%" + (other.map(String.init) ?? ""))
        }
    }

    private static func escape(_ rest: inout Substring) throws(CommandFailure) -> [UInt8] {
        switch rest.popFirst() {
        case "n": return [0x0A]
        case "t": return [0x09]
        case "r": return [0x0D]
        case "0": return [0x00]
        case "\\": return [UInt8(ascii: "\\")]
        case "x":
            guard let byte = UInt8(rest.prefix(2), radix: 16), rest.count >= 2 else { throw unknown("\\x") }
            rest = rest.dropFirst(2)
            return [byte]
        case let other: throw unknown("\\" + (other.map(String.init) ?? ""))
        }
    }

    private static func unknown(_ token: String) -> CommandFailure {
        CommandFailure(
            .usage, "`\(Escaping.visible(token))` is not a valid format token",
            advice: "use %t %p %o %k %K %s %S %T %h %% %{member} \\n \\t")
    }

    /// Appends a record in the format.
    ///
    /// - Parameters:
    ///   - decision: The members of the record's value.
    ///   - escaped: A Boolean value that indicates whether control characters become visible escapes.
    func append(
        _ record: ScannedRecord, _ decision: inout DecisionTape, escaped: Bool, to out: inout OutputArena
    ) {
        for part in parts {
            switch part {
            case .text(let text): out.append(text)
            case .topic: out.append(text: record.topic)
            case .partition: out.append(decimal: Int64(record.partition))
            case .offset: out.append(decimal: record.offset)
            case .key: Self.append(record.key ?? .empty, escaped, to: &out)
            case .keyLength: out.append(decimal: Int64(record.key?.count ?? -1))
            case .value: Self.append(record.value ?? .empty, escaped, to: &out)
            case .valueLength: out.append(decimal: Int64(record.value?.count ?? -1))
            case .timestamp: out.append(decimal: record.timestamp)
            case .headers: Self.appendHeaders(record, escaped, to: &out)
            case .member(let path): Self.append(path, record, &decision, escaped, to: &out)
            }
        }
    }

    private static func append(_ bytes: ByteView, _ escaped: Bool, to out: inout OutputArena) {
        if escaped { out.append(visible: bytes) } else { out.append(bytes) }
    }

    private static func appendHeaders(_ record: ScannedRecord, _ escaped: Bool, to out: inout OutputArena) {
        for (index, header) in record.headers.enumerated() {
            if index > 0 { out.append(",") }
            append(header.name, escaped, to: &out)
            out.append("=")
            append(header.value ?? ByteView("NULL" as StaticString), escaped, to: &out)
        }
    }

    /// Appends the header of a dead letter, else the member with the name, else the member at the path, else the
    /// header.
    private static func append(
        _ path: MemberPath, _ record: ScannedRecord, _ decision: inout DecisionTape, _ escaped: Bool,
        to out: inout OutputArena
    ) {
        let header = record.headers.isEmpty ? nil : path.name.withUnsafeBufferPointer { record.header(ByteView($0)) }
        if let header, record.isDeadLetter { return append(header, escaped, to: &out) }
        var node = decision.node([path.name])
        if node < 0, path.steps.count > 1 { node = decision.node(path.steps) }
        if node >= 0 {
            decision.withText(of: node) { append($0, escaped, to: &out) }
        } else if let header {
            append(header, escaped, to: &out)
        }
    }
}
