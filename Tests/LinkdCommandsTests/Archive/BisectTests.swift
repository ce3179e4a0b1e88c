internal import Foundation
internal import LinkCoordinator
internal import StrictJSON
internal import TableSupport
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite("The edits between two documents")
struct JSONEditsTests {
    /// Returns a random value: rows with ids, lists, objects, and texts.
    private static func value(_ depth: Int, _ random: inout SeededGenerator) -> JSONValue {
        let count = Int.random(in: 0...4, using: &random)
        switch depth == 0 ? 0 : Int.random(in: 0..<5, using: &random) {
        case 0: return JSONValue(.string(String(Int.random(in: 0...2, using: &random))))
        case 1: return JSONValue(.array((0..<count).map { _ in value(depth - 1, &random) }))
        case 2:
            let ids = ["a", "b", "c", "d"].shuffled(using: &random).prefix(count)
            return JSONValue(
                .array(
                    ids.map { id in
                        let members = [("id", JSONValue(.string(id))), ("v", value(depth - 1, &random))]
                        return JSONValue(.object(members.map { JSONMember(name: $0.0, value: $0.1) }))
                    }))
        default:
            let names = ["x", "y/~", "z"].shuffled(using: &random).prefix(count)
            return JSONValue(.object(names.map { JSONMember(name: $0, value: value(depth - 1, &random)) }))
        }
    }

    @Test("No edit leaves the old document, all edits make the new one, and each pointer leads to its value")
    func law() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<LawCases.count {
            let (old, new) = (Self.value(4, &random), Self.value(4, &random))
            let text = "seed \(seed): \(old.text) \(new.text)"
            let edits = JSONEdits.list(old, new)
            #expect(edits.isEmpty == old.isEqual(to: new), "\(text)")
            #expect(JSONEdits.apply(old, new) { _ in false }?.isEqual(to: old) == true, "\(text)")
            #expect(JSONEdits.apply(old, new) { _ in true }?.isEqual(to: new) == true, "\(text)")
            for edit in edits where edit.row != "" && !(edit.old?.hasPrefix("[") ?? false) {
                let (value, isFound) = (edit.new == nil ? old : new).nearest(to: edit.pointer)
                #expect(isFound, "\(edit) \(text)")
                #expect(value.text == edit.new ?? edit.old, "\(edit) \(text)")
            }
        }
    }

    @Test("The smallest part that passes is found, whatever the others are")
    func minimal() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<LawCases.count {
            let list = Array(0..<Int.random(in: 1...60, using: &random))
            let wanted = Set(list.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random)))
            let found = BisectSearch.minimal(list) { wanted.isSubset(of: $0) }
            #expect(found == wanted.sorted(), "seed \(seed)")
            #expect(BisectSearch.minimal(list) { _ in false } == nil)
        }
    }

    @Test("A correction opens what the decision of its table opens")
    func correction() {
        let decision = #"{"decision":"in-0-1-0","event":"e","table":"t@1","outcome":"navigate","path":"/a"}"#
        let correction = decision.replacing(
            #""in-0-1-0""#, with: #""in-0-1-0~1","supersedes":"in-0-1-0""#)
        #expect(BisectSubject.essence(Array(correction.utf8)) == BisectSubject.essence(Array(decision.utf8)))
        #expect(BisectSubject.essence(Array(decision.utf8)) == #"{"outcome":"navigate","path":"/a"}"#)
    }

    /// The times of decisions, the configurations that made them, and the times since when their link opens the same.
    private static let times: [(time: Int64, configuration: String?, since: Int64?)] = [
        (45, "c", 30), (35, nil, 30), (25, "a", 10), (25, nil, nil), (5, "a", 10), (5, nil, nil), (90, "c", 30),
    ]

    @Test("A link opens something since the use of the configuration that made the decision", arguments: times)
    func since(time: Int64, configuration: String?, since: Int64?) throws {
        let table = String(decoding: try TableFiles.shipped("shop"), as: UTF8.self)
        let document = try ArchiveSample.draft(table).configuration
        let steps = [(10, "a", "q"), (20, "b", "p"), (30, "a", "q"), (40, "c", "q"), (50, "b", "p")].map { step in
            BisectSearch.Step(
                time: step.0,
                entry: ConfigurationArchive.Entry(hash: step.1, configuration: document, uses: []),
                result: BisectResult(decision: nil, essence: step.2))
        }
        let wanted = BisectResult(decision: nil, essence: "q")
        let decided = BisectDecision(result: wanted, time: time, configuration: configuration)
        #expect(BisectReport.since(steps, wanted, decided)?.step.time == since)
        #expect(BisectReport.since(steps, steps[4].result, nil)?.step.time == 50)
    }
}

/// `linkd bisect` with a real broker.
@Suite("Since when does a link open this?", .enabled(if: TestBroker.plain != nil, "no broker"))
struct BisectBrokerTests {
    private let topic = TestBroker.uniqueName("bisect") + "-tables"

    private func run(_ arguments: String...) throws -> CommandResult {
        try LinkdProcess.run(
            arguments,
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "", "LINKD_TABLES_TOPIC": topic,
                "LINKD_HOME": VendorFiles.home,
            ])
    }

    /// A configuration of a history: the parts that planted changes edit, and parts that do not matter.
    private struct Version {
        var screen = "a"
        var isRewritten = false
        var isRejected = false
        var initial = "x"
        var minimum = 1
        var vendorLink = "/acme/url"
        var noise = 0

        private var rewrites: String { isRewritten ? #","rewrites":[{"stripPrefix":"/shop"}]"# : "" }

        private var table: String {
            let others = (0..<6).map {
                #"{"id":"n\#($0)","match":"/n\#($0)/\#((noise + $0) % 7)","to":{"path":"/main/a"}}"#
            }.joined(separator: ",")
            return """
                {"schemaVersion":1,"table":{"id":"t","version":"\(noise)","applications":["t"]},
                 "link":{"schemes":["t"],"host":"segment"\(rewrites)},
                 "coordinators":{"main":{"initial":"\(initial)","screens":{"x":{},"y":{},"a":{},"b":{},"c":{}}}},
                 "routes":[\(others),
                   {"id":"item","match":"/item","variants":[
                      {"when":{"app":">=\(minimum).0"},"to":{"path":"/main/\(screen)","parents":"initial"}},
                      {"to":{"path":"/main/c"}}]},
                   {"id":"shopped","match":"/shop/item","to":{"path":"/main/c"}},
                   {"id":"other","match":"/other","to":{"path":"/main/b"}}],
                 "fallback":{"outcome":"\(isRejected ? "none" : "reject")"},
                 "examples":[{"link":"t:///other","route":"other"}]}
                """
        }

        func draft() throws -> ConfigurationDraft {
            let form = #""on": ["apple"], "marks": [["/acme"]], "links": ["\#(vendorLink)"]"#
            // The example holds with this link only.
            let name = vendorLink.dropFirst("/acme/".count)
            let example = #"{"platform":"ios","payload":{"aps":{},"acme":{"\#(name)":"t:///x"}},"link":"t:///x"}"#
            return try ArchiveSample.draft(
                table, vendors: VendorFiles.table().replacing("acme", with: "other"),
                VendorFiles.table(form: form, examples: example))
        }
    }

    /// A planted change: the number of its version, and where it is.
    private struct Planted: Equatable {
        var version: Int
        var document: String
        var pointer: String
    }

    /// Returns the records of a history, with the planted changes.
    ///
    /// The changes come in pairs that cancel: one kind of change, and the same edit back.
    private static func history(
        _ count: Int, planted: Int, _ random: inout SeededGenerator
    ) throws -> (records: [ArchiveSample.Record], planted: [Planted]) {
        let places = (1..<count).shuffled(using: &random).prefix(planted).sorted()
        let kinds: [(document: String, pointer: String, edit: (inout Version) -> Void)] = [
            ("table t", "/routes/6/variants/0/to/path", { $0.screen = $0.screen == "a" ? "b" : "a" }),
            (
                "vendors (file 2)", "/vendors/0/forms/0/links/0",
                { $0.vendorLink = $0.vendorLink == "/acme/url" ? "/acme/alt" : "/acme/url" }
            ),
            ("table t", "/coordinators/main/initial", { $0.initial = $0.initial == "x" ? "y" : "x" }),
            ("table t", "/routes/6/variants/0/when/app", { $0.minimum = $0.minimum == 1 ? 9 : 1 }),
        ]
        var version = Version()
        var records = ArchiveSample.records(try version.draft(), usedAt: 0)
        var expected: [Planted] = []
        var open: Int?
        for number in 1..<count {
            version.noise = number
            if places.contains(number) {
                // Each second change takes back the one before it.
                let kind = open ?? expected.count / 2 % kinds.count
                open = open == nil ? kind : nil
                kinds[kind].edit(&version)
                expected.append(Planted(version: number, document: kinds[kind].document, pointer: kinds[kind].pointer))
            }
            records += ArchiveSample.records(try version.draft(), usedAt: Int64(number) * 60_000)
        }
        return (records, expected)
    }

    @Test("In 300 versions, 50 planted changes are found with their versions and pointers, some of which cancel")
    func planted() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        try ArchiveSample.create(topic)
        let (records, planted) = try Self.history(300, planted: 50, &random)
        try ArchiveSample.write(records, to: topic)
        let event =
            #"{"payload":{"aps":{},"acme":{"url":"t:///item","alt":"t:///other"}},"platform":"ios","#
            + #""device":{"id":"d","app":"5.0","platform":"ios"}}"#
        let result = try run("bisect", event, "--json")
        #expect(result.code == 0, "\(result.err)")
        let report = try JSONValue.parse(Array(result.out.utf8), maxDepth: 512)
        #expect(report["configurations"]?.integer == 300)
        let found = (report["changes"]?.array ?? []).flatMap { change in
            (change["edits"]?.array ?? []).map { edit in
                Planted(
                    version: Int((change["ms"]?.integer ?? -1) / 60_000), document: edit["document"]?.string ?? "",
                    pointer: edit["pointer"]?.string ?? "")
            }
        }
        #expect(found == planted, "seed \(seed)")
        #expect(report["changes"]?.array?.allSatisfy { $0["proved"]?.text == "true" } == true)
        #expect(report["since"]?["ms"]?.integer == planted.last.map { Int64($0.version) * 60_000 }, "seed \(seed)")
        #expect(report["problems"]?.array?.isEmpty == true)
    }

    @Test("A configuration that comes back is a change, and two edits that only together do it are both named")
    func back() throws {
        try ArchiveSample.create(topic)
        var both = Version()
        both.isRewritten = true
        both.screen = "b"
        // The rewrite alone opens `a`, and the screen alone is not reached.
        let first = try Version().draft()
        try ArchiveSample.write(
            ArchiveSample.records(first, usedAt: 1000, 3000) + ArchiveSample.records(try both.draft(), usedAt: 2000),
            to: topic)
        let result = try run("bisect", "t:///shop/item", "--device", #"{"app":"5.0"}"#, "--json")
        let report = try JSONValue.parse(Array(result.out.utf8))
        let changes = report["changes"]?.array ?? []
        #expect(changes.map { $0["ms"]?.integer } == [2000, 3000])
        let pointers = changes.map { change in change["edits"]?.array?.compactMap { $0["pointer"]?.string } }
        // Without the rewrite, the screen does not matter.
        #expect(pointers == [["/link/rewrites", "/routes/6/variants/0/to/path"], ["/link/rewrites"]])
        #expect(report["since"]?["ms"]?.integer == 3000)
        #expect(report["result"]?["route"]?.string == "shopped")
        let text = try run("bisect", "t:///shop/item", "--device", #"{"app":"5.0"}"#)
        #expect(text.out.contains("\n2 changes in 2 configurations:\n  1970-01-01T00:00:02.000Z  t@0+"), "\(text.out)")
        #expect(
            text.out.contains("    table t (item)  /routes/6/variants/0/to/path\n      \"/main/a\" -> \"/main/b\"\n"))
    }

    @Test("Without a configuration, with a damaged one, and with wrong arguments, the answer says what to do")
    func problems() throws {
        try ArchiveSample.create(topic)
        let none = try run("bisect", "t:///item")
        #expect(none.code == 1 && none.err.contains("no worker has stored a configuration"), "\(none.err)")
        var version = Version()
        let draft = try version.draft()
        let document = draft.configuration.document
        // The table is missing.
        let records = ArchiveSample.records(draft, usedAt: 1).filter {
            $0.value == document || $0.value?.starts(with: Array(#"{"uses":"#.utf8)) == true
        }
        version.noise = 1
        try ArchiveSample.write(records + ArchiveSample.records(try version.draft(), usedAt: 2), to: topic)
        let damaged = try run("bisect", "t:///item")
        #expect(damaged.code == 0 && damaged.err.contains("is missing or damaged"), "\(damaged.err)")
        #expect(damaged.out.contains("no change in 1 configuration"), "\(damaged.out)")
        version.noise = 2
        let uses = ArchiveSample.records(try version.draft(), usedAt: 3).filter {
            $0.value?.starts(with: Array(#"{"uses":"#.utf8)) == true
        }
        try ArchiveSample.write(uses, to: topic)
        let lost = try run("bisect", "t:///item")
        #expect(lost.code == 0 && lost.err.contains("is damaged: its document is missing"), "\(lost.err)")
        version.noise = 3
        try ArchiveSample.write(ArchiveSample.records(try version.draft(), usedAt: 32_503_680_000_000), to: topic)
        let early = try run("bisect", "t:///item")
        #expect(early.code == 0 && early.err.contains("3000-01-01T00:00:00.000Z is in the future"), "\(early.err)")
        #expect(try run("bisect", "in-0-0-0", "--device", "{}").code == 64)
        #expect(try run("bisect", #"{"link":"t:///item"}"#, "--device", "{}").code == 64)
        #expect(try run("bisect").code == 64)
    }
}
