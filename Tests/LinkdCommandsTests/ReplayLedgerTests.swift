internal import ByteStorage
internal import KafkaClient
internal import TestSupport
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

    @Test("Changed bytes of entries and of headers have no effect but to be ignored")
    func hostile() throws {
        var random = SeededGenerator(seed: 14)
        let rules = ReplayRules(input: "link-events", partitions: 6, messageLimit: 10_000, cap: 3)
        let sample = DeadLetterSample.record([("trace", "1")] + DeadLetterSample.headers())
        var ledger = ReplayLedger()
        var members = DecisionTape()
        func change(_ bytes: inout [UInt8]) {
            for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.remove(at: index)
                case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
                case 2: bytes[index] = UInt8.random(in: 0...255, using: &random)
                default: bytes.append(contentsOf: bytes[index...])
                }
            }
        }
        for _ in 0..<20_000 {
            var key = Array("3-1200".utf8)
            var value = Array(#"{"dead_letter":"t.dlq-3-1200","failed_at":1795407298585,"to":"t-3"}"#.utf8)
            if Bool.random(using: &random) { change(&key) }
            if Bool.random(using: &random) { change(&value) }
            let entry = InspectedRecord(
                topic: "l", partition: 0, offset: 0, timestamp: 0, key: key, value: value, headers: [])
            try entry.withViews { try ledger.add($0, &members) }
            var letter = sample
            for index in letter.headers.indices where Int.random(in: 0..<4, using: &random) == 0 {
                change(&letter.headers[index].name)
                if var bytes = letter.headers[index].value {
                    change(&bytes)
                    letter.headers[index].value = bytes
                }
            }
            letter.withViews { record in
                let head = DeadLetterHead(record)
                guard case .replay(let partition) = rules.choice(of: record, head), let head else { return }
                #expect((0..<6).contains(partition) && head.sourceTopic?.string == "link-events")
                var headers = ReplayHeaders()
                headers.write(head)
                #expect(headers.list.suffix(2).map(\.name.string) == ["dlq.replay.count", "dlq.origin"])
            }
        }
        #expect(ledger.count > 1000 && ledger.unreadable > 1000)
    }
}
