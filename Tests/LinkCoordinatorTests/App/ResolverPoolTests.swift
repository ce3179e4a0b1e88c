import Foundation
import TableSupport
import TestSupport
import Testing

@testable import LinkCoordinator

@Suite("The scratch memory of calls that resolve") struct ResolverPoolTests {
    @Test("Calls one after another use the same memory")
    func reused() throws {
        let table = try TableFiles.anchor()
        let before = ResolverPool.shared.created
        for number in 0..<2_000 { _ = table.resolve("shop:///orders/\(number)") }
        // Tests of other suites that run at the same time take spaces too.
        #expect(ResolverPool.shared.created - before < 1_000)
        let pool = ResolverPool()
        for _ in 0..<100 { pool.withSpace(0) { _ in ((), 0) } }
        #expect(pool.created == 1 && pool.idle == 1)
    }

    @Test("A call after another one, of any table and form, results in the same bytes as with new memory")
    func sameBytes() throws {
        let tables =
            try [TableFiles.anchor()]
            + TableFiles.seeds.map { try RouteTable(json: TableFiles.shipped("seeds/\($0)")) }
        let links = [
            "shop:///p/\(LinkTests.uuid)?count=3&mode=ar", "shop:///orders/12", "shop:///nope",
            "content://sheet?item=x",
            "coordinator://auth/a/b/c", "not a link", "https://shop.example/search?q=%C3%A9&tag=a&tag=b", "",
        ]
        var requests: [LinkRequest] = links.map { .link($0) } + links.map { .path($0) }
        requests += [
            .route("order", params: ["order": 12]), .route("search", params: ["q": ["x", "e\u{301}"]]),
            .payload(["aps": ["link": "shop:///o/12"], "deep": [[[[[[[[[[["x"]]]]]]]]]]]]),
            .payload(["data": ["route": "order", "params": ["order": 5]]]),
        ]
        let devices = [
            DeviceFacts(), DeviceFacts(app: "6.1.0", region: "e\u{301}", capabilities: ["ar"], claims: ["session"]),
        ]
        var generator = SeededGenerator(seed: 16_2026)
        for number in 0..<2_000 {
            let table = generator.pick(tables)
            let request = generator.pick(requests)
            let device = generator.pick(devices)
            var new = ReusedResolver()
            let expected = device.withFacts { facts in
                request.withRequest { new.decide($0.pointee, facts.pointee, table.compiled) }
            }
            let decision = table.resolve(request, device: device)
            guard decision.json == expected, decision == (try? Decision(json: expected)) else {
                Issue.record("seed \(generator.seed), case \(number): \(request): \(decision)")
                return
            }
        }
    }

    @Test("Threads that resolve at the same time get their own decisions")
    func threads() async throws {
        let table = try TableFiles.anchor()
        let device = DeviceFacts(app: "6.1.0", capabilities: ["orders"], claims: ["session"])
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var wrong = 0
                    for number in 1...500 {
                        let order = task * 1000 + number
                        let decision = table.resolve("shop:///orders/\(order)", device: device)
                        let model = decision.stack.last?.models["OrderRef"]?["order"]
                        if model != .number("\(order)") { wrong += 1 }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0 && ResolverPool.shared.idle <= ResolverPool.maxIdle)
    }

    @Test("Memory is kept for a few callers, and none that a large request has enlarged")
    func bounded() {
        let pool = ResolverPool()
        func nest(_ depth: Int) {
            pool.withSpace(0) { _ in
                if depth > 1 { nest(depth - 1) }
                return ((), 0)
            }
        }
        nest(20)
        #expect(pool.created == 20 && pool.idle == ResolverPool.maxIdle)
        for _ in 0..<ResolverPool.maxIdle { pool.withSpace(ResolverSpace.maxBytes + 1) { _ in ((), 0) } }
        #expect(pool.idle == 0)
        pool.withSpace(0) { _ in ((), ResolverSpace.maxBytes + 1) }
        #expect(pool.idle == 0 && pool.created == 21)
    }
}

@Suite("Values that an app prints and compares") struct PrintedValueTests {
    @Test("A decision is printed as its JSON")
    func printed() throws {
        let decision = try TableFiles.anchor().resolve("shop:///orders/12")
        #expect("\(decision)" == String(decoding: decision.json, as: UTF8.self) && "\(decision)".hasPrefix("{"))
    }

    @Test("An optional field without a value is null or absent, which are equal")
    func nulls() {
        let null: Models = ["M": ["a": 1, "b": .null]]
        let absent: Models = ["M": ["a": 1]]
        #expect(null == absent && null.hashValue == absent.hashValue && null != ["M": ["a": 1, "b": 2]])
        #expect(null != Models() && Models(["M": ["b": .null]]) != Models())
        #expect(null.text(of: "a", in: "M") == "1" && null.text(of: "b", in: "M") == "")
    }
}
