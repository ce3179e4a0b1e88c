import LinkDecider
import LinkCoordinator
import LinkIngest
import StrictJSON
import Testing

/// Records without an application for several tables, of which none is needed.
@Suite("A record that opens nothing needs none of several tables")
struct NoTableTests {
    /// Two tables with the same pointer of links, of which the second also has a pointer of routes.
    static func tables() throws -> [RouteTable] {
        try ["one", "two"].map { id in
            let route = id == "two" ? #","route":"/r""# : ""
            return try RouteTable(
                json: Array(
                    #"""
                    {"schemaVersion":1,"table":{"id":"\#(id)","version":"1","applications":["com.\#(id)"]},
                     "link":{"schemes":["\#(id)"],"host":"segment","payload":{"link":["/l"]\#(route)}},
                     "coordinators":{"home":{"initial":"feed","screens":{"feed":{}}}},
                     "routes":[{"id":"home","match":"/","to":{"path":"/home/feed"}}],
                     "fallback":{"outcome":"navigate","to":{"root":true}}}
                    """#.utf8))
        }
    }

    static func process(_ members: String) throws -> (decisions: [String], cause: DeadLetterCause?) {
        var decider = Decider(
            DeciderConfiguration(
                tables: TableSet(try tables()), passthrough: ["n"],
                vendors: try VendorTable(json: VendorDecisionTests.bytes(of: "vendors.json")),
                platforms: try LinkPlatforms(file: VendorDecisionTests.bytes(of: "link-platforms.json"))))
        return VendorDecisionTests.process("{\(members)}", key: "k", &decider)
    }

    /// Members of an event, and what follows the id of the device in its decision.
    static let decided: [(String, String)] = [
        (#""payload":{"aps":{"alert":"Hi"}}"#, #""outcome":"none","reason":"no_link"}"#),
        (#""aps":{"content-available":1}"#, #""outcome":"none","reason":"no_link"}"#),
        (
            #""payload":{"aps":{},"ab":{"c":"s"},"ab_uri":"x"},"n":1"#,
            #""outcome":"none","reason":"no_link","context":{"n":1,"push":{"vendor":"braze","campaign":"s"}},"#
                + #""notes":["link_without_scheme /ab_uri"]}"#
        ),
        (
            #""payload":{"aps":{},"body":{"_k":"{}","action_buttons":[{"id":"s","label":"S","action":"open_app"}]}},"#
                + #""action":"s""#,
            #""outcome":"none","reason":"open_app","context":{"push":{"vendor":"klaviyo"}}}"#
        ),
        (
            #""payload":{"aps":{},"l":"three:/"},"action":"none""#,
            // The pointers precede the link of the message, so they need a table.
            "application_unknown"
        ),
        (
            #""link":"https://brand.app.link/x""#,
            #""outcome":"none","reason":"needs_resolution","notes":["unwrapped:branch"]}"#
        ),
        (
            #""payload":{"aps":{},"l":"https://brand.app.link/x","ab":{},"ab_uri":"one:/"}"#,
            #""outcome":"none","reason":"needs_resolution","context":{"push":{"vendor":"braze"}},"#
                + #""notes":["unwrapped:branch"]}"#
        ),
        (
            #""payload":{"aps":{},"ab":{},"ab_uri":"https://brand.app.link/x"}"#,
            #""outcome":"none","reason":"needs_resolution","context":{"push":{"vendor":"braze"}},"#
                + #""notes":["unwrapped:branch"]}"#
        ),
        // The destination of a platform's link chooses the table, in each place.
        (#""link":"https://b.onelink.me/x?af_dp=two%3A%2F%2F""#, #""table":"two@1+"#),
        (#""payload":{"aps":{},"l":"https://b.onelink.me/x?af_dp=two%3A%2F%2F"}"#, #""table":"two@1+"#),
        (#""payload":{"aps":{},"ab":{},"ab_uri":"https://b.onelink.me/x?af_dp=two%3A%2F%2F"}"#, #""table":"two@1+"#),
        (#""payload":{"aps":{},"ab":{},"ab_uri":"one:/"}"#, #""table":"one@1+"#),
        // A body that a table may open needs a table.
        (#""payload":{"aps":{},"l":"three:/"}"#, "application_unknown"),
        (#""payload":{"aps":{},"r":"home"}"#, "application_unknown"),
        (#""payload":{"aps":{},"ab":{},"ab_uri":"three:/"}"#, "application_unknown"),
        (#""link":"three:/""#, "application_unknown"), (#""path":"/home/feed""#, "application_unknown"),
        (#""route":"home""#, "application_unknown"),
        // A stated application must be that of a table.
        (#""payload":{"aps":{}},"application":"com.three""#, "application_unknown"),
        (#""payload":{"aps":{}},"application":"com.one""#, #""application":"com.one","table":"one@1+"#),
    ]

    @Test("A record has the decision of the table that its link needs, or none", arguments: decided)
    func decisions(members: String, expected: String) throws {
        let (decisions, cause) = try Self.process(members)
        if let cause {
            #expect(cause.reason.rawValue == expected && decisions.isEmpty)
        } else {
            let head = #"k {"decision":"links-3-7-0","event":"links-3-7","device":"k","#
            #expect(decisions.count == 1 && decisions.first?.hasPrefix(head + expected) == true, "\(decisions)")
        }
    }

    @Test("Devices with and without a link each have their decision, also after the event's end")
    func devices() throws {
        let event =
            #""payload":{"apns":{"payload":{"l":"one:/"}},"data":{"x":"y"}},"expires":"1970-01-01T00:00:0TZ","#
            + #""devices":[{"id":"a"},{"id":"b","platform":"ios"},{"id":"c"},{"id":"d","platform":"iPadOS"}]"#
        let (decisions, cause) = try Self.process(event.replacing("0TZ", with: "09Z"))
        #expect(cause == nil && decisions.count == 4)
        for (index, decision) in decisions.enumerated() {
            let isOpened = index % 2 == 1
            #expect(decision.contains(#""table":"one@1+"#) == isOpened)
            let context = #""context":{"expires":"1970-01-01T00:00:09Z"}}"#
            #expect(decision.hasSuffix(#""outcome":"none","reason":"no_link",\#(context)"#) != isOpened)
            #expect(try Decision(json: Array(decision.dropFirst(2).utf8)).table != nil || !isOpened)
        }
        let (over, _) = try Self.process(event.replacing("0TZ", with: "00Z"))
        let end = #""outcome":"none","reason":"expired","context":{"expires":"1970-01-01T00:00:00Z"}}"#
        #expect(over.count == 4 && over.allSatisfy { $0.hasSuffix(end) }, "\(over)")
    }

    @Test("A decision without a table is only read if there is nothing to do")
    func reading() {
        #expect(throws: Never.self) { try Decision(json: #"{"outcome":"none","reason":"no_link"}"#.utf8) }
        for text in [#"{"outcome":"reject","reason":"host"}"#, #"{"table":5,"outcome":"none"}"#] {
            #expect(throws: DecisionError.self) { try Decision(json: text.utf8) }
        }
    }
}
