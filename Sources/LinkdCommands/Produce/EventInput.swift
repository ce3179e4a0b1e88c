internal import ByteStorage
internal import RouteTools

/// The format of an input.
enum InputFormat: String, CaseIterable {
    case auto, jsonl, url, csv
}

/// An entry of an input: a line that is not blank, or a row of a CSV file.
struct EventLine {
    /// The value to send, which is valid until the next entry is read, or the error in the line.
    var value: Result<ByteView, Fault>
    /// The line on which the value begins, from 1.
    var line: Int
    /// The bytes of the line or the row as they are in the input, which are valid as long as the value.
    var raw: ByteView

    /// The error in a line.
    ///
    /// It never contains bytes of the line.
    struct Fault: Error, Equatable {
        /// A description of the error.
        var text: String
    }
}

/// A reader of events from JSON lines, bare URLs, or CSV with a header.
final class EventInput {
    /// The way to split the input into values.
    private enum Mode {
        case lines(InputFormat)
        case raw
        case table(EventColumns)
    }

    /// The size limit of a line, in bytes, which is the largest record that a worker can be configured to read.
    static let limit = 32 << 20

    private let source: ByteSource
    /// A Boolean value that indicates whether a line can be a list of messages.
    private let allowsLists: Bool
    private var mode: Mode
    private var rows: CSVReader
    private var number = 0
    /// The memory of the event of a row.
    private var arena = OutputArena(chunkBytes: 1 << 16)
    /// The lines with the separator and the header of CSV, which a reader of the first entry needs.
    private(set) var preamble: [UInt8] = []
    /// The names of the columns of CSV that are ignored.
    private(set) var ignoredNames: [String] = []

    /// Opens an input.
    ///
    /// The format `auto` is determined from its first line, and a separator that is nil from the header.
    init(
        _ source: ByteSource, format: InputFormat, raw: Bool, separator: ColumnSeparator? = nil, map: ColumnMap
    ) throws(CommandFailure) {
        self.source = source
        allowsLists = map.rows != .devices
        mode = raw ? .raw : .lines(format == .auto && map.rows == .devices ? .jsonl : format)
        rows = CSVReader(source, limit: Self.limit)
        guard !raw else { return }
        try InputEncoding.check(source.firstLine(), of: source.name, for: InputEncoding.produce)
        source.skipByteOrderMark()
        try InputEncoding.checkLineEnds(of: source.firstLine(), in: source.name)
        guard format == .csv || format == .auto else { return }
        let layout = try TableLayout(
            of: source, given: separator, isTable: format == .csv, map: map)
        number = layout.blankLines
        guard let found = layout.separator else { return }
        rows = CSVReader(
            source, limit: Self.limit, separator: found.byte,
            line: layout.blankLines + (layout.separatorLine == nil ? 1 : 2))
        if let line = layout.separatorLine ?? separator.map({ Array("sep=".utf8) + [$0.byte] }) {
            preamble = line + [UInt8(ascii: "\n")]
        }
        try readHeader(map, count: layout.columnCount)
    }

    /// Reads the header of a CSV file.
    ///
    /// - Parameters:
    ///   - map: The names of columns.
    ///   - count: The number of columns of a file without a header.
    private func readHeader(_ map: ColumnMap, count: Int) throws(CommandFailure) {
        guard !map.hasNoHeader else {
            let columns = EventColumns(count: count, map: map)
            rows.columns = columns
            mode = .table(columns)
            return
        }
        guard let header = rows.next() else {
            mode = .lines(.auto)
            return
        }
        if let fault = header.fault {
            throw CommandFailure(
                .badData, "\(Escaping.visible(source.name)): the header is not valid CSV: \(fault)",
                advice: "correct the first line, or select another format with --format")
        }
        if header.cells.contains(where: EventColumns.isLink) {
            throw TableLayout.failure(source.name, cells: header.cells)
        }
        let columns = try EventColumns(header: header.cells, file: source.name, map: map)
        preamble += header.raw.array + [UInt8(ascii: "\n")]
        ignoredNames = columns.ignoredNames
        rows.columns = columns
        mode = .table(columns)
    }

    /// Returns the next entry, or nil at the end.
    func next() -> EventLine? {
        switch mode {
        case .raw:
            guard let line = source.line(limit: Self.limit) else { return nil }
            number += 1
            return EventLine(value: bounded(line), line: number, raw: line)
        case .lines(let format): return nextLine(format)
        case .table(let columns):
            guard let record = nextRow() else { return nil }
            return EventLine(value: row(record, columns), line: record.line, raw: record.raw)
        }
    }

    /// Skips the next entry without a check, and returns its line, or nil at the end.
    func skip() -> Int? {
        guard case .table = mode else { return next()?.line }
        return nextRow()?.line
    }

    /// Returns the next record that is not blank, or nil at the end.
    private func nextRow() -> CSVReader.Record? {
        while let record = rows.next() {
            if !record.isBlank { return record }
        }
        return nil
    }

    private func row(_ record: CSVReader.Record, _ columns: EventColumns) -> Result<ByteView, EventLine.Fault> {
        if let fault = record.fault { return .failure(EventLine.Fault(text: fault)) }
        guard record.cells.count == columns.count else {
            return .failure(
                EventLine.Fault(
                    text:
                        "the row has \(Counts.text(record.cells.count, "cell")), the header has \(columns.count)"))
        }
        guard record.cells.allSatisfy({ String(validating: $0, as: UTF8.self) != nil }) else {
            return .failure(
                EventLine.Fault(text: InputEncoding.rowAdvice))
        }
        guard let event = columns.event(record.cells) else {
            return .failure(EventLine.Fault(text: "the payload is not valid JSON"))
        }
        arena.reset()
        return .success(arena.copy(event))
    }

    private func nextLine(_ format: InputFormat) -> EventLine? {
        while let line = source.line(limit: Self.limit) {
            number += 1
            let trimmed = ByteSource.trimmed(line)
            if trimmed.isEmpty { continue }
            if format == .jsonl, trimmed[0] != UInt8(ascii: "{"), !(allowsLists && trimmed[0] == UInt8(ascii: "[")) {
                let fault = EventLine.Fault(text: "the line is not a JSON object")
                return EventLine(value: .failure(fault), line: number, raw: line)
            }
            if format == .url, trimmed[0] == UInt8(ascii: "{") {
                let fault = EventLine.Fault(text: "the line is a JSON object, not a link")
                return EventLine(value: .failure(fault), line: number, raw: line)
            }
            return EventLine(value: bounded(trimmed), line: number, raw: line)
        }
        return nil
    }

    private func bounded(_ bytes: ByteView) -> Result<ByteView, EventLine.Fault> {
        bytes.count <= Self.limit
            ? .success(bytes) : .failure(EventLine.Fault(text: "the line has more than \(Self.limit) bytes"))
    }
}
