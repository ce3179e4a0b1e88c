import RouteAnalysis
import Testing

@testable import LinkCoordinator

/// Tables and libraries of different schema versions.
///
/// The versions of `parts` are invented. An older library is the same list with a lower newest version.
@Suite("Schema versions") struct SchemaVersionTests {
    private static let parts: [SchemaPart: Int] = [
        .key("status", of: .route): 2, .captureType("uuid"): 2, .key("listed", of: .capability): 3,
        .fieldType("date"): 3,
    ]

    /// Returns a table that uses every part of `parts`.
    private static func table(declaring version: Int) -> [UInt8] {
        Array(
            """
            {
            "schemaVersion": \(version),
            "table": { "id": "t", "version": "1" },
            "link": { "schemes": ["t"], "host": "segment", "rewrites": [{ "stripPrefix": "/{at:uuid}" }] },
            "models": { "M": { "day": "date?", "days": "list<date>(0..2)", "date": "enum(date|int)?" } },
            "capabilities": { "c": { "listed": true } },
            "routes": [{ "id": "a", "match": "/a/x{id:uuid}/{name:[a-z]{1,8}}", "status": "new",
                         "to": { "root": true } }]
            }
            """.utf8)
    }

    /// Returns a table without routes.
    private static func minimal(_ version: String, _ more: String = "") -> [UInt8] {
        let head = #"{"schemaVersion":\#(version),"table":{"id":"t","version":"1"},"routes":[],"#
        return Array((head + #""link":{"schemes":["t"],"host":"segment"}\#(more)}"#).utf8)
    }

    private struct Case {
        let declared: Int
        let newest: Int
        let problems: [String]
    }

    /// The parts of `table`, with line and column, in the order of the file.
    private static let partLocations = [
        (4, 84, "the capture type `uuid`", 2), (5, 28, "the field type `date`", 3),
        (5, 50, "the field type `date`", 3), (6, 26, "the key `listed` in the capability `c`", 3),
        (7, 43, "the capture type `uuid`", 2), (7, 69, "the key `status` in a route", 2),
    ]

    /// Returns the expected problems for the parts that are newer than a version.
    private static func expected(newerThan version: Int, _ message: (String, Int) -> String) -> [String] {
        partLocations.filter { $0.3 > version }.map { "\($0.0):\($0.1) \(message($0.2, $0.3))" }
    }

    private static func unknown(newest: Int, declared: Int) -> [String] {
        let leading =
            "2:18 the table declares schemaVersion \(declared), but this release supports the versions 1 to \(newest)"
        return [leading] + expected(newerThan: newest) { part, _ in "this release does not know \(part)" }
    }

    private static func needed(declared: Int) -> [String] {
        expected(newerThan: declared) { "\($0) needs schemaVersion \($1), but the table declares \(declared)" }
    }

    private static let cases = [
        Case(declared: 3, newest: 3, problems: []),
        Case(declared: 2, newest: 3, problems: needed(declared: 2)),
        Case(declared: 1, newest: 3, problems: needed(declared: 1)),
        Case(declared: 3, newest: 2, problems: unknown(newest: 2, declared: 3)),
        Case(declared: 3, newest: 1, problems: unknown(newest: 1, declared: 3)),
        Case(declared: 4, newest: 3, problems: unknown(newest: 3, declared: 4)),
        // A library that knows no newer version takes the parts for mistakes.
        Case(
            declared: 1, newest: 1,
            problems: expected(newerThan: 1) { part, _ in "this release does not know \(part)" }),
    ]

    private static func read(_ file: [UInt8], newest: Int) -> TableReading {
        TableSource.read(file, versions: SchemaVersions(newest: newest, introduced: parts))
    }

    @Test("A table is read with its own and older versions, and all else names the part and the version")
    func versions() {
        for one in Self.cases {
            let file = Self.table(declaring: one.declared)
            let found = Self.read(file, newest: one.newest).problems.located(in: file)
            let name = "schemaVersion \(one.declared), newest \(one.newest)"
            #expect(found.map { "\($0.line):\($0.column) \($0.message)" } == one.problems, "\(name)")
            for problem in found {
                switch problem.code {
                case .unsupportedSchemaVersion: #expect(problem.schemaVersion == one.declared, "\(name)")
                case .needsSchemaVersion:
                    #expect(problem.message.contains("schemaVersion \(problem.schemaVersion ?? 0),"), "\(name)")
                default:
                    #expect([.unknownKey, .badType, .badPattern].contains(problem.code), "\(name)")
                    #expect(problem.schemaVersion == (one.declared > one.newest ? one.declared : nil), "\(name)")
                }
            }
        }
    }

    @Test("A check for an older library names what is newer than its version")
    func olderLibrary() {
        let versions = SchemaVersions(newest: 3, introduced: Self.parts)
        for (declared, newest) in [(3, 3), (3, 2), (3, 1), (2, 1), (1, 1)] {
            let file = Self.table(declaring: declared)
            let schema = Self.read(file, newest: 3).schema
            let found = schema.problems(for: newest, versions).located(in: file)
            let leading =
                declared > newest
                ? ["2:18 the table declares schemaVersion \(declared), but the check is for schemaVersion \(newest)"]
                : []
            // A part that is newer than the declared version is an error of its own.
            let parts = Self.partLocations.filter { $0.3 > newest && $0.3 <= declared }.map {
                line, column, part, version in
                "\(line):\(column) \(part) needs schemaVersion \(version), but the check is for schemaVersion \(newest)"
            }
            #expect(found.map { "\($0.line):\($0.column) \($0.message)" } == leading + parts)
            #expect(found.dropFirst(leading.count).allSatisfy { $0.code == .needsSchemaVersion })
        }
    }

    @Test("A table that declares a newer version than it uses can declare an older one")
    func needless() {
        let table = Self.minimal("2")
        let problems = RouteTable.problems(in: table, forSchemaVersion: 1)
        #expect(problems.map(\.code) == [.unsupportedSchemaVersion])
        #expect(
            problems.first?.suggestion == "write \"schemaVersion\": 1, because the table uses no newer key or type")
        #expect(RouteTable.problems(in: table, forSchemaVersion: 2) == [])
    }

    /// A table of a later library, with mistakes that are not reported because they may be none there.
    private static let future = """
        {
        "table": { "id": "t", "version": "1", "theme": "dark" },
        "link": { "schemes": ["t"], "host": "segment", "path": [] },
        "models": { "M": { "price": "money(EUR)?", "all": "list<money>", "odd": "[money]" } },
        "routes": [{ "id": "a", "match": "/a/{at:geo(2)}", "teleport": true, "to": { "path": "/b" } }],
        "schemaVersion": 7
        }
        """

    @Test("A table of a later version is refused for its version first, then for each unknown key and type")
    func later() {
        let error = #expect(throws: RouteTableError.self) { try RouteTable(json: Self.future.utf8) }
        #expect(error?.requiredSchemaVersion == 7)
        let advice = "use a release that supports schemaVersion 7"
        #expect(error?.problems.allSatisfy { $0.suggestion == advice && $0.schemaVersion == 7 } == true)
        #expect(
            error?.problems.map { "\($0.line):\($0.column) \($0.pointer) \($0.message) [\($0.code.rawValue)]" } == [
                "6:18 /schemaVersion the table declares schemaVersion 7, but this release supports the versions "
                    + "1 to \(RouteTable.supportedSchemaVersions.upperBound) [unsupported_schema_version]",
                "2:39 /table/theme this release does not know the key `theme` in table [unknown_key]",
                "4:30 /models/M/price this release does not know the field type `money` [bad_type]",
                "4:57 /models/M/all this release does not know the field type `money` [bad_type]",
                "4:74 /models/M/odd this release does not know the field type `[money]` [bad_type]",
                "5:42 /routes/0/match this release does not know the capture type `geo` [bad_pattern]",
                "5:52 /routes/0/teleport this release does not know the key `teleport` in a route [unknown_key]",
            ])
    }

    @Test("Unknown keys of a later version are reported up to the limit of problems, after the version")
    func manyKeys() {
        let keys = (0..<1_000).map { #","k\#($0)":\#($0)"# }.joined()
        let table = Self.minimal("7", keys)
        let problems = RouteTable.problems(in: table)
        #expect(problems.count == ProblemList.maxCount)
        #expect(problems.first?.code == .unsupportedSchemaVersion)
        #expect(problems.dropFirst().allSatisfy { $0.code == .unknownKey })
        #expect(TableSource.read(table).schema.uses.count == ProblemList.maxCount + 1)
    }

    @Test("The same mistakes in a table of a supported version are reported in full")
    func present() {
        let table = Self.future.replacing("7", with: "1")
        let error = #expect(throws: RouteTableError.self) { try RouteTable(json: table.utf8) }
        #expect(error?.requiredSchemaVersion == nil)
        #expect(error?.problems.contains { $0.code == .wrongType } == true)
        #expect(error?.problems.contains { $0.code == .unsupportedSchemaVersion } == false)
    }

    @Test(
        "A version that is not a positive whole number is a mistake",
        arguments: ["0", "-1", "1.5", "1e0", "99999999999999999999", "\"1\"", "null"])
    func malformed(version: String) {
        let error = #expect(throws: RouteTableError.self) { try RouteTable(json: Self.minimal(version)) }
        #expect(error?.problems.map(\.pointer) == ["/schemaVersion"])
        #expect(error?.problems.allSatisfy { [.badValue, .wrongType].contains($0.code) } == true)
    }

    @Test("A table has the version that it declares", arguments: RouteTable.supportedSchemaVersions)
    func declared(version: Int) throws {
        #expect(try RouteTable(json: Self.minimal("\(version)")).schemaVersion == version)
    }

    @Test("The versions of the format name keys and types that exist")
    func data() {
        let current = SchemaVersions.current
        for (part, version) in current.introduced {
            #expect(version > SchemaVersions.oldest && version <= current.newest, "\(part)")
            if case .key(let key, let object) = part { #expect(object.keys.contains(key), "\(part)") }
            if case .captureType(let name) = part { #expect(CaptureType.names.contains(name), "\(part)") }
        }
        #expect(current.introduced.values.max() == current.newest)
    }

    @Test(
        "A field type that the library knows needs the version that introduced it",
        arguments: FieldTypeParser.names.filter { SchemaVersions.current.introduced[.fieldType($0)] != nil })
    func fieldTypes(name: String) throws {
        let needed = SchemaVersions.current.version(of: .fieldType(name))
        for version in RouteTable.supportedSchemaVersions {
            let table = Self.minimal("\(version)", #","models":{"M":{"one":"\#(name)?","all":"list<\#(name)>"}}"#)
            guard version < needed else {
                #expect(throws: Never.self) { try RouteTable(json: table) }
                continue
            }
            let error = #expect(throws: RouteTableError.self) { try RouteTable(json: table) }
            #expect(error?.problems.map(\.code) == [.needsSchemaVersion, .needsSchemaVersion])
            #expect(error?.problems.map(\.schemaVersion) == [needed, needed])
        }
    }
}
