import LinkCoordinator
import TableSupport
import Testing

@testable import RouteTools

@Suite struct GraphTests {
    @Test("A notice is an edge from the route to the screen")
    func notices() throws {
        let graph = RouteGraph(try SampleTables.load(SampleTables.path("anchor")))
        let item = try #require(graph.routes.first { $0.id == "item" })
        let notice = try #require(item.exits.first { $0.label.hasPrefix("notice") })
        guard case .screen(let coordinator, let screen)? = notice.target else {
            Issue.record("the notice leads to no screen")
            return
        }
        #expect(graph.coordinators[coordinator].name == "system")
        #expect(graph.coordinators[coordinator].screens[screen].name == "update")
        #expect(GraphText.mermaid(graph).contains("-.->|\"notice"))
        #expect(GraphText.dot(graph).contains("label=\"notice"))
    }
}
