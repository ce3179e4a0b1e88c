import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

/// Returns a decision without the members that contain the link: `resume.link`, and the `url` of an excluded link.
func withoutEcho(_ json: [UInt8], link: String) -> String? {
    guard let value = (try? Decision(json: json))?.value, let members = value.object else { return nil }
    let kept = members.compactMap { member -> JSONMember? in
        if member.name == "url", member.value.string == link { return nil }
        guard member.name == "resume", let inner = member.value.object else { return member }
        return JSONMember(name: "resume", value: JSONValue(.object(inner.filter { $0.name != "link" })))
    }
    return JSONValue(.object(kept)).text
}

@Suite("Laws of the query") struct QueryLawTests {
    /// Items whose names no generated table has.
    private static let items = [
        "utm_source=mail", "utm_source", "utm_source=", "zz9=1", "zz9=2", "%7A%7A=1", "é=é", "_=_", "id2=5", "i=1",
        "ModeX=ar", "qq=a%20b", "tag.=x", "=", "=5",
    ]

    @Test(
        """
        P8: query parameters that the table does not use never change the decision; with flatten, in which the \
        next piece is the value of a name, this applies to those that do not follow a name of the table
        """)
    func undeclared() throws {
        var options = TableGenerator.Options()
        options.flattensMore = true
        var tables = TableGenerator(seed: 8_2026_11, options: options)
        var runner = LawRunner()
        let devices = LawDevices(LawDevices.all)
        var (cases, read, flat, echoed) = (0, 0, 0, 0)
        while cases < lawCases {
            let law = try LawTable.next(&tables)
            let reference = ReferenceSearch(law.table.source)
            let names = law.table.source.queryNames
            var links = LinkGenerator(law.table.source, seed: tables.patterns.generator.next())
            for _ in 0..<linksPerTable {
                let link = links.link()
                let dialect = reference.normalized(link)?.block.query ?? law.table.source.blocks[0].query
                let more = Self.adding(to: link, dialect, names, &links)
                let facts = devices.facts[cases % devices.facts.count]
                let plain = runner.decide(Array(link.text.utf8), facts, law.compiled)
                let other = runner.decide(Array(more.text.utf8), facts, law.compiled)
                cases += 1
                if link.query?.isEmpty == false, DecisionStart(plain).route != nil {
                    read += 1
                    flat += dialect.flatten ? 1 : 0
                }
                if plain == other { continue }
                echoed += 1
                if withoutEcho(plain, link: link.text) != withoutEcho(other, link: more.text) {
                    broken(Array(link.text.utf8), Array(more.text.utf8), plain, other, law.generated.json)
                    return
                }
            }
        }
        report(
            "P8", seed: tables.patterns.generator.seed,
            [
                "cases": cases, "with a query and a route": read, "of them flattened": flat,
                "equal but for the link's echo": echoed,
            ])
        #expect(read > cases / 10 && (flat > cases / 20 || cases < 100_000))
    }

    /// Returns the link with one to three additional query items.
    private static func adding(
        to link: GeneratedLink, _ dialect: TableSource.QueryDialect, _ names: [String], _ links: inout LinkGenerator
    ) -> GeneratedLink {
        let separator = String(UnicodeScalar(dialect.pairSeparators[0]))
        var raw = dialect
        raw.decode = .none
        var items =
            link.query.map { $0.split(separator: separator, omittingEmptySubsequences: false).map(String.init) } ?? []
        for _ in 0..<Int.random(in: 1...3, using: &links.generator) {
            var place = Int.random(in: 0...items.count, using: &links.generator)
            if dialect.flatten {
                // The beginning of the query may be decodable even if the whole query is not, and a repair may read it
                // differently. No reading of the preceding part may end in a name.
                while place > 0 {
                    let before = items[..<place].joined(separator: separator)
                    let repaired = before.replacing("&amp;", with: "&").replacing("\u{B6}", with: "&para")
                        .replacing("%C2%B6", with: "&para")
                    let isName = [before, repaired].contains { text in
                        [dialect, raw].contains { ReferenceQuery(text, $0).endsIn(names) }
                    }
                    if !isName { break }
                    place -= 1
                }
            }
            items.insert(links.pick(Self.items), at: place)
        }
        var more = link
        more.query = items.joined(separator: separator)
        return more
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
        var options = TableGenerator.Options()
        options.decodesOnce = true
        var tables = TableGenerator(seed: 9_2026_11, options: options)
        var runner = LawRunner()
        let devices = LawDevices(LawDevices.all)
        var (cases, encoded, routed, repaired, echoed) = (0, 0, 0, 0, 0)
        while cases < lawCases {
            let law = try LawTable.next(&tables)
            var links = LinkGenerator(law.table.source, seed: tables.patterns.generator.next())
            for _ in 0..<linksPerTable {
                let link = links.link()
                let bytes = Array(link.text.utf8)
                let other = Self.encoded(bytes, from: link.pathStart, to: link.fragmentStart, &links.generator)
                let facts = devices.facts[cases % devices.facts.count]
                let plain = runner.decide(bytes, facts, law.compiled)
                let json = runner.decide(other, facts, law.compiled)
                cases += 1
                encoded += other.count > bytes.count ? 1 : 0
                routed += DecisionStart(plain).route != nil ? 1 : 0
                repaired += plain.firstRange(of: Self.repairNote) != nil ? 1 : 0
                if plain == json { continue }
                echoed += 1
                let text = String(decoding: other, as: UTF8.self)
                if withoutEcho(plain, link: link.text) != withoutEcho(json, link: text) {
                    broken(bytes, other, plain, json, law.generated.json)
                    return
                }
            }
        }
        report(
            "P9", seed: tables.patterns.generator.seed,
            [
                "cases": cases, "with new escapes": encoded, "with a route": routed, "repaired": repaired,
                "equal but for the link's echo": echoed,
            ])
        #expect(encoded > cases / 2 && routed > cases / 4 && (repaired > cases / 500 || cases < 100_000))
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
