import RouteAnalysis
import Foundation
import LinkCoordinator
import TestSupport
import Testing

@Suite("Loading of tables with many routes", .serialized)
struct LoadScaleTests {
    @Test("Four times the routes take about four times as long", arguments: LoadShape.all)
    func growth(shape: LoadShape) {
        let (few, many) = (shape.file(100), shape.file(400))
        // Quadratic growth takes sixteen times as long.
        let excess = ThreadTime.excess(
            of: { _ = RouteTable.check(many, includesAdvice: true) },
            over: { _ = RouteTable.check(few, includesAdvice: true) }, factor: 8)
        #expect(excess == nil)
    }

    @Test("A table of each shape is accepted or refused as expected", arguments: LoadShape.all)
    func accepted(shape: LoadShape) {
        let (table, problems, _) = RouteTable.check(shape.file(100))
        #expect((table == nil) == shape.isRefused, "\(problems.prefix(2).map(\.message))")
    }
}
