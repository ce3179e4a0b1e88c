import LinkDecider
import LinkCoordinator
import ByteStorage
import TestSupport
import Testing

@Suite("A long-lived decider makes the same decisions as a new one")
struct LongLivedDeciderTests {
    private static func table() throws -> RouteTable {
        try RouteTable(
            json:
                Array(
                    """
                    {"schemaVersion":1,"table":{"id":"versions","version":"1"},
                     "link":{"schemes":["t"],"host":"segment"},
                     "coordinators":{"c":{"initial":"a","screens":{"a":{},"b":{},"d":{}}}},
                     "routes":[{"id":"r","match":"/x","variants":[
                       {"when":{"app":">=5","os":">=5"},"to":{"path":"/c/a"}},
                       {"when":{"app":">=5"},"to":{"path":"/c/b"}},
                       {"to":{"path":"/c/d"}}]}],
                     "fallback":{"outcome":"reject"}}
                    """.utf8))
    }

    private static func version(_ generator: inout SeededGenerator) -> String {
        let text = (0..<3).map { _ in "\(Int.random(in: 0...9, using: &generator))" }.joined(separator: ".")
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return text + "-rc.1"
        case 1: return "none"
        default: return text
        }
    }

    @Test("Versions of apps and systems that evict each other from the cache do not change a decision")
    func versions() throws {
        var generator = SeededGenerator(seed: 0x0E55)
        let table = try Self.table()
        let tables = TableSet([table])
        var decider = Decider(DeciderConfiguration(tables: tables))
        var outcomes: Set<Int?> = []
        for round in 0..<20_000 {
            let app = Self.version(&generator)
            let os = Self.version(&generator)
            let event = Array(#"{"link":"t://x","device":{"id":"d","app":"\#(app)","os":"\#(os)"}}"#.utf8)
            var arena = OutputArena(chunkBytes: 4096)
            var decided: [UInt8] = []
            let cause = event.withUnsafeBufferPointer { bytes in
                decider.decide(value: ByteView(bytes), key: nil, into: &arena) { _, decision, _ in
                    decided = decision.array
                }
            }
            let expected = table.resolve("t://x", device: DeviceFacts(app: app, os: os))
            #expect(
                cause == nil && decided == expected.json,
                "seed \(generator.seed) round \(round): app \(app), os \(os)")
            outcomes.insert(expected.variant)
        }
        #expect(outcomes.count == 3)
    }
}
