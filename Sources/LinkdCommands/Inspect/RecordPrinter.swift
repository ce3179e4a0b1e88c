internal import ByteStorage
internal import KafkaClient
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
    /// - Parameter local: A Boolean value that indicates whether times are those of the local time zone.
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
            line.append(text: Base64.text(bytes.array))
            line.append("\"")
        }
    }
}
