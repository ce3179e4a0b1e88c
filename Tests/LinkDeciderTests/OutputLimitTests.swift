import LinkDecider
import LinkCoordinator
import LinkIngest
import ByteStorage
import Testing

@Suite("The size of a record's decisions is limited while they are written")
struct OutputLimitTests {
    private static func table() throws -> RouteTable {
        try RouteTable(
            json:
                Array(
                    """
                    {"schemaVersion":1,"table":{"id":"t","version":"1"},
                     "link":{"schemes":["t"],"host":"segment","payload":{"link":["/link"],"route":"/route"}},
                     "models":{"M":{"q":"string?"}},
                     "coordinators":{"a":{"guard":"in","screens":{"x":{"needs":["M"]}}},"l":{"screens":{"f":{}}}},
                     "guards":{"in":{"claim":"s","else":{"to":{"path":"/l/f"},"resume":{"ttl":"1m","once":true}}}},
                     "routes":[{"id":"r","match":"/x","to":{"path":"/a/x"},"bind":{"M":{"q":"payload./q"}}}],
                     "fallback":{"outcome":"reject"}}
                    """.utf8))
    }

    private static func event(bytes: Int, devices: Int) -> [UInt8] {
        let list = (0..<devices).map { #"{"id":"d\#($0)"}"# }.joined(separator: ",")
        let payload = #"{"route":"r","x":"\#(String(repeating: "a", count: bytes))"}"#
        return Array(#"{"payload":\#(payload),"devices":[\#(list)]}"#.utf8)
    }

    /// Returns the text of the dead letter or nil, the number of decisions, and the bytes in use of the arena.
    private static func run(
        _ event: [UInt8], _ outputs: Limits = Limits()
    ) throws -> (cause: String?, decisions: Int, bytes: Int) {
        var decider = Decider(DeciderConfiguration(tables: TableSet([try table()]), limits: outputs))
        var arena = OutputArena()
        var decisions = 0
        let cause = event.withUnsafeBufferPointer { bytes in
            decider.decide(value: ByteView(bytes), key: nil, into: &arena) { _, _, _ in decisions += 1 }
        }
        let limit = arena.recordLimit
        #expect(limit == .max)
        return (cause.map { "\($0.reason.rawValue): \($0.detail)" }, decisions, arena.bytesInUse)
    }

    @Test(
        "A payload of 900,000 bytes for 500 devices needs no more memory than the limit and one decision")
    func memory() throws {
        let (cause, decisions, bytes) = try Self.run(Self.event(bytes: 900_000, devices: 500))
        #expect(cause?.hasPrefix("oversize_output: the decisions for 10 devices exceed the limit of 8388608") == true)
        #expect(decisions == 9)
        #expect(bytes < 2 * (8 << 20), "\(bytes)")
    }

    /// Returns the smallest number up to `limit` for which a condition holds, which also holds for all larger numbers.
    private static func least(_ limit: Int, _ holds: (Int) throws -> Bool) throws -> Int {
        var low = 1
        var high = limit
        while low < high {
            let middle = (low + high) / 2
            if try holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    @Test("A record at the limit has all its decisions, and one above it has none")
    func bounds() throws {
        let event = Self.event(bytes: 1000, devices: 7)
        let whole = try Self.run(event)
        #expect(whole.cause == nil && whole.decisions == 7)
        let least = try Self.least(40_000) { try Self.run(event, Limits(outputBytes: $0)).cause == nil }
        #expect(try Self.run(event, Limits(outputBytes: least - 1)).cause?.hasPrefix("oversize_output") == true)
        let one = Self.event(bytes: 1000, devices: 1)
        let decision = try Self.least(40_000) { try Self.run(one, Limits(decisionBytes: $0)).cause == nil }
        #expect(decision * 7 == least)
        let below = try Self.run(event, Limits(decisionBytes: decision - 1))
        #expect(
            below.cause
                == "oversize_output: a decision exceeds the limit of \(decision - 1) bytes (limits.decision.bytes)"
        )
        #expect(below.decisions == 0)
    }

    @Test("A device that cannot be read again makes its record `internal` without decisions")
    func unreadable() throws {
        for broken in ["x", "\"", "}", "1"] {
            var decider = Decider(DeciderConfiguration(tables: TableSet([try Self.table()])))
            var bytes = Array(#"{"link":"t://x","devices":[{"id":"a"},{"id":"b"}]}"#.utf8)
            let index = try #require(bytes.lastIndex(of: UInt8(ascii: "b")))
            var arena = OutputArena()
            let cause = bytes.withUnsafeMutableBufferPointer { buffer in
                let memory = buffer.baseAddress
                return decider.decide(value: ByteView(UnsafeBufferPointer(buffer)), key: nil, into: &arena) {
                    _, _, _ in
                    // The record changes while it is resolved, which must never happen in production.
                    memory?[index + 1] = UInt8(ascii: "x")
                    memory?[index] = Array(broken.utf8)[0]
                }
            }
            #expect(cause?.reason == .internal, "\(broken)")
            #expect(cause?.reason.stage == "resolve")
        }
    }

    @Test("Keys and decisions of a batch stay valid until all of its records are processed")
    func batch() throws {
        var decider = Decider(DeciderConfiguration(tables: TableSet([try Self.table()])))
        var arena = OutputArena(chunkBytes: 4096)
        var decisions: [(device: ByteView, decision: ByteView)] = []
        let records = (0..<40).map { number in
            // Single devices, device ids with escapes, and lists of devices.
            switch number % 4 {
            case 0, 1: #"{"link":"t://x","device":{"id":"d\#(number)"}}"#
            case 2: #"{"link":"t://x","device":{"id":"\u0064\#(number)"}}"#
            default: #"{"link":"t://x","devices":[{"id":"d\#(number)"}]}"#
            }
        }
        // The consumer's memory, which is valid until its batch ends.
        let bytes = records.map { UnsafeMutableBufferPointer<UInt8>.allocate(capacity: $0.utf8.count) }
        defer { for one in bytes { one.deallocate() } }
        for (record, memory) in zip(records, bytes) {
            _ = memory.initialize(from: record.utf8)
            let cause = decider.decide(value: ByteView(UnsafeBufferPointer(memory)), key: nil, into: &arena) {
                device, decision, _ in decisions.append((device, decision))
            }
            #expect(cause == nil)
        }
        #expect(decisions.map(\.device.string) == (0..<40).map { "d\($0)" })
        #expect(decisions.allSatisfy { $0.decision.string.hasPrefix("{\"table\"") })
    }
}
