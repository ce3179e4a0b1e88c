/// A reader of comma-separated values (RFC 4180): quotes, doubled quotes, and line ends inside quotes.
///
/// The separator can be another character than the comma.
struct CSVReader {
    /// A record of the file.
    struct Record: Equatable {
        /// The cells.
        var cells: [[UInt8]]
        /// The line on which the record begins, from 1.
        var line: Int
        /// The error in the record, or nil.
        var fault: String?
    }

    /// The limit of cells in a record.
    private static let cellLimit = 10_000

    private let source: ByteSource
    private let limit: Int
    private let separator: UInt8
    private var line = 1

    /// Creates a reader of records with at most `limit` bytes.
    init(_ source: ByteSource, limit: Int, separator: UInt8 = UInt8(ascii: ",")) {
        self.source = source
        self.limit = limit
        self.separator = separator
    }

    /// Returns the next record, or nil at the end and for a last record that is cut.
    mutating func next() -> Record? {
        guard source.peek() != nil else { return nil }
        var record = Record(cells: [[]], line: line)
        var bytes = 0
        while let byte = source.next() {
            bytes += 1
            if bytes > limit { record.fault = record.fault ?? "the record has more than \(limit) bytes" }
            switch byte {
            case separator:
                if record.cells.count == Self.cellLimit {
                    record.fault = record.fault ?? "the record has more than \(Self.cellLimit) cells"
                }
                if record.fault == nil { record.cells.append([]) }
            case UInt8(ascii: "\n"):
                line += 1
                return record
            case UInt8(ascii: "\r") where source.peek() == UInt8(ascii: "\n"): continue
            case UInt8(ascii: "\"") where record.cells[record.cells.count - 1].isEmpty: quoted(&record, &bytes)
            case UInt8(ascii: "\""): record.fault = record.fault ?? "a cell without quotes contains a quote"
            default:
                if record.fault == nil { record.cells[record.cells.count - 1].append(byte) }
            }
        }
        return source.isCut ? nil : record
    }

    /// Reads the rest of a quoted cell.
    ///
    /// Only a separator, a line end, or the end of the input can follow it.
    private mutating func quoted(_ record: inout Record, _ bytes: inout Int) {
        while let byte = source.next() {
            bytes += 1
            if bytes > limit { record.fault = record.fault ?? "the record has more than \(limit) bytes" }
            if byte == UInt8(ascii: "\n") { line += 1 }
            if byte == UInt8(ascii: "\"") {
                guard source.peek() == UInt8(ascii: "\"") else {
                    switch source.peek() {
                    case nil, separator, UInt8(ascii: "\n"), UInt8(ascii: "\r"): break
                    default: record.fault = record.fault ?? "a closing quote is followed by other text"
                    }
                    return
                }
                _ = source.next()
            }
            if record.fault == nil { record.cells[record.cells.count - 1].append(byte) }
        }
        record.fault = record.fault ?? "a quote is not closed"
    }
}
