import LinkCoordinator
import RouteAnalysis
import Testing

@Suite("Conflicts between tables")
struct ConflictTests {
    private func file(_ id: String, _ link: String, applications: String) -> [UInt8] {
        Array(
            """
            { "schemaVersion": 1,
              "table": { "id": "\(id)", "version": "1", "applications": \(applications) },
              "link": \(link), "routes": [ { "id": "all", "match": "/{r*}", "to": { "root": true } } ] }
            """.utf8)
    }

    private func table(_ id: String, _ link: String, applications: String = "[]") throws -> RouteTable {
        try RouteTable(json: file(id, link, applications: applications))
    }

    private static let segment = #"{ "schemes": ["app"], "host": "segment" }"#

    @Test(
        "A scheme and host that two tables read are a conflict, with a link that both read",
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
        #expect(conflicts.allSatisfy { $0.offsets == nil })
        guard let witness else { return }
        for table in tables { #expect(table.resolve(witness).route == "all", "\(witness)") }
        #expect(conflicts[0].text == "the tables `one` and `two` both read links such as \(witness)")
    }

    @Test("An application that two tables list is a conflict")
    func applications() throws {
        let tables = [
            try table("one", Self.segment, applications: #"["com.x", "com.y"]"#),
            try table("two", #"{ "schemes": ["b"], "host": "segment" }"#, applications: #"["com.y"]"#),
        ]
        let conflicts = TableSet(tables).conflicts
        #expect(conflicts.map(\.claim) == [.application("com.y")])
        let offsets = try #require(conflicts.first?.offsets)
        for (offset, table) in [
            (offsets.first, file("one", Self.segment, applications: #"["com.x", "com.y"]"#)),
            (offsets.second, file("two", #"{ "schemes": ["b"], "host": "segment" }"#, applications: #"["com.y"]"#)),
        ] {
            #expect(String(decoding: table[offset...].prefix(7), as: UTF8.self) == #""com.y""#)
        }
        #expect(TableSet([tables[0]]).conflicts.isEmpty)
    }
}
