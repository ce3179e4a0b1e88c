import ByteStorage
import Foundation
import LinkCoordinator
import LinkIngest
import StrictJSON
import TestSupport
import Testing

/// A line of `url-cases.jsonl` or `json-cases.jsonl`: the value of a record and its decision.
///
/// `case` names the row, and the first line of a row has its `rule`. The value is `value`, then `times` copies of
/// `repeat`, and `end`, or the bytes `hex`.
struct EdgeCase: Sendable, CustomTestStringConvertible {
    let file: String
    let name: String
    let rule: String?
    let value: [UInt8]
    /// The value as the article shows it.
    let shown: String
    let decision: String

    var testDescription: String { "\(name): \(shown)" }

    init(_ line: JSONValue, file: String) {
        self.file = file
        name = line["case"]?.string ?? ""
        rule = line["rule"]?.string
        decision = line["decision"]?.string ?? ""
        let text = line["value"]?.string ?? ""
        let end = line["end"]?.string ?? ""
        if let hex = line["hex"]?.string {
            value = stride(from: 0, to: hex.utf8.count, by: 2).compactMap { index in
                UInt8(hex.dropFirst(index).prefix(2), radix: 16)
            }
            shown = Self.code(Self.visible(value))
        } else if let unit = line["repeat"]?.string, let times = line["times"]?.integer {
            value = Array((text + String(repeating: unit, count: Int(times)) + end).utf8)
            let parts = [Self.code(text), "\(times) times " + Self.code(unit)] + (end.isEmpty ? [] : [Self.code(end)])
            shown = parts.joined(separator: ", ")
        } else {
            value = Array(text.utf8)
            shown = Self.code(Self.visible(value))
        }
    }

    static func all(_ file: String) -> [EdgeCase] {
        // The suite fails without its cases.
        ((try? IngestFixture.lines(file)) ?? []).map { EdgeCase($0, file: file) }
    }

    /// Returns a code span for a cell of a table.
    private static func code(_ text: String) -> String {
        "`" + text.replacing("|", with: "\\|") + "`"
    }

    /// Returns a text in which bytes that are not visible are written as `<U+202E>` or `<FF>`.
    static func visible(_ bytes: [UInt8]) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return bytes.reduce(into: "") { out, byte in
                let isVisible = byte > 0x20 && byte < 0x7F
                out += isVisible ? String(UnicodeScalar(byte)) : "<" + String(byte, radix: 16, uppercase: true) + ">"
            }
        }
        let last = text.unicodeScalars.indices.last
        return text.unicodeScalars.indices.reduce(into: "") { out, index in
            let scalar = text.unicodeScalars[index]
            let isAtEnd = index == text.unicodeScalars.startIndex || index == last
            let isMark = scalar.properties.generalCategory == .nonspacingMark
            let isHidden = scalar.value < 0x20 || scalar.value == 0x7F || scalar.properties.isDefaultIgnorableCodePoint
            let isControl = scalar.properties.generalCategory == .format || (scalar == " " && isAtEnd)
            guard isHidden || isControl || isMark else {
                out.unicodeScalars.append(scalar)
                return
            }
            let number = String(scalar.value, radix: 16, uppercase: true)
            out += "<U+" + String(repeating: "0", count: max(0, 4 - number.count)) + number + ">"
        }
    }
}

@Suite("Edge cases of links and of JSON have the documented decisions")
struct EdgeCaseTests {
    static let links = EdgeCase.all("url-cases.jsonl")
    static let json = EdgeCase.all("json-cases.jsonl")
    let table: RouteTable
    let platforms: LinkPlatforms

    init() throws {
        platforms = try LinkPlatforms(file: IngestFixture.shipped("link-platforms.json"))
        let file = Checkout.root.appending(path: "Tests/LinkIngestTests/Fixtures/edge-cases-table.json")
        table = try RouteTable(json: [UInt8](try Data(contentsOf: file)))
    }

    @Test("Each edge case has its decision", arguments: links + json)
    func decision(edge: EdgeCase) throws {
        #expect(try decide(edge.value) == edge.decision)
    }

    @Test("All rows have cases and a rule, which stands in the first of them")
    func rows() {
        for (cases, count) in [(Self.links, 33), (Self.json, 11)] {
            let names = cases.map(\.name).reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
            #expect(names.count == count && Set(names).count == count)
            for name in names {
                let rules = cases.filter { $0.name == name }.map(\.rule)
                #expect(rules.first.flatMap { $0 } != nil && rules.dropFirst().allSatisfy { $0 == nil }, "\(name)")
            }
        }
    }

    @Test("A table cannot list a scheme that no link can have", arguments: ["my_app", "1app", "é", "a:", ""])
    func schemes(scheme: String) throws {
        let file = Checkout.root.appending(path: "Tests/LinkIngestTests/Fixtures/edge-cases-table.json")
        let text = try String(contentsOf: file, encoding: .utf8).replacing("[\"shop\"]", with: "[\"\(scheme)\"]")
        #expect(throws: RouteTableError.self) { try RouteTable(json: Array(text.utf8)) }
    }

    /// Returns the decision for a record: the failure of reading, or the outcome with what the test table shows of it.
    private func decide(_ value: [UInt8]) throws -> String {
        var reader = EventReader(platforms: platforms)
        var resolver = Resolver()
        var arena = OutputArena(chunkBytes: 4096)
        let tables = TableSet([table])
        let copy = ExactBytes(value)
        guard reader.readInPlace(value: copy.view, key: ByteView("d-1" as StaticString)) else {
            return "dead letter `\(reader.failure.reason.rawValue)`"
        }
        let isSelected = reader.selectDevice(at: 0)
        #expect(isSelected)
        let request = try #require(reader.eventPointer.pointer(to: \.request))
        let facts = try #require(reader.devicePointer.pointer(to: \.facts))
        arena.begin()
        _ = resolver.resolve(request, facts, table: try #require(tables.single), head: nil, into: &arena)
        return text(try JSONValue.parse(arena.finish().array))
    }

    private func text(_ decision: JSONValue) -> String {
        var out = decision["outcome"]?.string ?? ""
        if let reason = decision["reason"]?.string {
            out += " `\(reason)`" + (decision["detail"]?.string.map { ", `\($0)`" } ?? "")
        }
        if decision["outcome"]?.string == "navigate" {
            let model = decision["stack"]?.array?.last?["data"]?["Link"]
            // A list of one value says no more than the field that has it.
            let fields = (model?.object ?? []).filter { field in
                !field.value.isNull && (field.name != "ids" || field.value.array?.count ?? 0 > 1)
            }
            let shown = fields.map { "\($0.name) = \($0.value.text)" }.joined(separator: ", ")
            out += model == nil ? ": the root" : shown.isEmpty || shown.utf8.count > 120 ? "" : ": `\(shown)`"
        }
        for note in decision["notes"]?.array ?? [] { out += "; note `\(note.string ?? "")`" }
        return out
    }

    // MARK: - The article

    @Test("The article has the rules and the decisions of all cases")
    func article() throws {
        let file = Checkout.root.appending(path: "Sources/LinkIngest/LinkIngest.docc/EdgeCases.md")
        let written = try String(contentsOf: file, encoding: .utf8)
        let made = ["Links": Self.links, "JSON": Self.json]
        let parts = written.components(separatedBy: "\n## ").map { part in
            let title = String(part.prefix { $0 != "\n" })
            return made[title].map { Self.section(title, $0) } ?? part
        }
        let whole = parts.joined(separator: "\n## ")
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] != nil, whole != written {
            try whole.write(to: file, atomically: true, encoding: .utf8)
            Issue.record("the article was recorded: review it, then run without RECORD_SNAPSHOTS")
        }
        #expect(written == whole, "the article differs from the cases; RECORD_SNAPSHOTS=1 writes it anew")
    }

    /// Returns a section of the article: the rules, then the cases.
    private static func section(_ title: String, _ cases: [EdgeCase]) -> String {
        var out = "\(title)\n\n| Case | Rule |\n|---|---|\n"
        for edge in cases { if let rule = edge.rule { out += "| \(edge.name) | \(rule) |\n" } }
        out += "\n| Case | Record | Decision |\n|---|---|---|\n"
        for edge in cases {
            let decision = EdgeCase.visible(Array(edge.decision.utf8)).replacing("|", with: "\\|")
            out += "| \(edge.name) | \(edge.shown) | \(decision) |\n"
        }
        return out
    }
}
