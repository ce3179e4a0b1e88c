import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

/// Paths in the syntax of other routers, each with the suggested form, or nil if there is none.
enum ForeignForm {
    /// Paths with known forms.
    static let known: [(path: String, form: String?)] = [
        ("/rates/:day", "/rates/{day}"), ("/:id/:id", "/{id}/{id2}"), ("/:id/:id/:id", "/{id}/{id2}/{id3}"),
        ("/:id/{id}", "/{id2}/{id}"), ("/{id}/:id", "/{id}/{id2}"), ("/p/:screen", "/p/{screenName}"),
        ("/:screen/:screenName", "/{screenName}/{screenName2}"), ("/:stack", "/{stackName}"),
        ("/:present?", "/{presentName?}"), ("/:coordinator*", "/{coordinatorName*}"),
        ("/files/:path*", "/files/{path*}"),
        ("/files/:path+", "/files/{path+}"), ("/files/:path*/raw", nil), ("/files/:path+/raw", nil), ("/a/:b?/c", nil),
        ("/:id(\\d+)", "/{id:int}"), ("/:id(\\d+)?", "/{id:int?}"), ("/:id([0-9]+)/x", "/{id:int}/x"),
        ("/:k(day|week)", "/{k:enum(day|week)}"), ("/:k(day|day)", nil), ("/:id(\\d{4})", nil), ("/:id(.*)", "/{id}"),
        ("/:id{[0-9]+}", "/{id:int}"), ("/:s([a-z-]+)", "/{s:[a-z-]{1,64}}"), ("/:s([a-z!]+)", nil),
        ("/p-:id", "/p-{id}"),
        ("/p-:id.html", "/p-{id}.html"), ("/:a-:b", nil), ("/:a.:b", nil), ("/(:d)", "/{d?}"), ("/x/(:d)?", "/x/{d?}"),
        ("/(:d)/x", nil), ("/rates(/:d)", "/rates/{d?}"), ("/rates(/:d)?", "/rates/{d?}"), ("/(/:d)", "/{d?}"),
        ("/(/:d)?", "/{d?}"), ("/a(/:d(\\d+))", "/a/{d:int?}"), ("/a(/:b/:c)", nil), ("/a(/:b(/:c))", nil),
        ("/a(/b)", nil), ("/a(/:d)/x", nil), ("/a(/:d*)", nil), ("/*", "/{rest+}"), ("/files/*", "/files/{rest+}"),
        ("/files/**", "/files/{rest*}"), ("/**/x", nil), ("/*/x", "/{name}/x"), ("/*/*", "/{name}/{rest+}"),
        ("/*/*/*", "/{name}/{name2}/{rest+}"), ("/*rest", "/{rest*}"), ("/*rest/x", nil),
        ("/*screen", "/{screenName*}"),
        ("/*.html", "/{name}.html"), ("/*/*.html", "/{name}/{name2}.html"), ("/img-*", "/img-{name}"), ("/*x*", nil),
        ("/{name}/*", "/{name}/{rest+}"), ("/{rest}/*", "/{rest}/{rest2+}"), ("/$id", "/{id}"), ("/$", "/{rest+}"),
        ("/$/x", "/{name}/x"),
        ("/$present/x", "/{presentName}/x"), ("/[id]", "/{id}"), ("/[id]/", "/{id}"), ("/[id]/x/[id]", "/{id}/x/{id2}"),
        ("/[[id]]", "/{id?}"), ("/[...s]", "/{s+}"), ("/[[...s]]", "/{s*}"), ("/[...s]/x", nil),
        ("/[screen]", "/{screenName}"),
        ("/[a-z]", nil), ("/[a-z]+", "/{name:[a-z]{1,64}}"), ("/[0-9]+", "/{name:int}"), ("/<id>", "/{id}"),
        ("/<int:id>", "/{id:int}"), ("/<uuid:id>/x", "/{id:uuid}/x"), ("/<string:s>", "/{s}"), ("/<slug:s>", "/{s}"),
        ("/<path:p>", "/{p+}"), ("/<path:p>/x", nil), ("/u/<id:int>", "/u/{id:int}"), ("/u/<rest:path>", "/u/{rest+}"),
        ("/u/<id:re:[a-z]+>", "/u/{id:[a-z]{1,64}}"), ("/u/<id:re:a.b>", nil), ("/u/<id:float>", "/u/{id}"),
        ("/<a><b>", nil), ("/<screen>", "/{screenName}"), ("/<kind:id>", "/{id}"), ("/v<int:n>", "/v{n:int}"),
        ("/{id}?", "/{id?}"), ("/{id}*", "/{id*}"), ("/{id}?/x", nil), ("/{id?}?", nil), ("/{id:int}?", "/{id:int?}"),
        ("/\\d+", "/{name:int}"), ("/(\\d+)", "/{name:int}"), ("/(\\d+)/(\\d+)", "/{name:int}/{name2:int}"),
        ("/(a|b)", "/{name:enum(a|b)}"), ("/a|b", nil), ("/(.*)", "/{rest*}"), ("/.*", "/{rest*}"),
        ("/(.+)/x", "/{name}/x"),
        ("/^x$", nil), ("/(?:x)", nil), ("/(?<id>x)", nil), ("/x.*", nil), ("/x.+", nil), ("/a\\b", nil),
        ("/s?q=1", "/s"), ("/a/?q=1", "/a"), ("/a/#f", "/a"), ("/?q=1", "/"), ("/?=1", "/"), ("/?=", "/"),
        ("/?a=1&a=2", "/"),
        ("/?q=\"x\"", "/"), ("/?q=a%20b", "/"), ("/?a%26b=1", "/"), ("/?q=:x&r={y}&s=*&t=<z>", "/"),
        ("/?screen=1", "/"),
        ("/?q=%zz", "/"), ("/?q=%FF", "/"), ("/a?b?c", "/a"), ("/?q=%3Ax", "/"), ("/s?q=:q#f", "/s"), ("/a/?", "/a"),
        ("/?", "/"), ("/a?", nil), ("/#", "/"), ("/#{id}", "/"), ("/a/#/b", "/a"), ("/:a/?x=1", "/{a}"),
        ("/*/#x", "/{rest+}"),
        ("/my%20rates", "/my rates"), ("/%C3%A9", "/é"), ("/e%CC%81", "/é"), ("/%E9", nil), ("/a%2Fb", nil),
        ("/%7Bid%7D", nil),
        ("/%2e%2e/x", nil), ("/x/%2e", nil), ("/..%2e", "/..."), ("/%3Aid", nil), ("/%2A", nil), ("/a%3F", nil),
        ("/%00", nil),
        ("/%3Cid%3E", nil), ("/%E2%80%8B", nil),
        ("/:" + String(repeating: "n", count: 70), "/{" + String(repeating: "n", count: 60) + "}"),
        ("/{id}/", "/{id}"), ("/a//b", "/a/b"), ("//", "/"), ("//x/:id", "/x/{id}"), ("rates/:day", "/rates/{day}"),
        ("^/rates/:day$", "/rates/{day}"), ("https://a.example/p/:id", "/p/{id}"), ("https://a.example/p/?q=1", "/p"),
        ("app://p/:id", "/{id}"), ("https://a.example/..", nil), ("x/../y", nil), ("", "/"), ("a/[...s]/b", nil),
    ]

    /// Segments and ends from which more paths are composed.
    static let segments = known.map { $0.path }.filter { $0.hasPrefix("/") && $0.utf8.count < 40 }

    /// Returns the paths of `known` and pairs of them.
    static func all(seed: UInt64) -> [String] {
        var generator = SeededGenerator(seed: seed)
        func pick(_ list: [String]) -> String { list.randomElement(using: &generator) ?? "" }
        let pairs = (0..<400).map { _ in
            pick(segments) + pick(segments) + pick(["", "", "", "/", "?q=1", "#f"])
        }
        return known.map { $0.path } + pairs
    }
}

@Suite("Suggested forms for the syntax of other routers")
struct ForeignFormTests {
    private static func problems(_ routes: String, rewrites: String = "") -> [TableProblem] {
        let text = """
            {"schemaVersion": 1, "table": {"id": "t", "version": "1"},
             "link": {"schemes": ["app"], "host": "segment", "rewrites": [\(rewrites)]},
             "models": {"M": {"a": "string?", "b": "string?", "c": "string?", "d": "string?", "e": "string?"}},
             "routes": [\(routes)]}
            """
        return RouteTable.problems(in: Array(text.utf8))
    }

    private static func quoted(_ text: String) -> String { JSONValue(.string(text)).text }

    /// Returns the path in a suggestion that begins with `write`.
    private static func form(_ advice: String?) -> String? {
        guard let advice, advice.hasPrefix("write `/") else { return nil }
        return advice.dropFirst(7).firstIndex(of: "`").map {
            String(advice[advice.index(advice.startIndex, offsetBy: 7)..<$0])
        }
    }

    /// Returns the constraints and sources in a suggestion as members of a route.
    private static func members(_ advice: String) -> String {
        var out = ""
        if let start = advice.firstRange(of: "add \"query\": ") {
            let rest = advice[start.upperBound...]
            out += ", \"query\": " + (rest.firstRange(of: " }").map { rest[..<$0.upperBound] } ?? rest)
        }
        var sources = advice.split(separator: "`").map(String.init).filter { $0.hasPrefix("query.") }
        if advice.contains("`fragment`") { sources.append("fragment") }
        let bound = zip("abcde", sources).map { "\"\($0)\": \(quoted($1))" }
        return out
            + (bound.isEmpty ? "" : ", \"bind\": {\"M\": {\(bound.joined(separator: ", "))}}, \"requireAll\": true")
    }

    @Test("The suggested form of each known path is the expected one", arguments: ForeignForm.known.map { $0.path })
    func expected(path: String) throws {
        let own = try #require(ForeignForm.known.first { $0.path == path })
        let found = Self.problems("{\"id\": \"x\", \"match\": \(Self.quoted(path)), \"to\": {\"root\": true}}")
        let reported = found.filter { $0.code == .foreignSyntax || $0.severity == .error }
        #expect(!reported.isEmpty)
        #expect(
            reported.lazy.compactMap { Self.form($0.suggestion) }.first == own.form, "\(reported.map(\.suggestion))")
    }

    @Test("A form suggested for a pattern is valid, with its constraints and bindings", arguments: [1, 20, 300])
    func patterns(seed: UInt64) {
        for path in ForeignForm.all(seed: seed) {
            let found = Self.problems("{\"id\": \"x\", \"match\": \(Self.quoted(path)), \"to\": {\"root\": true}}")
            for problem in found {
                guard let advice = problem.suggestion, let form = Self.form(advice) else { continue }
                let again = Self.problems(
                    "{\"id\": \"x\", \"match\": \(Self.quoted(form)), \"to\": {\"root\": true}\(Self.members(advice))}")
                // The author decides how to use a capture, and this table has its own model.
                let bad = again.filter { $0.code != .unusedCapture && $0.code != .unusedModel }
                #expect(bad.isEmpty, "seed \(seed): \(path): \(advice): \(bad.map { $0.text(file: "t") })")
            }
        }
    }

    @Test(
        "A capture suggested for one in other braces is valid",
        arguments: [
            ("{*id}", ""), ("{**rest}", ""), ("{...id}", ""), ("{id...}", ""), ("{*id}", "/x"), ("{*}", ""),
            ("{*}", "/x"),
            ("{}", ""), ("{}", "/x"), ("{ id }", ""), ("{:id}", ""), ("{:id}", "/x"), ("{{id}}", ""), ("{*screen}", ""),
            ("{:screen}", ""), ("{ stack }", ""), ("{{present}}", "/x"), ("{id=5}", ""), ("{screen=5}", ""),
            ("{ id : int }", "/x"), ("{...screen}", "/x"),
        ])
    func captures(capture: String, rest: String) throws {
        func problems(_ own: String) -> [TableProblem] {
            Self.problems("{\"id\": \"x\", \"match\": \(Self.quoted("/a/" + own + rest)), \"to\": {\"root\": true}}")
        }
        let advice = try #require(problems(capture).first?.suggestion)
        #expect(advice.hasPrefix("write `{"))
        let form = advice.dropFirst(7).prefix { $0 != "`" }
        let bad = problems(String(form)).filter { $0.code != .unusedCapture && $0.code != .unusedModel }
        #expect(bad.isEmpty, "\(advice): \(bad.map { $0.text(file: "t") })")
    }

    @Test("A form suggested for a redirect is valid")
    func redirects() {
        for path in ForeignForm.all(seed: 7) {
            for names in ["{id}/{name}/{rest*}", "{day}/{b}/{s+}", "any"] {
                func table(_ redirect: String) -> String {
                    "{\"id\": \"x\", \"match\": \"/from/here/\(names)\", \"redirect\": \(Self.quoted(redirect))}"
                }
                for problem in Self.problems(table(path)) {
                    guard let form = Self.form(problem.suggestion), problem.code != .redirectNowhere else { continue }
                    let bad = Self.problems(table(form)).filter {
                        $0.code == .foreignSyntax || $0.severity == .error && $0.code != .redirectNowhere
                    }
                    #expect(bad.isEmpty, "\(path): \(form): \(bad.map { $0.text(file: "t") })")
                }
            }
        }
    }

    @Test("A form suggested for a prefix is valid")
    func prefixes() {
        for path in ForeignForm.all(seed: 8) {
            func table(_ prefix: String) -> String { "{\"stripPrefix\": \(Self.quoted(prefix))}" }
            for problem in Self.problems("", rewrites: table(path)) {
                guard let form = Self.form(problem.suggestion) else { continue }
                let bad = Self.problems("", rewrites: table(form)).filter {
                    $0.code == .foreignSyntax || $0.severity == .error
                }
                #expect(bad.isEmpty, "\(path): \(form): \(bad.map { $0.text(file: "t") })")
            }
        }
    }
}
