import RouteAnalysis
import Foundation
import LinkCoordinator
import TestSupport
import Testing

@Suite("Loading tables of many routes", .serialized)
struct LoadScaleTests {
    @Test("four times the routes take about four times the time", arguments: LoadShape.all)
    func growth(shape: LoadShape) {
        let (few, many) = (shape.file(100), shape.file(400))
        let short = ThreadTime.milliseconds { _ = RouteTable.check(few, advises: true) }
        let long = ThreadTime.milliseconds { _ = RouteTable.check(many, advises: true) }
        print("\(shape.testDescription): 100 routes \(Int(short)) ms, 400 routes \(Int(long)) ms")
        // What grows with the square takes sixteen times as long.
        #expect(long < 8 * short + 20)
    }

    @Test("a table of each shape is taken or refused", arguments: LoadShape.all)
    func taken(shape: LoadShape) {
        let (table, problems) = RouteTable.check(shape.file(100))
        #expect((table == nil) == shape.isRefused, "\(problems.prefix(2).map(\.message))")
    }
}
