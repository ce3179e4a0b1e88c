internal import Foundation

/// The sections of an article of a documentation catalog, with their tables, for a comparison with the code.
package struct ReferencePage {
    /// A table of an article.
    package struct Table {
        /// The cells of the first row.
        package var header: [String]
        /// The cells of the other rows.
        package var rows: [[String]]

        /// Returns the cells of a column, or none if there is no such column.
        package func column(_ name: String) -> [String] {
            guard let index = header.firstIndex(of: name) else { return [] }
            return rows.map { index < $0.count ? $0[index] : "" }
        }

        /// The code in the first column, row by row.
        package var names: [String] { rows.flatMap { ReferencePage.code($0.first ?? "") } }

        /// Returns the cell of a column in the row whose first cell has a name as code.
        package func cell(_ name: String, _ column: String) -> String? {
            guard let index = header.firstIndex(of: column) else { return nil }
            return rows.first { ReferencePage.code($0.first ?? "").contains(name) }.flatMap {
                index < $0.count ? $0[index] : nil
            }
        }
    }

    /// A fenced block of an article.
    package struct Block {
        /// The language of the fence.
        package var language: String
        /// The lines of the block, separated by line feeds.
        package var text: String
    }

    private var tables: [String: [Table]] = [:]
    private var blocks: [String: [Block]] = [:]
    /// The headings, from the second level on.
    package private(set) var headings: [String] = []
    /// The text of the article.
    package let text: String

    /// Reads an article of the checkout by its path.
    ///
    /// - Throws: An error of the file system.
    package init(path: String) throws {
        text = try String(contentsOf: Checkout.root.appending(path: path), encoding: .utf8)
        var section = ""
        var open: (language: String, lines: [Substring])?
        var isInTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let block = open {
                    let text = block.lines.joined(separator: "\n")
                    blocks[section, default: []].append(Block(language: block.language, text: text))
                }
                open = open == nil ? (String(line.dropFirst(3)), []) : nil
            } else if open != nil {
                open?.lines.append(line)
            } else if line.hasPrefix("##") {
                section = String(line.drop { $0 == "#" }.dropFirst())
                headings.append(section)
            }
            let isRow = open == nil && line.hasPrefix("|")
            if isRow { add(Self.cells(line), to: section, isFirst: !isInTable) }
            isInTable = isRow
        }
    }

    private mutating func add(_ cells: [String], to section: String, isFirst: Bool) {
        if isFirst { return tables[section, default: []].append(Table(header: cells, rows: [])) }
        if cells.allSatisfy({ $0.allSatisfy { $0 == "-" } }) { return }
        let last = (tables[section]?.count ?? 0) - 1
        tables[section]?[last].rows.append(cells)
    }

    /// Returns the table of a section whose first column has this name.
    package func table(_ section: String, _ column: String) -> Table? {
        tables[section]?.first { $0.header.first == column }
    }

    /// Returns the fenced blocks of a section.
    package func blocks(_ section: String) -> [Block] { blocks[section] ?? [] }

    /// Returns the cells of a row without surrounding white space, in which `\|` becomes `|`.
    private static func cells(_ line: Substring) -> [String] {
        let marked = line.replacing("\\|", with: "\u{0}")
        return marked.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
            $0.trimmingCharacters(in: .whitespaces).replacing("\u{0}", with: "|")
        }
    }

    /// Returns the texts between backticks.
    package static func code(_ text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
