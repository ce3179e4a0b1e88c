internal import TableSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct GraphCommandTests {
    @Test("The graph equals the snapshot", arguments: ["anchor", "odd"], ["mermaid", "dot"])
    func recorded(name: String, format: String) {
        let result = linkd("routes", "graph", SampleTables.path(name), "--format", format)
        #expect(result.code == 0, "\(result.err)")
        expectSnapshot(result.out, "graph-\(name)-\(format)")
    }

    @Test("A refused table ends with exit code 65, a missing one with 78, and none with 64")
    func refused() throws {
        withTemporaryFile("{}") { #expect(linkd("routes", "graph", $0).code == 65) }
        #expect(linkd("routes", "graph", "/no/such.json").code == 78)
        #expect(linkd("routes", "graph").code == 64)
        let image = linkd("routes", "graph", SampleTables.path("odd"), "--format", "svg")
        #expect(image.code == 64 && image.err.contains("`--format dot | dot -Tsvg`"), "\(image.err)")
    }
}
