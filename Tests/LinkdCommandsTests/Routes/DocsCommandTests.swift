internal import TableSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct DocsCommandTests {
    @Test("The document equals the snapshot", arguments: ["anchor", "odd"])
    func recorded(name: String) {
        let result = linkd("routes", "docs", SampleTables.path(name))
        #expect(result.code == 0, "\(result.err)")
        expectSnapshot(result.out, "docs-\(name)")
    }
}
