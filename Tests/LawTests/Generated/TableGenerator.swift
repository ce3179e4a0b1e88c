import LinkCoordinator
import TestSupport

/// Generates tables that use every part of the format: all kinds of patterns, dialects, rewrites, models, variants,
/// guards, capabilities, redirects, exclusions, notices, and fallbacks.
///
/// Most of the tables can be loaded. `GeneratedTable.makeLoadable` removes the routes that have problems.
struct TableGenerator {
    /// The features that the tables of a law must not have, or have more often.
    struct Options: Sendable {
        /// Excludes `until`, and `<`, `<=`, and `=` in conditions.
        var isMonotone = false
        /// Includes `claim` in conditions.
        var hasClaimConditions = true
        /// Makes every dialect decode once.
        var decodesOnce = false
        /// Makes half of the dialects flatten.
        var flattensMore = false
        /// Makes most routes redirect.
        var redirectsMore = false
        /// Gives most routes variants, and most targets the parents of a route.
        var variantsMore = false
        /// Gives most coordinators a guard.
        var guardsMore = false
        /// Gives most tables fields of the types `decimal` and `datetime`.
        var hasExactTypes = false
        /// Gives every table limits for links.
        var limitsLinks = false
        /// The maximum number of routes in a table.
        var maxRoutes = 12
    }

    var patterns: PatternGenerator
    var options: Options

    init(seed: UInt64, options: Options = Options()) {
        patterns = PatternGenerator(seed: seed)
        self.options = options
    }

    mutating func pick<Element>(_ choices: [Element]) -> Element { patterns.pick(choices) }

    /// Returns `true` in one of `count` cases.
    mutating func one(in count: Int) -> Bool { patterns.one(in: count) }

    /// Returns a table of 1 to `maxRoutes` routes that may have problems.
    mutating func table() -> GeneratedTable {
        let count = Int.random(in: 1...options.maxRoutes, using: &patterns.generator)
        let ids = (0..<count).map { "r\($0)" }
        let models = self.models()
        var table = GeneratedTable(
            parts: [
                #""schemaVersion": \#(RouteTable.supportedSchemaVersions.upperBound)"#,
                #""table": { "id": "generated", "version": "1" }"#, link(), models.json,
                capabilities, coordinators(models), guards,
                #""externals": { "schemes": ["https", "s"], "hosts": ["e.example", "a.example"] }"#, fallback(),
            ], routes: [])
        table.routes = ids.map { route($0, of: ids, models) }
        return table
    }

    /// Returns a table that can be loaded, or nil if a hundred attempts in a row failed.
    mutating func loadableTable() -> (generated: GeneratedTable, table: RouteTable)? {
        for _ in 0..<100 {
            var generated = table()
            if let loaded = generated.makeLoadable() { return (generated, loaded) }
        }
        return nil
    }

    // MARK: Link blocks

    private mutating func link() -> String {
        let pathCase = pick(["sensitive", "sensitive", "insensitive"])
        let payload =
            #""payload": { "link": ["/l", "/aps/l"], "route": "/r", "params": "/p" }"#
            + (options.limitsLinks ? ", " + limits() : "")
        if one(in: 4) {
            let first = block(schemes: #"["s"]"#, pathCase: pathCase, extra: payload)
            return "\"link\": [\(first), \(block(schemes: pick([#"["t"]"#, #"["t", "*"]"#]), pathCase: pathCase))]"
        }
        let schemes = pick([#"["s", "t"]"#, #"["s", "t"]"#, #"["s", "https"]"#, #"["*"]"#])
        return "\"link\": " + block(schemes: schemes, pathCase: pathCase, extra: payload)
    }

    /// Returns limits that the links of generated tables satisfy, meet, and exceed.
    mutating func limits() -> String {
        #""limits": { "maxBytes": \#(pick([8192, 8192, 300, 150])), "maxSegments": \#(pick([64, 64, 9, 5])), "#
            + #""maxQueryItems": \#(pick([128, 128, 12, 5])) }"#
    }

    private mutating func block(schemes: String, pathCase: String, extra: String? = nil) -> String {
        var members = ["\"schemes\": \(schemes)"]
        if one(in: 8) { members.append(#""schemeCase": "exact""#) }
        if one(in: 3) {
            members.append(#""host": "segment""#)
        } else {
            let hosts = pick([#"["*"]"#, #"["*"]"#, #"["a.example", "*.a.example", "b.example:8080", ""]"#])
            members.append(#""host": "authority", "hosts": "# + hosts)
        }
        let empties = pick(["collapse", "collapse", "reset", "reject"])
        members.append(#""path": { "case": "\#(pathCase)", "emptySegments": "\#(empties)" }"#)
        let decode = options.decodesOnce ? "once" : pick(["once", "once", "once", "none", "before"])
        members.append(query(decode: decode))
        if one(in: 3) {
            members.append(
                "\"rewrites\": ["
                    + pick([
                        #"{ "stripPrefix": "/{loc:enum(en|ru)}" }"#, #"{ "stripPrefix": "/v1" }"#,
                        #"{ "stripPrefix": "/v1" }, { "stripPrefix": "/x/{l}", "as": "loc" }"#,
                    ]) + "]")
        }
        if decode == "once", one(in: 4) { members.append(#""repair": true"#) }
        if let extra { members.append(extra) }
        return "{ " + members.joined(separator: ", ") + " }"
    }

    private mutating func query(decode: String) -> String {
        let members = [
            "\"pairSeparators\": \"\(pick(["&", "&", "&;", ","]))\"",
            "\"names\": \"\(pick(["sensitive", "insensitive"]))\"",
            "\"duplicates\": \"\(pick(["first", "last", "reject"]))\"", "\"decode\": \"\(decode)\"",
            // Without decoding, a plus can only be literal.
            "\"plus\": \"\(pick(["literal", decode == "none" ? "literal" : "space"]))\"",
            "\"nulls\": \"\(pick(["keep", "erase"]))\"",
            "\"flatten\": \(one(in: options.flattensMore ? 2 : 8))",
        ]
        return "\"query\": { " + members.joined(separator: ", ") + " }"
    }

    // MARK: Models, devices, screens

    /// The types of the fields that routes bind.
    struct Models {
        var id: String
        var count: String
        var text: String
        var tags: String

        var json: String {
            """
            "models": { "Item": { "id": "\(id)", "count": "\(count)" },
                        "Text": { "text": "\(text)", "tags": "\(tags)" } }
            """
        }
    }

    private mutating func models() -> Models {
        if options.hasExactTypes {
            return Models(
                id: pick(["string", "decimal", "decimal(0..)", "datetime", "datetime?", "decimal(-9.5..99.99)"]),
                count: pick(["decimal=1.50", "decimal?", "datetime?", "datetime=2025-01-31T14:00:00+02:00", "double?"]),
                text: pick(["string?", "datetime?", "decimal(..0.5)?", "decimal(0.001..0.002)?"]),
                tags: pick(["list<decimal>", "list<datetime>(0..3)", "list<decimal(1..)>(0..2)", "list<string>"]))
        }
        return Models(
            id: pick(["string", "string(1..8)", "int", "uuid", "string?", "enum(a|b|x)", "int(0..99)"]),
            count: pick(["int(1..99)=1", "int?", "int", "bool?", "double=1.5", "date?", "string?"]),
            text: pick(["string", "string?", "string=none", "url(host in e.example, *.a.example)?"]),
            tags: pick(["list<string>", "list<int>(0..3)", "list<string>(1..)", "list<string(1..3)>"]))
    }

    // Every table uses both versions, so that adding a route never adds notes about them.
    private let capabilities = """
        "capabilities": { "cap": { "minApp": "2.0", "minOS": "1" }, "listed": { "listed": true },
                          "phones": { "platforms": ["ios", "android"] } }
        """

    private let guards = """
        "guards": { "signedIn": { "claim": "session", "else": { "to": { "path": "/login/form" },
                                  "resume": { "ttl": "15m", "once": true } } },
                    "member": { "claim": "vip", "else": { "to": { "root": true } } } }
        """

    private mutating func coordinators(_ models: Models) -> String {
        let guarded = options.guardsMore ? 1 : 3
        let card = #""card": { "present": ["sheet", "push", "alert"], "nav": \#(one(in: 2)) }"#
        let home = coordinator(
            "home", #""initial": "feed""#,
            ["\"feed\": " + screen(), item(models), "\"note\": " + screen(needs: "Text", models), card])
        var members = (one(in: 3) ? "" : #""initial": "list", "#) + #""parent": "home""#
        if one(in: guarded * 2) { members += #", "guard": "member""# }
        let ar = #""ar": { "needs": ["Item", "Text"], "present": ["cover"], "requires": ["cap"] }"#
        let shop = coordinator("shop", members, ["\"list\": " + screen(), item(models), ar])
        members = #""initial": "profile", "parent": "shop""#
        if one(in: 4) { members += #", "slot": "single""# }
        if one(in: guarded) { members += #", "guard": "signedIn""# }
        let acc = coordinator(
            "acc", members, ["\"profile\": " + screen(), "\"order\": " + screen(needs: "Item", models)])
        let rest = #"""
            "login": { "screens": { "form": { "present": ["sheet"], "nav": true } } },
            "sys": { "screens": { "update": { "present": ["alert"] } } }
            """#
        return "\"coordinators\": { \([home, shop, acc, rest].joined(separator: ",\n")) }"
    }

    private func coordinator(_ name: String, _ members: String, _ screens: [String]) -> String {
        "\"\(name)\": { \(members), \"screens\": { \(screens.joined(separator: ", ")) } }"
    }

    private mutating func item(_ models: Models) -> String { "\"item\": " + screen(needs: "Item", models) }

    private mutating func screen(needs model: String? = nil, _ models: Models? = nil) -> String {
        var members: [String] = []
        if let model { members.append("\"needs\": [\"\(model)\"]") }
        if model == "Item", models?.id.hasSuffix("?") == false, one(in: 2) {
            members.append(#""identity": "\#(pick(["", "i-"])){Item.id}""#)
        }
        if one(in: 5) { members.append("\"since\": \"\(pick(["2.0", "4.0.0"]))\"") }
        if one(in: 8), !options.isMonotone { members.append(#""until": "5.0""#) }
        if one(in: 6) { members.append("\"requires\": [\"\(pick(["cap", "listed", "phones"]))\"]") }
        if one(in: 10) { members.append(#""view": "list""#) }
        return "{ " + members.joined(separator: ", ") + " }"
    }

    private mutating func fallback() -> String {
        "\"fallback\": "
            + pick([
                #"{ "outcome": "reject" }"#, #"[{ "on": ["no_route"], "outcome": "none" }, { "outcome": "reject" }]"#,
                #"{ "on": ["no_route", "scheme"], "outcome": "navigate", "to": { "root": true } }"#,
                #"{ "on": ["param_missing"], "outcome": "external", "to": { "external": "https://e.example/help" } }"#,
            ])
    }
}
