@testable import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TableSupport
import Testing

/// An edit of the shipped shop table, with the expected difference.
struct TableChange: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The replaced texts of the file with their replacements.
    var edits: [(String, String)]
    /// The expected causes in any order: location, old text, and new text.
    var causes: [[String?]]
    /// The causes among them that break something.
    var breaking: [String] = []

    init(_ name: String, _ edits: [(String, String)], _ causes: [[String?]], breaking: [String] = []) {
        testDescription = name
        self.edits = edits
        self.causes = causes
        self.breaking = breaking
    }
}

@Suite("Causes of differences between two tables") struct DifferenceCauseTests {
    private static let locale = ("enum(en|ru|de)", "enum(en|ru|de|fr)")
    private static let localeCause: [String?] = [
        "link.rewrites", "/{locale:enum(en|ru|de)}", "/{locale:enum(en|ru|de|fr)}",
    ]
    private static let count = ("int(1..99)=1", "int(1..9)=1")
    private static let countCause: [String?] = ["models.Product", "count int(1..99)=1", "count int(1..9)=1"]
    private static let find = (#""match": "/search""#, #""match": "/find""#)
    private static let findCause: [String?] = ["routes.search", "match /search", "match /find"]

    static let changes = [
        TableChange("an added locale", [locale], [localeCause]),
        TableChange("a narrower type", [count], [countCause], breaking: ["models.Product"]),
        TableChange("a changed pattern", [find], [findCause], breaking: ["routes.search"]),
        TableChange(
            "three edits at once", [locale, count, find], [localeCause, countCause, findCause],
            breaking: ["models.Product", "routes.search"]),
        TableChange(
            "a removed host", [(#""*.shop.example", """#, #""*.shop.example""#)], [["link.hosts", "\"\"", nil]],
            breaking: ["link.hosts"]),
        TableChange(
            "an added host", [(#""*.shop.example", """#, #""*.shop.example", "", "b.example""#)],
            [["link.hosts", nil, "b.example"]]),
        TableChange(
            "an added route",
            [(#"{ "id": "home""#, #"{ "id": "gift", "match": "/gift/{g}", "to": { "root": true } }, { "id": "home""#)],
            [["routes.gift", nil, "match /gift/{g}, to the root"]]),
        TableChange(
            "a removed route",
            [
                (
                    #"{ "id": "new-items", "match": "/p/new", "to": { "path": "/catalog/list", "#
                        + #""parents": "initial" } },"#,
                    ""
                )
            ],
            [["routes.new-items", "match /p/new, to /catalog/list, parents initial", nil]],
            breaking: ["routes.new-items"]),
        TableChange(
            "a screen that older apps lack",
            [(#""item": { "needs": ["Product"] }"#, #""item": { "needs": ["Product"], "since": "5.0.0" }"#)],
            [["coordinators.catalog", "screen item needs Product", "screen item needs Product since 5.0.0"]],
            breaking: ["coordinators.catalog"]),
        TableChange(
            "a fallback",
            [
                (
                    #""fallback": { "outcome": "reject" }"#,
                    #""fallback": { "on": ["no_route"], "outcome": "navigate", "to": { "root": true } }"#
                )
            ],
            [["fallback", "any reason: reject", "no_route: navigate the root"]]),
        TableChange(
            "an identity",
            [
                (
                    #""item": { "needs": ["Product"] }"#,
                    #""item": { "needs": ["Product"], "identity": "i-{Product.id}" }"#
                )
            ],
            [
                [
                    "coordinators.catalog", "screen item needs Product",
                    #"screen item needs Product identity "i-{Product.id}""#,
                ]
            ]),
        TableChange(
            "a condition",
            [(#""when": { "app": ">=4.0.0" }"#, #""when": { "app": ">=4.0.0 <9", "claim": ["a", "b"] }"#)],
            [
                [
                    "routes.item", "when app >=4.0.0 to /catalog/item, parents initial",
                    "when app >=4.0.0 <9 and claim a, b to /catalog/item, parents initial",
                ]
            ], breaking: ["routes.item"]),
        TableChange(
            "an added optional field",
            [
                (#""order": "int(1..)" }"#, #""order": "int(1..)", "tab": "string?" }"#)
            ],
            [["models.OrderRef", nil, "tab string?"]]),
    ]

    private static func table(_ edits: [(String, String)]) throws -> RouteTable {
        var text = String(decoding: try TableFiles.shipped("shop"), as: UTF8.self)
        let examples = try #require(text.firstRange(of: #""examples""#))
        let comma = try #require(text[..<examples.lowerBound].lastIndex(of: ","))
        text = text[..<comma] + "}"
        for (old, new) in edits {
            try #require(text.contains(old), "\(old)")
            text = text.replacing(old, with: new)
        }
        return try RouteTable(json: Array(text.utf8))
    }

    @Test("Each edit is reported once with its old and new text, and whether it breaks anything", arguments: changes)
    func causes(change: TableChange) throws {
        let (old, new) = (try Self.table([]), try Self.table(change.edits))
        let difference = new.difference(from: old)
        let reported = difference.groups.map { $0.causes.map { [$0.location, $0.old, $0.new] } }
        #expect(Set(reported) == Set(change.causes.map { [$0] }), "\(reported)")
        #expect(reported.count == change.causes.count, "\(reported)")
        #expect(difference.groups.flatMap(\.changes).count == difference.changes.count)
        let breaking = difference.groups.filter(\.isBreaking).flatMap { $0.causes.map(\.location) }
        #expect(Set(breaking) == Set(change.breaking), "\(difference.groups.flatMap(\.changes).compactMap(\.breakage))")
        for group in difference.groups {
            // Breaking changes come first, and every witness shows its change.
            let order = group.changes.map(\.isBreaking)
            #expect(order == order.filter { $0 } + order.filter { !$0 })
            for one in group.changes {
                #expect(old.resolve(one.request, device: one.device).json == one.old.json)
                #expect(new.resolve(one.request, device: one.device).json == one.new.json)
                #expect(!ChangedValues.between(one.old.value, one.new.value).isEmpty)
            }
        }
    }

    @Test("Removed applications are a loss of events, and other changes are not")
    func applications() throws {
        func table(_ names: String) throws -> RouteTable {
            try Self.table([(#"["com.example.shop"]"#, "[\(names)]")])
        }
        let one = try table(#""com.a", "com.b""#)
        #expect(try table(#""com.b", "com.a""#).difference(from: one).groups.isEmpty)
        let more = try #require(try table(#""com.a", "com.b", "com.c""#).difference(from: one).groups.first)
        #expect(!more.isBreaking && more.changes.isEmpty)
        #expect(more.causes.map { [$0.location, $0.old, $0.new] } == [["table.applications", nil, "com.c"]])
        let difference = try table(#""com.c", "com.a""#).difference(from: one)
        let less = try #require(difference.groups.first)
        #expect(difference.groups.count == 1 && less.isBreaking && difference.changes.isEmpty)
        #expect(less.causes.map { [$0.location, $0.old, $0.new] } == [["table.applications", "com.b", "com.c"]])
        #expect(less.losses == ["events of the application `com.b` become dead letters (application_unknown)"])
    }

    /// Edits of a small table, with the expected causes.
    static let pieces: [(old: String, new: String, cause: [String?])] = [
        (
            #""ttl": "15m""#, #""ttl": "90s""#, ["guards.in", #"resume ttl "15m""#, #"resume ttl "90s""#]
        ),
        (#""once": true"#, #""once": false"#, ["guards.in", "resume once true", "resume once false"]),
        (#""claim": "a""#, #""claim": "b""#, ["guards.in", "claim a", "claim b"]),
        (#""minApp": "2.0""#, #""minApp": "3.0""#, ["capabilities.cap", "minApp 2.0", "minApp 3.0"]),
        (
            #""platforms": ["ios"]"#, #""platforms": ["ios", "web"]"#,
            ["capabilities.cap", "platforms ios", "platforms ios, web"]
        ),
        (
            #""identity": "i-{M.n}""#, #""identity": "{M.n}""#,
            [
                "coordinators.main", #"screen item needs M identity "i-{M.n}" requires cap"#,
                #"screen item needs M identity "{M.n}" requires cap"#,
            ]
        ),
    ]

    @Test("A cause is described in the words of the table's file", arguments: pieces)
    func words(old: String, new: String, cause: [String?]) throws {
        let file = """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment" }, "models": { "M": { "n": "int" } },
              "capabilities": { "cap": { "minApp": "2.0", "platforms": ["ios"] } },
              "guards": { "in": { "claim": "a", "else": { "to": { "root": true },
                                  "resume": { "ttl": "15m", "once": true } } } },
              "coordinators": {
                "main": { "screens": { "item": { "needs": ["M"], "identity": "i-{M.n}", "requires": ["cap"] } } },
                "own": { "guard": "in", "screens": { "x": {} } } },
              "routes": [
                { "id": "item", "match": "/item/{n:int}", "to": { "path": "/main/item" },
                  "bind": { "M": { "n": "path.n" } } },
                { "id": "x", "match": "/x", "to": { "path": "/own/x" } } ] }
            """
        try #require(file.contains(old))
        let before = try #require(RouteTable.unchecked(Array(file.utf8)))
        let after = try #require(RouteTable.unchecked(Array(file.replacing(old, with: new).utf8)))
        let reported = after.difference(from: before).groups.flatMap {
            $0.causes.map { [$0.location, $0.old, $0.new] }
        }
        #expect(reported == [cause], "\(reported)")
    }

    @Test("Each edit of one of many routes is a separate cause, and there are no others")
    func many() throws {
        func table(_ screen: (Int) -> String) throws -> RouteTable {
            let routes = (0..<40).map {
                #"{ "id": "r\#($0)", "match": "/r\#($0)", "to": { "path": "/main/\#(screen($0))" } }"#
            }
            let file = """
                { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
                  "link": { "schemes": ["s"], "host": "segment" },
                  "coordinators": { "main": { "screens": { "x": {}, "y": {} } } },
                  "routes": [ \(routes.joined(separator: ",\n")) ] }
                """
            return try RouteTable(json: Array(file.utf8))
        }
        let difference = try table { $0 % 10 == 3 ? "y" : "x" }.difference(from: table { _ in "x" })
        #expect(
            Set(difference.groups.map { $0.causes.map(\.location) })
                == [["routes.r3"], ["routes.r13"], ["routes.r23"], ["routes.r33"]])
        #expect(difference.groups.allSatisfy { $0.changes[0].breakage == "another screen is on top" })
    }

    /// Decisions before and after a change, with the expected loss.
    static let breakages: [(old: String, new: String, breaks: String?)] = [
        // The link led somewhere and no longer does.
        (#"{"outcome":"external","url":"u"}"#, #"{"outcome":"reject","reason":"host"}"#, "reject (host)"),
        (#"{"outcome":"deferred","stack":[]}"#, #"{"outcome":"none","reason":"excluded"}"#, "none (excluded)"),
        (#"{"outcome":"external","url":"u"}"#, #"{"reason":"missing_link"}"#, "a dead letter"),
        (
            #"{"outcome":"navigate","stack":[]}"#, #"{"outcome":"navigate","stack":[],"reason":"no_route"}"#,
            "a fallback"
        ),
        (
            #"{"outcome":"navigate","stack":[]}"#, #"{"outcome":"deferred","stack":[],"guard":"g"}"#,
            "a claim is required"
        ),
        (#"{"outcome":"navigate","stack":[]}"#, #"{"outcome":"external","url":"u"}"#, "external instead"),
        (#"{"outcome":"external","url":"u"}"#, #"{"outcome":"external","url":"v"}"#, "another URL"),
        // The fallback no longer leads anywhere.
        (
            #"{"outcome":"navigate","stack":[],"reason":"no_route"}"#, #"{"outcome":"reject","reason":"no_route"}"#,
            "reject"
        ),
        // Screens.
        (stack("a.x", "a.y"), stack("a.x", "a.z"), "another screen is on top"),
        (stack("a.x", "a.y"), stack("a.y"), "`a.x` is missing"),
        (stack("a.x", "b.x", "a.y"), stack("b.x", "a.x", "a.y"), "`b.x` is missing"),
        (stack(), stack("a.x"), "screens instead of the root"),
        // Values.
        (data(#"{"M":{"n":1}}"#), data(#"{"M":{"n":2}}"#), "`M.n`"),
        (data(#"{"M":{"n":1}}"#), data(#"{"M":{"n":null}}"#), "`M.n`"),
        (data(#"{"M":{"n":1}}"#), data(#"{"M":{"n":"1"}}"#), "`M.n`"),
        (data(#"{"M":{"n":1}}"#), data("{}"), "`M.n`"),
        // Guards.
        (deferred(#"{"claim":"a"}"#), deferred(#"{"claim":"b"}"#), "another claim"),
        (deferred(#"{"claim":"a"}"#), #"{"outcome":"deferred","stack":[]}"#, "another claim"),
        // Changes that break nothing.
        (#"{"outcome":"reject","reason":"host"}"#, #"{"outcome":"navigate","stack":[]}"#, nil),
        (#"{"outcome":"reject","reason":"host"}"#, #"{"outcome":"none","reason":"no_route"}"#, nil),
        (#"{"outcome":"navigate","stack":[],"reason":"no_route"}"#, stack("a.x"), nil),
        (stack("a.y"), stack("a.x", "a.y"), nil),
        (data(#"{"M":{"n":null}}"#), data(#"{"M":{"n":1,"m":2},"N":{}}"#), nil),
        (deferred(#"{"claim":"a"}"#), stack("a.x"), nil),
        (
            #"{"outcome":"navigate","mode":"replace","stack":[]}"#,
            #"{"outcome":"navigate","mode":"reuse","stack":[],"notes":["n"],"notice":"/a"}"#, nil
        ),
    ]

    private static func stack(_ screens: String...) -> String {
        let entries = screens.map { name in
            let parts = name.split(separator: ".")
            return #"{"coordinator":"\#(parts[0])","screen":"\#(parts[1])","present":"push"}"#
        }
        return #"{"outcome":"navigate","stack":[\#(entries.joined(separator: ","))]}"#
    }

    private static func data(_ models: String) -> String {
        #"{"outcome":"navigate","stack":[{"coordinator":"a","screen":"x","data":\#(models)}]}"#
    }

    private static func deferred(_ resume: String) -> String {
        #"{"outcome":"deferred","stack":[],"resume":\#(resume)}"#
    }

    @Test("A loss breaks something, and an addition does not", arguments: breakages)
    func breakage(old: String, new: String, breaks: String?) throws {
        let found = Breakage.description(
            from: try JSONValue.parse(Array(old.utf8)), to: try JSONValue.parse(Array(new.utf8)))
        #expect((found == nil) == (breaks == nil) && (found ?? "").hasPrefix(breaks ?? ""), "\(found ?? "nothing")")
    }

    @Test("Values are reported member by member, and entry by entry for stacks of equal length")
    func values() throws {
        let old = try JSONValue.parse(Array(Self.data(#"{"M":{"n":1,"m":[1,2]}}"#).utf8))
        let new = try JSONValue.parse(Array(Self.data(#"{"M":{"n":null,"m":[1]}}"#).utf8))
        #expect(
            ChangedValues.between(old, new) == [
                ChangedValues.Value(member: "stack[0].data.M.n", old: "1", new: "null"),
                ChangedValues.Value(member: "stack[0].data.M.m", old: "[1,2]", new: "[1]"),
            ])
        #expect(ChangedValues.between(old, old).isEmpty)
    }
}
