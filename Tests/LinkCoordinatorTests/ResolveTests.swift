import RouteAnalysis
import Foundation
import LinkCoordinator
import StrictJSON
import Testing

@Suite("Shipped tables") struct ShippedTableTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let tables = [
        "config/routes/seeds/coordinator-demo.json", "config/routes/seeds/trips-calendar.json",
        "config/routes/seeds/easydev991.json", "config/routes/seeds/content-flow.json", "config/routes/shop.json",
        "Tests/LinkCoordinatorTests/Fixtures/anchor-features.json",
    ]

    @Test("A shipped table is loaded and its examples hold", arguments: tables)
    func loads(path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.root.appending(path: path)))
        let (table, problems, _) = RouteTable.check(bytes)
        #expect(problems.map { $0.text(file: path) } == [])
        #expect(table != nil)
    }
}
