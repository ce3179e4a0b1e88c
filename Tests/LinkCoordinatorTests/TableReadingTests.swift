import LinkCoordinator
import StrictJSON
import Testing

@Suite("Tables read from JSON")
struct TableReadingTests {
    @Test("the tables of the source articles read without a problem", arguments: TableFiles.seeds)
    func seedsRead(name: String) throws {
        let file = try TableFiles.shipped("seeds/\(name)")
        let reading = TableSource.read(file)
        #expect(reading.problems.located(in: file).map { $0.text(file: name) } == [])
        #expect(reading.source?.id.value == name)
    }

    @Test("the table of the anchor features reads without a problem")
    func anchorFeatures() throws {
        let file = try TableFiles.fixture("anchor-features.json")
        let reading = TableSource.read(file)
        #expect(reading.problems.located(in: file).map { $0.text(file: "anchor") } == [])
        let source = try #require(reading.source)
        #expect(
            source.routes.map(\.id.value) == ["item", "new-items", "order", "old-order", "search", "legal", "home"])
        #expect(source.routes[0].patterns.map(\.path.text) == ["/p/{id:uuid}", "/product/{id:uuid}"])
        #expect(source.externals.hosts.map(\.text) == ["shop.example", "*.shop.example"])
        #expect(source.guards.first?.resume?.ttlSeconds == 900)
        #expect(source.capabilities.map(\.listed) == [true, false])
        #expect(source.examples.count == 7)
    }
}
