import ByteStorage
import LinkCoordinator
import LinkDecider
import LinkIngest
import StrictJSON
import TestSupport
import Testing

/// Decisions with facts that a registry knows about devices.
@Suite("What an event does not say about a device is taken from the registry")
struct DeviceJoinTests {
    /// A table whose decisions depend on every fact.
    static func table() throws -> RouteTable {
        try RouteTable(
            json: Array(
                #"""
                {"schemaVersion":1,"table":{"id":"shop","version":"1","applications":["com.shop"]},
                 "link":{"schemes":["shop"],"host":"segment","payload":{"link":["/l"]}},
                 "capabilities":{"ar":{"listed":true}},
                 "guards":{"in":{"claim":"session","else":{"to":{"path":"/home/feed"},"resume":{"ttl":"15m"}}}},
                 "coordinators":{"home":{"initial":"feed","screens":{"feed":{},"item":{},"gold":{},"ar":{}}},
                   "mine":{"initial":"list","guard":"in","screens":{"list":{}}}},
                 "routes":[
                   {"id":"item","match":"/item","variants":[
                     {"when":{"app":">=4.0.0","platform":"ios"},"to":{"path":"/home/item"}},
                     {"when":{"capability":"ar"},"to":{"path":"/home/ar"}},
                     {"when":{"attributes":{"tier":"gold"}},"to":{"path":"/home/gold"}},
                     {"when":{"locale":"de"},"to":{"path":"/home/feed/item"}},
                     {"to":{"path":"/home/feed"}}]},
                   {"id":"mine","match":"/mine","to":{"path":"/mine/list"}},
                   {"id":"region","match":"/ar","variants":[
                     {"when":{"region":"GB"},"to":{"path":"/home/ar"}},{"to":{"path":"/home/feed"}}]}],
                 "fallback":{"outcome":"navigate","to":{"root":true}}}
                """#.utf8))
    }

    /// A table that nothing in these tests opens.
    static func otherTable() throws -> RouteTable {
        try RouteTable(
            json: Array(
                #"""
                {"schemaVersion":1,"table":{"id":"other","version":"1"},"link":{"schemes":["other"],"host":"segment"},
                 "coordinators":{"c":{"screens":{"s":{}}}},"routes":[{"id":"r","match":"/r","to":{"path":"/c/s"}}]}
                """#.utf8))
    }

    /// Returns a decider with a number of tables, of which the first decides.
    static func decider(_ devices: GivenDevices?, tables: Int = 1) throws -> Decider {
        Decider(
            DeciderConfiguration(
                tables: TableSet(tables == 1 ? [try table()] : [try table(), try otherTable()]), passthrough: ["n"],
                vendors: try VendorTable(json: VendorDecisionTests.bytes(of: "vendors.json")),
                platforms: try LinkPlatforms(file: VendorDecisionTests.bytes(of: "link-platforms.json"))),
            devices: devices)
    }

    static func devices(_ known: [(String, String)], _ members: DeviceMembers = .all) -> GivenDevices {
        let devices = GivenDevices(members)
        for (id, value) in known { #expect(devices.add(Array(id.utf8), Array(value.utf8))) }
        return devices
    }

    static func decide(
        _ value: String, key: String? = "k", _ devices: GivenDevices?
    ) throws -> (decisions: [DeciderTests.Seen], cause: DeadLetterCause?) {
        var decider = try decider(devices)
        var run = DeciderTests.Run()
        let cause = run.process(value, key: key, timestamp: 1000, with: &decider)
        return (run.seen, cause)
    }

    static let facts = #"{"platform":"ios","app":"6.1.0","locale":"de-DE","claims":["session"],"capabilities":["ar"]}"#

    /// An event, the registry's value for `d`, and the expected `facts` without braces.
    static let joined: [(String, String, String)] = [
        (
            #""device":{"id":"d"}"#, facts,
            String(facts.dropFirst().dropLast())
                .replacing(
                    #","claims":["session"],"capabilities":["ar"]"#,
                    with: #","capabilities":["ar"],"claims":["session"]"#)
        ),
        (#""device":{"id":"d","platform":"android","app":null}"#, #"{"platform":"ios","app":"6"}"#, #""app":"6""#),
        (#""device":{"id":"d","claims":[]}"#, #"{"claims":["session"],"os":"1"}"#, #""os":"1""#),
        (#""device":{"id":"d","app":7}"#, #"{"app":"6","region":"GB"}"#, #""region":"GB""#),
        (#""device":{"id":"d"}"#, #"{"locale":"d\"\\\u00e9","user":"u"}"#, #""locale":"d\"\\é""#),
        (#""device":{"id":"d"}"#, #"{"attributes":{"a":"1","b":"2"}}"#, #""attributes":{"a":"1","b":"2"}"#),
        (#""device":{"id":"d"}"#, #"{"attributes":{},"claims":[],"unknown":1}"#, #""claims":[],"attributes":{}"#),
        (#""device":{"id":"d","platform":"ios"}"#, #"{"platform":"android"}"#, ""),
        (#""device":{"id":"other"}"#, facts, ""),
        ("", facts, ""),
    ]

    @Test("A decision has the facts that the event lacks, and no others", arguments: joined)
    func factsOfDecisions(_ device: String, _ known: String, _ expected: String) throws {
        let devices = Self.devices([("d", known)])
        let members = device.isEmpty ? "" : "," + device
        let (decisions, cause) = try Self.decide(#"{"link":"shop://item"\#(members)}"#, devices)
        #expect(cause == nil)
        let text = try #require(decisions.first).value
        if expected.isEmpty {
            #expect(!text.contains(#""facts""#))
        } else {
            #expect(text.contains(#","facts":{\#(expected)}"#), "\(text)")
        }
    }

    @Test("Only the configured members are stored")
    func members() throws {
        let value = #"{"platform":"ios","attributes":{"a":"1","tier":"gold"},"claims":["c"]}"#
        let cases: [([String], String)] = [
            (["platform"], #"{"platform":"ios"}"#),
            (["attributes.tier", "claims"], #"{"claims":["c"],"attributes":{"tier":"gold"}}"#),
            (["attributes", "attributes.a"], #"{"attributes":{"a":"1","tier":"gold"}}"#),
            (["attributes.none"], ""),
        ]
        for (names, expected) in cases {
            let members = try #require(DeviceMembers(names))
            let text = try #require(
                try Self.decide(#"{"link":"shop://item","device":{"id":"d"}}"#, Self.devices([("d", value)], members))
                    .decisions.first
            ).value
            #expect(text.contains(#""facts""#) == !expected.isEmpty)
            #expect(text.contains(expected.isEmpty ? "{" : #","facts":\#(expected)"#), "\(text)")
        }
        #expect(DeviceMembers(["platforms"]) == nil)
        #expect(DeviceMembers(["attributes."]) == nil)
        #expect(DeviceMembers.standard.text == "platform,app,os,locale,region,capabilities,claims,coordinator")
    }

    static let malformed = [
        // Texts that are longer in normal form C, and attributes that then have one name.
        #"{"claims":["\#(String(repeating: "\u{1D160}", count: 64))"]}"#,
        "{\"attributes\":{\"\u{e9}\":\"1\",\"e\u{301}\":\"2\"}}",
        "", "7", "[]", "{", #"{"app":7}"#, #"{"app":"1","app":"2"}"#, #"{"claims":"session"}"#, #"{"user":7}"#,
        #"{"user":""}"#, #"{"claims":[1]}"#, #"{"app":"\#(String(repeating: "a", count: 257))"}"#,
        #"{"user":"\#(String(repeating: "u", count: 257))"}"#,
        #"{"claims":[\#((0..<200).map { #""claim number \#($0) of this device""# }.joined(separator: ","))]}"#,
    ]

    @Test("A malformed value is refused", arguments: malformed)
    func malformedValue(_ value: String) {
        #expect(!GivenDevices().add(Array("d".utf8), Array(value.utf8)))
    }

    @Test("A user stands for its devices, ordered by their ids")
    func user() throws {
        let devices = Self.devices([
            ("b", #"{"user":"u","app":"4"}"#), ("é", #"{"user":"u"}"#), ("a", #"{"user":"u","platform":"ios"}"#),
            ("c", #"{"user":"v"}"#),
        ])
        let (decisions, cause) = try Self.decide(#"{"link":"shop://item","user":"u","n":1}"#, devices)
        #expect(cause == nil)
        #expect(decisions.map(\.key) == ["a", "b", "é"])
        let same = try Self.decide(
            #"{"link":"shop://item","n":1,"devices":[{"id":"a","platform":"ios"},{"id":"b","app":"4"},{"id":"é"}]}"#,
            nil)
        let stripped = decisions.map { Self.withoutFacts($0.value) }
        #expect(stripped == same.decisions.map(\.value))
        // Without a registry, the member means nothing.
        #expect(try Self.decide(#"{"link":"shop://item","user":"u"}"#, nil).decisions.map(\.key) == ["k"])
    }

    @Test("A user without devices has one decision with the user and no device")
    func userWithoutDevices() throws {
        for request in [#""link":"shop://item""#, #""payload":{"aps":{}}"#, #""route":"item""#] {
            let (decisions, cause) = try Self.decide(#"{"id":"e",\#(request),"user":"u\n","n":1}"#, Self.devices([]))
            #expect(cause == nil)
            #expect(decisions.map(\.key) == ["u\n"])
            #expect(
                decisions.first?.value
                    == #"{"decision":"links-3-7-0","event":"e","user":"u\n","outcome":"none","reason":"no_device","#
                    + #""context":{"n":1}}"#)
            #expect(decisions.first?.outcome == DecisionSummary.Outcome.none)
        }
    }

    static let refused: [(String, String, String?)] = [
        (#""user":"u","device":{"id":"d"}"#, "ambiguous_event", "/user"),
        (#""devices":[{"id":"d"}],"user":"u""#, "ambiguous_event", "/user"),
        (#""user":7"#, "bad_json", "/user"), (#""user":"""#, "bad_json", "/user"),
        (#""user":"many""#, "too_many_devices", "/user"),
    ]

    @Test("An event with a wrong user is a dead letter", arguments: refused)
    func refusedUser(_ members: String, _ reason: String, _ pointer: String?) throws {
        let devices = Self.devices((0..<501).map { ("d\($0)", #"{"user":"many"}"#) })
        let (decisions, cause) = try Self.decide(#"{"link":"shop://item",\#(members)}"#, devices)
        #expect(decisions.isEmpty)
        #expect(cause?.reason.rawValue == reason)
        #expect(cause?.pointer == pointer)
    }

    @Test("A null user counts as absent")
    func nullUser() throws {
        let (decisions, _) = try Self.decide(#"{"link":"shop://item","user":null}"#, Self.devices([]))
        #expect(decisions.map(\.key) == ["k"])
    }

    // MARK: The law

    /// Returns a decision without its member `facts`, which is an object without braces in strings.
    static func withoutFacts(_ text: String) -> String {
        guard let start = text.firstRange(of: #","facts":{"#) else { return text }
        var depth = 1
        var end = start.upperBound
        while depth > 0 {
            if text[end] == "{" { depth += 1 } else if text[end] == "}" { depth -= 1 }
            end = text.index(after: end)
        }
        return String(text[..<start.lowerBound] + text[end...])
    }

    static let values: [(String, [String])] = [
        ("platform", [#""ios""#, #""android""#, #""web""#]), ("app", [#""3.9""#, #""4.0.0""#, #""x""#]),
        ("os", [#""18.2""#]), ("locale", [#""de""#, #""en-GB""#, #""Stra\u00dfe""#]), ("region", [#""GB""#]),
        ("capabilities", ["[]", #"["ar"]"#]), ("claims", [#"["session"]"#, "[]", #"["a","session"]"#]),
        ("attributes", [#"{"tier":"gold"}"#, "{}"]), ("coordinator", [#""home""#]),
    ]

    static let requests = [
        #""link":"shop://item""#, #""link":"shop://mine?a=1""#, #""link":"shop://ar""#, #""path":"home/item""#,
        #""application":"com.shop","link":"shop://item""#,
        #""route":"item""#, #""payload":{"aps":{},"l":"shop://item"}"#,
        #""payload":{"message":{"android":{"data":{"l":"shop://ar"}},"#
            + #""apns":{"payload":{"aps":{},"l":"shop://item"}}}}"#,
        #""link":"https://b.onelink.me/x?af_dp=shop%3A%2F%2Fitem&af_ios_url=x&af_android_url=y""#,
        #""payload":{"aps":{},"ab":{},"ab_uri":"shop://mine"}"#,
    ]

    @Test(
        "A decision equals the one for the event with the registry's facts written into it, with one and two tables",
        arguments: [1, 2])
    func law(tables: Int) throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let known = GivenDevices()
        var facts: [[(String, String)]] = []
        for number in 0..<100 {
            facts.append(
                Self.values.compactMap {
                    Bool.random(using: &random) ? ($0.0, $0.1.randomElement(using: &random)!) : nil
                })
            let members = facts[number].map { #""\#($0.0)":\#($0.1)"# }.joined(separator: ",")
            #expect(known.add(Array("d\(number)".utf8), Array("{\(members)}".utf8)))
        }
        var joining = try Self.decider(known, tables: tables)
        var plain = try Self.decider(nil, tables: tables)
        for _ in 0..<2000 {
            let request = Self.requests.randomElement(using: &random)!
            let count = Int.random(in: 0...3, using: &random)
            var said: [String] = []
            var written: [String] = []
            for _ in 0..<max(1, count) {
                let number = Int.random(in: 0..<120, using: &random)
                let own = Self.values.compactMap { name, values -> (String, String)? in
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: (name, values.randomElement(using: &random)!)
                    case 1: (name, "null")
                    case 2: (name, "7")
                    default: nil
                    }
                }
                let has = own.filter { $0.1 != "null" }.map(\.0)
                let added = number < 100 ? facts[number].filter { !has.contains($0.0) } : []
                let all = own.filter { pair in pair.1 != "null" || !added.contains { $0.0 == pair.0 } } + added
                said.append(#"{"id":"d\#(number)"\#(own.map { #","\#($0.0)":\#($0.1)"# }.joined())}"#)
                written.append(#"{"id":"d\#(number)"\#(all.map { #","\#($0.0)":\#($0.1)"# }.joined())}"#)
            }
            let isComplete = request.hasPrefix(#""link""#) || request.hasPrefix(#""application""#)
            let application = isComplete ? "" : #","application":"com.shop""#
            func event(_ devices: [String]) -> String {
                count == 0
                    ? #"{\#(request)\#(application),"device":\#(devices[0])}"#
                    : #"{\#(request)\#(application),"devices":[\#(devices.joined(separator: ","))]}"#
            }
            var first = DeciderTests.Run()
            var second = DeciderTests.Run()
            let cause = first.process(event(said), key: nil, timestamp: 1000, with: &joining)
            let other = second.process(event(written), key: nil, timestamp: 1000, with: &plain)
            #expect(cause == nil && other == nil)
            #expect(
                first.seen.map { Self.withoutFacts($0.value) } == second.seen.map(\.value),
                "seed \(seed): \(event(said)) and \(event(written))")
        }
    }
}
