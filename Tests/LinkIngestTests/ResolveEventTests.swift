import ByteStorage
import LinkCoordinator
import LinkIngest
import Testing

@Suite("A table resolves an event without a conversion")
struct ResolveEventTests {
    static let table = #"""
        {
          "schemaVersion": 1,
          "table": { "id": "shop", "version": "1" },
          "link": { "schemes": ["shop"], "host": "segment",
            "payload": { "link": ["/aps/link"], "route": "/data/route", "params": "/data/params" } },
          "models": { "Product": { "id": "int(1..)" } },
          "coordinators": { "shop": { "initial": "list", "screens": {
            "list": {}, "product": { "needs": ["Product"] }, "old": { "needs": ["Product"] } } },
            "account": { "guard": "signedIn", "screens": { "item": { "needs": ["Product"] } } },
            "login": { "screens": { "form": {} } } },
          "guards": { "signedIn": { "claim": "session",
            "else": { "to": { "path": "/login/form" }, "resume": { "ttl": "15m" } } } },
          "routes": [
            { "id": "product", "match": "/p/{id:int(1..)}", "bind": { "Product": { "id": "path.id" } },
              "variants": [
                { "when": { "app": ">=4.0.0" }, "to": { "path": "/account/item" } },
                { "when": { "attributes": { "tier": ["gold"] } }, "to": { "path": "/shop/product" } },
                { "to": { "path": "/shop/old" } }
              ] }
          ]
        }
        """#

    /// Events of every form, and the outcome for each device.
    static let cases: [(event: String, outcomes: [Decision.Outcome])] = [
        (#"{"link":"shop://p/7","device":{"id":"a"}}"#, [.navigate]),
        (#"{"link":"shop://p/x","device":{"id":"a"}}"#, [.reject]),
        (
            #"{"link":"shop://p/7","devices":[{"id":"a","app":"6.1.0"},{"id":"b","app":"6.1.0","claims":["session"]},"#
                + #"{"id":"c","attributes":{"tier":"gold"}},{"id":"d","app":5,"os":{}}]}"#,
            [.deferred, .navigate, .navigate, .navigate]
        ),
        (#"{"route":"product","params":{"id":7},"device":{"id":"a","app":"4.0.0"}}"#, [.deferred]),
        (#"{"route":"product","device":{"id":"a"}}"#, [.reject]),
        (#"{"path":"/shop/list","device":{"id":"a"}}"#, [.navigate]),
        (#"{"path":"product?id=7","mode":"append","device":{"id":"a","coordinator":"shop"}}"#, [.reject]),
        (#"{"path":"list","mode":"reuse","device":{"id":"a","coordinator":"shop"}}"#, [.navigate]),
        (#"{"payload":{"aps":{"link":"shop://p/7"}},"device":{"id":"a","app":"6.1.0"}}"#, [.deferred]),
        (#"{"payload":{"data":{"route":"product","params":{"id":7}}},"device":{"id":"a"}}"#, [.navigate]),
        (#"{"aps":{"link":"shop:\/\/p\/7"},"device":{"id":"a"}}"#, [.navigate]),
        (#"{"aps":{},"device":{"id":"a"}}"#, [.none]),
        ("shop://p/7", [.navigate]),
    ]

    @Test("Each decision is the one that the worker makes", arguments: cases)
    func decisions(text: String, outcomes: [Decision.Outcome]) throws {
        let table = try RouteTable(json: Self.table.utf8)
        let value = Array(text.utf8)
        let event = try LinkEvent.read(value, key: Array("a".utf8))
        var decisions: [Decision] = []
        for device in event.devices {
            decisions.append(table.resolve(event.request, device: device.facts))
        }
        #expect(decisions.map(\.outcome) == outcomes)
        #expect(try decisions == Self.workerDecisions(value, table))
    }

    /// Returns the decisions for the views of an event, as the worker makes them.
    private static func workerDecisions(_ value: [UInt8], _ table: RouteTable) throws -> [Decision] {
        let bytes = ExactBytes(value)
        let key = ExactBytes(Array("a".utf8))
        var reader = EventReader()
        guard case .event(let event) = reader.read(value: bytes.view, key: key.view) else { return [] }
        var resolver = Resolver()
        var arena = OutputArena(chunkBytes: 4096)
        return try (0..<event.deviceCount).map { index in
            let device = try reader.device(at: index)
            arena.begin()
            var request = event.request
            request.roots = device.roots
            withUnsafePointer(to: request) { request in
                withUnsafePointer(to: device.facts) { facts in
                    _ = resolver.resolve(request, facts, table: table.compiled.handle, head: nil, into: &arena)
                }
            }
            return try Decision(json: arena.finish().array)
        }
    }

    @Test("Malformed facts are unknown, and the decision has a note about them")
    func unreadable() throws {
        let table = try RouteTable(json: Self.table.utf8)
        let text = #"{"link":"shop://p/7","device":{"id":"a","app":"6.1.0","os":5,"claims":"session"}}"#
        let event = try LinkEvent.read(Array(text.utf8))
        let device = try #require(event.devices.first)
        #expect(device.unreadable == ["os", "claims"])
        #expect(device.facts.claims == nil)
        let decision = table.resolve(event.request, device: device.facts)
        #expect(decision.notes == ["device.os unreadable", "device.claims unreadable"])
    }

    @Test("An object with as many levels as an event allows can be resolved")
    func levels() throws {
        let nested = String(repeating: "[", count: 62) + String(repeating: "]", count: 62)
        let body = #"{"aps":{"x":\#(nested)}}"#
        let member = #"{"payload":\#(body),"device":{"id":"a"}}"#
        for text in [body, member] {
            let event = try LinkEvent.read(Array(text.utf8), key: Array("a".utf8))
            #expect(event.request == .payload(try LinkRequest.Object(json: body.utf8)))
        }
    }
}
