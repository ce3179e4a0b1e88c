import ByteStorage
import LinkCoordinator
import Testing

/// Tests of converted values that are kept for several devices of a record.
@Suite("Decimals and dates and times for several devices") struct ExactDeviceTests {
    static let file = #"""
        { "schemaVersion": 2, "table": { "id": "t", "version": "1" },
          "link": { "schemes": ["t"], "host": "segment", "repair": true },
          "models": { "Event": { "at": "datetime", "times": "list<datetime>", "price": "decimal?" },
                      "Other": { "at": "datetime", "price": "decimal(0..)" } },
          "coordinators": { "c": { "screens": {
            "event": { "needs": ["Event"], "identity": "{Event.at}" },
            "other": { "needs": ["Other"], "since": "2.0", "identity": "{Other.at}" } } } },
          "routes": [
            { "id": "event", "match": "/event", "to": { "path": "/c/event", "parents": "route:other" },
              "bind": { "Event": { "at": "query.at", "times": "query.at", "price": "query.price" } } },
            { "id": "other", "match": "/other", "to": { "path": "/c/other" }, "unsupported": "truncate",
              "bind": { "Other": { "at": "query.at", "price": "query.price" } } } ] }
        """#

    /// Returns the decisions of a resolver that reads the link once for all devices.
    static func together(_ table: RouteTable, _ link: String, _ devices: [DeviceFacts]) -> [[UInt8]] {
        var resolver = Resolver()
        var arena = OutputArena(chunkBytes: 4096)
        var all: [[UInt8]] = []
        LinkRequest.link(link).withRequest { request in
            for device in devices {
                device.withFacts { facts in
                    arena.begin()
                    _ =
                        all.isEmpty
                        ? resolver.resolve(request, facts, table: table.compiled.handle, head: nil, into: &arena)
                        : resolver.resolveNext(facts, head: nil, into: &arena)
                    all.append(arena.finish().array)
                }
            }
        }
        withExtendedLifetime(table) {}
        return all
    }

    @Test(
        "Each device gets the decision that it gets alone",
        arguments: [
            "event?at=2025-01-31T14:00:00%2B02:00&price=2.50", "other?at=2025-01-31t14:00:00z&price=0.0",
            "event?at=2025-01-31T14:00:00-02:00&at=2025-01-31T23:30:00.5-01:00", "event?at=x", "event?price=-0.0",
            "event?at=2025%E2%80%9301%E2%80%9331T14:00:00%E2%88%9202:00&price=%201.0", "other?at=2025-01-31T14:00:00z",
            "event?at=2025-01-31T14:00:00Z&price=1e1",
        ])
    func devices(link: String) throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        let devices = ["1.0", "2.0", "3.0", "1.5", "2.0", "0.1"].map { DeviceFacts(app: $0) }
        let alone = devices.map { table.resolve("t://" + link, device: $0).json }
        let together = Self.together(table, "t://" + link, devices)
        #expect(
            together.map { String(decoding: $0, as: UTF8.self) } == alone.map { String(decoding: $0, as: UTF8.self) })
    }
}
