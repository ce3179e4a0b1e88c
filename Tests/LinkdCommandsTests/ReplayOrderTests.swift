internal import ByteStorage
internal import KafkaClient
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct ReplayOrderTests {
    /// A dead letter of a device.
    private struct Failed {
        var device: String
        var partition: Int
        var offset: Int
        var failedAt: Int
    }

    /// A decision for a device.
    private struct Decided {
        var device: String
        var topic: String
        var partition: Int
        var offset: Int
        var time: Int64
    }

    private static func result(_ letters: [Failed], _ decisions: [Decided]) -> OrderCheck.Result {
        var check = OrderCheck(input: "link-events")
        for letter in letters {
            let headers = DeadLetterSample.headers(
                partition: letter.partition, offset: letter.offset, failedAt: letter.failedAt)
            DeadLetterSample.record(headers, key: letter.device).withViews { record in
                guard let head = DeadLetterHead(record), let key = record.key else { return }
                check.add(head, [key])
            }
        }
        var tape = DecisionTape()
        for (offset, decision) in decisions.enumerated() {
            let id = "\(decision.topic)-\(decision.partition)-\(decision.offset)-0"
            let record = InspectedRecord(
                topic: "out", partition: 0, offset: Int64(offset), timestamp: decision.time,
                key: Array(decision.device.utf8), value: Array(#"{"decision":"\#(id)"}"#.utf8), headers: [])
            record.withViews { check.see($0, &tape) }
        }
        return check.result
    }

    @Test(
        "A decision is later by its offset in the same partition, and by its time for other partitions",
        arguments: [
            ("link-events", 3, 41, 0, true), ("link-events", 3, 40, 9999, false), ("link-events", 3, 39, 9999, false),
            ("link-events", 2, 0, 1001, true), ("link-events", 2, 99, 1000, false), ("other", 3, 99, 1000, false),
            ("other", 3, 0, 1001, true),
        ] as [(String, Int, Int, Int64, Bool)])
    func rule(topic: String, partition: Int, offset: Int, time: Int64, isLater: Bool) {
        let letters = [Failed(device: "d", partition: 3, offset: 40, failedAt: 1000)]
        let decision = Decided(device: "d", topic: topic, partition: partition, offset: offset, time: time)
        let result = Self.result(letters, [decision])
        #expect(result.later == (isLater ? 1 : 0) && result.devices == 1)
        let other = Decided(device: "e", topic: topic, partition: 3, offset: 99, time: 9999)
        #expect(Self.result(letters, [other]).later == 0)
    }

    @Test("The warning has the number of devices and an example without terminal control")
    func warning() {
        let letters = ["a", "b\u{1B}", "c"].map { Failed(device: $0, partition: 3, offset: 40, failedAt: 1000) }
        let decisions = ["x", "b\u{1B}", "c"].map {
            Decided(device: $0, topic: "link-events", partition: 3, offset: 41, time: 0)
        }
        #expect(
            Self.result(letters, decisions).warning
                == "2 of 3 devices have decisions that are later than their dead letters, for example "
                + "b\\x1b: out-0-1 (link-events-3-41-0). Replayed decisions will come after them.")
        #expect(Self.result(letters, []).warning == nil)
    }

    @Test(
        "The devices of an event are those that it lists or its key, and are unknown for users and vendors",
        arguments: [
            (#"{"link":"/a","device":{"id":"a"},"devices":[{"id":"b"}]}"#, nil, 2, 0),
            (#"{"specversion":"1.0","data":{"link":"/a","devices":[{"id":"a"},{"id":"b"}]}}"#, nil, 2, 0),
            (#"{"specversion":"1.0","data":{"link":"/a"}}"#, "k", 1, 0), (#"{"link":"/a"}"#, "k", 1, 0),
            (#"{"payload":{"aps":{}}}"#, "k", 1, 0), ("s://x", "k", 1, 0), (nil, "k", 1, 0),
            (#"{"link":"/a","user":"u"}"#, "k", 1, 1), (#"{"link":"/a"}"#, nil, 0, 1),
            (#"{"specversion":"1.0","data":{"link":"/a","user":"u"}}"#, nil, 0, 1),
            (#"{"notification":{},"data":{"link":"/a"},"token":"t"}"#, "k", 1, 0),
            (#"{"message":{"data":{"link":"/a"}}}"#, "k", 1, 0), (#"{"payload":{"data":{}}}"#, "k", 1, 0),
            (#"{"web_push":8030,"notification":{"navigate":"https://x/a"}}"#, "k", 1, 0),
            (#"{"data":{"link":"/a"}}"#, nil, 0, 1), (#"{"audience":{"tag":"a"},"notification":{}}"#, "k", 1, 1),
            (#"{"recipients":{"custom_ids":["a"]},"message":{"title":"t"}}"#, "k", 1, 1),
            (#"[{"to":"a","data":{"link":"/a"}}]"#, "k", 1, 1), (#"[{"link":"/a","device":{"id":"a"}}]"#, "k", 1, 1),
            (#"{"payload":[{"to":"a"}]}"#, "k", 1, 1), (#"{"payload":"/a"}"#, "k", 1, 1),
            (#"{"payload":{"include_player_ids":["a"]}}"#, "k", 1, 1),
            (#"[{"specversion":"1.0","data":{"link":"/a","user":"u"}}]"#, "k", 1, 1),
            (#"{"include_player_ids":["a"],"data":{"link":"/a"}}"#, "k", 1, 1),
        ] as [(String?, String?, Int, Int)])
    func devices(value: String?, key: String?, devices: Int, unknown: Int) {
        var check = OrderCheck(input: "link-events")
        var tape = DecisionTape()
        DeadLetterSample.record(key: key, value: value).withViews { record in
            guard let head = DeadLetterHead(record) else { return }
            tape.begin(record.message)
            check.add(head, record.key, &tape)
        }
        #expect(check.result.devices == devices && check.result.unknown == unknown)
        let text = "The devices of 1 dead letter are unknown, so their order was not checked."
        #expect(check.result.doubt == (unknown == 0 ? nil : text))
    }

    @Test(
        "A value that is not a decision has no effect",
        arguments: ["", "{", "[]", #"{"decision":7}"#, #"{"decision":"x"}"#])
    func unreadable(value: String) {
        var check = OrderCheck(input: "link-events")
        var tape = DecisionTape()
        DeadLetterSample.record().withViews { record in
            guard let head = DeadLetterHead(record), let key = record.key else { return }
            check.add(head, [key])
        }
        DeadLetterSample.record([], value: value).withViews { check.see($0, &tape) }
        #expect(check.result.later == 0 && check.result.devices == 1)
    }

    @Test("The devices with later decisions are those that a comparison of all pairs finds")
    func oracle() {
        var random = SeededGenerator(seed: 14)
        for _ in 0..<300 {
            func device() -> String { "d\(Int.random(in: 0..<4, using: &random))" }
            func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
            let letters = (0..<number(6)).map { _ in
                Failed(device: device(), partition: number(2), offset: number(6), failedAt: 100 + number(6))
            }
            let decisions = (0..<number(12)).map { _ in
                Decided(
                    device: device(), topic: number(4) == 0 ? "other" : "link-events", partition: number(2),
                    offset: number(6), time: Int64(100 + number(6)))
            }
            var later: Set<String> = []
            for letter in letters {
                for decision in decisions where decision.device == letter.device {
                    let isSame = decision.topic == "link-events" && decision.partition == letter.partition
                    if isSame ? decision.offset > letter.offset : decision.time > letter.failedAt {
                        later.insert(letter.device)
                    }
                }
            }
            let result = Self.result(letters, decisions)
            #expect(result.later == later.count && result.devices == Set(letters.map(\.device)).count)
        }
    }
}
