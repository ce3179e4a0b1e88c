import LinkDecider
import LinkCoordinator
import LinkIngest
import ByteStorage
import TableSupport
import TestSupport
import Testing

extension ManyDevices {
    static func tables() throws -> TableSet {
        TableSet([
            try RouteTable(json: file("one", scheme: "t", pointers: #""/l","/x/0","/data/link""#)),
            try RouteTable(json: file("two", scheme: "u", pointers: #""/l","/data/link""#)),
        ])
    }

    /// Returns the decisions without their index, which counts the devices of the event.
    static func decide(
        _ event: String, _ decider: inout Decider
    ) -> (decisions: [String], cause: DeadLetterCause?) {
        var arena = OutputArena(chunkBytes: 4096)
        var decisions: [String] = []
        let cause = Array(event.utf8).withUnsafeBufferPointer { bytes in
            decider.decide(value: ByteView(bytes), key: nil, into: &arena) { id, decision, _ in
                decisions.append(id.string + " " + decision.string)
            }
        }
        return (decisions, cause)
    }
}

@Suite("A record is read once for all of its devices") struct RecordOnceTests {
    private static let requests = [
        #""link":"t:///s/7?q=1""#, #""link":"t:\/\/\/s/7?Q=%E2%80%8F2""#, #""link":"t:///s/x?q=%zz""#,
        #""link":"t:///nope""#, #""link":"t:///old/5?q=%31""#, #""link":"t://""#, #""path":"a/s""#,
        #""path":"/k/s//""#, #""path":"/a/%2e%2e""#, #""route":"s","params":{"id":7,"q":["1","2"]}"#,
        #""route":"s","params":{"id":"z"}"#,
        #""route":"any","params":{"one":["a"],"all":["b",1,true],"no":null}"#,
        #""route":"any","params":{"all":["1","2","3","4"]}"#, #""route":"none","params":{}"#,
        #""link":"t:///deep?a=1&amp;y=%53ECRET&amp;n=%31&amp;n=2#%46RAGMENT%20TEXT""#,
        #""link":"t:///deep?x=1&%20y=%20%31%32%33&n=%205&n=%206#%39%38%37%36%35""#,
        #""link":"t:///deep?y=%41%42&n=1&n=2&n=3&n=4#%43%44%45""#, #""link":"t:///deep?y=%20&n=%zz&n=1#%zz""#,
        #""link":"t:///p2?a=1&amp;y=%53ECRET&amp;n=%31&n=2#%46""#,
        #""payload":{"aps":{},"l":"t:///s/7","x":["v"]}"#, #""payload":{"aps":{},"l":"u:\/\/\/s/7"}"#,
        #""payload":{"aps":{},"l":"t:///kx?q=e\u0301","x":["v",null,2]}"#, #""payload":{"aps":{},"x":["t:///x","w"]}"#,
        #""payload":{"aps":{},"r":"s","p":{"id":3,"o":{"deep":1},"l":[1,[2],null,{}]}}"#, #""payload":{"aps":{}}"#,
        #""payload":{"message":{"token":"x","data":{"link":"t:///s/1"},"android":{"data":{"link":"t:///s/2"}},"#
            + #""apns":{"payload":{"aps":{},"l":"t:///kx","x":["v"]}},"webpush":{"data":{"link":"u:///s/4"}}}}"#,
        #""payload":{"message":{"token":"x","l":"t:///kx","x":[1,2,3,4,5],"android":{"l":"t:///x"}}}"#,
    ]

    private static let facts = [
        "", #","platform":"ios""#, #","platform":"iOS","app":"6.0.0""#, #","platform":"android","claims":["c"]"#,
        #","platform":"web","app":"5.1""#, #","app":"x","coordinator":"k""#, #","app":"1.0.0","claims":["c","d"]"#,
        #","platform":7,"coordinator":"a""#,
    ]

    @Test("A device in a list has the same decision as alone, byte for byte")
    func amongMany() throws {
        let tables = try ManyDevices.tables()
        var many = Decider(DeciderConfiguration(tables: tables))
        var generator = SeededGenerator(seed: 0x0A11)
        var outcomes: [String: Int] = [:]
        for round in 0..<3000 {
            let request = Self.requests[Int.random(in: 0..<Self.requests.count, using: &generator)]
            let application = Bool.random(using: &generator) ? #","application":"one""# : ""
            let devices = (0..<Int.random(in: 2...8, using: &generator)).map { number in
                #"{"id":"d\#(number)"\#(Self.facts[Int.random(in: 0..<Self.facts.count, using: &generator)])}"#
            }
            let event = #"{\#(request)\#(application),"devices":[\#(devices.joined(separator: ","))]}"#
            let (decisions, cause) = ManyDevices.decide(event, &many)
            var alone: [String] = []
            for device in devices {
                var fresh = Decider(DeciderConfiguration(tables: tables))
                let (own, other) = ManyDevices.decide(#"{\#(request)\#(application),"device":\#(device)}"#, &fresh)
                alone += own
                if let other, cause?.reason != other.reason || cause?.detail != other.detail {
                    Issue.record("seed \(generator.seed) round \(round): \(event): \(other.detail)")
                }
            }
            if cause == nil, decisions != alone {
                Issue.record("seed \(generator.seed) round \(round): \(event)\n\(decisions)\n\(alone)")
                return
            }
            for decision in decisions {
                for name in ["navigate", "deferred", "reject", "none"] {
                    if decision.contains("\"outcome\":\"\(name)\"") { outcomes[name, default: 0] += 1 }
                }
            }
        }
        #expect(outcomes.count == 4 && outcomes.values.allSatisfy { $0 > 200 }, "\(outcomes)")
    }

    /// Requests of about 100 KB that must not be read again for each device, pointer, or table.
    static let large: [String] = {
        let members = (0..<9000).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
        let escaped = String(repeating: #"\u0041"#, count: 16_000)
        let list = (0..<30_000).map { "\($0 % 10)" }.joined(separator: ",")
        return [
            #""payload":{"aps":{},"y":{\#(members)},"l":"t:///nope"}"#, #""payload":{"aps":{},"y":{\#(members)}}"#,
            #""route":"any","params":{\#(members)}"#, #""route":"any","params":{"all":[\#(list)]}"#,
            #""payload":{"aps":{},"x":[\#(list)],"l":"t:///kx"}"#, #""payload":{"aps":{},"l":"t:///\#(escaped)"}"#,
            #""payload":{"aps":{},"r":"any","p":{"o":{\#(members)}}}"#,
            #""payload":{"message":{"token":"x","y":{\#(members)},"android":{"y":1},"webpush":{"y":2}}}"#,
        ]
    }()

    @Test(
        "A large request for 500 devices takes at most eight times the CPU time that it takes for one",
        arguments: 0..<large.count)
    func notPerDevice(_ number: Int) throws {
        var decider = Decider(DeciderConfiguration(tables: try ManyDevices.tables()))
        let platforms = ["ios", "android", "web", "other"]
        func event(_ count: Int) -> String {
            let devices = (0..<count).map { #"{"id":"d\#($0)","platform":"\#(platforms[$0 % 4])"}"# }
            return #"{\#(Self.large[number]),"application":"one","devices":[\#(devices.joined(separator: ","))]}"#
        }
        // Each device has a cost of its own. Reading the request again for each would cost five hundred times as much.
        let bare = #"{"link":"t:///nope","application":"one","devices":["#
        let devices = (0..<500).map { #"{"id":"d\#($0)"}"# }.joined(separator: ",")
        let (one, all, rest) = (event(1), event(500), bare + devices + "]}")
        let excess = ThreadTime.excess(
            of: { _ = ManyDevices.decide(all, &decider) }, over: { _ = ManyDevices.decide(one, &decider) },
            factor: 8,
            allowance: { _ = ManyDevices.decide(rest, &decider) })
        #expect(excess == nil)
    }

    @Test("Values that cannot be read again are rejected as internal in spite of a fallback")
    func failsClosed() throws {
        let table = try RouteTable(
            json:
                Array(
                    String(decoding: ManyDevices.file("one", scheme: "t", pointers: #""/l""#), as: UTF8.self)
                        .replacing(
                            #""routes":["#, with: #""fallback":{"outcome":"navigate","to":{"root":true}},"routes":["#
                        )
                        .utf8))
        func reason(_ make: (ByteView) -> RequestView, _ text: String) -> DecisionSummary {
            var resolver = Resolver()
            var arena = OutputArena(chunkBytes: 4096)
            return Array(text.utf8).withUnsafeBufferPointer { bytes in
                withUnsafePointer(to: make(ByteView(bytes))) { request in
                    withUnsafePointer(to: DeviceView()) { facts in
                        arena.begin()
                        let summary = resolver.resolve(
                            request, facts, table: table.compiled.handle, head: nil, into: &arena)
                        #expect(arena.finish().string.contains(#""outcome":"reject","reason":"internal"}"#))
                        return summary
                    }
                }
            }
        }
        let route: (ByteView) -> RequestView = { text in
            var request = RequestView(form: .route, text: ByteView("any"))
            request.params = text
            return request
        }
        for broken in [#"{"a":"#, #"{"a":1}}"#, #"{"all":[1,}"#, "[]", #"{"a":tru}"#] {
            #expect(reason(route, broken).outcome == .reject)
        }
        let roots = UnsafeMutablePointer<ByteView>.allocate(capacity: 1)
        defer { roots.deallocate() }
        let payload: (ByteView) -> RequestView = { text in
            roots.initialize(to: text)
            var request = RequestView(form: .payload, text: .empty)
            request.payload = text
            request.roots = UnsafeBufferPointer(start: roots, count: 1)
            return request
        }
        for broken in [#"{"l":"t:///x","x":[1,}"#, #"{"l":"#, #"{"l":1}x"#] {
            #expect(reason(payload, broken).outcome == .reject)
        }
    }
}
