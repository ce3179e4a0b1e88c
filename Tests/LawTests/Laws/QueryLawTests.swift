import LinkCoordinator
import StrictJSON
import TableSupport
import TestSupport
import Testing

/// Returns a decision without the members that copy the link: `resume.link`, and the `url` of an excluded link.
func withoutEcho(_ json: [UInt8], link: String) -> String? {
    guard let value = (try? Decision(json: json))?.value, let members = value.object else { return nil }
    let remaining = members.compactMap { member -> JSONMember? in
        if member.name == "url", member.value.string == link { return nil }
        guard member.name == "resume", let inner = member.value.object else { return member }
        return JSONMember(name: "resume", value: JSONValue(.object(inner.filter { $0.name != "link" })))
    }
    return JSONValue(.object(remaining)).text
}

/// P8: query parameters that the table does not use never change the decision.
private struct AddedItems: TableLaw {
    static let name = "P8"
    static let seed: UInt64 = 8_2026_11
    static var options: TableGenerator.Options { TableGenerator.Options(flattensMore: true) }

    struct Context {
        let reference: ReferenceSearch
        /// The names that the table reads.
        let names: [String]
    }

    /// Items whose names no generated table has.
    private static let items = [
        "utm_source=mail", "utm_source", "utm_source=", "zz9=1", "zz9=2", "%7A%7A=1", "é=é", "_=_", "id2=5", "i=1",
        "ModeX=ar", "qq=a%20b", "tag.=x", "=", "=5",
    ]

    private(set) var (read, flat, echoed) = (0, 0, 0)

    func prepare(_ table: LawTable, seed: UInt64) -> Context? {
        Context(reference: ReferenceSearch(table.table.source), names: table.table.source.queryNames)
    }

    mutating func check(_ input: LawInput, _ context: Context, _ resolver: inout ReusedResolver) -> LawResult {
        var random = SeededGenerator(seed: input.seed)
        let reference = context.reference
        let dialect = reference.normalized(input.link)?.block.query ?? reference.source.blocks[0].query
        let more = Self.adding(to: input.link, dialect, context.names, &random)
        let plain = resolver.decide(input.bytes, input.device, input.compiled)
        let other = resolver.decide(Array(more.text.utf8), input.device, input.compiled)
        if input.link.query?.isEmpty == false, DecisionStart(plain).route != nil {
            read += 1
            flat += dialect.flatten ? 1 : 0
        }
        if plain == other { return .holds(1) }
        echoed += 1
        return withoutEcho(plain, link: input.link.text) == withoutEcho(other, link: more.text)
            ? .holds(1) : .broken([Array(more.text.utf8), plain, other])
    }

    /// Returns the link with one to three additional query items.
    private static func adding(
        to link: GeneratedLink, _ dialect: TableSource.QueryDialect, _ names: [String], _ random: inout SeededGenerator
    ) -> GeneratedLink {
        let separator = String(UnicodeScalar(dialect.pairSeparators[0]))
        var raw = dialect
        raw.decode = .none
        var items =
            link.query.map { $0.split(separator: separator, omittingEmptySubsequences: false).map(String.init) } ?? []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            var position = Int.random(in: 0...items.count, using: &random)
            if dialect.flatten {
                // The beginning of the query may be decodable even if the whole query is not, and a repair may read it
                // differently. No reading of the preceding part may end in a name.
                while position > 0 {
                    let before = items[..<position].joined(separator: separator)
                    let repaired = before.replacing("&amp;", with: "&").replacing("\u{B6}", with: "&para")
                        .replacing("%C2%B6", with: "&para")
                    let isName = [before, repaired].contains { text in
                        [dialect, raw].contains { ReferenceQuery(text, $0).endsIn(names) }
                    }
                    if !isName { break }
                    position -= 1
                }
            }
            items.insert(Self.items[Int.random(in: 0..<Self.items.count, using: &random)], at: position)
        }
        var more = link
        more.query = items.joined(separator: separator)
        return more
    }

    var counts: KeyValuePairs<String, Int> {
        ["with a query and a route": read, "of them flattened": flat, "equal but for the link's echo": echoed]
    }
}

/// P9: percent-encoding unreserved bytes of the path or query never changes the decision.
private struct EncodedBytes: TableLaw {
    static let name = "P9"
    static let seed: UInt64 = 9_2026_11
    static var options: TableGenerator.Options { TableGenerator.Options(decodesOnce: true) }

    private(set) var (encoded, routed, repaired, echoed) = (0, 0, 0, 0)

    func prepare(_ table: LawTable, seed: UInt64) -> Void? { () }

    mutating func check(_ input: LawInput, _: Void, _ resolver: inout ReusedResolver) -> LawResult {
        var random = SeededGenerator(seed: input.seed)
        let (link, bytes) = (input.link, input.bytes)
        let other = Self.encoded(bytes, from: link.pathStart, to: link.fragmentStart, &random)
        let plain = resolver.decide(bytes, input.device, input.compiled)
        let json = resolver.decide(other, input.device, input.compiled)
        encoded += other.count > bytes.count ? 1 : 0
        routed += DecisionStart(plain).route != nil ? 1 : 0
        repaired += plain.firstRange(of: Self.repairNote) != nil ? 1 : 0
        if plain == json { return .holds(1) }
        echoed += 1
        let text = String(decoding: other, as: UTF8.self)
        return withoutEcho(plain, link: link.text) == withoutEcho(json, link: text)
            ? .holds(1) : .broken([other, plain, json])
    }

    private static let repairNote = Array("\"repaired:query.".utf8)

    /// Returns the link with some of the unreserved bytes in a range escaped, except those of escapes.
    private static func encoded(_ link: [UInt8], from start: Int, to end: Int, _ generator: inout SeededGenerator)
        -> [UInt8]
    {
        var out = Array(link[..<start])
        var index = start
        let share = Int.random(in: 1...6, using: &generator)
        while index < link.count {
            let byte = link[index]
            if byte == UInt8(ascii: "%") {
                out += link[index..<min(index + 3, link.count)]
                index += 3
                continue
            }
            if index < end, PercentDecoding.isUnreserved(byte), Int.random(in: 0..<share, using: &generator) == 0 {
                let hex = LinkGenerator.hex(byte)
                out += Array(("%" + (share % 2 == 0 ? hex : hex.lowercased())).utf8)
            } else {
                out.append(byte)
            }
            index += 1
        }
        return out
    }

    var counts: KeyValuePairs<String, Int> {
        [
            "with new escapes": encoded, "with a route": routed, "repaired": repaired,
            "equal but for the link's echo": echoed,
        ]
    }
}

@Suite("Laws of the query") struct QueryLawTests {
    @Test(
        """
        P8: query parameters that the table does not use never change the decision; with flatten, in which the \
        next piece is the value of a name, this applies to those that do not follow a name of the table
        """)
    func undeclared() throws {
        var law = AddedItems()
        guard let cases = try law.run() else { return }
        #expect(law.read > cases / 10 && (law.flat > cases / 20 || !LawCases.hasRareCases))
    }

    @Test("With flatten, a parameter after a name is the value of that name")
    func flattened() throws {
        let table = try RouteTable(
            json: [UInt8](
                #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},
                 "link":{"schemes":["t"],"host":"segment","query":{"flatten":true}},
                 "models":{"M":{"a":"string?"}},"coordinators":{"c":{"screens":{"m":{"needs":["M"]}}}},
                 "routes":[{"id":"m","match":"/m","to":{"path":"/c/m"},"bind":{"M":{"a":"query.a"}}}]}
                """#.utf8))
        func value(_ query: String) -> ModelValue? { table.resolve("t://m?" + query).stack[0].models["M"]?["a"] }
        #expect(value("a") == .null && value("a&zz=1") == "zz")
        #expect(value("a=1") == "1" && value("zz&a=1&yy=2") == "1")
    }

    @Test("P9: percent-encoding unreserved bytes of the path or query never changes the decision")
    func encoding() throws {
        var law = EncodedBytes()
        guard let cases = try law.run() else { return }
        #expect(law.encoded > cases / 2 && law.routed > cases / 4)
        #expect(law.repaired > cases / 500 || !LawCases.hasRareCases)
    }
}

extension TableSource {
    /// The query names that the table reads in constraints, conditions, bindings, and templates.
    fileprivate var queryNames: [String] {
        var names: [String] = []
        for route in routes {
            names += route.query.map(\.name.value)
            for case .query(let name) in route.bindings.map(\.source.value) { names.append(name) }
            for variant in route.variants {
                names += variant.when?.query.map(\.name.value) ?? []
                guard case .external(let template) = variant.to.destination else { continue }
                for case .query(let name) in template.parts { names.append(name.value) }
            }
        }
        return names
    }
}
