internal import RouteTools
/// A table of text, aligned by display width.
struct TextTable {
    /// The alignment of a column.
    enum Alignment { case left, right }

    /// A cell with its text and color.
    struct Cell {
        /// The text, without control characters.
        var text: String
        /// The meaning of the text.
        var role: Style.TextRole?

        /// Creates a cell.
        init(_ text: String, _ role: Style.TextRole? = nil) {
            self.text = text
            self.role = role
        }
    }

    private let titles: [String]
    private let alignments: [Alignment]
    private var rows: [[Cell]] = []

    /// Creates a table with the given columns.
    init(_ columns: [(title: String, alignment: Alignment)]) {
        titles = columns.map(\.title)
        alignments = columns.map(\.alignment)
    }

    /// Adds a row with one cell per column.
    mutating func add(_ cells: [Cell]) {
        precondition(cells.count == titles.count)
        rows.append(cells)
    }

    /// Adds a row of plain texts.
    mutating func add(_ texts: [String]) { add(texts.map { Cell($0) }) }

    /// Returns the lines, beginning with the titles.
    ///
    /// A column is as wide as its widest cell.
    func lines(style: Style) -> [String] {
        var widths = titles.map(DisplayWidth.width)
        for row in rows {
            for (index, cell) in row.enumerated() {
                widths[index] = max(widths[index], DisplayWidth.width(of: cell.text))
            }
        }
        let heading = titles.map { Cell($0, .heading) }
        return ([heading] + rows).map { line($0, widths: widths, style: style) }
    }

    private func line(_ cells: [Cell], widths: [Int], style: Style) -> String {
        var parts: [String] = []
        for (index, cell) in cells.enumerated() {
            let last = index == cells.count - 1
            let right = alignments[index] == .right
            let text = last && !right ? cell.text : DisplayWidth.pad(cell.text, to: widths[index], right: right)
            parts.append(style.paint(text, cell.role))
        }
        return trimmed(parts.joined(separator: "  "))
    }

    private func trimmed(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
