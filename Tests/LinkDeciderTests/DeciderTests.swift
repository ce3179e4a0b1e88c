import LinkDecider
import LinkCoordinator
import LinkIngest
import ByteStorage
import StrictJSON
import TableSupport
import Testing

/// Decisions for records, with two small tables that match different links.
@Suite("A record has decisions or the cause of a dead letter")
struct DeciderTests {
    static func tables() throws -> [RouteTable] {
        [
            try SampleTables.home(
                "one", scheme: "one", hosts: #""one.example","shared.example","""#, application: "com.one"),
            try SampleTables.home(
                "two", scheme: "two", hosts: #""two.example","shared.example","""#, application: "com.two"),
        ]
    }

    /// A decision as plain values.
    struct Seen: Equatable {
        var key: String
        var value: String
        var outcome: DecisionSummary.Outcome
    }

    /// Processes one value as the record at offset 7 of partition 3 of `links`.
    static func process(
        _ value: String, key: String? = "k", timestamp: Int64 = 1000, tables: [RouteTable]? = nil,
        passthrough: Passthrough = []
    ) throws -> ([Seen], DeadLetterCause?) {
        var decider = Decider(
            DeciderConfiguration(tables: TableSet(try tables ?? self.tables()), passthrough: passthrough))
        var run = Run()
        let cause = run.process(value, key: key, timestamp: timestamp, with: &decider)
        return (run.seen, cause)
    }

    /// The arena and the decisions of a batch.
    struct Run: ~Copyable {
        var arena = OutputArena(chunkBytes: 4096)
        var decisions: [ProducedDecision] = []

        mutating func process(
            _ value: String, key: String?, timestamp: Int64, offset: Int64 = 7, with decider: inout Decider
        ) -> DeadLetterCause? {
            let topic: StaticString = "links"
            return Array(value.utf8).withUnsafeBufferPointer { value in
                Array((key ?? "").utf8).withUnsafeBufferPointer { keyBytes in
                    let record = ConsumedRecord(
                        topic: 0, partition: 3, offset: offset, timestamp: timestamp,
                        key: key == nil ? nil : ByteView(keyBytes), value: ByteView(value), index: 0,
                        hasHeaders: false)
                    let cause = decider.decide(
                        record, topicName: ByteView(topic), into: &arena, decisions: &decisions)
                    copied = decisions.map {
                        Seen(key: $0.key.string, value: $0.value.string, outcome: $0.outcome)
                    }
                    return cause
                }
            }
        }

        private var copied: [Seen] = []
        /// All decisions so far, copied while the record was valid.
        var seen: [Seen] { copied }
    }

    @Test("A decision has its position, the event's id, the device, and the context in addition to the core's members")
    func head() throws {
        let (seen, cause) = try Self.process(
            #"{"id":"e\"1","link":"one:/","device":{"id":"d\\2"},"campaign":"x","n":[ 1 ]}"#,
            passthrough: ["n", "campaign"])
        #expect(cause == nil && seen.count == 1)
        #expect(seen.first?.key == "d\\2" && seen.first?.outcome == .navigate)
        let value = seen.first?.value ?? ""
        #expect(value.hasPrefix(#"{"decision":"links-3-7-0","event":"e\"1","device":"d\\2","table":"one@1+"#))
        #expect(value.hasSuffix(#""context":{"n":[1],"campaign":"x"}}"#))
        let (other, _) = try Self.process("one:/nope")
        #expect(
            other.first?.value.hasPrefix(#"{"decision":"links-3-7-0","event":"links-3-7","device":"k","table":"#)
                == true)
        #expect(other.first?.outcome == .reject && other.first?.key == "k")
    }

    @Test("A decision has the application of its event after the device, and none if the event states none")
    func application() throws {
        let tables = [
            try SampleTables.home("one", scheme: "one", hosts: #""one.example""#, application: #"com.\"\u00e9"#)
        ]
        for (member, written) in [
            (#""application":"com.\u0022é","#, #","application":"com.\"é""#), ("", ""), (#""application":null,"#, ""),
        ] {
            let value = #"{"id":"e","link":"one:/",\#(member)"devices":[{"id":"a"},{"id":"b"}]}"#
            let (seen, cause) = try Self.process(value, tables: tables)
            #expect(cause == nil && seen.count == 2)
            for (index, device) in ["a", "b"].enumerated() where index < seen.count {
                let head = #"{"decision":"links-3-7-\#(index)","event":"e","device":"\#(device)"\#(written),"table":"#
                #expect(seen[index].value.hasPrefix(head), "\(seen[index].value)")
            }
        }
        // The next record does not have the application of the last one.
        var decider = Decider(DeciderConfiguration(tables: TableSet(try Self.tables())))
        var run = Run()
        for value in [#"{"link":"one:/","application":"com.one"}"#, "one:/", #"{"link":"one:/","device":{"id":"d"}}"#] {
            _ = run.process(value, key: "k", timestamp: 1000, with: &decider)
        }
        #expect(run.seen.map { $0.value.contains("application") } == [true, false, false])
    }

    @Test("Each device of a list has a decision in order, with its id as the key")
    func list() throws {
        let (seen, cause) = try Self.process(
            #"{"link":"one:/","devices":[{"id":"a"},{"id":"b\n"},{"id":"c","app":5},{"id":"d\/"}]}"#)
        #expect(cause == nil)
        #expect(seen.map(\.key) == ["a", "b\n", "c", "d/"])
        for (index, device) in ["a", "b\\n", "c", "d/"].enumerated() {
            #expect(
                seen[index].value.hasPrefix(
                    "{\"decision\":\"links-3-7-\(index)\",\"event\":\"links-3-7\",\"device\":\"\(device)\""))
        }
        #expect(seen[2].value.contains("device.app unreadable"))
    }

    @Test("Keys and decisions of a batch stay valid while later records are read")
    func batch() throws {
        var decider = Decider(DeciderConfiguration(tables: TableSet(try Self.tables())))
        var run = Run()
        let key = Array("k".utf8)
        try key.withUnsafeBufferPointer { key in
            let values = (0..<200).map { Array(#"{"link":"one:/","device":{"id":"d\u0041\#($0)"}}"#.utf8) }
            var buffers: [UnsafeMutableBufferPointer<UInt8>] = []
            defer { for buffer in buffers { buffer.deallocate() } }
            for (offset, value) in values.enumerated() {
                let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: value.count)
                _ = memory.initialize(from: value)
                buffers.append(memory)
                let record = ConsumedRecord(
                    topic: 0, partition: 1, offset: Int64(offset), timestamp: 0, key: ByteView(key),
                    value: ByteView(UnsafeBufferPointer(memory)), index: 0, hasHeaders: false)
                let topic: StaticString = "t"
                #expect(
                    decider.decide(
                        record, topicName: ByteView(topic), into: &run.arena, decisions: &run.decisions) == nil)
            }
            for (offset, decision) in run.decisions.enumerated() {
                #expect(decision.key.string == "dA\(offset)")
                let read = try JSONValue.parse(decision.value)
                #expect(read["device"]?.string == "dA\(offset)" && read["decision"]?.string == "t-1-\(offset)-0")
            }
        }
    }

    /// The members of an event, and the table that decides it or nil.
    static let choices: [(String, String?)] = [
        (#""link":"one:/""#, "one"), (#""link":"two:/""#, "two"), (#""link":"https://one.example/""#, "one"),
        (#""link":"https://two.example/""#, "two"), (#""link":"https://shared.example/""#, nil),
        (#""link":"three:/""#, nil), (#""link":"no link""#, nil), (#""link":"""#, nil),
        (#""link":"three:/","application":"com.one""#, "one"), (#""link":"one:/","application":"com.two""#, "two"),
        (#""link":"one:/","application":"com.three""#, nil), (#""link":"one:/","application":"""#, nil),
        (#""link":"one:/","application":"shared""#, nil), (#""path":"/home/feed""#, nil), (#""route":"home""#, nil),
        (#""path":"/home/feed","application":"com.two""#, "two"), (#""route":"home","application":"com.one""#, "one"),
        (#""payload":{"aps":{"link":"two:/"}}"#, "two"), (#""payload":{"data":{"deep_link":"one:/"}}"#, "one"),
        (#""payload":{"aps":{"link":"three:/"}}"#, nil), (#""aps":{"link":"one:/"}"#, "one"),
        (#""payload":{"aps":{"alert":"Hi"}},"application":"com.three""#, nil),
        (#""payload":{"aps":{}},"application":"com.one""#, "one"),
    ]

    @Test("The table is that of the application, or the one that matches the link", arguments: choices)
    func choice(members: String, table: String?) throws {
        let (seen, cause) = try Self.process("{\(members)}")
        if let table {
            #expect(cause == nil)
            #expect(seen.first?.value.contains("\"table\":\"\(table)@1+") == true)
        } else {
            #expect(seen.isEmpty)
            #expect(cause?.reason == .applicationUnknown)
            #expect(cause?.pointer == (members.contains("application") ? "/application" : nil))
        }
    }

    @Test("A single table decides all events without an application")
    func onlyTable() throws {
        let one = [try Self.tables()[0]]
        for members in [#""link":"three:/""#, #""path":"/home/feed""#, #""route":"home""#, #""payload":{"aps":{}}"#] {
            let (seen, cause) = try Self.process("{\(members)}", tables: one)
            #expect(cause == nil && seen.count == 1)
        }
        let (_, cause) = try Self.process(#"{"link":"one:/","application":"com.two"}"#, tables: one)
        #expect(cause?.reason == .applicationUnknown)
    }

    @Test(
        "An event that expired before the record's timestamp has the decision none",
        arguments: [
            (Int64(4999), false), (5000, false), (5001, true), (-1, false), (Int64.max, true),
        ])
    func expires(timestamp: Int64, isOver: Bool) throws {
        let (seen, cause) = try Self.process(
            #"{"id":"e","route":"home","application":"com.one","expires":"1970-01-01T00:00:05Z","c":1}"#,
            timestamp: timestamp, passthrough: ["c"])
        #expect(cause == nil && seen.first?.outcome == (isOver ? DecisionSummary.Outcome.none : .navigate))
        guard isOver else { return }
        let value = try JSONValue.parse(Array((seen.first?.value ?? "").utf8))
        #expect(
            value.object?.map(\.name) == [
                "decision", "event", "device", "application", "table", "outcome", "reason", "context",
            ])
        #expect(value["reason"]?.string == "expired")
    }

    @Test("An invalid event has a cause with code, detail, pointer, and id, and no decision")
    func causes() throws {
        let (seen, cause) = try Self.process(#"{"id":"e1","link":5}"#)
        #expect(seen.isEmpty)
        #expect(
            cause
                == DeadLetterCause(
                    reason: .badJSON, detail: "expected `link` to be a string", pointer: "/link",
                    event: Array("e1".utf8)))
    }

    @Test("No device of a list has a decision if one has no table")
    func allOrNone() throws {
        let (seen, cause) = try Self.process(
            #"{"payload":{"apns":{"payload":{"deep_link":"one:/"}},"data":{"deep_link":"three:/"}},"#
                + #""devices":[{"id":"a","platform":"ios"},{"id":"b"}]}"#)
        #expect(seen.isEmpty)
        #expect(cause?.reason == .applicationUnknown)
    }

    @Test("The same record yields the same bytes regardless of other records")
    func repeatable() throws {
        let values = [
            #"{"id":"e","link":"one:/?a=1","devices":[{"id":"a\n","os":"1"},{"id":"b"}]}"#, "two:/x/%zz",
            #"{"link":5}"#, #"{"message":{"token":"t\t","data":{"deep_link":"two:\/"}}}"#, "{",
        ]
        var decider = Decider(DeciderConfiguration(tables: TableSet(try Self.tables())))
        var first: [[Seen]] = []
        for round in 0..<3 {
            for (index, value) in values.enumerated() {
                var run = Run()
                _ = run.process(value, key: index == 3 ? nil : "k", timestamp: 1, with: &decider)
                if round == 0 { first.append(run.seen) } else { #expect(run.seen == first[index]) }
            }
        }
        #expect(first.map(\.count) == [2, 1, 0, 1, 0])
        #expect(first[3].first?.key == "t\t")
    }

    @Test("Decisions without a broker have no worker members, and events never expire")
    func bare() throws {
        var decider = Decider(DeciderConfiguration(tables: TableSet(try Self.tables())))
        var arena = OutputArena()
        var values: [String] = []
        let text = Array(#"{"id":"e","link":"one:/","expires":"1970-01-01T00:00:00Z"}"#.utf8)
        let cause = text.withUnsafeBufferPointer { bytes in
            decider.decide(value: ByteView(bytes), key: ByteView("k" as StaticString), into: &arena) {
                device, decision, _ in values.append(device.string + " " + decision.string)
            }
        }
        #expect(cause == nil && values.count == 1)
        #expect(values.first?.hasPrefix(#"k {"table":"one@1+"#) == true)
    }
}
