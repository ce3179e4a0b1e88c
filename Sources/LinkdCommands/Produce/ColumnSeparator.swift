internal import ByteStorage

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

    /// Returns the separators by which all cells of a header are valid column names.
    ///
    /// A header with one column has no separator.
    static func separators(of header: ByteView, passthrough: [String]) -> [ColumnSeparator] {
        candidates(of: header) { cells in
            cells.count > 1 && cells.allSatisfy { EventColumns.isName($0, passthrough: passthrough) }
        }
    }

    /// Returns the separators by which at least the first of several cells is a valid column name.
    static func probableSeparators(of header: ByteView, passthrough: [String]) -> [ColumnSeparator] {
        candidates(of: header) { cells in
            cells.count > 1 && EventColumns.isName(cells[0], passthrough: passthrough)
        }
    }

    private static func candidates(
        of header: ByteView, where isAccepted: (_ cells: [[UInt8]]) -> Bool
    ) -> [ColumnSeparator] {
        named.compactMap { candidate in
            guard header.firstIndex(of: candidate.byte) != nil else { return nil }
            let source = ByteSource(contents: header.array, name: "")
            var reader = CSVReader(source, limit: header.count + 1, separator: candidate.byte)
            guard let record = reader.next(), record.fault == nil, isAccepted(record.cells) else { return nil }
            return ColumnSeparator(byte: candidate.byte)
        }
    }
}
