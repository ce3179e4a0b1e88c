import LinkCoordinator
import StrictJSON
import TableSupport
import TestSupport
import Testing

/// Law P12 over the shipped tables: any bytes result in one decision, within a limit, and without a trap.
///
/// A case is an input with a table and a device.
@Suite("P12: any bytes result in exactly one decision") struct ByteLawTests {
    private static let parities = [
        "coordinator-demo", "string-paths", "trips-calendar", "easydev991-parser", "easydev991-parameters",
        "content-flow",
    ]

    /// The maximum size of a decision, in bytes.
    ///
    /// A link of 8192 bytes is contained several times with escapes.
    private static let maxDecisionBytes = 256 << 10

    private static func tables() throws -> [RouteTable] {
        try SampleTable.shipped().map(\.table) + parities.map { try RouteTable(json: TableFiles.parity($0)) }
    }

    /// Resolves each input with one of the tables in turn and counts the outcomes.
    ///
    /// It stops at the first result that is not a decision, and records the smallest input with such a result.
    private func run(_ kind: String, seed: UInt64, next: (inout SeededGenerator, Int) -> [UInt8]) throws {
        let tables = try Self.tables()
        let devices = LawDevices(LawDevices.all)
        var generator = SeededGenerator(seed: seed)
        var resolver = ReusedResolver()
        var outcomes: [String: Int] = [:]
        var reasons: [String: Int] = [:]
        var largest = 0
        for number in 0..<LawCases.count {
            let index = number % tables.count
            let input = next(&generator, index)
            let device = devices.facts[number / tables.count % devices.facts.count]
            let json = resolver.decide(input, device, tables[index].compiled)
            largest = max(largest, json.count)
            guard let value = Self.decision(json), let outcome = value["outcome"]?.string else {
                SampleTable(table: tables[index]).record("P12, seed \(seed), case \(number)", input) { input, table in
                    var resolver = ReusedResolver()
                    let json = resolver.decide(input, device, table.compiled)
                    return Self.decision(json) == nil ? "\(input): \(String(decoding: json, as: UTF8.self))" : nil
                }
                return
            }
            outcomes[outcome, default: 0] += 1
            if let reason = value["reason"]?.string { reasons[reason, default: 0] += 1 }
        }
        print("bytes, \(kind): seed \(seed), \(LawCases.count) inputs, \(outcomes), reasons \(reasons)")
        print("bytes, \(kind): largest decision \(largest) bytes")
        #expect(outcomes.values.reduce(0, +) == LawCases.count)
    }

    /// Returns a decision as JSON, or nil if the bytes are not one.
    private static func decision(_ json: [UInt8]) -> JSONValue? {
        guard let value = try? JSONValue.parse(json, maxDepth: 64), let outcome = value["outcome"]?.string,
            Decision.Outcome(rawValue: outcome) != nil, json.count <= maxDecisionBytes
        else { return nil }
        return value
    }

    @Test("Random bytes result in one decision each")
    func bytes() throws {
        let heads = [
            "", "shop://", "https://shop.example/", "coordinator://", "tcal://h/", "myapp://", "path:", "content:",
        ]
        try run("bytes", seed: 12_2026_11) { generator, _ in
            let size = generator.one(in: 500) ? 9000 : generator.pick([0, 1, 4, 16, 64, 200])
            let count = Int.random(in: 0...size, using: &generator)
            let alphabet =
                Array("/?#&=%:@.;,+~-_aZ09{}[]\\\"<> \u{7F}\r\né".utf8) + [0x80, 0xC3, 0xFF, 0xE2, 0x80, 0x8B]
            let isPlain = generator.one(in: 2)
            let rest = (0..<count).map { _ in
                isPlain ? generator.pick(alphabet) : UInt8.random(in: 0...255, using: &generator)
            }
            return (generator.one(in: 2) ? Array(generator.pick(heads).utf8) : []) + rest
        }
    }

    @Test("Mutated links result in one decision each")
    func links() throws {
        let tables = try Self.tables()
        var sources: [[[UInt8]]] = []
        for (index, table) in tables.enumerated() {
            var links = LinkGenerator(table.source, seed: 12_2026_12 + UInt64(index))
            sources.append(
                (0..<400).map { _ in Array(links.link().text.utf8) }
                    + table.source.examples.compactMap { example in
                        if case .link(let text) = example.request { Array(text.utf8) } else { nil }
                    })
        }
        try run("links", seed: 12_2026_13) { generator, index in
            var link = generator.pick(sources[index])
            for _ in 0..<generator.pick([1, 1, 2, 4, 16]) { Self.mutate(&link, sources[index], &generator) }
            return link
        }
    }

    private static func mutate(_ link: inout [UInt8], _ others: [[UInt8]], _ generator: inout SeededGenerator) {
        let position = Int.random(in: 0...link.count, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: link.insert(UInt8.random(in: 0...255, using: &generator), at: position)
        case 1: link.insert(generator.pick(Array("/?#&=%:@.+ ".utf8)), at: position)
        case 2 where position < link.count: link.remove(at: position)
        case 3 where position < link.count: link[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 4:
            let end = Int.random(in: position...link.count, using: &generator)
            link.insert(contentsOf: link[position..<end], at: position)
            link = Array(link.prefix(20_000))
        case 5: link = Array(link[..<position]) + generator.pick(others).dropFirst(position)
        case 6:
            link.insert(
                contentsOf: Array(generator.pick(["%", "%2F", "%00", "%C3", "//", "..", "%2e", "\u{202E}", "¶"]).utf8),
                at: position)
        default: link.removeSubrange(position..<min(position + 8, link.count))
        }
    }

    /// A case is a request.
    ///
    /// It has so few parts that it is not shrunk.
    @Test("Paths, routes with parameters, and payloads result in one decision each")
    func otherForms() throws {
        let tables = try Self.tables()
        var generator = SeededGenerator(seed: 12_2026_14)
        var outcomes: [String: Int] = [:]
        let words = ["auth", "a", "home", "feed", "/", "//", "..", "%2F", "?", "#x", "id", "é", "\u{202E}", "x", ""]
        for number in 0..<LawCases.count {
            let table = tables[number % tables.count]
            let routes = table.source.routes.map(\.id.value)
            let text = generator.joined(0...6, of: words, by: generator.pick(["", "/"]))
            let names = ["id", "count", "path", "p", "rest", "q", "tag", "order", "first"]
            let values = [
                "null", "5", "-0", "1e999", "true", "[1]", "{}", "\"\"", "\"b121d5e7-ea65-49f8-8b33-b3c43fa93866\"",
            ]
            let members = (0..<Int.random(in: 0...4, using: &generator)).map { index in
                "\"\(names[(index * 2 + number) % names.count])\":"
                    + (generator.one(in: 4) ? "\"\(text)\"" : generator.pick(values))
            }
            let params = "{\(members.joined(separator: ","))}"
            let payloads = ["{\"data\":{\"deep_link\":\"\(text)\"}}", "{\"aps\":{\"link\":5}}", params, "{}"]
            let requests: [LinkRequest] = [
                .path(text, mode: generator.pick([nil, .append, .reuse, .replace])),
                .route(generator.pick(routes + [text]), params: .json(params)),
                .payload(.json(generator.pick(payloads))),
            ]
            let decision = table.resolve(generator.pick(requests))
            guard let outcome = decision.value["outcome"]?.string, Decision.Outcome(rawValue: outcome) != nil else {
                let json = String(decoding: decision.json, as: UTF8.self)
                Issue.record("seed \(generator.seed), case \(number): \(text), \(params): \(json)")
                return
            }
            outcomes[outcome, default: 0] += 1
        }
        print("fuzz other forms: seed \(generator.seed), \(outcomes)")
    }
}
