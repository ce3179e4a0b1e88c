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

    @Test("A chain of 40 parents with four variants each is loaded, although there are 4^40 ways through it")
    func parents() {
        let routes = (0..<40).map { number in
            let parents = number == 0 ? "" : #", "parents": "route:r\#(number - 1)""#
            let variants = (0..<4).map { variant in
                let when = variant == 3 ? "" : #""when": { "attributes": { "a\#(number)": "\#(variant)" } }, "#
                return #"{ \#(when)"to": { "path": "/c/\#(variant % 2 == 0 ? "i" : "s")"\#(parents) } }"#
            }
            let all = variants.joined(separator: ", ")
            return #"{ "id": "r\#(number)", "match": "/t\#(number)", "variants": [ \#(all) ] }"#
        }
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "coordinators": { "c": { "screens": { "i": {}, "s": {} } } },
              "routes": [ \#(routes.joined(separator: ",\n")) ] }
            """#
        let (table, problems, _) = RouteTable.check(Array(file.utf8), includesAdvice: true)
        #expect(table != nil, "\(problems.prefix(2).map(\.message))")
        let decision = table?.resolve(.link("t:t39"))
        #expect(decision?.stack.count == 40, "\(String(describing: decision))")
    }
}
