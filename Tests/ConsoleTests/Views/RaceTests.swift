import TestSupport
import Testing

extension BrowserTests {
    /// Answers that come late.
    @Suite(
        .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"),
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct RaceTests {
        @Test("Support: is anything missing if a decision arrives while the first rows are on their way?")
        func first() throws {
            let tab = try Tab.ofTest()
            let world = try ConsoleWorld.shared.get()
            try tab.enter(world.console)
            let device = BrokerEnvironment.uniqueName("race")
            // The first answer of the list is held back until the test lets it go.
            let _: JSON = try tab.run(
                """
                const before = window.fetch;
                window.held = new Promise((go) => { window.release = go; });
                window.fetch = async (...all) => {
                    const answer = await before(...all);
                    if (String(all[0]).includes("/api/decisions?")) await window.held;
                    return answer;
                };
                location.hash = arguments[0];
                """, [.text("#/decisions?device=\(device)")])
            try world.send("late", link: "shop:///orders/1", device: device)
            let _: Bool = try eventually("the decision in the index", seconds: 30) {
                try world.console.get("/api/decisions?device=\(device)")["total"] == 1 ? true : nil
            }
            let _: JSON = try tab.run("window.release()")
            try tab.awaitStatus("1 decision", seconds: 15)
            try world.send("next", link: "shop:///orders/2", device: device)
            try tab.awaitStatus("2 decisions", seconds: 30)
            #expect(try tab.texts(".feed-layer .feed-row").count == 2, "each is shown once")
        }
    }
}
