import RouteAnalysis
import LinkCoordinator
import TableSupport
import TestSupport
import Testing

@Suite("Proofs about many routes with related patterns")
struct ProofScaleTests {
    /// Returns a table of the given number of routes with their own members, and possibly one more route.
    private func file(_ count: Int, query: String = "{}", last: String? = nil, _ members: (Int) -> String) -> [UInt8] {
        var routes = (0..<count).map { #"{ "id": "r\#($0)", \#(members($0)), "to": { "root": true } }"# }
        if let last { routes.append(#"{ "id": "last", \#(last), "to": { "root": true } }"#) }
        return Array(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment", "query": \(query) },
              "routes": [ \(routes.joined(separator: ",\n")) ] }
            """.utf8)
    }

    /// A shape of tables: the members of every route by its number, and those of an additional route.
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var query = "{}"
        var last: String?
        var members: @Sendable (Int) -> String
    }

    private static let shapes: [Shape] = [
        Shape(testDescription: "one value of the query each") { #""match": "/p", "query": { "type": "t\#($0)" }"# },
        Shape(testDescription: "one value of the query each, and a route for the rest", last: #""match": "/p""#) {
            #""match": "/p", "query": { "type": "t\#($0)" }"#
        },
        Shape(testDescription: "two values of the query each, and a route for the rest", last: #""match": "/p""#) {
            #""match": "/p", "query": { "type": "t\#($0 / 40)", "mode": "m\#($0 % 40)" }"#
        },
        Shape(
            testDescription: "one value of a flat query each, and a route for the rest", query: #"{ "flatten": true }"#,
            last: #""match": "/p""#
        ) { #""match": "/p", "query": { "type": "t\#($0)" }"# },
        Shape(testDescription: "one tail each, distinguished by the query", last: #""match": "/{rest*}""#) {
            #""match": "/p/{rest+}", "query": { "type": "t\#($0)" }"#
        },
        Shape(testDescription: "one prefix each") { #""match": "/p\#($0)-{n}""# },
        Shape(testDescription: "one suffix each, and a route for the rest", last: #""match": "/{n}""#) {
            #""match": "/{n}-s\#($0)""#
        },
        Shape(testDescription: "prefixes and literals", last: #""match": "/{n}""#) {
            $0 % 2 == 0 ? #""match": "/p\#($0)-{n}""# : #""match": "/p\#($0)-x""#
        },
    ]

    @Test("The work grows linearly with the number of routes", arguments: shapes)
    func linear(shape: Shape) throws {
        let file = file(1_600, query: shape.query, last: shape.last, shape.members)
        let source = try #require(TableSource.read(file).source)
        var problems = ProblemList()
        // The square of the number of routes is 2,560,000. A route that overlaps no other one takes a few dozen units
        // of work.
        OverlapProof.run(source, budget: WorkBudget(perSearch: 100_000, total: 400_000), into: &problems)
        let found = problems.located(in: file)
        #expect(found.isEmpty, "\(found.prefix(3).map(\.message))")
    }

    @Test("A route whose values other routes cover is found among many")
    func covered() throws {
        let file = file(400, last: #""match": "/p", "query": { "type": "t7", "mode": "*" }"#) {
            #""match": "/p", "query": { "type": "t\#($0)", "mode": \#($0 % 2 == 0 ? "null" : "\"*\"") }, "priority": 1"#
        }
        let problems = TableSource.inspect(file).problems
        #expect(problems.map(\.code) == [.unreachable])
        #expect(problems.first?.routes == ["last", "r7"])
        #expect(ProblemWitnesses.wrong(problems, file) == [])
    }
}

@Suite("Many problems of a table")
struct ManyProblemTests {
    @Test("The worst problems are kept, regardless of the order in which they are found", arguments: 1...4)
    func worst(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var list = ProblemList()
        var offsets = Array(0..<2_000)
        offsets.shuffle(using: &generator)
        for offset in offsets {
            // There are fewer errors than the list keeps, so some warnings are kept too.
            if offset % 20 == 0 {
                list.error(.badValue, at: offset, "error \(offset)")
            } else {
                list.warning(.unusedCapture, at: offset, "warning \(offset)")
            }
        }
        let file = Array(repeating: UInt8(ascii: " "), count: 2_000)
        let reported = list.located(in: file)
        let errors = (0..<100).map { $0 * 20 }
        let warnings = (0..<2_000).filter { $0 % 20 != 0 }.prefix(ProblemList.maxCount - errors.count)
        #expect(reported.map(\.offset) == errors + warnings, "seed \(seed)")
        #expect(reported.prefix(errors.count).allSatisfy { $0.severity == .error })
        #expect(list.count == 2_000 && list.hasErrors)
    }

    @Test("A table with fewer errors than the limit is checked completely", arguments: [1, 199])
    func whole(count: Int) {
        let list = Self.repeated(count)
        #expect(list.count == count && list.allSatisfy { $0.code == .unreachable })
        #expect(list.last?.routes == ["r\(count)", "r0"])
    }

    @Test("A table with more errors than the limit reports as many errors as the limit")
    func full() {
        let list = Self.repeated(300)
        #expect(list.count == ProblemList.maxCount && list.allSatisfy { $0.severity == .error })
    }

    /// Returns the problems of a table with one pattern and routes that repeat it.
    private static func repeated(_ count: Int) -> [TableProblem] {
        let routes = (0...count).map {
            #"{ "id": "r\#($0)", "match": "/a", "priority": \#(1_000 - $0), "to": { "root": true } }"#
        }
        let (table, problems, _) = RouteTable.check(
            Array(
                """
                { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
                  "link": { "schemes": ["s"], "host": "segment" }, "routes": [ \(routes.joined(separator: ",\n")) ] }
                """.utf8))
        #expect(table == nil)
        return problems
    }

    @Test("An error that is found after many warnings is reported")
    func late() {
        let captures = (0..<300).map { #"{ "id": "w\#($0)", "match": "/w\#($0)/{unused}", "to": { "root": true } }"# }
        let file = Array(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment" },
              "routes": [ \(captures.joined(separator: ",\n")),
                { "id": "a", "match": "/a", "to": { "root": true } },
                { "id": "b", "match": "/a", "to": { "root": true } } ] }
            """.utf8)
        let (table, problems, _) = RouteTable.check(file)
        #expect(table == nil)
        #expect(problems.first?.code == .unreachable && problems.first?.severity == .error)
        #expect(problems.count == ProblemList.maxCount)
    }
}
