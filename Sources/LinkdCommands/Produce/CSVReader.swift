internal import ByteStorage
internal import RouteTools

/// A reader of comma-separated values (RFC 4180): quotes, doubled quotes, and line ends inside quotes.
///
/// The separator can be another character than the comma. If a quote is not closed in its row, its line is lost, and
/// reading goes on at the next line that is a row. If a quoted text of several lines contains a line like a row, none
/// of its lines is sent. A text in quotes is never read as rows, because its author may not be the author of the file.
struct CSVReader: ~Copyable {
    /// A record of the file.
    struct Record {
        var cells: [[UInt8]] = []
        /// The line on which the record begins, from 1.
        var line: Int
        /// The error in the record, or nil.
        var fault: String?
        /// The bytes of the record without the line end, which are valid until the next record is read.
        var raw = ByteView.empty

        /// A Boolean value that indicates whether the record is a line without cells.
        var isBlank: Bool { fault == nil && cells.allSatisfy(\.isEmpty) }
    }

    /// The limit of cells in a record.
    private static let cellLimit = 10_000
    /// The size limit of a record of several lines, in bytes, which limits what is read again after a quote.
    static let spanLimit = 1 << 20

    private let source: ByteSource
    private let limit: Int
    private let separator: UInt8
    /// The columns, by which a row is recognized, or nil while the header is read.
    var columns: EventColumns?
    private var line: Int
    /// The lines that were read ahead because of a quote, each with a line feed, and the position in them.
    private var ahead: [UInt8] = []
    private var position = 0
    /// The line of the quote after which no row was read yet, or nil.
    private var quoteLine: Int?
    /// The lines of a record that is refused as a whole, because it is no row or may be several rows.
    private var refused: ClosedRange<Int>?
    /// The memory of the bytes of a record that was read ahead.
    private var arena = OutputArena(chunkBytes: 1 << 12)

    /// Creates a reader of records with at most `limit` bytes, from a line with this number.
    init(_ source: ByteSource, limit: Int, separator: UInt8 = UInt8(ascii: ","), line: Int = 1) {
        self.source = source
        self.limit = limit
        self.separator = separator
        self.line = line
    }

    /// Returns the next record, or nil at the end and for a last record that is cut.
    mutating func next() -> Record? {
        var record = Record(line: line)
        if position == ahead.count {
            ahead.removeAll(keepingCapacity: ahead.count <= 2 * Self.spanLimit)
            position = 0
            refused = nil
            guard let first = source.line(limit: limit) else { return nil }
            var isOpen = false
            read(first.buffer, into: &record, &isOpen)
            guard isOpen else {
                line += 1
                record.raw = first
                return checked(record)
            }
            append(first)
            record = Record(line: line)
        }
        return readAhead(record)
    }

    /// Reads a record from the lines that were read ahead, and from more lines while a quote is open.
    private mutating func readAhead(_ start: Record) -> Record? {
        if let refused, refused.contains(line) { return refusedLine() }
        var record = start
        var isOpen = false
        var ends: [Int] = []
        var cursor = position
        repeat {
            if cursor == ahead.count {
                guard cursor - position <= Self.spanLimit else {
                    record.fault = "a quote is not closed within \(Self.spanLimit) bytes"
                    break
                }
                guard let more = source.line(limit: limit) else {
                    if source.isCut { return nil }
                    record.fault = "a quote is not closed"
                    break
                }
                append(more)
            }
            let end = self.end(from: cursor)
            ahead.withUnsafeBufferPointer {
                read(UnsafeBufferPointer(rebasing: $0[cursor..<end]), into: &record, &isOpen)
            }
            ends.append(end)
            cursor = end + 1
        } while isOpen && record.fault == nil
        if record.fault == nil, ends.count > 1, let columns {
            let isWhole = record.cells.count == columns.count
            if isWhole && !columns.canSpanLines(record.cells) || hasTakenRows(record, ends, columns) {
                refused = line...(line + ends.count - 1)
                return refusedLine()
            }
            if !isWhole { record.fault = "a quote is not closed in its row" }
        }
        // Only the first line of a faulty record is lost. The others are read again.
        if record.fault != nil, ends.count > 1 {
            if columns != nil { quoteLine = quoteLine ?? line }
            ends.removeLast(ends.count - 1)
        }
        record.raw = take(through: ends[ends.count - 1], lines: ends.count)
        return checked(record)
    }

    /// Returns the next of the refused lines as a record with an error.
    private mutating func refusedLine() -> Record? {
        guard let refused else { return nil }
        var record = Record(line: line)
        record.fault =
            "the quoted text of lines \(refused.lowerBound) to \(refused.upperBound) holds a line like a row; correct "
            + "the quotes, or write the text on one line"
        record.raw = take(through: end(from: position), lines: 1)
        return record
    }

    /// Returns the bytes up to a line feed, and continues after them.
    private mutating func take(through end: Int, lines: Int) -> ByteView {
        arena.reset()
        arena.begin()
        ahead.withUnsafeBufferPointer { bytes in
            arena.append(ByteView(UnsafeBufferPointer(rebasing: bytes[position..<end])))
        }
        position = end + 1
        line += lines
        if position > Self.spanLimit {
            ahead.removeFirst(position)
            position = 0
        }
        return arena.finish()
    }

    private mutating func append(_ line: ByteView) {
        ahead.append(contentsOf: line.buffer)
        ahead.append(UInt8(ascii: "\n"))
    }

    /// Returns the index of the line feed after a position in the lines that were read ahead.
    private func end(from cursor: Int) -> Int {
        ahead.withUnsafeBufferPointer { bytes in
            let rest = ByteView(UnsafeBufferPointer(rebasing: bytes[cursor...]))
            return Platform.firstIndex(of: UInt8(ascii: "\n"), in: rest).map { cursor + $0 } ?? bytes.count - 1
        }
    }

    /// Returns a Boolean value that indicates whether the quoted cells of a record of several lines contain rows.
    private func hasTakenRows(_ record: Record, _ ends: [Int], _ columns: EventColumns) -> Bool {
        guard columns.hasLinesInText(record.cells) else { return false }
        return zip(ends, ends.dropFirst()).contains { last, end in
            var inner = Record(line: 0)
            var isOpen = false
            ahead.withUnsafeBufferPointer {
                read(UnsafeBufferPointer(rebasing: $0[(last + 1)..<end]), into: &inner, &isOpen)
            }
            return !isOpen && inner.fault == nil && columns.isRow(inner.cells)
        }
    }

    /// Returns a record, with an error if no row has been found yet after a quote that was not closed.
    private mutating func checked(_ record: Record) -> Record {
        guard let quoteLine, let columns, !record.isBlank, record.line > quoteLine else { return record }
        guard record.fault != nil || !columns.isRow(record.cells) else {
            self.quoteLine = nil
            return record
        }
        var record = record
        record.fault = record.fault ?? "no row begins here, after the quote of line \(quoteLine)"
        return record
    }

    /// Reads a line into the cells of a record, and states whether a quote is open at its end.
    ///
    /// A faulty record ends with the line.
    private func read(_ line: UnsafeBufferPointer<UInt8>, into record: inout Record, _ isOpen: inout Bool) {
        let quote = UInt8(ascii: "\"")
        guard line.count <= limit else {
            record.fault = "the record has more than \(limit) bytes"
            isOpen = false
            return
        }
        let end = line.last == UInt8(ascii: "\r") ? line.count - 1 : line.count
        var index = 0
        while true {
            if !isOpen, record.cells.count == Self.cellLimit {
                record.fault = "the record has more than \(Self.cellLimit) cells"
                return
            }
            if isOpen || (index < end && line[index] == quote) {
                var cell = isOpen ? record.cells.removeLast() : []
                index += isOpen ? 0 : 1
                isOpen = !Self.readQuoted(line, &index, into: &cell)
                record.cells.append(cell)
                if isOpen { return }
                if index < end, line[index] != separator {
                    record.fault = "a closing quote is followed by other text"
                    return
                }
            } else {
                let start = index
                while index < end, line[index] != separator, line[index] != quote { index += 1 }
                if index < end, line[index] == quote {
                    record.fault = "a cell without quotes contains a quote"
                    return
                }
                record.cells.append(Array(line[start..<index]))
            }
            guard index < end else { return }
            index += 1
        }
    }

    /// Reads a quoted cell up to its closing quote, and returns false if the line ends before.
    private static func readQuoted(
        _ line: UnsafeBufferPointer<UInt8>, _ index: inout Int, into cell: inout [UInt8]
    ) -> Bool {
        let quote = UInt8(ascii: "\"")
        while index < line.count {
            let start = index
            while index < line.count, line[index] != quote { index += 1 }
            cell += line[start..<index]
            guard index < line.count else { break }
            index += 1
            guard index < line.count, line[index] == quote else { return true }
            cell.append(quote)
            index += 1
        }
        cell.append(UInt8(ascii: "\n"))
        return false
    }
}

/// The character between the cells of a CSV file.
struct ColumnSeparator: Equatable {
    /// The character, in ASCII.
    let byte: UInt8

    /// The separators that are detected, with their names.
    private static let named: [(name: String, byte: UInt8)] = [
        ("comma", UInt8(ascii: ",")), ("semicolon", UInt8(ascii: ";")), ("tab", UInt8(ascii: "\t")),
        ("pipe", UInt8(ascii: "|")),
    ]

    /// The separator of RFC 4180.
    static let comma = ColumnSeparator(byte: UInt8(ascii: ","))

    /// The values of `--separator` for help texts.
    static let placeholder = named.map(\.name).joined(separator: "|") + "|CHAR"

    private init(byte: UInt8) { self.byte = byte }

    /// Creates the separator of a flag: a name, or a character of ASCII that is no letter, digit, or quote.
    init?(_ text: String) {
        if let known = Self.named.first(where: { $0.name == text }) {
            byte = known.byte
            return
        }
        guard let first = text.utf8.first, text.utf8.count == 1, (0x20...0x7E).contains(first) || first == 0x09,
            !Character(UnicodeScalar(first)).isLetter, !Character(UnicodeScalar(first)).isNumber,
            first != UInt8(ascii: "\"")
        else { return nil }
        byte = first
    }

    /// The name in messages.
    var name: String {
        Self.named.first { $0.byte == byte }?.name ?? String(decoding: [byte], as: UTF8.self)
    }

    /// A line and the separator by which it has several cells.
    struct Split {
        let separator: ColumnSeparator
        /// The cells, at least two.
        let cells: [[UInt8]]
    }

    /// Returns the cells of a line by each of the separators by which it has several.
    static func splits(of line: ByteView) -> [Split] {
        named.compactMap { split(line, by: ColumnSeparator(byte: $0.byte)) }
    }

    /// Returns the cells of a line by a separator, or nil if it has only one cell or is not valid CSV.
    static func split(_ line: ByteView, by separator: ColumnSeparator) -> Split? {
        guard line.firstIndex(of: separator.byte) != nil else { return nil }
        var reader = CSVReader(
            ByteSource(contents: line.array, name: ""), limit: line.count + 1, separator: separator.byte)
        guard let record = reader.next(), record.fault == nil, record.cells.count > 1 else { return nil }
        return Split(separator: separator, cells: record.cells)
    }
}

/// The separator of a CSV file and its header, which are determined from its first lines.
struct TableLayout {
    /// The number of lines that must agree for a file without a header.
    private static let sampleLines = 16

    /// The separator, or nil for a file of another format.
    private(set) var separator: ColumnSeparator?
    /// The line `sep=` of spreadsheets, which names the separator, or nil.
    private(set) var separatorLine: [UInt8]?
    /// The number of blank lines before the header, which are consumed.
    private(set) var blankLines = 0
    /// The number of cells in the first row of a file without a header.
    private(set) var columnCount = 0

    /// Determines the layout, and consumes blank lines and a line `sep=`.
    ///
    /// - Parameters:
    ///   - source: The input at its start.
    ///   - given: The separator that the user has selected, or nil.
    ///   - isTable: A Boolean value that indicates whether the user has selected CSV.
    ///   - map: The names of columns.
    init(
        of source: ByteSource, given: ColumnSeparator?, isTable: Bool, map: ColumnMap
    ) throws(CommandFailure) {
        separator = given
        blankLines = source.skipBlankLines()
        var first = Self.withoutReturn(source.firstLine())
        if let named = Self.separator(inLine: first) {
            separatorLine = first.array
            _ = source.line(limit: first.count)
            blankLines += source.skipBlankLines()
            first = Self.withoutReturn(source.firstLine())
            separator = separator ?? named
        }
        if map.hasNoHeader {
            let greatest = map.numbers.keys.max() ?? 1
            let splits = ColumnSeparator.splits(of: first).filter { separator == nil || $0.separator == separator }
            let split = splits.first { $0.cells.count >= greatest }
            separator = separator ?? split?.separator ?? .comma
            columnCount = split?.cells.count ?? 1
            return
        }
        guard separator == nil else { return }
        separator = try Self.separator(ofHeader: first, source, isTable: isTable || map.isGiven, map)
    }

    /// Returns the separator that a line `sep=;` names, or nil for another line.
    static func separator(inLine line: ByteView) -> ColumnSeparator? {
        guard line.count == 5, line.slice(0, 4).string.lowercased() == "sep=" else { return nil }
        return ColumnSeparator(line.slice(4, 5).string)
    }

    /// Returns the separator of a header, or nil if the line is a value of another format.
    private static func separator(
        ofHeader line: ByteView, _ source: ByteSource, isTable: Bool, _ map: ColumnMap
    ) throws(CommandFailure) -> ColumnSeparator? {
        let splits = ColumnSeparator.splits(of: line)
        func known(_ split: ColumnSeparator.Split) -> Int {
            split.cells.count { map.column($0)?.isEmpty == false }
        }
        let whole = splits.filter { split in
            known(split) > 0 && split.cells.allSatisfy { map.column($0) != nil }
        }
        if whole.count > 1 {
            throw CommandFailure(
                .badData,
                "\(Escaping.visible(source.name)): the header can be separated by "
                    + whole.map(\.separator.name).joined(separator: " or by "),
                advice: "select one with --separator")
        }
        if let only = whole.first { return only.separator }
        if map.column(line.array)?.isEmpty == false { return .comma }
        // Most of the cells of a header are known, and none is a link.
        let headers = splits.filter { known($0) > 0 && !$0.cells.contains(where: EventColumns.isLink) }
        if let best = headers.max(by: { (known($0), $0.cells.count) < (known($1), $1.cells.count) }) {
            return best.separator
        }
        let probable = splits.max { $0.cells.count < $1.cells.count }
        if isTable || looksLikeHeader(line) { return probable?.separator ?? .comma }
        if let split = splits.first(where: { areRows(source.lookahead(), $0) }) { return split.separator }
        return nil
    }

    /// Returns a Boolean value that indicates whether a line has a separator before any colon or bracket, or begins
    /// with a quote.
    ///
    /// JSON and links do not.
    private static func looksLikeHeader(_ line: ByteView) -> Bool {
        if line.count > 0, line[0] == UInt8(ascii: "\"") { return true }
        for byte in line.buffer {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: ":"): return false
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|"): return true
            default: continue
            }
        }
        return false
    }

    /// Returns a Boolean value that indicates whether the first lines are rows of the same form as the first: with as
    /// many cells, and the only link in the same cell.
    ///
    /// A link can contain any separator except a tab, so one line is not enough.
    private static func areRows(_ bytes: ByteView, _ first: ColumnSeparator.Split) -> Bool {
        func links(_ split: ColumnSeparator.Split) -> [Int] {
            split.cells.indices.filter { EventColumns.isLink(split.cells[$0]) }
        }
        guard links(first).count == 1 else { return false }
        var rest = bytes
        var count = 0
        while count < sampleLines, let end = Platform.firstIndex(of: UInt8(ascii: "\n"), in: rest) {
            let line = withoutReturn(rest.slice(0, end))
            rest = rest.dropFirst(end + 1)
            if line.isEmpty { continue }
            guard let split = ColumnSeparator.split(line, by: first.separator), links(split) == links(first),
                split.cells.count == first.cells.count
            else { return false }
            count += 1
        }
        return count > 1 || first.separator.byte == UInt8(ascii: "\t")
    }

    static func withoutReturn(_ line: ByteView) -> ByteView {
        line.count > 0 && line[line.count - 1] == UInt8(ascii: "\r") ? line.slice(0, line.count - 1) : line
    }

    /// Returns the failure for a file whose first line is a row.
    static func failure(_ name: String, cells: [[UInt8]]) -> CommandFailure {
        let links = cells.indices.filter { EventColumns.isLink(cells[$0]) }
        let place = links.map { "\($0 + 1)" }.joined(separator: ", ")
        let other = cells.indices.first { !links.contains($0) }
        var flags = "--map \((links.first ?? 0) + 1)=link"
        if let other { flags += " --map \(other + 1)=device.id" }
        return CommandFailure(
            .badData,
            "\(Escaping.visible(name)): the first line is a row, not a header, with a link in column \(place)",
            advice: "name the columns by their numbers, such as \(flags), or pass --format url if each line is a link")
    }
}
