import RouteAnalysis
import Foundation
import LinkCoordinator
import ByteStorage
import StrictJSON
import TableSupport
import Testing

/// A table of `bad-tables.txt` or `poor-tables.txt`, with its expected problems.
struct BadTable: Sendable, CustomTestStringConvertible {
    /// A problem as marked in the corpus.
    struct Mark: Hashable, Comparable, CustomStringConvertible {
        var line: Int
        var column: Int
        var code: String

        var description: String { "\(code) at \(line):\(column)" }

        static func < (a: Mark, b: Mark) -> Bool { (a.line, a.column, a.code) < (b.line, b.column, b.code) }
    }

    let name: String
    let file: [UInt8]
    let marks: [Mark]
    /// A Boolean value that indicates whether all warnings for authors are included.
    let isAdvised: Bool

    /// The problems that are found in the table.
    var problems: [TableProblem] { isAdvised ? RouteTable.problems(in: file) : TableSource.inspect(file).problems }

    var testDescription: String { name }

    /// The members that every table has unless the case specifies its own.
    private static let defaults = [
        ("schemaVersion", #""schemaVersion": 1,"#),
        ("table", #""table": { "id": "bad", "version": "1" },"#),
        ("link", #""link": { "schemes": ["app"], "host": "segment" },"#),
        ("routes", #""routes": [],"#),
    ]

    init(name: String, lines: [Substring], isAdvised: Bool) {
        self.name = name
        self.isAdvised = isAdvised
        let own = lines.filter { !$0.isEmpty }
        let added = Self.defaults.filter { key, _ in !own.contains { $0.hasPrefix("\"\(key)\":") } }
        var body = (added.map { Substring($0.1) } + own).joined(separator: "\n")
        if body.hasSuffix(",") { body.removeLast() }
        (file, marks) = Self.unmark("{\n" + body + "\n}\n")
    }

    /// Removes the marks from a text and returns them with their positions.
    private static func unmark(_ text: String) -> ([UInt8], [Mark]) {
        var out: [UInt8] = []
        var marks: [Mark] = []
        var line = 1
        var column = 1
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "«" {
                let code = rest.prefix { $0 != "»" }
                rest = rest.dropFirst(code.count + 1)
                marks.append(Mark(line: line, column: column, code: String(Substring(code))))
                continue
            }
            out += Array(String(scalar).utf8)
            (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
        }
        return (out, marks.sorted())
    }

    /// All cases of both corpora.
    static let all = bad + poor

    /// Tables that are refused or have warnings when they are loaded.
    static let bad = read("bad-tables", isAdvised: false)

    /// Tables that have warnings for authors.
    static let poor = read("poor-tables", isAdvised: true)

    private static func read(_ corpus: String, isAdvised: Bool) -> [BadTable] {
        guard let bytes = try? TableFiles.fixture(corpus + ".txt", of: "RouteAnalysisTests") else { return [] }
        var cases: [(String, [Substring])] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("=== ") {
                cases.append((String(line.dropFirst(4)), []))
            } else if !cases.isEmpty {
                cases[cases.count - 1].1.append(line)
            }
        }
        return cases.map { BadTable(name: $0.0, lines: $0.1, isAdvised: isAdvised) }
    }
}

@Suite("Tables with mistakes")
struct BadTableTests {
    @Test("The corpora have cases")
    func corpus() { #expect(BadTable.bad.count >= 100 && BadTable.poor.count >= 13) }

    @Test("Exactly the marked problems are found at their positions", arguments: BadTable.all)
    func problems(table: BadTable) {
        let found = table.problems
        let marks = found.map {
            BadTable.Mark(line: $0.location.line, column: $0.location.column, code: $0.code.rawValue)
        }
        let listing = found.map { $0.text(file: "table.json") }.joined(separator: "\n")
        #expect(marks.sorted() == table.marks, "\(listing)")
    }

    /// Compares the problems with the golden file, or records the file if `RECORD_SNAPSHOTS` is in the environment.
    ///
    /// The test fails after it recorded the file.
    @Test("The problems match the golden file")
    func golden() throws {
        try expectGolden(BadTable.bad, "bad-tables.golden.txt")
        try expectGolden(BadTable.poor, "poor-tables.golden.txt")
    }

    private func expectGolden(_ tables: [BadTable], _ name: String) throws {
        let text = tables.map { table in
            let found = table.problems
            return "=== \(table.name)\n" + found.map { $0.text(file: "table.json") + "\n" }.joined()
        }.joined(separator: "\n")
        let path = TableFiles.path(ofFixture: name, of: "RouteAnalysisTests")
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] != nil {
            try Data(text.utf8).write(to: path)
            Issue.record("the golden file was recorded: review it, then run without RECORD_SNAPSHOTS")
            return
        }
        let golden = try String(decoding: Data(contentsOf: path), as: UTF8.self)
        let (now, then) = (text.components(separatedBy: "\n=== "), golden.components(separatedBy: "\n=== "))
        #expect(now.count == then.count)
        for (a, b) in zip(now, then) { #expect(a == b) }
    }

    @Test("Errors precede warnings, each in the order of the file", arguments: BadTable.all)
    func order(table: BadTable) {
        let found = table.problems
        let keys = found.map { ($0.severity.rawValue, $0.offset) }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("Each witness shows its problem when it is resolved", arguments: BadTable.all)
    func witnesses(table: BadTable) {
        #expect(ProblemWitnesses.wrong(table.problems, table.file) == [])
    }

    @Test("The corpus contains every code of reading and checking")
    func codes() {
        // These codes need a file too large for the corpus, or are found after all checks.
        // SchemaVersionTests has the last but one, and only files of properties have the last one.
        let later: Set<TableProblem.Code> = [.tooLarge, .unproved, .example, .needsSchemaVersion, .refuted]
        let marked = Set(BadTable.all.flatMap { $0.marks.map(\.code) })
        let missing = TableProblem.Code.allCases.filter { !later.contains($0) && !marked.contains($0.rawValue) }
        #expect(missing.map(\.rawValue) == [])
    }

    @Test("Every warning has a code of warnings, so that it can be allowed")
    func warningCodes() {
        let warned = Set(BadTable.all.flatMap { $0.problems.filter { $0.severity == .warning }.map(\.code) })
        #expect(warned.isSubset(of: TableProblem.Code.ofWarnings))
    }

    @Test("Positions are equal whether they are found one by one or together", arguments: BadTable.all)
    func locations(table: BadTable) {
        for problem in table.problems where problem.code != .json && problem.code != .duplicate {
            #expect(problem.location == JSONLocation.locate(offset: problem.offset, in: table.file))
        }
    }

    @Test("The text of a problem has file, position, severity, message, code, pointer, and suggestion")
    func text() throws {
        let table = try #require(BadTable.all.first { $0.name == "an unknown key at the top" })
        let problem = try #require(table.problems.first)
        #expect(
            problem.text(file: "t.json") == """
                t.json:6:1: error: unknown key `rutes` in the table file [unknown_key]
                    at /rutes
                    did you mean `routes`?
                """)
        // An app's error has the place and the known keys, and no guess.
        let error = #expect(throws: RouteTableError.self) { try RouteTable(json: table.file) }
        #expect(error?.description.hasPrefix("table:6:1: error: unknown key `rutes`") == true)
        #expect(error?.problems.first?.suggestion?.hasPrefix("use `schemaVersion`, `table`, `link`") == true)
    }

    @Test("A text of the table begins no line of a problem")
    func lines() {
        let problem = TableProblem(code: .unknownKey, message: "`a\nt.json:1:1: error`", suggestion: "use `b\r\nc`")
        #expect(
            problem.text(file: "t\n.json") == #"""
                t\n.json:1:1: error: `a\nt.json:1:1: error` [unknown_key]
                    use `b\r\nc`
                """#)
    }

    @Test("The JSON of a problem is read back completely")
    func json() throws {
        for table in BadTable.all {
            for problem in table.problems {
                var json = JSONText()
                json.beginObject()
                problem.write(to: &json)
                json.endObject()
                let value = try JSONValue.parse(Array(json.finish().utf8))
                #expect(value["code"]?.string == problem.code.rawValue)
                #expect(value["severity"]?.string == problem.severity.text)
                #expect(value["message"]?.string == problem.message)
                #expect(value["line"]?.integer == Int64(problem.location.line))
                #expect(value["column"]?.integer == Int64(problem.location.column))
                #expect(value["pointer"]?.string == problem.location.pointer)
                #expect(value["routes"]?.array?.compactMap(\.string) ?? [] == problem.routes)
                #expect(value["suggestion"]?.string == problem.suggestion)
            }
        }
    }
}

@Suite("Files that are not tables")
struct NoTableTests {
    @Test(
        "The message describes the mistake in the bytes",
        arguments: [
            ([0xEF, 0xBB, 0xBF] + Array("{}".utf8), "the file begins with a byte order mark"),
            ([0xFF, 0xFE, 0x7B, 0x00], "the file is UTF-16 or UTF-32, not UTF-8"),
            ([0x00, 0x7B, 0x00, 0x7D], "the file is UTF-16 or UTF-32, not UTF-8"),
            ([], "the file is empty"),
            (Array(" \n".utf8), "the file is empty"),
            ([0x1F, 0x8B, 0x08], "the file is compressed with gzip"),
            (Array("\n<html>".utf8), "the file is HTML or XML, not JSON"),
        ] as [([UInt8], String)])
    func bytes(file: [UInt8], message: String) {
        let problems = TableSource.inspect(file).problems
        #expect(problems.map(\.code) == [.json])
        #expect(problems.first?.message == message && problems.first?.suggestion != nil)
        // An app has the same message without RouteAnalysis.
        #expect(throws: RouteTableError.self) { try RouteTable(json: file) }
        #expect(TableSource.read(file).problems.located(in: file).first?.message == message)
    }

    @Test("A file that begins with a marker of a conflict is not said to be markup")
    func conflict() {
        let problems = RouteTable.problems(in: "<<<<<<< HEAD\n{}".utf8)
        #expect(problems.map(\.code) == [.json] && problems.first?.message.contains("HTML") == false, "\(problems)")
    }

    @Test("Bytes of any kind are checked: an array, a part of one, and those of a text")
    func kinds() throws {
        let bytes = Array(try TableFiles.shipped("shop"))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(RouteTable.problems(in: text.utf8) == RouteTable.problems(in: bytes))
        #expect(try RouteTable.checked(text.utf8).hash == RouteTable.checked(bytes[...]).hash)
    }

    @Test("More than two of three errors have a suggestion")
    func advice() {
        let errors = BadTable.bad.flatMap(\.problems).filter { $0.severity == .error }
        let without = errors.filter { $0.suggestion == nil }
        #expect(without.count * 3 < errors.count, "\(without.count) of \(errors.count)")
    }
}
