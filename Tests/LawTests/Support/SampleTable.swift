import LinkCoordinator
import RouteAnalysis
import TableSupport
import TestSupport
import Testing

/// A table for laws about many tables: a shipped file, or a generated table, which can be shrunk.
struct SampleTable: Sendable {
    let table: RouteTable
    var generated: GeneratedTable?

    /// Returns the shipped tables and the generated ones.
    static func all() throws -> [SampleTable] { try shipped() + generatedTables() }

    /// Returns 94 generated tables, the same for all laws.
    static func generatedTables() throws -> [SampleTable] { try generatedOnce.get() }

    /// Returns 24 generated tables with fields of the types `decimal` and `datetime`.
    static func exact() throws -> [SampleTable] { try exactOnce.get() }

    private static let generatedOnce = Result { try generated(94) }

    private static let exactOnce = Result {
        return try generated(24, TableGenerator.Options(hasExactTypes: true))
    }

    private static func generated(
        _ count: Int, _ options: TableGenerator.Options = TableGenerator.Options()
    ) throws -> [SampleTable] {
        var generator = TableGenerator(seed: 123_2026_11, options: options)
        return try (0..<count).map { _ in
            let found = generator.loadableTable()
            let loaded = try #require(found)
            return SampleTable(table: loaded.table, generated: loaded.generated)
        }
    }

    /// Returns the fixture and the shipped tables.
    static func shipped() throws -> [SampleTable] { try shippedOnce.get() }

    private static let shippedOnce = Result {
        let names = ["shop"] + TableFiles.seeds.map { "seeds/\($0)" }
        let files = try [TableFiles.fixture("anchor-features.json")] + names.map { try TableFiles.shipped($0) }
        return try files.map { SampleTable(table: try RouteTable(json: $0)) }
    }
}

/// An input of a law with the table that it is for.
struct TableInput<Input: Shrinkable>: Shrinkable {
    /// The table if it was generated.
    var generated: [GeneratedTable]
    var input: Input

    static var parts: [RemovableParts<TableInput>] {
        Input.parts.map { RemovableParts(\.input, $0) }
            + GeneratedTable.parts.map { list in
                RemovableParts(
                    count: { $0.generated.first.map(list.count) ?? 0 }, remove: { list.remove(&$0.generated[0], $1) })
            }
    }
}

extension SampleTable {
    /// Records that a law does not hold, with the input and the table in their smallest form.
    ///
    /// - Parameter wrong: Returns the evidence that the law does not hold for an input and a table, or nil.
    func record<Input: Shrinkable>(
        _ law: String, _ input: Input, wrong: (Input, RouteTable) -> String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        func evidence(_ one: TableInput<Input>) -> String? {
            guard let generated = one.generated.first else { return wrong(one.input, table) }
            return RouteTable.check(generated.json).table.flatMap { wrong(one.input, $0) }
        }
        let failing = TableInput(generated: generated.map { [$0] } ?? [], input: input)
        let found = shrunk(failing) { evidence($0) != nil }
        let file = found.smallest.generated.first.map { String(decoding: $0.json, as: UTF8.self) } ?? table.id
        Issue.record(
            """
            \(law), without \(found.removed) parts that the failure does not need (\(found.tries) smaller cases tried)
            \(evidence(found.smallest) ?? "")
            table: \(file)
            """, sourceLocation: sourceLocation)
    }
}
