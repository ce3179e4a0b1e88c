import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// The page while a broker, a worker, or the console itself is away.
    @Suite(
        .enabled(if: OwnBroker.script != nil, "the tests did not start the broker: LINKD_TEST_BROKER is not set"),
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct OutageTests {
        @Test("A broker that goes away is told, what was read stays, and the tail goes on when it is back")
        func broker() throws {
            let tab = try Tab.ofTest()
            // Rows that are not in memory cannot be fetched during the outage. The console ends before the tab does.
            tab.expects(message: "status of 503")
            tab.expects(message: "ERR_CONNECTION_REFUSED")
            let broker = try OwnBroker()
            let world = try ConsoleWorld(bootstrap: broker.bootstrap)
            defer { world.stop() }
            try tab.enter(world.console)
            try tab.go(world.console, "#/decisions")
            try world.send("before", link: "shop:///orders/1", device: "d-1")
            try tab.awaitStatus("1 decision", seconds: 30)
            try broker.tool("kill")
            try tab.awaitText("The broker does not answer since", in: ".banner", seconds: 60)
            #expect(try tab.texts(".feed-layer .feed-row").count == 1)
            // Resolving needs no broker.
            try tab.go(world.console, "#/try?input=" + ShownView.product)
            try tab.awaitText("Opens Item", in: "h2.answer")
            try tab.go(world.console, "#/decisions")
            try broker.tool("up")
            try tab.awaitAbsence(of: ".banner", seconds: 60)
            try world.send("after", link: "shop:///orders/2", device: "d-1")
            let _: Bool = try eventually(
                "a second decision; the worker: \(world.worker.errors.suffix(3000))", seconds: 60
            ) {
                try world.console.get("/api/decisions?device=d-1")["total"] == 2 ? true : nil
            }
            try tab.awaitStatus("2 decisions", seconds: 30)
        }
    }
}
