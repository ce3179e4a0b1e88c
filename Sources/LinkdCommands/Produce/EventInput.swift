internal import ByteStorage
internal import RouteTools
internal import StrictJSON

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
    private var mode: Mode
    private var rows: CSVReader
    private var number = 0
    /// The memory of the event of a row.
    private var arena = OutputArena(chunkBytes: 1 << 16)

    /// Opens an input.
    ///
    /// The format `auto` is determined from its first line, and a separator that is nil from the header.
    init(
        _ source: ByteSource, format: InputFormat, raw: Bool, separator: ColumnSeparator? = nil, passthrough: [String]
    ) throws(CommandFailure) {
        self.source = source
        mode = raw ? .raw : .lines(format)
        if !raw { source.skipByteOrderMark() }
        rows = CSVReader(source, limit: Self.limit)
        guard !raw, format == .csv || format == .auto else { return }
        var separator = separator
        if separator == nil { separator = try Self.separator(of: source, isTable: format == .csv, passthrough) }
        guard let separator else { return }
        rows = CSVReader(source, limit: Self.limit, separator: separator.byte)
        guard let header = rows.next() else {
            mode = .lines(.auto)
            return
        }
        if let fault = header.fault {
            throw CommandFailure(
                .badData, "\(Escaping.visible(source.name)): the header is not valid CSV: \(fault)",
                advice: "correct the first line, or select another format with --format")
        }
        mode = .table(try EventColumns(header: header.cells, file: source.name, passthrough: passthrough))
    }

    /// Returns the separator of a CSV file, or nil for a file of another format.
    private static func separator(
        of source: ByteSource, isTable: Bool, _ passthrough: [String]
    ) throws(CommandFailure) -> ColumnSeparator? {
        var header = source.firstLine()
        let hasReturn = header.count > 0 && header[header.count - 1] == UInt8(ascii: "\r")
        if hasReturn { header = header.slice(0, header.count - 1) }
        let found = ColumnSeparator.separators(of: header, passthrough: passthrough)
        if found.count > 1 {
            throw CommandFailure(
                .badData,
                "\(Escaping.visible(source.name)): the header can be separated by "
                    + found.map(\.name).joined(separator: " or by "),
                advice: "select one with --separator")
        }
        if let only = found.first { return only }
        if EventColumns.isName(header.array, passthrough: passthrough) { return .comma }
        // A header with a misspelled name is reported as one, unless the line can be JSON or a link.
        if isTable || looksLikeHeader(header) {
            let probable = ColumnSeparator.probableSeparators(of: header, passthrough: passthrough)
            return probable.count == 1 ? probable[0] : .comma
        }
        return nil
    }

    /// Returns a Boolean value that indicates whether a line has a separator before any colon, quote, or bracket.
    ///
    /// JSON and links do not.
    private static func looksLikeHeader(_ line: ByteView) -> Bool {
        for byte in line.buffer {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: ":"): return false
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|"): return true
            default: continue
            }
        }
        return false
    }

    /// Returns the next entry, or nil at the end.
    func next() -> EventLine? {
        switch mode {
        case .raw:
            guard let line = source.line(limit: Self.limit) else { return nil }
            number += 1
            return EventLine(value: bounded(line), line: number)
        case .lines(let format): return nextLine(format)
        case .table(let columns):
            while let record = rows.next() {
                if record.cells == [[]], record.fault == nil { continue }
                return EventLine(value: row(record, columns), line: record.line)
            }
            return nil
        }
    }

    /// Skips the next entry without a check, and returns its line, or nil at the end.
    func skip() -> Int? {
        guard case .table = mode else { return next()?.line }
        while let record = rows.next() {
            if record.cells != [[]] || record.fault != nil { return record.line }
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
            return .failure(EventLine.Fault(text: "the row is not UTF-8"))
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
            if format == .jsonl, trimmed[0] != UInt8(ascii: "{") {
                return EventLine(value: .failure(EventLine.Fault(text: "the line is not a JSON object")), line: number)
            }
            if format == .url, trimmed[0] == UInt8(ascii: "{") {
                let fault = EventLine.Fault(text: "the line is a JSON object, not a link")
                return EventLine(value: .failure(fault), line: number)
            }
            return EventLine(value: bounded(trimmed), line: number)
        }
        return nil
    }

    private func bounded(_ bytes: ByteView) -> Result<ByteView, EventLine.Fault> {
        bytes.count <= Self.limit
            ? .success(bytes) : .failure(EventLine.Fault(text: "the line has more than \(Self.limit) bytes"))
    }
}
