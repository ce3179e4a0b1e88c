import Foundation
import LinkCoordinator
import RouteTools
import TestSupport
import Testing

/// Names and types in generated files.
@Suite("Names of generated Swift types") struct GeneratedNameTests {
    private static func export(
        models: [String] = [], screens: [String] = ["\"s\": {}"], routes: [String], link: String = "",
        version: Int = 1
    ) throws -> SwiftExport {
        let json = [UInt8](
            """
            {"schemaVersion":\(version),"table":{"id":"t","version":"1"},
             "link":{"schemes":["t"],"host":"segment"\(link)},
             "models":{\(models.joined(separator: ","))},
             "coordinators":{"c":{"screens":{\(screens.joined(separator: ","))}}},
             "routes":[\(routes.joined(separator: ","))]}
            """.utf8)
        return try SwiftExport(RouteTable(json: json), json: json, typeName: nil)
    }

    /// Returns the declarations without the table at the end of the file, and without comments.
    private static func declarations(_ export: SwiftExport) -> [String] {
        let lines = export.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return lines.prefix { !$0.hasPrefix("private static let json") }.filter { !$0.hasPrefix("//") }
    }

    @Test(
        "An enumeration of a capture and of a field with the same values is one type, in any order of the values",
        arguments: ["enum(new|best|old)", "enum(old|new|best)"])
    func sharedEnumeration(field: String) throws {
        let export = try Self.export(
            models: [#""M":{"kind":"\#(field)","other":"enum(best|new|old)?"}"#], screens: [#""s":{"needs":["M"]}"#],
            routes: [
                """
                {"id":"k","match":"/k/{sort:enum(new|best|old)}","to":{"path":"/c/s"},
                 "bind":{"M":{"kind":"path.sort","other":"query.other"}}}
                """, #"{"id":"free","match":"/free/{sort:enum(best|new|old)}","to":{"root":true}}"#,
            ])
        let types = export.text.matches(of: #/enum (\w+): String, Sendable/#).map { String($0.1) }
        #expect(types == ["Kind"])
        #expect(export.text.contains("case k(sort: TModels.Kind, other: TModels.Kind? = nil)"))
        #expect(export.text.contains("case free(sort: TModels.Kind)"))
    }

    @Test("The numbers of equal names do not depend on the order of the table")
    func order() throws {
        let models = [
            #""A-B":{"kind":"enum(a|b)","f-g":"int?","f_g":"string?"}"#, #""a-b":{"kind":"enum(c|d)","fG":"int?"}"#,
            #""aB":{"kind":"enum(x-y|x_y|xY)"}"#, #""Kind":{"id":"int"}"#,
        ]
        let screens = [
            #""s-t":{"needs":["A-B","a-b"]}"#, #""s_t":{"needs":["aB"]}"#, #""sT":{"needs":["Kind"]}"#, #""s":{}"#,
        ]
        let routes = [
            #"{"id":"go-to","match":"/1","to":{"root":true}}"#, #"{"id":"goTo","match":"/2","to":{"root":true}}"#,
            #"{"id":"go_to","match":"/3/{a_b}/{a-b}","to":{"root":true}}"#,
            #"{"id":"kind","match":"/4/{kind:enum(a|b)}","to":{"root":true}}"#,
        ]
        var random = SeededGenerator(seed: 20_251_128)
        let first = try Self.export(models: models, screens: screens, routes: routes)
        #expect(first.text.contains("case goTo\n") && first.text.contains("case goTo2\n"))
        for _ in 0..<20 {
            let other = try Self.export(
                models: models.shuffled(using: &random), screens: screens.shuffled(using: &random),
                routes: routes.shuffled(using: &random))
            #expect(Self.declarations(other).sorted() == Self.declarations(first).sorted())
        }
    }

    @Test("The code of a large table has no part whose compilation takes more than linear time")
    func large() throws {
        let count = 60
        let models = (0..<count).map { #""M\#($0)":{"id":"string","n":"int?","l":"list<int>"}"# }
        let routes = (0..<count).map {
            """
            {"id":"r\($0)","match":"/r\($0)/{id}","to":{"path":"/c/s\($0)"},
             "bind":{"M\($0)":{"id":"path.id","n":"query.n","l":"query.l"}}}
            """
        }
        let text = try Self.export(
            models: models, screens: (0..<count).map { #""s\#($0)":{"needs":["M\#($0)"]}"# }, routes: routes
        ).text
        // The compiler extends the lifetime of each closure to the end of its function, `default` is one, and a list of
        // keys of its own makes half of a model's code.
        #expect(!text.contains("default: [:]") && !text.contains("CodingKeys"))
    }

    /// Returns the result of the compiler for a generated file beside another one of an app.
    private static func compile(_ text: String, beside other: String, _ flags: [String]) throws -> ChildProcess.Result {
        let folder = try TemporaryFolder()
        try Data(text.utf8).write(to: folder.url.appending(path: "Links.swift"))
        try Data(other.utf8).write(to: folder.url.appending(path: "App.swift"))
        let built = URL(fileURLWithPath: BuiltProgram.linkd).deletingLastPathComponent()
        let map = built.appending(path: "CWideBytes.build/module.modulemap").path
        return try ChildProcess.run(
            [
                "swiftc", "-typecheck", "-parse-as-library", "-module-name", "App", "-I",
                built.appending(path: "Modules").path, "-Xcc", "-fmodule-map-file=\(map)",
            ] + flags + ["Links.swift", "App.swift"], in: folder.url, seconds: 300)
    }

    @Test(
        "A generated file compiles beside files that import its modules, with each mode and import rule",
        arguments: ["5", "6"], [[], ["-enable-upcoming-feature", "InternalImportsByDefault"]])
    func imports(mode: String, feature: [String]) throws {
        let export = try Self.export(
            models: [#""M":{"price":"decimal","at":"datetime?"}"#], screens: [#""s":{"needs":["M"]}"#],
            routes: [
                """
                {"id":"buy","match":"/buy","to":{"path":"/c/s"},
                 "bind":{"M":{"price":"query.price","at":"query.at"}}}
                """
            ],
            version: 2)
        let app = """
            import Foundation
            import LinkCoordinator
            import LinkCoordinatorFoundation
            func open(_ url: URL) throws -> String { try TLink.buy(price: 1).link() + url.absoluteString }
            """
        let result = try Self.compile(
            export.text, beside: app, ["-swift-version", mode, "-warnings-as-errors"] + feature)
        #expect(result.status == 0, "\(result.errors)")
    }

    /// A case is a table.
    ///
    /// It counts as 1,000 cases, because each is compiled.
    @Test("The generated file of a random table compiles and has a case for each route")
    func compiles() throws {
        var random = SeededGenerator(seed: 20_251_129)
        let names = [
            "id", "default", "self", "kind", "models", "captures", "container", "decoder", "name", "a-b", "aB",
        ]
        let types = [
            "int", "string?", "uuid", "bool?", "enum(a|b-c|default)", "list<string>", "date", "double?", "decimal?",
            "datetime", "list<enum(x|y)>(0..3)", "url(host in a.example)?", "int(1..9)=3",
        ]
        var files: [String] = []
        for _ in 0..<max(2, min(20, LawCases.count / 1_000)) {
            var models: [String] = []
            var routes: [String] = []
            for index in 0..<Int.random(in: 1...6, using: &random) {
                let fields = names.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random))
                let typed = fields.map { (name: $0, type: types.randomElement(using: &random) ?? "int") }
                let declared = typed.map { #""\#($0.name)":"\#($0.type)""# }.joined(separator: ",")
                models.append(#""M\#(index)":{\#(declared)}"#)
                let bound = typed.map { #""\#($0.name)":"query.\#($0.name)""# }.joined(separator: ",")
                routes.append(
                    """
                    {"id":"r\(index)","match":"/r\(index)","to":{"path":"/c/s\(index)"},
                     "bind":{"M\(index)":{\(bound)}}}
                    """)
            }
            let screens = models.indices.map { #""s\#($0)":{"needs":["M\#($0)"]}"# }
            let export = try Self.export(models: models, screens: screens, routes: routes, version: 2)
            #expect(export.text.matches(of: #/(?m)^    case r\d/#).count == routes.count)
            files.append(export.text)
        }
        for file in files {
            let result = try Self.compile(file, beside: "", ["-swift-version", "6", "-warnings-as-errors"])
            #expect(result.status == 0, "\(result.errors)\n\(file.prefix(4_000))")
        }
    }
}
