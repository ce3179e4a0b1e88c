import ByteStorage
import LinkCoordinator
import LinkDecider
import LinkIngest
import TestSupport
import Testing

@Suite("A record with several messages is decided message by message")
struct BatchTests {
    private typealias Result = (decisions: [String], cause: DeadLetterCause?)

    /// The content type of a list, or nil, that of its items, and items, of which the first one makes a list known.
    private static let pools: [(list: StaticString?, item: StaticString?, items: [String])] = [
        (
            nil, nil,
            [
                #"{"to":"ExponentPushToken[a]","data":{"url":"one:/"}}"#,
                #" {"to":["ExpoPushToken[b]","ExpoPushToken[\"c"],"title":"x","data":{"url":"one:/other"}} "#,
                #"{"to":"ExponentPushToken[d]","title":"no link"}"#,
                #"{"link":"one:/other","device":{"id":"d\n1"},"id":"e-1"}"#,
                #"{"link":"one:/","devices":[{"id":"d-1"},{"id":"d-2","platform":"ios"}],"application":"none"}"#,
                #"{"to":["ExponentPushToken[e]",5],"title":"bad device"}"#, #"{"to":[],"title":"no rule"}"#,
                #"[{"to":"ExponentPushToken[a]","data":{"url":"one:/"}}]"#, #"{"id":"e-2","link":5}"#, "[]", "{}",
                "5", "null", #""one:/""#,
            ]
        ),
        (
            "application/cloudevents-batch+json; charset=utf-8", "application/cloudevents+json",
            [
                #"{"specversion":"1.0","id":"ce","source":"/s","type":"t","data":{"link":"one:/","device":{"id":"d"}}"#
                    + "}",
                #"{"specversion":"1.0","id":"ce\n","source":"/s","type":"t","partitionkey":"p","data_base64":"#
                    + #""eyJsaW5rIjoib25lOi9vdGhlciJ9"}"#,
                // The data is `[{}]`.
                #"{"specversion":"1.0","id":"ce","source":"/s","type":"t","data_base64":"W3t9XQ=="}"#,
                #"{"specversion":"1.0","id":"ce","source":"/s","type":"t","data":[{"link":"one:/"}]}"#,
                #"{"specversion":"0.3","id":"ce","source":"/s","type":"t","data":{"link":"one:/"}}"#,
                #"{"id":"ce","link":"one:/"}"#, "[]", "7",
            ]
        ),
    ]

    private static func decider(limits: Limits = Limits()) throws -> Decider {
        Decider(
            DeciderConfiguration(
                tables: TableSet([try RouteTable(json: Array(VendorDecisionTests.table.utf8))]), limits: limits,
                vendors: try VendorTable(json: VendorDecisionTests.bytes(of: "vendors.json"))))
    }

    private static func decide(
        _ value: String, key: String? = nil, _ type: StaticString? = nil, _ decider: inout Decider
    ) -> Result {
        VendorDecisionTests.process(
            value, key: key, headers: type.map { [("Content-Type" as StaticString, $0)] } ?? [], &decider)
    }

    private static func texts(_ result: Result) -> [String] {
        result.decisions
            + (result.cause?.all ?? []).map {
                "\($0.item ?? -1) \($0.reason) \($0.detail) \($0.pointer ?? "") \($0.event.map(\.count) ?? -1)"
            }
    }

    @Test("Each item has the decisions or the dead letter of a record of its own, with the item in the ids")
    func alone() throws {
        var decider = try Self.decider()
        var fresh = try Self.decider()
        let seed = UInt64.random(in: 0...0xFFFF_FFFF)
        var mixed = 0
        for number in 0..<UInt64(LawCases.count / 20) {
            var random = SeededGenerator(seed: seed ^ number)
            let pool = random.pick(Self.pools)
            let key = random.one(in: 3) ? "k" : nil
            var items = (0..<Int.random(in: 0...(random.one(in: 9) ? 99 : 6), using: &random)).map { _ in
                random.pick(pool.items)
            }
            items.insert(pool.items[0], at: Int.random(in: 0...items.count, using: &random))
            let whole = Self.decide("[" + items.joined(separator: ",") + "]", key: key, pool.list, &decider)
            var expected: (decisions: [String], letters: [String]) = ([], [])
            for (item, text) in items.enumerated() {
                // A list in a list is refused, although it can be a record of its own.
                let own = Self.decide(pool.item == nil && text.first == "[" ? "[]" : text, key: key, pool.item, &fresh)
                expected.decisions += own.decisions.map { $0.replacing("links-3-7", with: "links-3-7.\(item)") }
                guard let cause = own.cause else { continue }
                let pointer = "/\(item)" + (cause.pointer ?? "")
                let letter = DeadLetterCause(
                    reason: cause.reason, detail: cause.detail, pointer: pointer, event: cause.event, item: item)
                expected.letters += Self.texts(([], letter))
            }
            #expect(Self.texts(whole) == expected.decisions + expected.letters, "seed \(random.seed)")
            if whole.cause != nil, !whole.decisions.isEmpty { mixed += 1 }
            // Only one of the items, as `inspect --why` decides it.
            decider.onlyItem = Int.random(in: 0...items.count, using: &random)
            defer { decider.onlyItem = nil }
            let own = ".\(decider.onlyItem ?? 0)-"
            let one = Self.decide("[" + items.joined(separator: ",") + "]", key: key, pool.list, &decider)
            #expect(one.decisions == whole.decisions.filter { $0.contains(own) }, "seed \(random.seed)")
        }
        #expect(mixed > 0)
    }

    /// A list, its reason as a whole, or nil, and the settings.
    private static let wholes: [(list: String, type: StaticString?, limits: Limits, reason: DeadLetterReason?)] = {
        let good = pools[0].items[0]
        let two = pools[0].items[1]
        let event = pools[1].items[0]
        func list(_ item: String, _ count: Int) -> String {
            "[" + repeatElement(item, count: count).joined(separator: ",") + "]"
        }
        let batch: StaticString = "application/cloudevents-batch+json"
        return [
            (list(good, 100), nil, Limits(), nil), (list(good, 101), nil, Limits(), .batchUnsupported),
            (list(event, 100), batch, Limits(), nil), (list(event, 101), batch, Limits(), .batchUnsupported),
            // Events of CloudEvents are also known without a content type, as one of them is.
            (list(event, 2), nil, Limits(), nil), (list("{}", 100_000), nil, Limits(), .batchUnsupported),
            ("[]", nil, Limits(), .batchUnsupported), ("[]", batch, Limits(), .batchUnsupported),
            (event, batch, Limits(), .badJSON), (list(event, 2) + "]", batch, Limits(), .badJSON),
            (list(good, 2).dropLast() + "", nil, Limits(), .badJSON), (list(good, 2) + "x", nil, Limits(), .badJSON),
            (list(event, 2), "application/cloudevents-batch+avro", Limits(), .batchUnsupported),
            (list(event, 2), "application/cloudevents+json", Limits(), .badJSON),
            // No rule knows these messages.
            (list(#"{"link":"one:/","device":{"id":"d"}}"#, 2), nil, Limits(), .batchUnsupported),
            ("[\(list(good, 2))]", nil, Limits(), .batchUnsupported),
            ("\u{0}\u{0}\u{0}\u{0}\u{7}" + list(good, 2), nil, Limits(), nil),
            (String(repeating: "[", count: 100_000), nil, Limits(), .badJSON),
            // The limits hold for all items together.
            (list(two, 3), nil, Limits(devices: 6), nil), (list(two, 3), nil, Limits(devices: 5), .tooManyDevices),
            (list(good, 2), nil, Limits(outputBytes: 300), .oversizeOutput),
            ("[\(good)]", nil, Limits(outputBytes: 300), nil),
            ("[\(good),{}]", nil, Limits(outputBytes: 300), .oversizeOutput),
        ]
    }()

    @Test("A list is known or refused, and is over the limits of a record, as a whole", arguments: wholes.indices)
    func whole(_ index: Int) throws {
        let (list, type, limits, reason) = Self.wholes[index]
        var decider = try Self.decider(limits: limits)
        let (decisions, cause) = Self.decide(list, type, &decider)
        #expect(cause?.reason == reason && cause?.item == nil, "\(Self.texts((decisions, cause)))")
        #expect(decisions.isEmpty == (reason != nil))
    }

    @Test("An error in the JSON of a list has its place")
    func errors() throws {
        let batch: StaticString = "application/cloudevents-batch+json"
        let texts = [
            (#"[{"a":1},{"a":1,"a":2}]"#, "/1/a"), (#"[{"a":1},{"b":[1,}]"#, "/1/b/1"), (#"[{"a":1},]"#, ""),
            (#"[{"a":[{"b":tru}]}]"#, "/0/a/0/b"), (#"[{"a":1}"#, ""),
        ]
        var decider = try Self.decider(limits: Limits())
        for (text, pointer) in texts {
            for type in [nil, batch] {
                let cause = Self.decide(text, type, &decider).cause
                #expect(cause?.reason == .badJSON && cause?.pointer == pointer, "\(text): \(cause?.pointer ?? "none")")
            }
        }
    }

    @Test("The headers of a record count for the dead letter of each item", arguments: [(9, true), (13, false)])
    func headers(bad: Int, isDecided: Bool) throws {
        var decider = try Self.decider(limits: Limits(outputBytes: 10_000))
        let list = "[" + ([Self.pools[0].items[0]] + repeatElement("5", count: bad)).joined(separator: ",") + "]"
        let header: (StaticString, StaticString) = (
            "another-one", "h012345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
        )
        let (decisions, cause) = VendorDecisionTests.process(
            list, key: nil, headers: Array(repeating: header, count: 8), &decider)
        #expect(decisions.count == (isDecided ? 1 : 0))
        #expect((cause?.item != nil) == isDecided && (cause?.reason == .oversizeOutput) != isDecided)
    }

    @Test("A decision over its limit is the dead letter of its item only")
    func decisionLimit() throws {
        var decider = try Self.decider(limits: Limits(decisionBytes: 400))
        let text = String(repeating: "a", count: 400)
        let long =
            #"{"id":"\#(text.prefix(120))","link":"one:/other?q=\#(text)","device":{"id":"\#(text.prefix(250))"}}"#
        let (decisions, cause) = Self.decide("[\(Self.pools[0].items[0]),\(long)]", nil, &decider)
        #expect(decisions.count == 1 && cause?.item == 1 && cause?.all.count == 1)
        #expect(cause?.reason == .oversizeOutput && cause?.pointer == "/1")
    }
}
