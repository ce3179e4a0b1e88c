internal import LinkCoordinator

/// A drawing of a link with labels under its parts, one column for each character.
///
/// A row below the link marks the parts with carets, and those with faults with exclamation marks. Each label begins
/// under the first column of its part. The rightmost label is on the highest row, and no two labels overlap.
struct PartMarks {
    /// The maximum number of columns; parts beyond it have no label.
    static let maxColumns = 200

    private var rows: [[Character]] = []
    private var carets: [Character] = []
    private let link: String

    init(_ link: String, _ parts: [LinkPart], label: (LinkPart) -> String) {
        let shown = Self.visible(link)
        self.link = shown.count > Self.maxColumns ? shown.prefix(Self.maxColumns) + "…" : shown
        var labels: [(column: Int, label: String)] = []
        for part in parts {
            let column = Self.columns(link, part.offset)
            let end = Self.columns(link, part.offset + part.count)
            guard column < Self.maxColumns else { continue }
            let mark: Character = part.fault == nil ? "^" : "!"
            for index in column..<min(max(end, column + 1), Self.maxColumns) { Self.put(mark, at: index, in: &carets) }
            labels.append((column, label(part)))
        }
        labels.sort { $0.column < $1.column }
        labels.removeAll { $0.label.isEmpty }
        for entry in labels.reversed() { addLabel(entry.label, at: entry.column) }
    }

    /// The rows of the drawing: the link, the carets, and the labels.
    var lines: [String] { [link, String(carets)] + rows.map { String($0) } }

    /// Puts a label on the highest row on which it does not touch the labels to its right.
    private mutating func addLabel(_ label: String, at column: Int) {
        var row = 0
        while row < rows.count, Self.first(rows[row]) < column + label.count + 1 { row += 1 }
        while rows.count <= row { rows.append([]) }
        for above in 0..<row { Self.put("|", at: column, in: &rows[above]) }
        for (index, character) in label.enumerated() { Self.put(character, at: column + index, in: &rows[row]) }
    }

    private static func first(_ row: [Character]) -> Int { row.firstIndex { $0 != " " } ?? .max - 1 }

    private static func put(_ character: Character, at column: Int, in row: inout [Character]) {
        while row.count <= column { row.append(" ") }
        row[column] = character
    }

    /// Returns the number of characters before a byte offset.
    private static func columns(_ text: String, _ offset: Int) -> Int {
        let bytes = text.utf8
        return visible(String(decoding: bytes.prefix(min(offset, bytes.count)), as: UTF8.self)).count
    }

    /// Returns the text with every scalar as one visible character.
    private static func visible(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            // Each scalar has one column: combining and invisible scalars would shift the following ones.
            let isPlain = scalar.properties.generalCategory.isVisible && scalar.value != 0x7F
            shown.unicodeScalars.append(isPlain ? scalar : "\u{FFFD}")
        }
        return shown
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isVisible: Bool {
        switch self {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .nonspacingMark, .enclosingMark, .spacingMark:
            false
        default: true
        }
    }
}
