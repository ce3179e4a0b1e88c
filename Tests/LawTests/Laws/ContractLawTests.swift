import LinkCoordinator
import RouteTools
import TableSupport
import TestSupport
import Testing

@Suite(
    "The contract of a table in JSON Schema",
    .enabled(if: SchemaValidator.isAvailable, Comment(rawValue: SchemaValidator.unavailableReason)))
struct ContractLawTests {
    /// What only the worker writes, before the members of the library.
    private static let published = [
        "", #""decision":"in-0-1-0","event":"e","device":"d","#,
        #""decision":"a.b-3-12-1~2","supersedes":"a.b-3-12-1~1","event":"e","device":"d","application":"a","#,
        #""decision":"in-0-1-0","event":"e","device":"d","context":{"campaign":"c","x":{"y":[1]},"#
            + #""push":{"vendor":"braze","message":"4711"}},"facts":{"platform":"ios","claims":["session"],"#
            + #""attributes":{"tier":"gold"}},"#,
        #""decision":"in-0-1.99-0","event":"e","device":"d","context":{"push":{"collapse":"c","priority":"high"},"#
            + #""expires":"2026-11-21T10:00:00Z","query":{"utm_source":"push"}},"#,
    ]

    /// Decisions for which no table was chosen, or nothing was resolved.
    private static let unresolved = [
        #"{"decision":"in-0-1-0","event":"e","user":"u","outcome":"none","reason":"no_device"}"#,
        #"{"decision":"in-0-2-0","event":"e","device":"d","outcome":"none","reason":"expired"}"#,
        #"{"decision":"in-0-3-0","event":"e","device":"d","outcome":"none","reason":"open_app","notes":["silent"]}"#,
    ]

    /// Returns a request for a table: a link, sometimes as a payload, or a route with parameters.
    private static func request(_ links: inout LinkGenerator, _ table: RouteTable) -> LinkRequest {
        if links.one(in: 8), let route = table.source.routes.randomElement(using: &links.generator) {
            return .route(route.id.value)
        }
        let link = links.link().text
        if links.one(in: 8) { return .payload(LinkRequest.Object([("l", .string(link))])) }
        return .link(link)
    }

    /// A case is a decision: of the shipped tables, and of random tables.
    @Test("Decisions match the schema of their table, and each mutation of a member fails")
    func decisions() throws {
        let seed: UInt64 = 38_2026_11
        let tables = try SampleTable.all() + SampleTable.exact()
        let count = LawCases.count / tables.count + 1
        var outcomes: [String: Int] = [:]
        var lines: [String] = []
        var number = 0
        for (index, sample) in tables.enumerated() {
            var links = LinkGenerator(sample.table.source, seed: seed &+ UInt64(index))
            var decisions = Self.unresolved
            while decisions.count < count + Self.unresolved.count {
                let request = Self.request(&links, sample.table)
                number += 1
                let device = LawDevices.all[number % LawDevices.all.count]
                let json = sample.table.resolve(request, device: device).description
                outcomes[DecisionStart(Array(json.utf8)).outcome, default: 0] += 1
                decisions.append("{" + Self.published[number % Self.published.count] + json.dropFirst())
            }
            let schema = DecisionContract(sample.table).jsonSchema.replacing("\n", with: "")
            lines.append(#"{"schema":\#(schema),"decisions":[\#(decisions.joined(separator: ","))]}"#)
        }
        let result = try ContractValidator.run(lines, seed: seed)
        #expect(result.wrong == [], "seed \(seed)")
        let kinds = result.mutations.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print(
            "contracts: \(number) decisions of \(tables.count) tables, seed \(seed): \(outcomes), mutations: \(kinds)")
        #expect(outcomes.count == 5 && result.mutations.count >= 25)
    }
}
