import Testing

@testable import RouteTools

@Suite("Raw literals of generated files") struct RawTextTests {
    /// Returns the text that a compiler reads from a raw literal of several lines, or nil if it is not one.
    private func read(_ literal: String) -> String? {
        let marks = Array(literal.unicodeScalars.prefix { $0 == "#" })
        let scalars = Array(literal.unicodeScalars)
        let start = marks + Array("\"\"\"\n".unicodeScalars)
        let end = Array("\n\"\"\"".unicodeScalars) + marks
        guard !marks.isEmpty, scalars.starts(with: start), scalars.reversed().starts(with: end.reversed()) else {
            return nil
        }
        var rest = scalars[start.count..<(scalars.count - end.count)]
        var result = String.UnicodeScalarView()
        while let scalar = rest.first {
            if rest.starts(with: Array("\"\"\"".unicodeScalars) + marks) { return nil }
            guard rest.starts(with: ["\\"] + marks) else {
                result.append(scalar)
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst(1 + marks.count)
            if rest.first == "\n" {
                rest = rest.dropFirst()
            } else if rest.starts(with: "u{".unicodeScalars), let close = rest.firstIndex(of: "}") {
                let digits = String(String.UnicodeScalarView(rest[rest.startIndex + 2..<close]))
                guard let value = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else { return nil }
                result.append(value)
                rest = rest[(close + 1)...]
            } else {
                return nil
            }
        }
        return String(result)
    }

    @Test(
        "A literal has the bytes of any text, in short lines without invisible characters",
        arguments: [
            "", "\n", "a", "\"\"\"", "\"\"\"#", "\"\"\"##\n\"###", "\\#(x)", "\\##(x) \\", "\\\n\"", "a \nb\t\n\n",
            "a\r\nb\r",
            "\u{202E}\u{FEFF}\u{2028}\u{0}\u{7F}\u{E000}", "é\u{301}#\u{301}\"\u{301}", "\u{1F468}\u{200D}\u{1F469}",
            String(repeating: "long text ", count: 40), String(repeating: "x", count: 500),
            String(repeating: "\\\"", count: 200), String(repeating: "é", count: 105) + "x",
        ])
    func bytes(text: String) throws {
        let literal = SwiftLines.rawLiteral(Array(text.utf8))
        let result = try #require(read(literal), "\(literal)")
        #expect(Array(result.utf8) == Array(text.utf8))
        for line in literal.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
            #expect(line.last != " " && line.last != "\t" && !line.contains("\r") && !line.contains("\u{202E}"))
        }
        if text.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\\") }) {
            #expect(literal.split(separator: "\n").allSatisfy { $0.count <= 120 })
        }
    }
}
