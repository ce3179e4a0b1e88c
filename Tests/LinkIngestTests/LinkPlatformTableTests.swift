import ByteStorage
import StrictJSON
import TestSupport
import Testing

@testable import LinkIngest

@Suite("The file of link platforms is read strictly, and its rules are total")
struct LinkPlatformTableTests {
    let table: LinkPlatforms

    init() throws { table = try LinkPlatforms(file: IngestFixture.shipped("link-platforms.json")) }

    @Test("A fault of a rule is found at its place")
    func faults() throws {
        let rows = try IngestFixture.lines("faulty-link-rules.jsonl")
        #expect(rows.count > 25)
        for row in rows {
            let pointer = "/platforms/0/rules/0" + (row["pointer"]?.string ?? "?")
            let failure = #expect(throws: RuleFileFailure.self) {
                try LinkPlatforms.rules(row["rule"]?.text ?? "")
            }
            let problem = failure?.problems.first
            #expect(problem?.location.pointer == pointer, "\(row.text)")
            #expect(problem?.code.rawValue == row["code"]?.string, "\(row.text)")
        }
    }

    /// Files with the code and the pointer of their first problem.
    static let files: [(String, RuleFileProblem.Code, String)] = [
        ("", .json, ""), ("[]", .wrongType, ""), ("{}", .version, "/schemaVersion"),
        (#"{"schemaVersion":1}"#, .missingMember, "/platforms"),
        (#"{"schemaVersion":1,"platforms":{}}"#, .wrongType, "/platforms"),
        (#"{"schemaVersion":1,"platforms":[],"platform":1}"#, .unknownMember, "/platform"),
        (#"{"schemaVersion":2,"platforms":[{"id":"p","name":"P","rules":[]}]}"#, .version, "/schemaVersion"),
        (#"{"schemaVersion":1,"platforms":[]}"#, .badValue, "/platforms"),
        (#"{"schemaVersion":1,"platforms":[{"id":"P","name":"P"}]}"#, .badValue, "/platforms/0/id"),
        (#"{"schemaVersion":1,"platforms":[{"id":"p","id":"p","name":"P"}]}"#, .json, "/platforms/0/id"),
        (#"{"schemaVersion":1,"platforms":[\#(row),\#(row)]}"#, .duplicate, "/platforms/1/id"),
    ]

    private static let row = #"{"id":"p","name":"P","rules":[{"hosts":["a.example"],"unwrap":["u"]}]}"#

    @Test("A file with a problem is refused with the code and the location of the value", arguments: files)
    func refused(file: String, code: RuleFileProblem.Code, pointer: String) {
        let problem = LinkPlatforms.check(Array(file.utf8)).problems.first
        #expect(problem?.code == code && problem?.location.pointer == pointer, "\(String(describing: problem))")
        #expect(throws: RuleFileFailure.self) { try LinkPlatforms(file: Array(file.utf8)) }
    }

    @Test("A problem has its line, its column, and what to do")
    func location() {
        let file = """
            {"schemaVersion":1,"platforms":[{"id":"p","name":"P","rules":[
              {"hosts":["a.example"],
               "unwarp":["u"]}]}]}
            """
        let problem = LinkPlatforms.check(Array(file.utf8)).problems.first
        #expect(problem?.location == JSONLocation(line: 3, column: 13, pointer: "/platforms/0/rules/0/unwarp"))
        #expect(problem?.code == .unknownMember && problem?.nearest == "unwrap")
        #expect(problem?.suggestion == "did you mean `unwrap`?")
        #expect(RuleFileProblem.Code.allCases.allSatisfy { !$0.advice.isEmpty })
    }

    @Test("The last parameter of the largest file is named in the notes")
    func largest() throws {
        let rules = (0..<LinkPlatformReader.Limit.rules).map { number in
            let names = (0..<LinkPlatformReader.Limit.parameters).map { "\"p\(number)x\($0)\"" }
            return #"{"hosts":["h\#(number).example"],"unwrap":[\#(names.joined(separator: ","))]}"#
        }
        let table = try LinkPlatforms.rules(rules.joined(separator: ","))
        let last = LinkPlatformReader.Limit.rules - 1
        let found = table.snapshot("https://h\(last).example/?p\(last)x15=b%3A%2F%2Fc")
        #expect(found.to == "b://c" && found.steps == ["p.p\(last)x15"])
    }

    @Test("An example that does not hold is a problem of the file")
    func wrongExample() {
        let text = #"""
            {"schemaVersion":1,"platforms":[{"id":"p","name":"P","rules":[{"hosts":["a.example"],"unwrap":["u"]}],
             "examples":[{"link":"https://a.example/?u=b%3A%2F%2Fc","destination":"b://c"},
                         {"link":"https://a.example/?u=b%3A%2F%2Fc","result":"itself"}]}]}
            """#
        let problems = LinkPlatforms.check(Array(text.utf8)).problems
        #expect(problems.map(\.location.pointer) == ["/platforms/0/examples/1"])
        #expect(problems.map(\.code) == [.example])
        #expect(problems.map(\.expected) == ["expected the stated result, found `b://c`"])
    }

    @Test(
        "Rules that rewrite each other's results are a problem, and a chain with an end is none",
        arguments: [
            (["b.example", "a.example"], [0, 1]), (["b.example", "c.example", "a.example"], [0, 1, 2]),
            (["b.example", "end.example"], []), (["b.example", "c.example", "end.example"], []),
        ])
    func cycles(origins: [String], places: [Int]) {
        let hosts = ["a.example", "b.example", "c.example"]
        let rules = zip(hosts, origins).map { #"{"hosts":["\#($0)"],"origin":"https://\#($1)"}"# }
        let example = #"{"link":"https://z.example/","result":"itself"}"#
        let text =
            #"{"schemaVersion":1,"platforms":[{"id":"p","name":"P","rules":[\#(rules.joined(separator: ","))],"#
            + #""examples":[\#(example)]}]}"#
        let problems = LinkPlatforms.check(Array(text.utf8)).problems
        #expect(problems.map(\.location.pointer) == places.map { "/platforms/0/rules/\($0)" })
        #expect(problems.allSatisfy { $0.code == .badValue })
    }

    /// Rules with a host, a mark, and the host of the origin, and the places of those whose links have no end.
    static let markedRules: [([(host: String, mark: String, origin: String)], [Int])] = [
        ([("a.example", "t", "b.example"), ("b.example", "u", "a.example")], [0, 1]),
        ([("a.example", "t", "b.example"), ("b.example", "t", "a.example")], [0, 1]),
        (
            [("a.example", "t", "b.example"), ("b.example", "u", "c.example"), ("c.example", "v", "a.example")],
            [0, 1, 2]
        ),
        ([("a.example", "t", "b.example"), ("b.example", "u", "end.example")], []),
        (
            [
                ("a.example", "t", "b.example"), ("b.example", "u", "c.example"), ("c.example", "v", "d.example"),
                ("d.example", "w", "e.example"), ("e.example", "x", "end.example"),
            ], []
        ),
    ]

    @Test("Rules with different marks that rewrite each other's results are a problem", arguments: markedRules)
    func markedCycles(rules: [(host: String, mark: String, origin: String)], places: [Int]) {
        let list = rules.map { #"{"hosts":["\#($0.host)"],"marks":["\#($0.mark)"],"origin":"https://\#($0.origin)"}"# }
        let example = #"{"link":"https://z.example/","result":"itself"}"#
        let text =
            #"{"schemaVersion":1,"platforms":[{"id":"p","name":"P","rules":[\#(list.joined(separator: ","))],"#
            + #""examples":[\#(example)]}]}"#
        let problems = LinkPlatforms.check(Array(text.utf8)).problems
        #expect(problems.map(\.location.pointer) == places.map { "/platforms/0/rules/\($0)" })
        #expect(problems.allSatisfy { $0.code == .badValue })
    }

    @Test("A platform without an example is a problem")
    func noExample() {
        let text = #"{"schemaVersion":1,"platforms":[\#(Self.row)]}"#
        let problems = LinkPlatforms.check(Array(text.utf8)).problems
        #expect(problems.map(\.location.pointer) == ["/platforms/0"])
        #expect(problems.map(\.code) == [.missingMember])
    }

    @Test(
        "An origin with a scheme of the system or the browser is a problem, in any case",
        arguments: [
            "javascript", "JavaScript", "data", "file", "filesystem", "vbscript", "blob", "about", "content", "jar",
            "view-source", "intent", "Intent", "itms-services", "mhtml", "ms-its", "chrome", "tel",
        ])
    func unsafeOrigins(scheme: String) {
        let failure = #expect(throws: RuleFileFailure.self) {
            try LinkPlatforms.rules(#"{"hosts":["a.example"],"origin":"\#(scheme)://"}"#)
        }
        #expect(failure?.problems.first?.location.pointer == "/platforms/0/rules/0/origin")
    }

    @Test("The article and the schema have the keys that the file can have")
    func keys() throws {
        let page = try ReferencePage(path: "Sources/LinkIngest/LinkIngest.docc/LinkPlatforms.md")
        let schema = try JSONValue.parse(IngestFixture.shipped("schemas/link-platforms.schema.json"))
        let sections = [("The file", ""), ("Keys of a platform", "platform"), ("Rules", "rule")]
        for (section, name) in sections {
            let keys = (name.isEmpty ? schema : schema["$defs"]?[name])?["properties"]?.object?.map(\.name) ?? []
            #expect(page.table(section, "Key")?.names == keys, "\(section)")
        }
        // The reader knows the same keys of a rule.
        for key in (schema["$defs"]?["rule"]?["properties"]?.object ?? []).map(\.name) {
            let text = #"{"schemaVersion":1,"platforms":[{"id":"p","name":"P","rules":[{"\#(key)":0}]}]}"#
            let problems = LinkPlatforms.check(Array(text.utf8)).problems
            #expect(problems.contains { $0.location.pointer.hasPrefix("/platforms/0/rules/0/\(key)") })
            #expect(!problems.contains { $0.code == .unknownMember })
        }
    }

    @Test("The fragments of the article are rules and platforms, and it names every platform")
    func article() throws {
        let page = try ReferencePage(path: "Sources/LinkIngest/LinkIngest.docc/LinkPlatforms.md")
        for block in page.blocks("Rules") { _ = try LinkPlatforms.rules(block.text) }
        for block in page.blocks("Your own domains") {
            let text = #"{"schemaVersion":1,"platforms":[\#(block.text)]}"#
            let own = try LinkPlatforms(file: Array(text.utf8))
            #expect(own.snapshot("https://shop.go.link/p/42?adj_t=a&y=1").to == "https://shop.example/p/42?y=1")
            #expect(own.snapshot("https://s.shop.example/x").kind == "needs_resolution")
        }
        let named = page.table("Platforms", "Platform")?.names ?? []
        #expect(
            named.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } } == table.image.platforms.map(\.string)
        )
    }

    // MARK: - Hosts

    @Test("No host that only ends with the letters of a platform's host is the platform's")
    func labels() throws {
        var checked = 0
        let items = ["u", "q", "url", "link", "af_dp", "adj_deep_link"].map { $0 + "=shop%3A%2F%2Fp" }
            .joined(separator: "&")
        let hosts = table.image.rules.flatMap { Array($0.hosts) }
        let domains = hosts.filter(\.isSuffix).map { "." + $0.name.string }
        for host in hosts.map(\.name.string) {
            // A host such as `app.adjust.com` is also below a domain that the table lists.
            if domains.contains(where: host.hasSuffix) { continue }
            for before in ["evil", "-", "evil-", "1", "x.evil", "%2E", "evil%2E", "evil。"] {
                for mark in ["", "adj_t=1&", "link=x&"] {
                    let link = "https://\(before)\(host)/?\(mark)" + items
                    let found = table.snapshot(link)
                    // Only the platform's own parameters may go.
                    #expect(found.kind == "itself" || found.steps == ["adjust"], "\(link)")
                    #expect(found.to?.hasPrefix("https://\(before)\(host)/") ?? true, "\(link)")
                    checked += 1
                }
            }
        }
        #expect(checked > 500)
    }

    // MARK: - Random bytes

    @Test("Random bytes and changed links have one destination, within the limit, also with a used arena")
    func random() {
        var generator = SeededGenerator(seed: 0x11_4B)
        var used = OutputArena(chunkBytes: 4096)
        let words = Self.words(table)
        var kinds: Set<String> = []
        for round in 0..<LawCases.count {
            var link: [UInt8] = []
            if round % 3 == 0 { link = LinkCase.all[round / 3 % max(1, LinkCase.all.count)].link }
            for _ in 0..<Int.random(in: 0...(round % 3 == 0 ? 2 : 9), using: &generator) {
                let word = Array(generator.pick(words).utf8)
                let place = round % 3 == 0 ? Int.random(in: 0...link.count, using: &generator) : link.count
                link.insert(contentsOf: word, at: place)
            }
            if generator.one(in: 4), !link.isEmpty {
                link[Int.random(in: 0..<link.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let bytes = ExactBytes(link)
            let limit = generator.one(in: 8) ? link.count : LinkPlatforms.defaultLimit
            if round % 64 == 0 { used.reset() }
            let found = table.destination(of: bytes.view, limit: limit, into: &used)
            let seen = LinkSnapshot(found, table)
            kinds.insert(seen.kind)
            let isRight =
                seen == table.snapshot(link, limit: limit) && seen.steps.count <= LinkPlatforms.maxSteps + 1
                && (seen.kind == "itself" ? found.link == bytes.view : found.link.count <= limit)
            if !isRight { Issue.record("seed \(generator.seed) round \(round): \(bytes.view.string)") }
        }
        #expect(kinds == ["itself", "link", "no_link", "needs_resolution"])
    }

    /// Returns the texts from which links are composed.
    private static func words(_ table: LinkPlatforms) -> [String] {
        let hosts = table.image.rules.flatMap { rule in
            rule.isAnyHost ? [""] : rule.hosts.map { ($0.isSuffix ? "x." : "") + $0.name.string }
        }
        let names = table.image.rules.flatMap { rule in
            rule.unwrap.map(\.name.string) + rule.marks.map(\.string)
                + rule.strip.map { $0.name.string + ($0.isPrefix ? "*" : "") }
        }
        let starts = hosts.flatMap { ["https://" + $0, "https://" + $0 + "/?", "https%3A%2F%2F" + $0 + "%2F%3F"] }
        let parts = [
            "https://", "http://", "shop://", "s%3A%2F%2F", "google/link/?", "/", "//", "?", "&", "=", "#", "%", "%2",
            "%25", "%00", ":", "@", ".", "*", "\\", "\u{e9}", " ", "+", "a", "/ulink/", "/link/dismiss", "/app/x",
        ]
        return starts + names.flatMap { [$0 + "=", $0, "&" + $0 + "=shop%3A%2F%2Fp"] } + parts + parts
    }
}
