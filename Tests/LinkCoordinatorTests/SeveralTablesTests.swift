import Foundation
import LinkCoordinator
import StrictJSON
import Synchronization
import Testing

/// What threads see while sets are replaced.
private final class Run: Sendable {
    let seen = Mutex<Set<String>>([])
}

@Suite("Several tables at once")
struct SeveralTablesTests {
    private func table(_ id: String, _ link: String, applications: String = "[]", version: String = "1") throws -> Table
    {
        try Table.load(
            Array(
                """
                { "schemaVersion": 1,
                  "table": { "id": "\(id)", "version": "\(version)", "applications": \(applications) },
                  "link": \(link), "routes": [ { "id": "all", "match": "/{r*}", "to": { "root": true } } ] }
                """.utf8))
    }

    private static let segment = #"{ "schemes": ["app"], "host": "segment" }"#

    @Test(
        "a scheme and host that both read is a conflict, with a link that both read",
        arguments: [
            (segment, segment, "app:///"),
            (segment, #"{ "schemes": ["other"], "host": "segment" }"#, nil),
            (segment, #"{ "schemes": ["*"], "host": "segment" }"#, "app:///"),
            (#"{ "schemes": ["*"], "host": "segment" }"#, #"{ "schemes": ["*"], "host": "segment" }"#, "any:///"),
            (
                #"{ "schemes": ["https"], "host": "authority", "hosts": ["a.example"] }"#,
                #"{ "schemes": ["https"], "host": "authority", "hosts": ["b.example"] }"#, nil
            ),
            (
                #"{ "schemes": ["https"], "host": "authority", "hosts": ["a.example:8080"] }"#,
                #"{ "schemes": ["https"], "host": "authority", "hosts": ["*.example"] }"#, "https://a.example:8080/"
            ),
            (
                #"{ "schemes": ["https"], "host": "authority", "hosts": ["*.example"] }"#,
                #"{ "schemes": ["https"], "host": "authority", "hosts": ["*.a.example"] }"#, "https://x.a.example/"
            ),
        ] as [(String, String, String?)])
    func links(first: String, second: String, witness: String?) throws {
        let tables = [try table("one", first), try table("two", second)]
        let conflicts = TableSet(tables).conflicts
        #expect(conflicts.map(\.claim) == (witness.map { [.link($0)] } ?? []))
        guard let witness else { return }
        for table in tables { #expect(table.resolve(witness).route == "all", "\(witness)") }
        #expect(conflicts[0].text == "the tables 'one' and 'two' both read links such as \(witness)")
    }

    @Test("an application that two tables list is a conflict")
    func applications() throws {
        let tables = [
            try table("one", Self.segment, applications: #"["com.x", "com.y"]"#),
            try table("two", #"{ "schemes": ["b"], "host": "segment" }"#, applications: #"["com.y"]"#),
        ]
        #expect(TableSet(tables).conflicts.map(\.claim) == [.application("com.y")])
        #expect(TableSet([tables[0]]).conflicts.isEmpty)
    }

    @Test("while sets are replaced every request meets one whole set")
    func replacing() async throws {
        let sets = try (0..<4).map { version in
            TableSet([
                try table("a", Self.segment, version: "\(version)"),
                try table("b", #"{ "schemes": ["b"], "host": "segment" }"#, version: "\(version)"),
            ])
        }
        let owner = TableOwner(sets[0])
        let run = Run()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var isWhole = true
                    for _ in 0..<400 {
                        let set = owner.current
                        let decisions = set.tables.map { $0.resolve($0.id == "a" ? "app:///x" : "b:///x") }
                        let versions = Set(set.tables.map(\.version))
                        isWhole = isWhole && versions.count == 1 && decisions.allSatisfy { $0.route == "all" }
                        run.seen.withLock { $0.formUnion(versions) }
                    }
                    return isWhole
                }
            }
            group.addTask {
                for round in 0..<2_000 { owner.replace(with: sets[round % sets.count]) }
                return true
            }
            for await isWhole in group { #expect(isWhole) }
        }
        #expect(owner.replace(with: sets[0]).tables[0].version == "3")
        #expect(!run.seen.withLock { $0.isEmpty })
    }
}
