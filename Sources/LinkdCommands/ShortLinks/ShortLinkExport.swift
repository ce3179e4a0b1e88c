internal import ByteStorage
internal import LinkIngest
internal import RouteTools
internal import ShortLinks

/// The rows of an export of short links: a CSV file with a column of short links and one of their destinations.
struct ShortLinkExport: ~Copyable {
    /// A problem of a row.
    struct Problem {
        /// The stable code.
        var code: String
        /// The line, from 1.
        var line: Int
        /// A description of what was expected, without the row's text.
        var text: String
    }

    /// A row, or the problem that it has.
    enum Row {
        case link([UInt8], [UInt8], line: Int)
        case problem(Problem)
    }

    /// The size limit of a line in bytes.
    static let lineLimit = 1 << 16

    /// The names of columns in the exports of a platform, in lowercase and without other characters than letters and
    /// digits.
    struct Form {
        var platform: String
        var short: Set<String>
        var long: Set<String>
    }

    /// The forms, which must name the same columns if several of them fit a file.
    static let forms = [
        Form(platform: "firebase", short: ["shortlink"], long: ["deeplink", "deeplinklink", "link"]),
        Form(
            platform: "bitly", short: ["bitlink", "shortlink", "shorturl", "link"], long: ["longurl", "longlink"]),
        Form(
            platform: "branch", short: ["url", "link", "branchlink", "quicklink"],
            long: ["canonicalurl", "deeplinkurl", "fallbackurl"]),
        Form(
            platform: "plain", short: ["short", "shortlink", "shorturl", "from", "source"],
            long: ["long", "longlink", "longurl", "destination", "destinationurl", "to", "target", "url"]),
    ]

    private let path: String
    private let source: ByteSource
    private var reader: CSVReader
    /// The columns of the short link and of the destination.
    private let columns: (short: Int, long: Int)
    private let cellCount: Int
    private var first: CSVReader.Record?
    /// The platform whose columns the header has, `columns` for given ones, or `none` for two columns without a header.
    let form: String

    /// Opens a file, and finds its columns.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - names: The names of the columns in the header, or nil to recognize them.
    init(path: String, columns names: (short: String, long: String)?) throws(CommandFailure) {
        let source = try ByteSource(path: path)
        try source.skipMark()
        var skipped = source.skipBlankLines()
        let named = TableLayout.separator(inLine: TableLayout.withoutReturn(source.firstLine()))
        if named != nil {
            _ = source.line(limit: Self.lineLimit)
            skipped += 1 + source.skipBlankLines()
        }
        let separator = named ?? ColumnSeparator.splits(of: source.firstLine()).first?.separator ?? .comma
        var reader = CSVReader(source, limit: Self.lineLimit, separator: separator.byte, line: skipped + 1)
        guard let header = reader.next(), header.fault == nil else {
            throw Self.failure(path, "has no row", "export it again")
        }
        let found = try Self.layout(of: header, names, path)
        self.path = path
        self.source = source
        self.reader = reader
        cellCount = header.cells.count
        (form, columns) = found
        first = form == "none" ? header : nil
    }

    /// Returns the platform and the columns of a file with this first line.
    private static func layout(
        of header: CSVReader.Record, _ names: (short: String, long: String)?, _ path: String
    ) throws(CommandFailure) -> (form: String, columns: (short: Int, long: Int)) {
        let cells = header.cells.map { String(decoding: $0, as: UTF8.self) }
        if let names {
            let columns = try (index(of: names.short, in: cells, path), index(of: names.long, in: cells, path))
            guard columns.0 != columns.1 else {
                throw failure(path, "has one column for both links", "name two columns with --columns SHORT,LONG")
            }
            return ("columns", columns)
        }
        let forms = columns(of: cells)
        if let found = forms.first {
            guard forms.allSatisfy({ $0.columns == found.columns }) else {
                throw failure(
                    path, "has several columns that could be short links or destinations",
                    "name two of them with --columns SHORT,LONG")
            }
            return found
        }
        guard cells.count == 2, (try? row(header.cells[0], header.cells[1]) { _ in }) != nil else {
            throw failure(
                path, "has a header without one known column of short links and one of destinations",
                "name two columns with --columns SHORT,LONG")
        }
        return ("none", (0, 1))
    }

    private static func failure(_ path: String, _ reason: String, _ advice: String) -> CommandFailure {
        CommandFailure(.badData, "\(Escaping.visible(path)) \(reason)", advice: advice)
    }

    private static func index(of name: String, in cells: [String], _ path: String) throws(CommandFailure) -> Int {
        let places = cells.indices.filter { cells[$0] == name }
        guard places.count == 1 else {
            throw failure(
                path, "has \(places.count) columns with the name `\(Escaping.visible(name))`",
                "pass --columns with two names of its first line")
        }
        return places[0]
    }

    /// Returns the platforms that have exactly one column of each kind in a header, with these columns.
    static func columns(of header: [String]) -> [(form: String, columns: (short: Int, long: Int))] {
        let names = header.map { String($0.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }) }
        var found: [(form: String, columns: (short: Int, long: Int))] = []
        for form in forms {
            let short = names.indices.filter { form.short.contains(names[$0]) }
            let long = names.indices.filter { form.long.contains(names[$0]) && !form.short.contains(names[$0]) }
            if short.count == 1, long.count == 1 { found.append((form.platform, (short[0], long[0]))) }
        }
        return found
    }

    /// The number of bytes that were read.
    var consumed: Int64 { source.consumed }

    /// Returns the next row, or nil at the end.
    mutating func next() throws(CommandFailure) -> Row? {
        while let record = first ?? reader.next() {
            first = nil
            if record.isBlank { continue }
            if let fault = record.fault {
                return .problem(Problem(code: "bad_csv", line: record.line, text: fault))
            }
            guard record.cells.count == cellCount else {
                return .problem(
                    Problem(
                        code: "bad_columns", line: record.line,
                        text: "expected \(Counts.text(cellCount, "cell")), found \(record.cells.count)"))
            }
            let (short, long) = (record.cells[columns.short], record.cells[columns.long])
            guard [short, long].allSatisfy({ String(validating: $0, as: UTF8.self) != nil }) else {
                return .problem(Problem(code: "not_utf8", line: record.line, text: InputEncoding.rowAdvice))
            }
            return .link(short, long, line: record.line)
        }
        guard !source.isCut else { throw Self.failure(path, "cannot be read to its end", "check the disk, and retry") }
        return nil
    }

    /// Calls a function with the parts of a row.
    ///
    /// White space around the links does not count. A short link without a scheme, such as `bit.ly/abc`, is one of
    /// `https`.
    static func row<Result>(
        _ short: [UInt8], _ long: [UInt8], _ body: (ShortLinkRow) throws(ShortLinkError) -> Result
    ) throws -> Result {
        var short = trimmed(short)
        if short.firstRange(of: Array("://".utf8)) == nil { short = Array("https://".utf8) + short }
        let long = trimmed(long)
        return try short.withUnsafeBufferPointer { short in
            try long.withUnsafeBufferPointer { long in
                try body(try ShortLinkRow(link: ByteView(short), destination: ByteView(long)))
            }
        }
    }

    private static func trimmed(_ cell: [UInt8]) -> [UInt8] {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return Array(cell.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}

extension ShortLinkRow.Fault {
    /// A description of what was expected.
    var text: String {
        switch self {
        case .link: "expected a short link such as `https://go.example/abc`, with a host in ASCII and without spaces"
        case .destination:
            "expected a destination with a scheme and a slash, such as `https://shop.example/p/1` or `shop:/p/1`, "
                + "without spaces"
        case .size:
            "expected a short link of at most \(ShortLinkKey.maxBytes) bytes, and a destination of at most "
                + "\(ShortLinkKey.maxDestinationBytes)"
        }
    }
}
