import LinkDecider
import LinkCoordinator
import LinkIngest
import StrictJSON
import TableSupport
import TestSupport
import Testing

/// The guarantee of `resume`: it is a request that can be sent unchanged as a new event.
@Suite("A deferred decision's request can be sent unchanged") struct ResumeLawTests {
    private static let file = #"""
        {"schemaVersion":1,"table":{"id":"t","version":"1","applications":["app"]},
         "link":{"schemes":["t"],"host":"authority","hosts":["*"],
                 "payload":{"link":["/l","/data/link"],"route":"/r","params":"/p"}},
         "models":{"I":{"id":"string?","ids":"list<string>"},"X":{"x":"string?"}},
         "guards":{"g":{"claim":"c","else":{"to":{"path":"/login/form"},"resume":{"ttl":"15m"}}},
                   "h":{"claim":"d","else":{"to":{"root":true},"resume":{"ttl":"2h","once":false}}}},
         "coordinators":{"a":{"guard":"g","screens":{"s":{"needs":["I"]},"x":{"needs":["X"]}}},
                         "b":{"guard":"h","parent":"a","screens":{"s":{}}},"login":{"screens":{"form":{}}}},
         "routes":[{"id":"s","match":"/s/{id}","to":{"path":"/a/s/b/s"},
                    "bind":{"I":{"id":"path.id","ids":"query.ids"}}},
                   {"id":"x","match":"/x","to":{"path":"/a/x"},"bind":{"X":{"x":"payload./x"}}},
                   {"id":"under","match":"/under","to":{"path":"/b/s","parents":"route:x"}},
                   {"id":"tail","match":"/tail/{p:coordinatorPath}","to":{"path":"{p}"}},
                   {"id":"to","match":"/plain/{id}/{ids+}","redirect":"plain"},
                   {"id":"plain","to":{"path":"/a/s"},"bind":{"I":{"id":"path.id","ids":"path.ids"}}}]}
        """#

    private static let texts = [
        #""""#, #""z""#, #""e\u0301\ud83d\ude00""#, #""a\/b\\\"\u0007""#, "5", "1.50", "true", "null", "{}",
        #"{"a":[1]}"#,
        "[]", "[1,\"b\",false]", "[null,1]", "[[1],2]", #"[{"a":1},"c"]"#,
    ]

    private static func value(_ generator: inout SeededGenerator, scalars: Bool = false) -> String {
        texts[Int.random(in: 0..<(scalars ? 7 : texts.count), using: &generator)]
    }

    private static func params(_ generator: inout SeededGenerator, scalars: Bool) -> String {
        let names = ["id", "ids", "p", "x", "q\\u0041"]
        let members = names.filter { _ in Bool.random(using: &generator) }.map { name in
            " \"\(name)\" : \(value(&generator, scalars: scalars))"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private static let links = [
        "t:///s/a%20b?q=1#f", "t:///s/x?ids=1&ids=2", "t:///x", "t:///under", "t:///tail/a/x/b/s", "t:tail/b/s",
        "t:///s/ü \\u0022",
    ]

    /// Returns a request as one or several members of an event.
    private static func request(_ generator: inout SeededGenerator) -> String {
        let link = links[Int.random(in: 0..<links.count, using: &generator)]
        let route = ["s", "plain", "tail", "x"][Int.random(in: 0..<4, using: &generator)]
        let more = #""x":\#(value(&generator)),"deep":{"o":[1,{"k":null}]}"#
        let kind = ["", #""payloadType":"fcm","#, #""payloadType":"apns","#][Int.random(in: 0..<3, using: &generator)]
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return #""link":"\#(link)""#
        case 1: return #""path":"a/x","mode":"append""#
        case 2: return #""path":"/b/s//""#
        case 3: return #""route":"\#(route)","params":\#(params(&generator, scalars: true))"#
        case 4: return #"\#(kind)"payload":{"aps":{},"l":"\#(link)",\#(more)}"#
        case 5: return #"\#(kind)"payload":{"r":"\#(route)","p":\#(params(&generator, scalars: false)),\#(more)}"#
        case 6: return #"\#(kind)"aps":{},"l":"\#(link)",\#(more)"#
        default:
            return #"\#(kind)"payload":{"message":{"l":"\#(link)","x":"m","android":{"l":"t:///x","x":"n"}},"#
                + #""aps":{},"l":"t:///under","x":"o"}"#
        }
    }

    /// A case is an event.
    @Test("A resumed request with the claim has the same decision as the first request with the claim")
    func law() throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        var decider = Decider(DeciderConfiguration(tables: TableSet([table])))
        var generator = SeededGenerator(seed: 0x2E5)
        var (deferred, forms) = (0, [String: Int]())
        for round in 0..<LawCases.count {
            let request = Self.request(&generator)
            let platform = ["ios", "Android", "web"][Int.random(in: 0..<3, using: &generator)]
            var claims: [String] = []
            var event = #"{\#(request),"device":\#(Self.device(platform, claims))}"#
            let (first, cause) = ManyDevices.decide(event, &decider)
            if let cause {
                Issue.record("seed \(generator.seed) round \(round): \(event): \(cause.reason) \(cause.detail)")
                return
            }
            guard var decision = first.first.flatMap(Self.decision), let claim = decision.resume?.claim else {
                continue
            }
            deferred += 1
            claims.append(claim)
            let whole = ManyDevices.decide(#"{\#(request),"device":\#(Self.device(platform, claims))}"#, &decider)
            guard let members = decision.value["resume"]?.object else { continue }
            let sent = members.filter { !["claim", "ttl", "once"].contains($0.name) }
            forms[sent.map(\.name).joined(separator: "+"), default: 0] += 1
            let text = sent.map { "\"\($0.name)\":\($0.value.text)" }.joined(separator: ",")
            event = #"{\#(text),"application":"app","device":\#(Self.device(platform, claims))}"#
            let (again, other) = ManyDevices.decide(event, &decider)
            guard other == nil, let next = again.first.flatMap(Self.decision) else {
                Issue.record("seed \(generator.seed) round \(round): \(request) \(event): \(other?.detail ?? "")")
                return
            }
            decision = next
            let isShown = decision.outcome == .navigate || decision.outcome == .external
            let isOther = decision.outcome == .deferred && decision.resume?.claim != claim
            #expect(isShown || isOther, "\(request) \(event)")
            // The result is that of the first event with the claim.
            #expect(Self.shown(decision) == whole.decisions.first.flatMap(Self.decision).map(Self.shown), "\(event)")
        }
        #expect(deferred > LawCases.count / 3 && forms.count >= 6, "\(forms)")
    }

    @Test("A push that is a record on its own can be sent as a payload at any depth", arguments: 50...70)
    func depth(_ depth: Int) throws {
        var decider = Decider(DeciderConfiguration(tables: TableSet([try RouteTable(json: Array(Self.file.utf8))])))
        let junk = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let pushes = [
            #"{"message":{"token":"d","data":{"link":"t:///under"},"junk":\#(junk)}}"#,
            #"{"aps":{},"data":{"link":"t:///under"},"junk":\#(junk),"device":{"id":"d","platform":"ios"}}"#,
        ]
        for push in pushes {
            let (first, cause) = ManyDevices.decide(push, &decider)
            guard let decision = first.first.flatMap(Self.decision) else {
                // Deeper payloads are rejected at once.
                #expect(depth > 60 && cause?.reason == .badJSON)
                continue
            }
            let members = try #require(decision.value["resume"]?.object)
            let sent = members.filter { !["claim", "ttl", "once"].contains($0.name) }
            let text = sent.map { "\"\($0.name)\":\($0.value.text)" }.joined(separator: ",")
            let event = #"{\#(text),"application":"app","device":\#(Self.device("ios", ["c", "d"]))}"#
            let (again, other) = ManyDevices.decide(event, &decider)
            #expect(other == nil && again.first?.contains("navigate") == true, "depth \(depth): \(other?.detail ?? "")")
        }
    }

    private static func device(_ platform: String, _ claims: [String]) -> String {
        let list = claims.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"id":"d","platform":"\#(platform)","claims":[\#(list)]}"#
    }

    private static func decision(_ line: String) -> Decision? {
        line.firstIndex(of: "{").flatMap { try? Decision(json: Array(line[$0...].utf8)) }
    }

    private static func shown(_ decision: Decision) -> String {
        [decision.outcome.rawValue, decision.path ?? "", decision.value["stack"]?.text ?? "", decision.guard ?? ""]
            .joined(separator: " ")
    }
}
