import ByteStorage
import LinkDecider
import Foundation
import LinkCoordinator
import LinkIngest
import Testing

@Suite("Decisions about push messages of vendors")
struct VendorDecisionTests {
    static let config = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../config").standardized

    static func bytes(of name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: config.appendingPathComponent(name)))
    }

    /// A table whose pointers precede the links of vendors.
    static let table = #"""
        {"schemaVersion":1,"table":{"id":"one","version":"1"},
         "link":{"schemes":["one"],"host":"segment","payload":{"link":["/data/first","/first"]}},
         "coordinators":{"home":{"initial":"feed","screens":{"feed":{},"other":{}}}},
         "routes":[{"id":"start","match":"/","to":{"path":"/home/feed"}},
                   {"id":"other","match":"/other","to":{"path":"/home/other"}}]}
        """#

    /// Returns the decisions and the dead letter of a record.
    static func process(
        _ value: String, key: String? = "k", passthrough: Passthrough = [], contextQuery: [String] = [],
        headers: [(StaticString, StaticString)] = [],
        hasPlatforms: Bool = true
    ) throws -> (decisions: [String], cause: DeadLetterCause?) {
        var decider = Decider(
            DeciderConfiguration(
                tables: TableSet([try RouteTable(json: Array(table.utf8))]), passthrough: passthrough,
                contextQuery: contextQuery, vendors: try VendorTable(json: bytes(of: "vendors.json")),
                platforms: hasPlatforms ? try LinkPlatforms(file: bytes(of: "link-platforms.json")) : nil))
        return process(value, key: key, headers: headers, &decider)
    }

    static func process(
        _ value: String, key: String?, headers: [(StaticString, StaticString)] = [],
        _ decider: inout Decider
    ) -> (decisions: [String], cause: DeadLetterCause?) {
        var arena = OutputArena(chunkBytes: 4096)
        var produced: [ProducedDecision] = []
        let views = headers.map { HeaderView(name: ByteView($0.0), value: ByteView($0.1)) }
        return Array(value.utf8).withUnsafeBufferPointer { value in
            Array((key ?? "").utf8).withUnsafeBufferPointer { keyBytes in
                let record = ConsumedRecord(
                    topic: 0, partition: 3, offset: 7, timestamp: 1000, key: key == nil ? nil : ByteView(keyBytes),
                    value: ByteView(value), index: 0, hasHeaders: !views.isEmpty)
                let cause = decider.decide(
                    record, headers: views, topicName: ByteView("links" as StaticString), into: &arena,
                    decisions: &produced)
                return (produced.map { $0.key.string + " " + $0.value.string }, cause)
            }
        }
    }

    /// Records with texts that their decisions contain, one decision per device.
    static let cases: [(String, [String])] = [
        // The vendor's link, the ids, and the order of the context.
        (
            #"{"payload":{"aps":{},"ab":{"c":"spring"},"ab_uri":"one:/"},"device":{"id":"d","platform":"ios"},"n":1}"#,
            [#""outcome":"navigate""#, #""context":{"n":1,"push":{"vendor":"braze","campaign":"spring"}}}"#]
        ),
        // The table's pointer precedes the vendor's link.
        (
            #"{"payload":{"aps":{},"first":"one:/other","ab":{"c":"s"},"ab_uri":" one:/ "},"device":{"id":"d"}}"#,
            [#""route":"other""#, #""context":{"push":{"vendor":"braze","campaign":"s"}}}"#]
        ),
        // A tapped button precedes the table's pointer.
        (
            #"{"action":"buy","payload":{"aps":{},"first":"one:/other","itbl":{"messageId":"m","actionButtons":["#
                + #"{"identifier":"buy","action":{"type":"openUrl","data":"one:/"}}]}},"device":{"id":"d"}}"#,
            [#""route":"start""#, #""context":{"push":{"vendor":"iterable","message":"m"}}}"#]
        ),
        // A button that is not known does not open the link of the body.
        (
            #"{"action":"x","payload":{"aps":{},"ab":{},"ab_uri":"one:/"},"device":{"id":"d"}}"#,
            [#""outcome":"none","reason":"no_link","context""#, #""notes":["button_unknown"]"#]
        ),
        // A dismissed notification opens nothing, in each envelope, even if a pointer of the table leads to a link.
        (
            #"{"action":"com.apple.UNNotificationDismissActionIdentifier","payload":{"aps":{},"first":"one:/other"},"#
                + #""device":{"id":"d"}}"#,
            [#""outcome":"none","reason":"no_link","notes":["dismissed"]}"#]
        ),
        (
            #"{"action":"com.apple.UNNotificationDismissActionIdentifier","payload":{"message":{"data":{"#
                + #""first":"one:/other","_ab":"1","uri":"one:/"}}},"device":{"id":"d","platform":"android"}}"#,
            [#""reason":"no_link","context":{"push":{"vendor":"braze"}},"notes":["dismissed"]}"#]
        ),
        (
            #"{"action":"com.apple.UNNotificationDismissActionIdentifier","payload":{"web_push":8030,"notification":{"#
                + #""navigate":"one:/"}},"device":{"id":"d","platform":"web"}}"#,
            [#""reason":"no_link","notes":["dismissed"]}"#]
        ),
        (
            #"{"action":"com.apple.UNNotificationDismissActionIdentifier","payload":{"first":"one:/other"},"#
                + #""device":{"id":"d"}}"#,
            [#""reason":"no_link","notes":["dismissed"]}"#]
        ),
        // A button that opens the app.
        (
            #"{"action":"s","payload":{"aps":{},"body":{"_k":"{}","action_buttons":["#
                + #"{"id":"s","label":"S","action":"open_app"}]}},"#
                + #""device":{"id":"d"}}"#,
            [#""table":"one@1"#, #""outcome":"none","reason":"open_app","#]
        ),
        // Trimming leaves a note.
        (
            #"{"payload":{"aps":{},"ab":{},"ab_uri":" one:/ "},"device":{"id":"d"}}"#,
            [#""outcome":"navigate""#, #""notes":["link_trimmed /ab_uri"]"#]
        ),
        // A link without a scheme is nothing to route in a vendor's message, and rejected as a native link.
        (
            #"{"payload":{"aps":{},"ab":{},"ab_uri":"shop"},"device":{"id":"d"}}"#,
            [#""reason":"no_link""#, #""notes":["link_without_scheme /ab_uri"]"#]
        ),
        (#"{"link":"shop","device":{"id":"d"}}"#, [#""outcome":"reject","reason":"scheme""#]),
        // White space around a native link is removed as in a vendor's message, before a platform's link is read.
        (
            #"{"link":" one:/other\n","device":{"id":"d"}}"#,
            [#""route":"other""#, #","notes":["link_trimmed /link"]}"#]
        ),
        (
            #"{"link":" https://brand.app.link/x","devices":[{"id":"d"}]}"#,
            [#""reason":"needs_resolution","notes":["link_trimmed /link","unwrapped:branch"]"#]
        ),
        // Links of link platforms, in each place.
        (
            #"{"link":"https://brand.app.link/x","device":{"id":"d"}}"#,
            [#""outcome":"none","reason":"needs_resolution","notes":["unwrapped:branch"]"#]
        ),
        (
            #"{"link":"https://brand.onelink.me/x?af_dp=one%3A%2Fother","device":{"id":"d"}}"#,
            [#""route":"other""#, "unwrapped:"]
        ),
        (
            #"{"payload":{"aps":{},"first":"https://brand.onelink.me/x?af_dp=one%3A%2Fother"},"device":{"id":"d"}}"#,
            [#""route":"other""#, "unwrapped:"]
        ),
        (
            #"{"payload":{"aps":{},"ab":{},"ab_uri":"https://brand.app.link/x"},"device":{"id":"d"}}"#,
            [#""outcome":"none","reason":"needs_resolution""#, #""push":{"vendor":"braze"}"#]
        ),
        ("https://brand.app.link/x", [#""device":"k""#, #""reason":"needs_resolution""#]),
        // The data of a Branch link, whose link can be one of the platform again.
        (
            #"{"payload":{"+clicked_branch_link":1,"$ios_deeplink_path":"one:/other","$deeplink_path":"one:/"},"#
                + #""device":{"id":"d","platform":"ios"}}"#,
            [#""route":"other""#, #""context":{"push":{"vendor":"branch"}}"#]
        ),
        (
            #"{"payload":{"+clicked_branch_link":1,"$deeplink_path":"https://b.onelink.me/x?af_dp=one%3A%2F%2Fother"},"#
                + #""device":{"id":"d"}}"#,
            [#""route":"other""#, #""notes":["unwrapped:appsflyer.af_dp"]"#]
        ),
        (
            #"{"payload":{"+clicked_branch_link":true,"~referring_link":"https://brand.app.link/x"},"#
                + #""device":{"id":"d"}}"#,
            [#""outcome":"none","reason":"needs_resolution""#]
        ),
        (
            #"{"payload":{"+clicked_branch_link":false,"$deeplink_path":"one:/other"},"device":{"id":"d"}}"#,
            [#""outcome":"none","reason":"no_link""#]
        ),
    ]

    @Test("A record has the expected decision", arguments: cases)
    func decisions(record: String, parts: [String]) throws {
        let (decisions, cause) = try Self.process(record, passthrough: ["n"])
        #expect(cause == nil && decisions.count == 1)
        for part in parts { #expect(decisions.first?.contains(part) == true, "\(decisions): \(part)") }
    }

    @Test("Each platform has the link of its part, and devices of a platform share a reading")
    func platforms() throws {
        let record =
            #"{"payload":{"message":{"data":{"_ab":"true","uri":"one:/other"},"apns":{"payload":{"aps":{},"#
            + #""ab":{},"ab_uri":"one:/"}}}},"devices":[{"id":"a","platform":"ios"},{"id":"b","platform":"android"},"#
            + #"{"id":"c","platform":"iPadOS"},{"id":"d"},{"id":"e","platform":"web"}]}"#
        let (decisions, _) = try Self.process(record)
        let routes = decisions.map { decision in
            ["start", "other"].first { decision.contains("\"route\":\"\($0)\"") } ?? "none"
        }
        #expect(routes == ["start", "other", "start", "other", "none"])
    }

    @Test("CloudEvents give the id and the device, and their data has the decision")
    func cloudEvents() throws {
        let binary: [(StaticString, StaticString)] = [
            ("ce_id", "ce-1"), ("ce_source", "/s"), ("ce_type", "t"), ("ce_specversion", "1.0"),
            ("ce_partitionkey", "d-9"),
        ]
        let (decisions, _) = try Self.process(#"{"link":"one:/"}"#, key: nil, headers: binary)
        #expect(decisions.first?.hasPrefix(#"d-9 {"decision":"links-3-7-0","event":"ce-1","device":"d-9","#) == true)
        let event =
            #"{"specversion":"1.0","id":"ce\"2","source":"/s","type":"t","data_base64":"#
            + #""eyJsaW5rIjoib25lOi9vdGhlciIsImRldmljZSI6eyJpZCI6ImQtMSJ9fQ=="}"#
        let (others, _) = try Self.process(
            event, headers: [("content-type", "application/cloudevents+json; charset=utf-8")])
        #expect(others.first?.hasPrefix(#"d-1 {"decision":"links-3-7-0","event":"ce\"2","device":"d-1","#) == true)
        let (parts, _) = try Self.process(#"{"link":"one:/ "}"#, headers: [("ce_specversion", "1.0")])
        #expect(parts.first?.contains(#""notes":["cloudevents_incomplete","link_trimmed /link"]"#) == true)
        let (_, cause) = try Self.process("[]", headers: [("content-type", "application/cloudevents-batch+json")])
        #expect(cause?.reason == .batchUnsupported)
    }

    @Test("A decider that has read other records gives the same decisions as a new one")
    func noState() throws {
        let tables = TableSet([try RouteTable(json: Array(Self.table.utf8))])
        let vendors = try VendorTable(json: Self.bytes(of: "vendors.json"))
        let platforms = try LinkPlatforms(file: Self.bytes(of: "link-platforms.json"))
        func new() -> Decider {
            Decider(DeciderConfiguration(tables: tables, passthrough: ["n"], vendors: vendors, platforms: platforms))
        }
        let records = Self.cases.map(\.0) + ["one:/", #"{"link":"one:/","device":{"id":"d"}}"#, "{}", "", "no"]
        for second in records {
            var fresh = new()
            let expected = Self.process(second, key: "k", &fresh)
            for first in records {
                var used = new()
                _ = Self.process(first, key: "k", &used)
                let found = Self.process(second, key: "k", &used)
                #expect(
                    found.decisions == expected.decisions && found.cause == expected.cause, "\(second) after \(first)")
            }
        }
    }
}
