internal import ByteStorage
internal import Testing

@testable internal import LinkdCommands

@Suite struct ReplayLedgerTests {
    private static func entry(key: String?, value: String?) -> InspectedRecord {
        InspectedRecord(
            topic: "t.dlq.replayed", partition: 0, offset: 9, timestamp: 0, key: key.map { Array($0.utf8) },
            value: value.map { Array($0.utf8) }, headers: [])
    }

    private static func ledger(_ entries: [(key: String?, value: String?)]) throws -> ReplayLedger {
        var ledger = ReplayLedger()
        var members = DecisionTape()
        for (key, value) in entries {
            try Self.entry(key: key, value: value).withViews { try ledger.add($0, &members) }
        }
        ledger.finish()
        return ledger
    }

    @Test("An entry holds for the partition, the offset, and the time of the failure")
    func entries() throws {
        func value(_ position: DeadLetterPosition) -> String {
            ReplayLedger.value(of: position, in: "t.dlq", to: "t", 3, replayCount: 1, now: 5)
        }
        let offsets: [Int64] = [9, 3, 12, 3, 0]
        let positions = offsets.map { DeadLetterPosition(partition: 2, offset: $0, failedAt: 100 + $0) }
        let ledger = try Self.ledger(positions.map { ("2-\($0.offset)", value($0)) })
        #expect(ledger.count == 5 && ledger.unreadable == 0)
        for position in positions {
            #expect(ledger.contains(position))
            for other in [
                DeadLetterPosition(partition: 1, offset: position.offset, failedAt: position.failedAt),
                DeadLetterPosition(partition: 2, offset: position.offset + 1, failedAt: position.failedAt),
                DeadLetterPosition(partition: 2, offset: position.offset, failedAt: position.failedAt + 1),
            ] { #expect(!ledger.contains(other)) }
        }
        #expect(
            value(positions[0])
                == #"{"dead_letter":"t.dlq-2-9","failed_at":109,"to":"t-3","replay_count":1,"replayed_at":5}"#)
    }

    @Test(
        "A record that is not an entry is counted and has no effect",
        arguments: [
            (nil, #"{"failed_at":1}"#), ("", #"{"failed_at":1}"#), ("1", #"{"failed_at":1}"#),
            ("1-", #"{"failed_at":1}"#), ("-1-2", #"{"failed_at":1}"#), ("2147483648-1", #"{"failed_at":1}"#),
            ("1-99999999999999999999", #"{"failed_at":1}"#), ("1-2-3", #"{"failed_at":1}"#), ("1-2", nil),
            ("1-2", "{"), ("1-2", "[]"), ("1-2", "{}"), ("1-2", #"{"failed_at":-1}"#), ("1-2", #"{"failed_at":1.5}"#),
            ("1-2", #"{"failed_at":null}"#), ("1-2", #"{"failed_at":[1]}"#), ("1-2", ""), ("1-2", "\u{0}"),
        ] as [(String?, String?)])
    func unreadable(key: String?, value: String?) throws {
        let ledger = try Self.ledger([(key, value), ("1-2", #"{"failed_at":7}"#)])
        #expect(ledger.count == 1 && ledger.unreadable == 1)
        #expect(ledger.firstUnreadable == "t.dlq.replayed-0-9")
        #expect(ledger.contains(DeadLetterPosition(partition: 1, offset: 2, failedAt: 7)))
        #expect(!ledger.contains(DeadLetterPosition(partition: 1, offset: 2, failedAt: 1)))
    }
}
