import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@Suite("Warnings about unused parts")
struct UnusedPartTests {
    /// Conditions of variants, most of which are related to others.
    private static let conditions = [
        #""app": ">=5""#, #""app": ">=6""#, #""app": "<5""#, #""app": "<=6 >5""#, #""app": "=5""#, #""app": ">5.0""#,
        #""os": ">=17""#, #""os": "<17""#, #""platform": "ios""#, #""platform": ["iOS", "web"]"#,
        #""platform": ["web", "android"]"#, #""region": "gb""#, #""region": ["GB", "ie"]"#, #""locale": "en""#,
        #""locale": "en_GB""#, #""locale": ["EN-gb", "en-us"]"#, #""claim": "c""#, #""claim": ["c", "d"]"#,
        #""capability": "phone""#, #""capability": "new""#, #""capability": ["phone", "pad"]"#,
        #""capability": "listed""#, #""attributes": { "plan": ["a", "b"] }"#, #""attributes": { "plan": "a" }"#,
        #""query": { "q": "*" }"#, #""query": { "q": "1" }"#, #""query": { "q": null }"#,
    ]

    /// Returns a condition of one or two parts that test different facts.
    private static func condition(_ generator: inout SeededGenerator) -> String {
        var parts: [String: String] = [:]
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            let part = conditions.randomElement(using: &generator) ?? ""
            parts[String(part.prefix { $0 != ":" })] = part
        }
        return "{ \(parts.values.sorted().joined(separator: ", ")) }"
    }

    private static func table(_ conditions: [String]) -> String {
        let last = "{ \"to\": { \"root\": true } }"
        let variants = conditions.map { "{ \"when\": \($0), \"to\": { \"root\": true } }" } + [last]
        return """
            {"schemaVersion": 1, "table": {"id": "t", "version": "1"},
             "link": {"schemes": ["app"], "host": "segment"},
             "capabilities": {"phone": {"platforms": ["ios", "android"]}, "pad": {"platforms": ["IOS", "tv"]},
              "new": {"minApp": "6", "minOS": "17"}, "listed": {}},
             "routes": [{"id": "a", "match": "/a", "variants": [\(variants.joined(separator: ", "))]}]}
            """
    }

    private static func device(_ generator: inout SeededGenerator) -> DeviceFacts {
        func some(_ list: [String?]) -> String? { list.randomElement(using: &generator) ?? nil }
        func several(_ list: [String]) -> [String]? { list.filter { _ in Bool.random(using: &generator) } }
        var device = DeviceFacts()
        device.app = some([nil, "4", "5", "5.0.1-beta", "5.0.1", "6", "6.0.1", "7"])
        device.os = some([nil, "16", "17", "18"])
        device.platform = some([nil, "ios", "IOS", "web", "android", "tv", "other"])
        device.region = some([nil, "GB", "ie", "us"])
        device.locale = some([nil, "en", "en-GB", "EN_gb", "en-US", "en-AU", "de"])
        device.claims = several(["c", "d"])
        device.capabilities = several(["listed", "phone"])
        device.attributes = some([nil, "a", "b", "z"]).map { ["plan": $0] }
        return device
    }

    @Test("No device selects a variant that is reported as unused", arguments: [1, 2026])
    func variants(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var reported = 0
        for _ in 0..<150 {
            let conditions = (0..<Int.random(in: 2...8, using: &generator)).map { _ in Self.condition(&generator) }
            let file = Array(Self.table(conditions).utf8)
            let pointers = Set(RouteTable.problems(in: file).filter { $0.code == .neverHolds }.map(\.pointer))
            let unused = Set(conditions.indices.filter { pointers.contains("/routes/0/variants/\($0)/when") })
            reported += unused.count
            let table = try RouteTable(json: file)
            for _ in 0..<60 {
                let device = Self.device(&generator)
                for link in ["app://a", "app://a?q=1", "app://a?q=2"] {
                    let selected = try #require(table.resolve(link, device: device).variant)
                    #expect(
                        !unused.contains(selected), "seed \(seed): variant \(selected) of \(conditions) for \(device)")
                }
            }
        }
        #expect(reported > 50, "seed \(seed): \(reported) were reported")
    }

    private static let absent =
        #"{"id": "b", "match": "/b", "query": {"q": null}, "to": {"path": "/c/s"}, "bind": {"M": {"n": "query.q"}}}"#
    private static let letter = absent.replacing("null", with: "\"x\"")
    private static let fallback = #""fallback": {"outcome": "navigate", "to": {"root": true}}"#
    private static let onLimit =
        #""fallback": [{"on": ["no_route"], "outcome": "reject"}, {"outcome": "navigate", "to": {"root": true}}]"#
    private static let screenless =
        #""fallback": [{"on": ["unknown_screen"], "outcome": "navigate", "to": {"root": true}}, {"outcome": "reject"}]"#
    private static let byID = #", {"id": "a", "match": "/a", "redirect": "b"}]"#

    @Test(
        "There is no warning about rejection if a redirect by id, a repair, or the fallback leads elsewhere",
        arguments: [
            (
                "",
                #"""
                [{"id": "b", "match": "/b/{x:int(10..20)}", "to": {"path": "/c/s"}, "bind": {"M": {"n": "path.x"}}},
                 {"id": "a", "match": "/a/{x:int(0..9)}", "redirect": "b"}]
                """#, "app:///a/5"
            ),
            ("", "[" + absent + byID, "app:///a?q=1"), ("", "[" + letter + byID, "app:///a?q=1"),
            (
                "",
                #"""
                [{"id": "b", "match": {"path": "/b", "scheme": "app"}, "exclude": {"outcome": "external"}}
                """# + byID, "https://a.example/a"
            ),
            (
                "",
                #"""
                [{"id": "b", "match": "/b", "query": {"q": null},
                  "variants": [{"when": {"query": {"q": "1"}}, "to": {"root": true}}, {"to": {"path": "/c/s"}}]}
                """# + byID.replacing("]", with: #", {"id": "far", "match": "/far", "redirect": "a"}]"#),
                "app:///far?q=1"
            ),
            (
                "",
                #"""
                [{"id": "b", "match": "/b", "query": {"q": "1"},
                  "variants": [{"when": {"query": {"q": "2"}}, "to": {"root": true}}, {"to": {"path": "/c/s"}}]},
                 {"id": "k", "match": "/k", "to": {"path": "/c/t", "parents": "route:b"}}]
                """#, "app:///k?q=2"
            ),
            (
                "", #"[{"id": "r", "match": "/r/{x}", "redirect": "/r/{x}"}], \#(onLimit)"#, "app:///r/z"
            ),
            (
                "",
                #"""
                [{"id": "r", "match": "/r/{x}", "redirect": "/e{x}"},
                 {"id": "s", "match": "/é{any}", "to": {"root": true}}]
                """#, "app:///r/%CC%81z"
            ),
            (
                "",
                #"""
                [{"id": "r", "match": "/r", "redirect": "/q"},
                 {"id": "q", "match": "/q", "query": {"x": "1"}, "redirect": "/r"},
                 {"id": "d", "match": "/{rest*}", "to": {"root": true}}]
                """#, "app:///r"
            ),
            (
                "",
                #"""
                [{"id": "b", "match": "/b", "query": {"q": null}, "to": {"path": "/o/s/t"},
                  "bind": {"M": {"n": "query.q"}}}]
                """#, "app:///b"
            ),
            (
                "",
                #"""
                [{"id": "b", "match": "/b/{x:int(10..20)}", "to": {"path": "/c/new"}, "bind": {"M": {"n": "path.x"}}}],
                 "fallback": [
                   {"on": ["unsupported"], "outcome": "navigate", "to": {"root": true}}, {"outcome": "reject"}]
                """#, "app:///b/12"
            ),
            (
                "",
                #"""
                [{"id": "b", "match": "/b/{x:int(10..20)}/{p:coordinatorPath}", "to": {"path": "{p}"},
                  "bind": {"M": {"n": "path.x"}}}], \#(screenless)
                """#, "app:///b/12/c/none"
            ),
            (
                "",
                #"""
                [{"id": "b", "match": "/b/{p:coordinatorPath}", "query": {"q": null}, "requireAll": true,
                  "to": {"path": "{p}"}, "bind": {"M": {"n": "query.q"}}}], \#(screenless)
                """#, "app:///b/c/none"
            ),
            (
                "",
                #"""
                [{"id": "b", "match": "/b", "query": {"q": null}, "to": {"path": "/c/s"},
                  "bind": {"M": {"n": "query.q", "k": "query.k"}}}],
                 "fallback": [
                   {"on": ["param_invalid"], "outcome": "navigate", "to": {"root": true}}, {"outcome": "reject"}]
                """#, "app:///b?k=x"
            ),
            (
                "",
                #"""
                [{"id": "b", "match": {"path": "/b", "host": "a.example:8443"}, "exclude": {"outcome": "external"}}],
                 "externals": {"hosts": ["a.example"]}
                """#, "https://a.example:8443/b"
            ),
            (
                #", "limits": {"maxSegments": 3}"#,
                #"""
                [{"id": "a", "match": "/a/{x*}", "redirect": "/a/b/{x}"}],
                 "fallback": [{"on": ["budget"], "outcome": "navigate", "to": {"root": true}}, {"outcome": "reject"}]
                """#, "app:///a/x/y"
            ),
            (#", "repair": true"#, "[\(letter.replacing("\"x\"", with: "\" 5\""))]", "app:///b?q=%205"),
            (#", "repair": true"#, "[\(absent)]", "app:///b?%20q=5"),
            ("", "[\(absent)], \(fallback)", "app:///b"), ("", "[\(letter)], \(fallback)", "app:///b?q=x"),
            ("", #"[{"id": "b", "match": "/b", "exclude": {"outcome": "external"}}], \#(fallback)"#, "app:///b"),
        ])
    func rejections(options: String, routes: String, link: String) throws {
        let file = """
            {"schemaVersion": 1, "table": {"id": "t", "version": "1"}, "models": {"M": {"n": "int(0..9)", "k": "int?"}},
             "link": {"schemes": ["app", "https"], "host": "authority", "hosts": ["", "a.example"]\(options)},
             "coordinators": {
              "c": {"screens": {"s": {"needs": ["M"]}, "t": {}, "new": {"needs": ["M"], "until": "1.0"}}},
              "o": {"slot": "single", "screens": {"s": {"needs": ["M"]}, "t": {}}}}, "routes": \(routes)}
            """
        let codes = RouteTable.problems(in: Array(file.utf8)).map(\.code)
        #expect(!codes.contains(.alwaysRejects) && !codes.contains(.neverHolds) && !codes.contains(.redirectNowhere))
        let decision = try RouteTable(json: Array(file.utf8)).resolve(link, device: DeviceFacts(app: "9.0"))
        #expect(decision.outcome != .reject)
    }

    @Test("A redirect whose target only a request by id reaches is not called a redirect to nowhere")
    func parameters() throws {
        let file = #"""
            {"schemaVersion": 1, "table": {"id": "t", "version": "1"}, "link": {"schemes": ["t"], "host": "segment"},
             "coordinators": {"a": {"screens": {"ok": {}}}},
             "routes": [{"id": "r", "match": "/r/{v}", "query": {"q": "1"}, "redirect": "/t/{v}"},
                        {"id": "t", "match": "/t/{any}", "query": {"q": "2"}, "to": {"path": "/a/ok"}}]}
            """#
        #expect(RouteTable.problems(in: Array(file.utf8)).map(\.code) == [])
        let decision = try RouteTable(json: Array(file.utf8)).resolve(.route("r", params: ["v": "x", "q": "2"]))
        #expect(decision.route == "t")
    }

    @Test("The link of a pattern that a rewrite hides does not reach the pattern")
    func rewrites() throws {
        let file = """
            {"schemaVersion": 1, "table": {"id": "t", "version": "1"},
             "link": {"schemes": ["app"], "host": "segment", "rewrites": [{"stripPrefix": "/r"}]},
             "routes": [{"id": "a", "match": "/r/x", "to": {"root": true}},
              {"id": "b", "match": "/x", "to": {"root": true}}]}
            """
        #expect(RouteTable.problems(in: Array(file.utf8)).map(\.code) == [.hiddenByRewrite])
        let table = try RouteTable(json: Array(file.utf8))
        #expect(table.resolve("app://r/x").route == "b")
        #expect(table.resolve("app://r/r/x").route == "a")
    }
}
