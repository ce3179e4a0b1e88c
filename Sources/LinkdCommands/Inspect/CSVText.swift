internal import ByteStorage
internal import RouteTools

/// Output of comma-separated values (RFC 4180) with a line feed at the end of each line.
///
/// A cell that a spreadsheet would read as a formula begins with an apostrophe.
enum CSVText {
    /// The names of the columns of a record.
    static let columns =
        "time,topic,partition,offset,device,outcome,route,reason,detail,table,decision"
        + ",event,campaign,application"

    /// Appends the line of a record.
    ///
    /// - Parameters:
    ///   - local: A Boolean value that indicates whether the time is that of the local time zone.
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
            decision.string("device") ?? record.key, isDeadLetter ? nil : decision.string("outcome"),
            isDeadLetter ? nil : decision.string("route"),
            isDeadLetter ? record.header("dlq.reason") : decision.string("reason"),
            isDeadLetter ? record.header("dlq.detail") : decision.string("detail"),
            isDeadLetter ? nil : decision.string("table"), isDeadLetter ? nil : decision.string("decision"),
            isDeadLetter ? record.header("dlq.event") : decision.string("event"), decision.campaign,
            decision.application,
        ]
        for (index, cell) in cells.enumerated() {
            line.append(",")
            // The ids of the device and the event, and the detail, are values of the record.
            guard let mask, mask.isOn, [0, 4, 7].contains(index) else {
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
