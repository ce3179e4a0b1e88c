internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkCoordinator
@testable internal import LinkdCommands

@Suite struct CheckTests {
    private let poor = """
        { "schemaVersion": 1, "table": { "id": "poor", "version": "1" },
          "link": { "schemes": ["app"], "host": "segment" },
          "guards": { "vip": { "claim": "vip", "else": { "to": { "root": true } } } },
          "routes": [ { "id": "rates", "match": "/rates/:day", "to": { "root": true } },
                      { "id": "page", "match": "/page/{any?}", "to": { "root": true } } ] }
        """

    @Test("Warnings alone end with exit code 0, or with 65 if --strict is given")
    func strict() {
        withTemporaryFile(poor) { path in
            #expect(linkd("routes", "check", path).code == 0)
            let strict = linkd("routes", "check", path, "--strict")
            #expect(strict.code == 65)
            #expect(strict.out.contains(":3:15: warning: no coordinator has the guard `vip`"))
            #expect(strict.out.contains("[unused_guard]") && strict.out.contains("at /guards/vip"))
            #expect(strict.out.contains("[foreign_syntax]") && strict.out.contains("write `/rates/{day}`"))
            #expect(strict.err.contains("the tables have 2 warnings"))
        }
    }

    @Test("A warning with an allowed code is neither printed nor counted")
    func allow() throws {
        try withTemporaryFile(poor) { path in
            let one = linkd("routes", "check", path, "--strict", "--allow", "unused_guard")
            #expect(one.code == 65 && !one.out.contains("unused_guard") && one.out.contains("foreign_syntax"))
            let both = linkd(
                "routes", "check", path, "--strict", "--allow", "unused_guard", "--allow", "foreign_syntax", "--json")
            #expect(both.code == 0)
            let json = try JSONValue.parse(Array(both.out.utf8))
            #expect(json["tables"]?.array?.first?["problems"]?.array?.isEmpty == true)
        }
    }

    @Test("A word that is not the code of a warning is refused with the most similar code")
    func unknown() {
        withTemporaryFile(poor) { path in
            let misspelt = linkd("routes", "check", path, "--allow", "unused_gaurd")
            #expect(misspelt.code == 64 && misspelt.err.contains("use `unused_guard`"))
            #expect(linkd("routes", "check", path, "--allow", "overlap").err.contains("the code of an error"))
        }
    }

    @Test("Warnings in JSON have a location, a code, and advice")
    func json() throws {
        try withTemporaryFile(poor) { path in
            let result = linkd("routes", "check", path, "--json")
            let json = try JSONValue.parse(Array(result.out.utf8))
            let problems = try #require(json["tables"]?.array?.first?["problems"]?.array)
            #expect(problems.map { $0["code"]?.string } == ["unused_guard", "foreign_syntax"])
            #expect(problems.allSatisfy { $0["severity"]?.string == "warning" && $0["suggestion"]?.string != nil })
            #expect(problems.map { $0["line"]?.integer } == [3, 4])
            #expect(problems.last?["pointer"]?.string == "/routes/0/match")
            #expect(json["tables"]?.array?.first?["truncated"]?.text == "false")
            #expect(json["conflicts"]?.array?.isEmpty == true)
        }
    }

    @Test("The JSON of a check states that it stopped at its limit, and lists two tables that claim the same links")
    func limitsAndConflicts() throws {
        let routes = (0..<300).map { #"{ "id": "r\#($0)", "match": "/r\#($0)", "to": { "path": "/no/screen" } }"# }
        let many = """
            {"schemaVersion": 1, "table": {"id": "t", "version": "1"},
             "link": {"schemes": ["app"], "host": "segment"}, "routes": [\(routes.joined(separator: ","))]}
            """
        try withTemporaryFile(many) { path in
            let result = linkd("routes", "check", path, "--json")
            #expect(result.code == 65)
            let table = try #require(JSONValue.parse(Array(result.out.utf8))["tables"]?.array?.first)
            #expect(table["problems"]?.array?.count == 200 && table["truncated"]?.text == "true")
            #expect(linkd("routes", "check", path).err.contains("200 problems, the limit of one check"))
        }
        try withTemporaryFile(poor) { path in
            let result = linkd("routes", "check", path, path, "--json")
            let conflicts = try #require(JSONValue.parse(Array(result.out.utf8))["conflicts"]?.array)
            #expect(conflicts.count > 0)
            #expect(conflicts.allSatisfy { $0["tables"]?.array?.count == 2 && $0["message"]?.string != nil })
            #expect(conflicts.allSatisfy { $0["severity"]?.string == "warning" && $0["places"] == nil })
            #expect(result.code == 0)
        }
    }

    @Test("Two tables that list the same application are refused with both places")
    func sharedApplication() throws {
        let one = poor.replacing(#""version": "1""#, with: #""version": "1", "applications": ["com.a", "com.b"]"#)
        let two = one.replacing("poor", with: "other").replacing(#""com.a", "#, with: "")
            .replacing(#"["app"]"#, with: #"["second"]"#)
        try withTemporaryFile(one) { first in
            try withTemporaryFile(two) { second in
                let text = linkd("routes", "check", first, second)
                #expect(text.code == 65)
                let places = "(\(first):1:90, \(second):1:82)"
                #expect(text.err.contains("`poor` and `other` both serve the application `com.b` \(places)"), "\(text)")
                #expect(text.err.contains("list the application in only one of the tables"))
                let json = try JSONValue.parse(Array(linkd("routes", "check", first, second, "--json").out.utf8))
                let conflict = try #require(json["conflicts"]?.array?.first)
                #expect(conflict["severity"]?.string == "error" && conflict["code"]?.string == "shared_application")
                #expect(conflict["places"]?.array?.map(\.string) == ["\(first):1:90", "\(second):1:82"])
                let resolved = linkd("resolve", "--table", first, "--table", second, "app://rates/monday")
                #expect(resolved.err.contains("both serve the application `com.b`"))
            }
        }
    }

    @Test("A check with exactly as many errors as its limit reports all of them, so it is not truncated")
    func exactLimit() throws {
        let routes = (0..<200).map { #"{ "id": "r\#($0)", "match": "/r\#($0)", "to": { "path": "/no/screen" } }"# }
        let file = """
            {"schemaVersion": 1, "table": {"id": "t", "version": "1"},
             "link": {"schemes": ["app"], "host": "segment"}, "routes": [\(routes.joined(separator: ","))]}
            """
        try withTemporaryFile(file) { path in
            let result = linkd("routes", "check", path, "--json")
            let table = try #require(JSONValue.parse(Array(result.out.utf8))["tables"]?.array?.first)
            #expect(table["problems"]?.array?.count == 200 && table["truncated"]?.text == "false")
            #expect(!result.err.contains("the limit of one check"))
        }
    }

    @Test("More newer types than the limit of a check are reported as truncated", arguments: [200, 201])
    func newerTypes(count: Int) throws {
        let fields = (0..<count).map { #""f\#($0)": "decimal?""# }.joined(separator: ", ")
        let file = """
            {"schemaVersion": 1, "table": {"id": "t", "version": "1"}, "models": {"M": {\(fields)}},
             "link": {"schemes": ["app"], "host": "segment"}, "routes": []}
            """
        try withTemporaryFile(file) { path in
            let result = linkd("routes", "check", path, "--json")
            let table = try #require(JSONValue.parse(Array(result.out.utf8))["tables"]?.array?.first)
            #expect(table["problems"]?.array?.count == 200)
            #expect(table["truncated"]?.text == (count > 200 ? "true" : "false"))
        }
    }

    private static func table(schemaVersion: Int, field: String) -> String {
        """
        {"schemaVersion": \(schemaVersion), "table": {"id": "t", "version": "1"},
         "link": {"schemes": ["app"], "host": "segment"},
         "models": {"M": {"price": "\(field)"}},
         "coordinators": {"main": {"screens": {"home": {"needs": ["M"]}}}},
         "routes": [{"id": "a", "match": "/a", "to": {"path": "/main/home"}, "bind": {"M": {"price": "query.p"}}}]}
        """
    }

    @Test("A check for an older library passes for a table of its schema version")
    func forSchema() throws {
        try withTemporaryFile(Self.table(schemaVersion: 1, field: "int")) { path in
            for version in RouteTable.supportedSchemaVersions {
                let result = linkd("routes", "check", path, "--for-schema", "\(version)")
                #expect(result.code == 0 && result.out.contains("readable with schemaVersion \(version)"))
            }
            let result = linkd("routes", "check", path, "--for-schema", "1", "--json")
            let json = try JSONValue.parse(Array(result.out.utf8))
            #expect(result.code == 0 && json["forSchema"]?.integer == 1)
            #expect(json["tables"]?.array?.first?["ok"]?.text == "true")
        }
    }

    @Test("A check for an older library reports a newer schema version that the table does not need")
    func forOlderSchema() throws {
        try withTemporaryFile(Self.table(schemaVersion: 2, field: "int")) { path in
            #expect(linkd("routes", "check", path).code == 0)
            let result = linkd("routes", "check", path, "--for-schema", "1")
            #expect(result.code == 65 && !result.out.contains("ok"))
            #expect(result.out.contains(":1:19: error: the table declares schemaVersion 2, but the check is for"))
            #expect(result.out.contains("write \"schemaVersion\": 1, because the table uses no newer key or type"))
            #expect(result.err.contains("is refused for schemaVersion 1: 1 problem."))
            let json = try JSONValue.parse(
                Array(linkd("routes", "check", path, "--for-schema", "1", "--json").out.utf8))
            let table = json["tables"]?.array?.first
            #expect(table?["ok"]?.text == "false")
            let problem = table?["problems"]?.array?.first
            #expect(problem?["code"]?.string == "unsupported_schema_version")
            #expect(problem?["schemaVersion"]?.integer == 2)
        }
    }

    @Test(
        "A check for an older library reports each newer type with its position and version",
        .enabled(if: FieldTypeParser.names.contains("decimal")))
    func newerTypes() throws {
        try withTemporaryFile(Self.table(schemaVersion: 2, field: "list<decimal>")) { path in
            #expect(linkd("routes", "check", path, "--for-schema", "2").code == 0)
            let result = linkd("routes", "check", path, "--for-schema", "1", "--json")
            #expect(result.code == 65)
            let problems = try JSONValue.parse(Array(result.out.utf8))["tables"]?.array?.first?["problems"]?.array
            #expect(
                problems?.map { $0["code"]?.string } == ["unsupported_schema_version", "needs_schema_version"])
            #expect(problems?.map { $0["schemaVersion"]?.integer } == [2, 2])
            #expect(problems?.last?["pointer"]?.string == "/models/M/price")
            #expect(problems?.last?["line"]?.integer == 3)
        }
    }

    @Test("A schema version that no library has is refused with the range", arguments: ["0", "3", "-1", "x"])
    func noSuchSchema(version: String) {
        let result = linkd("routes", "check", "none.json", "--for-schema=\(version)")
        #expect(result.code == 64 && result.err.contains("an integer in 1..2"), "\(result.err)")
    }

    @Test("No shipped table has a warning")
    func shipped() throws {
        let paths = try Checkout.trackedFiles().map(\.path).filter { path in
            path.hasSuffix(".json") && (path.hasPrefix("config/routes/") || path.hasPrefix("config/parity/"))
        }
        #expect(paths.count >= 11)
        for path in paths {
            let result = linkd("routes", "check", Checkout.root.appending(path: path).path, "--strict")
            #expect(result.code == 0, "\(path): \(result.out)\(result.err)")
        }
    }

    @Test("An optional segment has a question mark in list, graph, and document")
    func optional() {
        withTemporaryFile(poor) { path in
            #expect(linkd("routes", "list", path).out.contains("/page/{any?}"))
            #expect(linkd("routes", "list", path, "--json").out.contains("/page/{any?}"))
            #expect(linkd("routes", "graph", path, "--format", "dot").out.contains("/page/{any?}"))
            #expect(linkd("routes", "docs", path).out.contains("/page/{any?}"))
        }
    }
}
