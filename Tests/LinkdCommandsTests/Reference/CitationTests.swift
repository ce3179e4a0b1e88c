internal import Foundation
internal import TestSupport
internal import Testing

/// Comments in the code that cite a section of a reference.
@Suite struct CitationTests {
    @Test("Every cited section is a heading of its reference")
    func sections() throws {
        let files = try Checkout.trackedFiles()
        var headings: [String: Set<String>] = [:]
        for file in files where file.path.hasSuffix("Reference.md") {
            let name = URL(filePath: file.path).deletingPathExtension().lastPathComponent
            headings[name] = Set(try ReferencePage(path: file.path).headings)
        }
        let citation = #/(\w+Reference), ((?:"[^"]+"(?:, | and )?)+)/#
        var count = 0
        var unresolved: [String] = []
        for file in files where file.path.hasPrefix("Sources/") && file.suffix == "swift" {
            // A citation can continue in the next line of its comment.
            let text = (file.text ?? "").replacing(#/\n *\/{2,3} ?/#, with: " ")
            for match in text.matches(of: citation) {
                for section in match.2.split(separator: "\"").enumerated() where section.offset % 2 == 0 {
                    count += 1
                    let isThere = headings[String(match.1)]?.contains(String(section.element)) ?? false
                    if !isThere { unresolved.append("\(file.path): \(match.1), \(section.element)") }
                }
            }
        }
        #expect(count > 50)
        #expect(unresolved == [])
    }

    @Test("No comment cites the specification that the references replace")
    func oldSpecification() throws {
        // The words are split, so that this file does not contain them.
        let formerNames = ["route-" + "table.md", "kafka-" + "worker.md", "events" + ".md", "payload-" + "formats"]
        let folders = ["StrictJSON", "LinkIngest", "LinkCoordinator", "RouteAnalysis"].map { "Sources/\($0)/" }
        let found = try Checkout.trackedFiles().filter { file in folders.contains { file.path.hasPrefix($0) } }
            .flatMap { file in formerNames.filter { Self.names(file.text ?? "", $0) }.map { "\(file.path): \($0)" } }
        #expect(found == [])
    }

    /// Returns a Boolean value that indicates whether a text has a name that is not the end of a longer one.
    private static func names(_ text: String, _ name: String) -> Bool {
        text.ranges(of: name).contains { range in
            guard let before = text[..<range.lowerBound].last else { return true }
            return !before.isLetter && before != "_"
        }
    }
}
