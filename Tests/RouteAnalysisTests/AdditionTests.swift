import LinkCoordinator
import RouteAnalysis
import TableSupport
import TestSupport
import Testing

/// Routes and screens that only the newer of two tables has.
@Suite("Additions between two tables")
struct AdditionTests {
    /// A part of a table: a route, its model, and its screen.
    private struct Part: Hashable {
        var name: String
        var match: String
        var field: String
        var source: String

        var model: String { #""M\#(name)": { "v": "\#(field)" }"# }
        var screen: String { #""s\#(name)": { "needs": ["M\#(name)"] }"# }
        var route: String {
            """
            { "id": "\(name)", "match": "\(match)", "to": { "path": "/home/s\(name)" },
              "bind": { "M\(name)": { "v": "\(source)" } } }
            """
        }
    }

    private static func table(_ parts: [Part], fallback: String, others: [String] = []) throws -> RouteTable {
        let routes = parts.map(\.route) + others
        return try RouteTable(
            json: Array(
                """
                { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
                  "link": { "schemes": ["shop", "https"], "host": "authority", "hosts": ["shop.example", ""] },
                  "models": { \(parts.map(\.model).joined(separator: ", ")) },
                  "coordinators": { "home": { "initial": "feed", "screens": {
                    \((["\"feed\": {}"] + parts.map(\.screen)).joined(separator: ", ")) } } },
                  "routes": [ \(routes.joined(separator: ", ")) ],
                  "fallback": { \(fallback) } }
                """.utf8))
    }

    private static let item = Part(name: "item", match: "/p/{id:int}", field: "int(1..)", source: "path.id")
    private static let coupon = Part(name: "coupon", match: "/c/{code}", field: "string(1..40)", source: "path.code")
    private static let home = #""on": ["no_route", "unknown_screen"], "outcome": "navigate", "to": { "root": true }"#

    @Test("A route that is added breaks nothing, and what it refuses is listed as an addition")
    func added() throws {
        let old = try Self.table([Self.item], fallback: Self.home)
        let new = try Self.table([Self.item, Self.coupon], fallback: Self.home)
        let difference = new.difference(from: old)
        #expect(difference.groups.allSatisfy { !$0.isBreaking && $0.isAddition }, "\(difference.groups)")
        let refused = try #require(difference.changes.first { $0.new.reason == "param_invalid" })
        #expect(refused.isAddition && refused.breakage == nil && refused.old.isFallback)
        // The name of 41 characters is the shortest that the field refuses.
        #expect(refused.request.text == "https://shop.example/c/" + String(repeating: "a", count: 41))
        #expect(difference.groups[0].changes[0].request.text == "https://shop.example/c/a")
        // The other way around, the route is removed, which breaks its links.
        let removed = old.difference(from: new)
        #expect(removed.groups.contains { $0.isBreaking } && removed.groups.allSatisfy { !$0.isAddition })
    }

    @Test("A redirect and an exclusion that are added break nothing")
    func otherActions() throws {
        let others = [
            #"{ "id": "old", "match": "/old/{id:int}", "redirect": "/p/{id}" }"#,
            #"{ "id": "legal", "match": "/legal/{rest+}", "exclude": { "outcome": "none" } }"#,
        ]
        let old = try Self.table([Self.item], fallback: Self.home)
        let difference = try Self.table([Self.item], fallback: Self.home, others: others).difference(from: old)
        #expect(!difference.changes.isEmpty && difference.changes.allSatisfy { $0.isAddition && !$0.isBreaking })
    }

    @Test("A route that is changed so that it refuses what fell back is breaking, and so is a narrower fallback")
    func changed() throws {
        var wide = Self.item
        wide.match = "/p/{id}"
        let old = try Self.table([Self.item], fallback: Self.home)
        let wider = try Self.table([wide], fallback: Self.home).difference(from: old)
        #expect(wider.changes.contains { $0.isBreaking && $0.new.reason == "param_invalid" })
        let narrow = #""on": ["scheme"], "outcome": "navigate", "to": { "root": true }"#
        let narrower = try Self.table([Self.item], fallback: narrow).difference(from: old)
        #expect(narrower.groups.contains { $0.isBreaking })
    }

    @Test("An added route that takes a link from another route is breaking if another screen is on top")
    func taken() throws {
        let any = Part(name: "any", match: "/p/{name}", field: "string", source: "path.name")
        let new = Part(name: "new", match: "/p/new", field: "string?", source: "query.n")
        let old = try Self.table([any], fallback: Self.home)
        let difference = try Self.table([any, new], fallback: Self.home).difference(from: old)
        #expect(difference.groups.first?.isBreaking == true && difference.groups.first?.isAddition == false)
    }

    /// A case is a table with some added routes.
    ///
    /// It counts as 100 cases.
    @Test("Tables to which routes are added have breaking changes only for links that a route of the old table opened")
    func law() throws {
        var random = SeededGenerator(seed: 20_251_126)
        let matches = [
            ("/a/{v}", "path.v"), ("/{v}", "path.v"), ("/b", "query.v"), ("/b/{v:int}", "path.v"), ("/{v}/c", "path.v"),
            ("/d/{v}/e", "path.v"), ("/f/{v?}", "path.v"), ("/{w}/{v:int(1..9)}", "path.v"), ("/g", "fragment"),
        ]
        let fields = ["string(1..40)", "int(1..9)", "uuid", "string?", "int(1..)=3", "bool", "enum(x|y)", "date"]
        let reasons = ["no_route", "unknown_screen", "param_invalid", "param_missing", "host"]
        var additions = 0
        for round in 0..<max(1, LawCases.count / 100) {
            var parts: [Part] = []
            for (index, pair) in matches.shuffled(using: &random).prefix(5).enumerated() {
                let field = fields.randomElement(using: &random) ?? "uuid"
                // A trailing optional leaves a required field without a value.
                let type = pair.0.hasSuffix("?}") ? "string?" : field
                parts.append(Part(name: "r\(index)", match: pair.0, field: type, source: pair.1))
            }
            let on = reasons.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
            let fallback = """
                "on": [\(on.map { "\"\($0)\"" }.joined(separator: ", "))], "outcome": "navigate", "to": { "root": true }
                """
            let count = Int.random(in: 1...4, using: &random)
            guard let old = try? Self.table(Array(parts.prefix(count)), fallback: fallback),
                let new = try? Self.table(parts, fallback: fallback)
            else { continue }
            for change in new.difference(from: old).changes {
                additions += change.isAddition ? 1 : 0
                guard change.isBreaking else { continue }
                #expect(change.old.route != nil && !change.old.isFallback, "round \(round): \(change)")
            }
        }
        #expect(additions > 0)
    }
}
