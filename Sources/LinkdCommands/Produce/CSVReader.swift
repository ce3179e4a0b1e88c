/// Reads comma-separated values as RFC 4180 writes them: quotes, doubled quotes, line ends inside quotes.
struct CSVReader {
    /// One record of the file.
    struct Record: Equatable {
        /// The cells.
        var cells: [[UInt8]]
        /// The line on which it begins, from 1.
        var line: Int
        /// Why it cannot be read, or nil.
        var fault: String?
    }

    private let source: ByteSource
    private let limit: Int
    private var line = 1

    /// Reads from the source; a record may have at most `limit` bytes.
    init(_ source: ByteSource, limit: Int) {
        self.source = source
        self.limit = limit
        // A byte order mark, which spreadsheets write before UTF-8, is no part of the first name.
        if source.peek() == 0xEF {
            for byte in [0xEF, 0xBB, 0xBF] as [UInt8] where source.peek() == byte { _ = source.next() }
        }
    }

    /// The next record, or nil at the end.
    mutating func next() -> Record? {
        guard source.peek() != nil else { return nil }
        var record = Record(cells: [[]], line: line)
        var bytes = 0
        while let byte = source.next() {
            bytes += 1
            if bytes > limit { record.fault = "longer than \(limit) bytes" }
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                return record
            case UInt8(ascii: "\r") where source.peek() == UInt8(ascii: "\n"): continue
            case UInt8(ascii: ","): record.cells.append([])
            case UInt8(ascii: "\"") where record.cells[record.cells.count - 1].isEmpty: quoted(&record, &bytes)
            case UInt8(ascii: "\""): record.fault = record.fault ?? "a quote inside a cell without quotes"
            default:
                if record.fault == nil { record.cells[record.cells.count - 1].append(byte) }
            }
        }
        return record
    }

    /// The rest of a cell in quotes, and what may follow it: a comma, a line end, or the end.
    private mutating func quoted(_ record: inout Record, _ bytes: inout Int) {
        while let byte = source.next() {
            bytes += 1
            if bytes > limit { record.fault = "longer than \(limit) bytes" }
            if byte == UInt8(ascii: "\n") { line += 1 }
            if byte == UInt8(ascii: "\"") {
                guard source.peek() == UInt8(ascii: "\"") else {
                    switch source.peek() {
                    case nil, UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"): break
                    default: record.fault = record.fault ?? "something behind a closing quote"
                    }
                    return
                }
                _ = source.next()
            }
            if record.fault == nil { record.cells[record.cells.count - 1].append(byte) }
        }
        record.fault = record.fault ?? "a quote that is not closed"
    }
}
