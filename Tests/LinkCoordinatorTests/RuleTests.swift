import RouteAnalysis
import LinkCoordinator
import StrictJSON
import Testing

/// A query and its dialect, with the expected values of a field and a list bound to the name `a`.
struct DialectCase: Sendable, CustomTestStringConvertible {
    let query: String
    let dialect: String
    /// The JSON of the field's value, or the reason.
    let field: String
    /// The JSON of the list, or the reason.
    let list: String
    var testDescription: String { "?\(query) under {\(dialect)}" }

    init(_ dialect: String, _ query: String, _ field: String, _ list: String) {
        self.query = query
        self.dialect = dialect
        self.field = field
        self.list = list
    }
}

/// Tests of rules for queries, links, and devices in special cases, each with a small table.
@Suite("Special cases of rules") struct RuleTests {
    private static let invalid = "param_invalid"
    private static let keep = #""nulls":"keep""#
    private static let erase = #""nulls":"erase""#
    private static let flat = #""flatten":true"#
    private static func reject(_ nulls: String) -> String { #""duplicates":"reject","# + nulls }
    private static func last(_ nulls: String) -> String { #""duplicates":"last","# + nulls }

    /// Names that occur twice, with and without a value.
    static let dialects: [DialectCase] = [
        DialectCase(keep, "a=1&a", #""1""#, #"["1"]"#), DialectCase(keep, "a&a=1", #""1""#, #"["1"]"#),
        DialectCase(keep, "a=1&a=2", #""1""#, #"["1","2"]"#), DialectCase(keep, "a", "null", "[]"),
        DialectCase(last(keep), "a=1&a", #""1""#, #"["1"]"#),
        DialectCase(last(keep), "a=1&a=2&a", #""2""#, #"["1","2"]"#),
        DialectCase(erase, "a=1&a", #""1""#, #"["1"]"#), DialectCase(erase, "a&a=1", "null", #"["1"]"#),
        DialectCase(last(erase), "a=1&a", "null", #"["1"]"#), DialectCase(last(erase), "a&a=1", #""1""#, #"["1"]"#),
        DialectCase(reject(keep), "a=1&a", invalid, #"["1"]"#), DialectCase(reject(keep), "a&a=1", invalid, #"["1"]"#),
        DialectCase(reject(keep), "a&a", invalid, "[]"), DialectCase(reject(keep), "a=1", #""1""#, #"["1"]"#),
        DialectCase(reject(erase), "a=1&a", invalid, #"["1"]"#),
        DialectCase(reject(erase), "a&a=1", invalid, #"["1"]"#),
        DialectCase(reject(erase), "a&a", invalid, "[]"), DialectCase(reject(erase), "a", "null", "[]"),
        DialectCase(flat, "a=1&b=2", #""1""#, #"["1"]"#), DialectCase(flat, "a=1&a=2", #""1""#, #"["1"]"#),
        DialectCase(flat, "b&a", "null", "[]"), DialectCase(flat, "a=a=2", #""a""#, #"["a"]"#),
        DialectCase(flat + "," + reject(erase), "a=1&a", #""1""#, #"["1"]"#),
    ]

    @Test("Duplicate names are read by the dialect, with and without nulls and flatten", arguments: dialects)
    func duplicates(_ one: DialectCase) throws {
        let table = try RouteTable(
            json: [UInt8](
                #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},
                 "link":{"schemes":["t"],"host":"authority","hosts":["*"],"query":{\#(one.dialect)}},
                 "models":{"M":{"a":"string?"},"L":{"a":"list<string>"}},
                 "coordinators":{"c":{"screens":{"M":{"needs":["M"]},"L":{"needs":["L"]}}}},
                 "routes":[{"id":"M","match":"/M","to":{"path":"/c/M"},"bind":{"M":{"a":"query.a"}}},
                           {"id":"L","match":"/L","to":{"path":"/c/L"},"bind":{"L":{"a":"query.a"}}}]}
                """#.utf8))
        func value(_ model: String, _ query: String) -> String? {
            let decision = table.resolve("t:///\(model)?\(query)")
            return decision.value["stack"]?.array?.last?["data"]?[model]?["a"]?.text ?? decision.reason?.rawValue
        }
        // The lookup of names differs for many items.
        let many = (0..<60).map { "x\($0)=y" }.joined(separator: "&") + "&" + one.query
        for query in [one.query, many] {
            #expect(value("M", query) == one.field)
            #expect(value("L", query) == one.list)
        }
    }

    /// Returns a table of the scheme `t` with the given link block, two screens, and additional parts.
    private func load(_ link: String, _ parts: String...) throws(RouteTableError) -> RouteTable {
        let head = #"{"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{\#(link)},"#
        let screens = #""coordinators":{"home":{"initial":"feed","screens":{"feed":{},"new":{"since":"9"}}}},"#
        return try RouteTable(json: [UInt8]((head + screens + parts.joined(separator: ",") + "}").utf8))
    }

    private let anyHost = #""schemes":["t"],"host":"authority","hosts":["*"]"#

    @Test("`plus` `space` is refused with `decode` `none`, which decodes nothing")
    func plusWithoutDecoding() throws {
        for decode in ["once", "before"] {
            _ = try load(anyHost + #","query":{"decode":"\#(decode)","plus":"space"}"#, #""routes":[]"#)
        }
        _ = try load(anyHost + #","query":{"decode":"none","plus":"literal"}"#, #""routes":[]"#)
        let error = #expect(throws: RouteTableError.self) {
            try load(anyHost + #","query":{"decode":"none","plus":"space"}"#, #""routes":[]"#)
        }
        #expect(error?.problems.first?.message.contains("`space`") == true)
    }

    @Test(
        "A trailing slash resets the path in every form of a link",
        arguments: ["t://home/", "t://home/?a=1", "t://home/#f", "t:/home/", "t:home/", "t:///home/", "t://home//"])
    func trailingSlash(_ link: String) throws {
        let table = try load(
            #""schemes":["t"],"host":"segment","path":{"emptySegments":"reset"}"#,
            #""routes":[{"id":"p","match":"/{p:coordinatorPath}","to":{"path":"{p}"}}]"#)
        let decision = table.resolve(link, device: DeviceFacts(app: "9"))
        #expect(decision.path == "/" && decision.notes == ["empty segments reset"])
        #expect(decision.mode == .replace)
    }

    @Test("A leading slash is not read as a trailing slash", arguments: ["t://home", "t:/home", "t:///home", "t:home"])
    func leadingSlash(_ link: String) throws {
        let table = try load(
            #""schemes":["t"],"host":"segment","path":{"emptySegments":"reset"}"#,
            #""routes":[{"id":"p","match":"/{p:coordinatorPath}","to":{"path":"{p}"}}]"#)
        let device = DeviceFacts(app: "9")
        let decision = table.resolve(link, device: device)
        #expect(decision.path == "/home/feed" && decision.notes.isEmpty)
        for request in [LinkRequest.path("/"), .link("t:///")] {
            #expect(table.resolve(request, device: device).notes.isEmpty)
        }
    }

    @Test("An excluded link is opened unchanged, including unescaped spaces")
    func excludedWithSpace() throws {
        let table = try load(
            #""schemes":["https"],"host":"authority","hosts":["a.example"]"#,
            #""routes":[{"id":"legal","match":"/legal/{rest*}","exclude":{"outcome":"external"}}]"#)
        for link in [
            "https://a.example/legal/our terms", "https://A.example/legal?q=a b", "https://a.example/legal# é",
        ] {
            let decision = table.resolve(link)
            #expect(decision.outcome == .external && decision.url == link)
        }
        // A host with a space matches none of the listed hosts.
        #expect(table.resolve("https://a .example/legal").reason == "host")
    }

    // MARK: Devices

    @Test("Platforms ignore ASCII case in conditions and capabilities", arguments: ["ios", "iOS", "IOS"])
    func platforms(_ platform: String) throws {
        let table = try load(
            anyHost, #""capabilities":{"touch":{"platforms":["iPadOS","Ios"]}}"#,
            #"""
            "routes":[{"id":"when","match":"/when","variants":[
                         {"when":{"platform":["android","iOs"]},"to":{"path":"/home/feed"}},{"to":{"root":true}}]},
                      {"id":"can","match":"/can","variants":[
                         {"when":{"capability":"touch"},"to":{"path":"/home/feed"}},{"to":{"root":true}}]}]
            """#)
        let device = DeviceFacts(platform: platform)
        #expect(table.resolve("t:///when", device: device).variant == 0)
        #expect(table.resolve("t:///can", device: device).variant == 0)
        #expect(table.explain(.link("t:///when"), device: device).variants.first?.holds == true)
        // Only ASCII is folded.
        #expect(table.resolve("t:///when", device: DeviceFacts(platform: "ıos")).variant == 1)
        #expect(table.resolve("t:///can", device: DeviceFacts(platform: "watchos")).variant == 1)
    }

    @Test("Tables that write a platform in a different case make equal decisions, and their difference is empty")
    func platformDifference() throws {
        func table(_ platform: String) throws -> RouteTable {
            try load(
                anyHost,
                #"""
                "routes":[{"id":"r","match":"/r","variants":[
                    {"when":{"platform":["\#(platform)","web"]},"to":{"path":"/home/feed"}},{"to":{"root":true}}]}]
                """#)
        }
        let difference = try table("iOS").difference(from: table("ios"))
        #expect(difference.changes.isEmpty && difference.incompletelyComparedSets.isEmpty)
        let other = try table("zz").difference(from: table("ZZ"))
        #expect(other.changes.isEmpty && other.incompletelyComparedSets.isEmpty)
        #expect(try !table("ios").difference(from: table("zz")).changes.isEmpty)
    }

    @Test("An external URL without captures can replace an unsupported screen")
    func unsupportedExternal() throws {
        func table(_ url: String) throws(RouteTableError) -> RouteTable {
            try load(
                #""schemes":["https"],"host":"authority","hosts":["a.example"]"#,
                #"""
                "models":{"M":{"id":"int"}},
                "routes":[{"id":"new","match":"/new/{id}","to":{"path":"/home/feed/new"},"notice":"/home/feed",
                           "bind":{"M":{"id":"path.id"}},"unsupported":{"to":{"external":"\#(url)"}}}]
                """#)
        }
        let old = try table("https://a.example/update")
        let decision = old.resolve("https://a.example/new/1", device: DeviceFacts(app: "8"))
        #expect(decision.outcome == .external && decision.url == "https://a.example/update")
        #expect(decision.notes == ["unsupported:home.new"] && decision.notice == "/home/feed")
        #expect(old.resolve("https://a.example/new/1", device: DeviceFacts(app: "9")).path == "/home/feed/new")
        // A bound value that is present must be valid, even for an external target.
        #expect(old.resolve("https://a.example/new/x", device: DeviceFacts(app: "8")).reason == "param_invalid")
        let trace = old.explain(.link("https://a.example/new/1"), device: DeviceFacts(app: "8"))
        #expect(trace.failure == nil && trace.decision.url == decision.url && trace.bindings.count == 1)
        for wrong in ["https://a.example/{id}", "https://a.example/?q={query.q}", "https://b.example/"] {
            #expect(throws: RouteTableError.self) { try table(wrong) }
        }
    }
}
