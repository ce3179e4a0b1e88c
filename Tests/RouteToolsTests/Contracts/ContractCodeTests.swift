import Foundation
import LinkCoordinator
import StrictJSON
import TableSupport
import TestSupport
import Testing

@testable import RouteTools

/// The contracts in TypeScript and Kotlin, compiled with decisions of their tables.
@Suite("Contracts as code") struct ContractCodeTests {
    /// A table, the name of its files, and decisions about its links.
    private struct Subject {
        let name: String
        let table: RouteTable
        let decisions: [Decision]

        init(_ path: String) throws {
            name = "t" + (path as NSString).lastPathComponent.filter(\.isLetter)
            let table = try SampleTables.load(path)
            self.table = table
            let devices = [
                DeviceFacts(), DeviceFacts(platform: "ios", app: "6.1.0", os: "18.0", capabilities: ["ar", "wide"]),
                DeviceFacts(platform: "ios", app: "6.1.0", claims: ["session"]),
            ]
            let links = table.source.routes.flatMap { SampleLinks.all(of: $0, in: table) }
            let requests = links.map { LinkRequest.link($0) } + [.link("nothing"), .payload(.json(#"{"aps":{}}"#))]
            decisions = requests.enumerated().map { table.resolve($1, device: devices[$0 % devices.count]) }
        }

        /// The shipped tables and those of other tests, among them one with hostile names and one without screens.
        static func all() throws -> [Subject] {
            let others = ["hostile", "empty"].map { "Tests/GeneratedSwiftTests/Tables/\($0).json" }
            return try (SampleTables.paths + others.map { Checkout.root.appending(path: $0).path }).map(Subject.init)
        }
    }

    private static func has(_ program: String) -> Bool {
        (try? ChildProcess.run(["sh", "-c", "command -v \(program)"]))?.status == 0
    }

    private static func write(_ text: String, to name: String, in folder: TemporaryFolder) throws {
        try Data(text.utf8).write(to: folder.url.appending(path: name))
    }

    private static func compileTypeScript(_ files: [String], in folder: TemporaryFolder) throws -> ChildProcess.Result {
        try ChildProcess.run(
            ["tsc", "--strict", "--noEmit", "--target", "es2020", "--module", "commonjs"] + files, in: folder.url,
            seconds: 600)
    }

    @Test(
        "The types of TypeScript compile, and fit the decisions of their table",
        .enabled(if: has("tsc"), "the compiler of TypeScript is not installed: apt-get install node-typescript"))
    func typeScript() throws {
        let folder = try TemporaryFolder()
        let subjects = try Subject.all()
        for subject in subjects {
            try Self.write(DecisionContract(subject.table).typeScript, to: subject.name + ".ts", in: folder)
            let values = subject.decisions.map { "    \($0.description)," }.joined(separator: "\n")
            let head = "import type { Decision } from \"./\(subject.name)\";\nexport const all: Decision[] = [\n"
            try Self.write(head + values + "\n];\n", to: subject.name + "-values.ts", in: folder)
        }
        let files = subjects.map { $0.name + "-values.ts" }
        let result = try Self.compileTypeScript(files, in: folder)
        #expect(result.status == 0, "\(result.output)")
        #expect(subjects.reduce(0) { $0 + $1.decisions.count } > 50)
    }

    @Test(
        "The compiler of TypeScript finds the screen and the outcome that a consumer does not handle",
        .enabled(if: has("tsc"), "the compiler of TypeScript is not installed: apt-get install node-typescript"),
        arguments: [
            ("", 0), (#"s|"feed": {}|"feed": {}, "sale": {}|"#, 2),
            (#"s|"account":|"club": { "screens": { "x": {} } }, "account":|"#, 2),
        ])
    func exhaustive(edit: String, status: Int32) throws {
        let folder = try TemporaryFolder()
        var table = String(decoding: try TableFiles.shipped("shop"), as: UTF8.self)
        let parts = edit.split(separator: "|").map(String.init)
        if parts.count == 3 { table = table.replacing(parts[1], with: parts[2], maxReplacements: 1) }
        try Self.write(DecisionContract(RouteTable(json: table.utf8)).typeScript, to: "shop.ts", in: folder)
        let sample = Checkout.root.appending(path: "config/samples/decisions.ts")
        try Self.write(String(contentsOf: sample, encoding: .utf8), to: "decisions.ts", in: folder)
        let result = try Self.compileTypeScript(["decisions.ts"], in: folder)
        #expect(result.status == status, "\(result.output)")
        #expect(status == 0 || result.output.contains("not assignable to parameter of type 'never'"))
    }

    /// Returns the code of a JSON value in Kotlin.
    private static func kotlin(_ value: JSONValue) -> String {
        switch value.kind {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .number(let text): text.contains(".") ? "java.math.BigDecimal(\"\(text)\")" : "\(text)L"
        case .string(let text): CodeNames.literal(text)
        case .array(let items): "listOf<Any?>(\(items.map(kotlin).joined(separator: ", ")))"
        case .object(let members):
            "mapOf<String, Any?>("
                + members.map { "\(CodeNames.literal($0.name)) to \(kotlin($0.value))" }.joined(separator: ", ") + ")"
        }
    }

    /// Decisions of the shop that are not valid, with the messages.
    private static let invalid: [(json: String, message: String)] = [
        (#"{"outcome":"none","reason":"expired","table":"other@1+00000000"}"#, "/table: expected the table shop"),
        (#"{"outcome":"later","table":"shop@1+00000000"}"#, "/outcome: expected an outcome"),
        (
            #"{"outcome":"navigate","table":"shop@2+00000000","mode":"append","path":"/home/sale","stack":["#
                + #"{"coordinator":"home","screen":"sale","present":"push"}]}"#,
            "/stack/0: expected a screen of shop@1+"
        ),
        (
            #"{"outcome":"navigate","table":"shop@1+00000000","mode":"append","path":"/account/order","stack":["#
                + #"{"coordinator":"account","screen":"order","present":"push","data":{"OrderRef":{"order":1.5}}}]}"#,
            "/stack/0/data/OrderRef/order: expected an integer"
        ),
        (#"{"outcome":"none","table":"shop@1+00000000"}"#, "/reason: expected a string"),
    ]

    @Test(
        "The classes of Kotlin compile, and read the decisions of their table",
        .enabled(if: has("kotlinc"), "the compiler of Kotlin is not installed: apt-get install kotlin"))
    func kotlin() throws {
        let folder = try TemporaryFolder()
        let subjects = try Subject.all()
        var main = [
            "fun read(decide: () -> Any) = println(try { decide() } catch (e: IllegalArgumentException) { e.message })",
            "fun main() {",
        ]
        var expected: [String] = []
        for subject in subjects {
            let object = "\(subject.name).\(CodeNames.camel(subject.table.id, upper: true))Decisions"
            try Self.write(
                "package \(subject.name)\n" + ContractKotlin(DecisionContract(subject.table)).text,
                to: subject.name + ".kt", in: folder)
            var decisions = subject.decisions.prefix(20).map {
                ($0.description, $0.outcome.rawValue.capitalized + "(about=")
            }
            if subject.name == "tshopjson" {
                decisions += Self.invalid.map { ($0.json, "the decision has no valid member " + $0.message) }
            }
            for (json, message) in decisions {
                let value = try JSONValue.parse(Array(json.utf8))
                main.append("    read { \(object).decision(\(Self.kotlin(value))) }")
                expected.append(message)
            }
        }
        try Self.write((main + ["}"]).joined(separator: "\n"), to: "Main.kt", in: folder)
        let files = subjects.map { $0.name + ".kt" } + ["Main.kt"]
        let built = try ChildProcess.run(["kotlinc"] + files + ["-Werror", "-d", "out"], in: folder.url, seconds: 900)
        try #require(built.status == 0, "\(built.output)\(built.errors)")
        let result = try ChildProcess.run(["kotlin", "-cp", "out", "MainKt"], in: folder.url, seconds: 120)
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == expected.count, "\(result.output)\(result.errors)")
        for (line, message) in zip(lines, expected) { #expect(line.hasPrefix(message)) }
        #expect(lines.contains { $0.contains("AccountOrder(present=Push, orderRef=OrderRef(order=") })
    }

    @Test("A model with the name of a class of Kotlin, and screens with many models each, are code that compiles")
    func wide() throws {
        let models = (0..<20).map { #""M\#($0)":{"f":"int?"}"# }.joined(separator: ",")
        let needs = (0..<20).map { #""M\#($0)""# }.joined(separator: ",")
        let screens = (0..<200).map { #""s\#($0)":{"needs":[\#(needs)]}"# }.joined(separator: ",")
        let table = try RouteTable(
            json: Array(
                #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["t"],"host":"segment"},
                 "models":{"About":{"section":"string?"},\#(models)},
                 "coordinators":{"c":{"screens":{"about":{"needs":["About"]},\#(screens)}}},
                 "routes":[{"id":"r","match":"/","to":{"path":"/c/about"},"bind":{"About":{"section":"query.s"}}}]}
                """#.utf8))
        let text = try ContractKotlin(DecisionContract(table)).text
        #expect(text.components(separatedBy: "val json: Map").count == 2)
        let functions = text.components(separatedBy: "private fun readEntry").dropFirst(2)
        let reads = functions.map {
            $0.components(separatedBy: "-> null")[0].components(separatedBy: "readModel").count
        }
        #expect(reads.count > 10 && reads.allSatisfy { $0 <= ContractKotlin.maxReads })
    }

    @Test(
        "A model with more fields than a class of Kotlin can have is refused, and enumerations and screens can be many")
    func large() throws {
        func table(fields: Int) throws -> RouteTable {
            let fields = (0..<fields).map { #""f\#($0)":"int?""# }.joined(separator: ",")
            let values = (0..<300).map { "v\($0)" }.joined(separator: "|")
            let screens = (0..<450).map { #""s\#($0)":{}"# }.joined(separator: ",")
            return try RouteTable(
                json: Array(
                    #"""
                    {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["t"],"host":"segment"},
                     "models":{"M":{\#(fields)},"E":{"e":"enum(\#(values))?","data":"int?","Data":"bool?"}},
                     "coordinators":{"c":{"screens":{"m":{"needs":["M","E"]},\#(screens)}}},
                     "routes":[{"id":"r","match":"/","to":{"path":"/c/m"}}]}
                    """#.utf8))
        }
        let text = try ContractKotlin(DecisionContract(table(fields: 100))).text
        #expect(text.contains("readEntry2(path, value)") && text.contains("val e: String?"))
        #expect(text.contains("val data: Long?,") && text.contains("val data2: Boolean?"))
        let error = #expect(throws: ContractError.self) {
            try ContractKotlin(DecisionContract(table(fields: 101)))
        }
        #expect(error?.description == "`M` has 101 properties, and a class of Kotlin at most 100 here")
    }
}
