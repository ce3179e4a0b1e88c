internal import RouteTools
internal import StrictJSON

/// The format of an input.
enum InputFormat: String, CaseIterable {
    case auto, jsonl, url, csv
}

/// A line of an input.
struct EventLine {
    /// The value to send, or the error in the line.
    var value: Result<[UInt8], Fault>
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
struct EventInput {
    /// The way to split the input into values.
    private enum Mode {
        case lines(InputFormat)
        case raw
        case table(CSVReader, EventColumns)
    }

    /// The size limit of a line, in bytes, which is the largest record that a worker can be configured to read.
    static let limit = 32 << 20

    private let source: ByteSource
    private var mode: Mode
    private var number = 0
    private var buffer: [UInt8] = []

    /// Opens an input.
    ///
    /// The format `auto` is determined from its first line.
    init(
        _ source: ByteSource, format: InputFormat, raw: Bool, passthrough: [String]
    ) throws(CommandFailure) {
        self.source = source
        if raw {
            mode = .raw
            return
        }
        guard format == .csv || (format == .auto && Self.looksLikeCSV(source)) else {
            mode = .lines(format)
            return
        }
        var reader = CSVReader(source, limit: Self.limit)
        guard let header = reader.next() else {
            mode = .lines(.auto)
            return
        }
        if let fault = header.fault {
            throw CommandFailure(
                .badData, "\(Escaping.visible(source.name)): the header is not valid CSV: \(fault)",
                advice: "correct the first line, or select another format with --format")
        }
        let columns = try EventColumns(header: header.cells, file: source.name, passthrough: passthrough)
        mode = .table(reader, columns)
    }

    /// Returns a Boolean value that indicates whether the first line has a comma before any colon, or is a column name.
    ///
    /// JSON and URLs have neither.
    private static func looksLikeCSV(_ source: ByteSource) -> Bool {
        for byte in source.window() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: ":"): return false
            case UInt8(ascii: ","): return true
            case UInt8(ascii: "\n"):
                return EventColumns.isHeader([source.window().prefix { $0 != UInt8(ascii: "\n") && $0 != 13 }])
            default: continue
            }
        }
        return false
    }

    /// Returns the next line that is not blank, or nil at the end.
    mutating func next() -> EventLine? {
        switch mode {
        case .raw:
            guard source.line(into: &buffer, limit: Self.limit) else { return nil }
            number += 1
            return EventLine(value: bounded(buffer), line: number)
        case .lines(let format): return nextLine(format)
        case .table(var reader, let columns):
            defer { mode = .table(reader, columns) }
            while let record = reader.next() {
                if record.cells == [[]], record.fault == nil { continue }
                return EventLine(value: row(record, columns), line: record.line)
            }
            return nil
        }
    }

    private func row(_ record: CSVReader.Record, _ columns: EventColumns) -> Result<[UInt8], EventLine.Fault> {
        if let fault = record.fault { return .failure(EventLine.Fault(text: fault)) }
        guard record.cells.count == columns.count else {
            return .failure(
                EventLine.Fault(
                    text:
                        "the row has \(Counts.text(record.cells.count, "cell")), the header has \(columns.count)"))
        }
        guard let event = columns.event(record.cells) else {
            return .failure(EventLine.Fault(text: "the payload is not valid JSON"))
        }
        return .success(event)
    }

    private mutating func nextLine(_ format: InputFormat) -> EventLine? {
        while source.line(into: &buffer, limit: Self.limit) {
            number += 1
            let trimmed = ByteSource.trimmed(buffer)
            if trimmed.isEmpty { continue }
            if format == .jsonl, trimmed.first != UInt8(ascii: "{") {
                return EventLine(value: .failure(EventLine.Fault(text: "the line is not a JSON object")), line: number)
            }
            if format == .url, trimmed.first == UInt8(ascii: "{") {
                return EventLine(
                    value: .failure(
                        EventLine.Fault(
                            text:
                                "the line is a JSON object, not a link")), line: number)
            }
            return EventLine(value: bounded(Array(trimmed)), line: number)
        }
        return nil
    }

    private func bounded(_ bytes: [UInt8]) -> Result<[UInt8], EventLine.Fault> {
        bytes.count <= Self.limit
            ? .success(bytes) : .failure(EventLine.Fault(text: "the line has more than \(Self.limit) bytes"))
    }
}
