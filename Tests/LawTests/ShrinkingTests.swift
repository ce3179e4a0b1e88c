import LinkCoordinator
import RouteAnalysis
import Testing

@Suite("A counterexample is shrunk") struct ShrinkingTests {
    @Test("Only the parts remain that a failure needs", arguments: [[7], [7, 40], [0, 99], [3, 4, 5, 80], []])
    func needed(parts: [Int]) {
        let found = shrunk(Array(0..<100)) { Set(parts).isSubset(of: $0) }
        #expect(found.smallest == parts)
        #expect(found.removed == 100 - parts.count && found.tries < 250)
    }

    @Test("A part that becomes removable after another one is removed")
    func again() {
        // 0 is needed with 1, and 1 with 2, so a single pass removes only 2.
        let found = shrunk(Array(0..<20)) { rest in
            Set(3..<20).isSubset(of: rest) && (rest.contains(0) || !rest.contains(1))
                && (rest.contains(1) || !rest.contains(2))
        }
        #expect(found.smallest == Array(3..<20))
    }

    @Test("A failure is tried at most as often as the limit, and the best case so far is kept")
    func limit() {
        let found = shrunk(Array(0..<1_000), maxTries: 40) { $0.contains(123) && $0.contains(877) }
        #expect(found.tries == 40)
        #expect(found.smallest.contains(123) && found.smallest.contains(877) && found.smallest.count < 900)
    }

    @Test("A table and a link keep the routes, members, and parts that a failure needs")
    func table() {
        var generator = TableGenerator(seed: 77_2026_11)
        var generated = generator.table()
        generated.routes = (0..<8).map { number in
            GeneratedTable.Route(id: "r\(number)", members: ["\"match\": \"/\(number)\"", "\"priority\": \(number)"])
        }
        let link = GeneratedLink(
            scheme: "s", authority: "h", segments: ["a", "b", "c"].map { Array($0.utf8) }, path: "/a//b/c/",
            query: "x=1&y=2;z=3", fragment: "f")
        let failing = LawCase(table: generated, link: link, device: LawDevices.all[3])
        let found = shrunk(failing) { rest in
            rest.table.routes.contains { $0.id == "r5" && $0.members.contains("\"priority\": 5") }
                && rest.link.text.contains("/b") && rest.link.text.contains("z=3") && rest.device.region != nil
        }
        let smallest = found.smallest
        #expect(smallest.table.routes.map(\.json) == [#"{ "id": "r5", "priority": 5 }"#])
        #expect(smallest.link.text == "s://h//b?z=3" && smallest.link.segments == [Array("b".utf8)])
        #expect(smallest.device.json == #"{"region":"gb"}"#)
    }
}
