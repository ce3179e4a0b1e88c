import TestSupport

/// The fenced blocks, tables, and links of a Markdown text.
struct MarkdownText {
    /// A fenced block.
    struct Block {
        /// The words after the opening fence, such as `sh run broker`.
        var words: [Substring]
        /// The lines of the block.
        var lines: [Substring]
        /// The number of its first line, from 1.
        var line: Int
    }

    /// The fenced blocks, in order.
    var blocks: [Block] = []
    /// The cells of every table row, without surrounding white space.
    var rows: [[Substring]] = []
    /// The targets of links `[text](target)`.
    var targets: [Substring] = []

    /// Parses a text.
    init(_ text: String) {
        var open: Block?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                if let block = open { blocks.append(block) }
                open =
                    open == nil
                    ? Block(words: line.dropFirst(3).split(separator: " "), lines: [], line: index + 2) : nil
            } else if open != nil {
                open?.lines.append(line)
            } else {
                if line.hasPrefix("|") {
                    rows.append(line.dropFirst().split(separator: "|").map { Self.trimmed($0) })
                }
                targets += line.matches(of: #/\]\(([^)\s]+)\)/#).map(\.1)
            }
        }
    }

    /// Returns the blocks whose fence has exactly these words.
    func blocks(_ words: String...) -> [Block] { blocks.filter { $0.words.elementsEqual(words) { $0 == $1 } } }

    private static func trimmed(_ cell: Substring) -> Substring {
        var cell = cell.drop { $0 == " " }
        while cell.last == " " { cell.removeLast() }
        return cell
    }
}
