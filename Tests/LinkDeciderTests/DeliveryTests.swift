import LinkCoordinator
import LinkDecider
import StrictJSON
import Testing

/// Decisions about records whose timestamp is one second after the start of 1970.
@Suite("What delivery needs is copied into the context")
struct DeliveryTests {
    /// The members `context` and `notes` of the decisions of a record.
    private static func tails(_ value: String) throws -> [String] {
        let (decisions, cause) = try VendorDecisionTests.process(value)
        #expect(cause == nil, "\(value): \(cause?.detail ?? "")")
        return try decisions.map { decision in
            let json = try JSONValue.parse(Array(decision.drop { $0 != "{" }.utf8))
            let members = ["context", "notes"].compactMap { json[$0]?.text }
            return members.joined(separator: " ").replacing("delivery_unreadable", with: "UNREADABLE")
        }
    }

    /// A message of FCM for the three kinds of devices.
    private static func fcm(_ android: String, apple: String = "{}", web: String = "{}") -> String {
        #"{"payload":{"message":{"data":{},"android":\#(android),"apns":{"headers":\#(apple)},"#
            + #""webpush":{"headers":\#(web)}}},"devices":["#
            + #"{"id":"a","platform":"android"},{"id":"i","platform":"ios"},{"id":"w","platform":"web"},{"id":"u"}]}"#
    }

    private static func apns(_ headers: String, _ members: String = "") -> String {
        #"{"payload":{"aps":{"alert":"Hi"}},"headers":\#(headers),"device":{"id":"d","platform":"ios"}\#(members)}"#
    }

    private static func web(_ headers: String) -> String {
        #"{"payload":{"web_push":8030,"notification":{"navigate":"one:/"}},"headers":\#(headers),"#
            + #""device":{"id":"d","platform":"web"}}"#
    }

    private static func expo(_ members: String) -> String {
        #"{"to":"ExponentPushToken[x]","data":{"url":"one:/"}\#(members)}"#
    }

    private static func signal(_ platform: String) -> String {
        #"{"payload":{"app_id":"a","contents":{},"url":"one:/","collapse_id":"c","web_push_topic":"w","priority":10},"#
            + #""device":{"id":"d","platform":"\#(platform)"}}"#
    }

    private static let devices =
        #""devices":[{"id":"i","platform":"ios"},{"id":"a","platform":"android"},{"id":"w","platform":"web"},"#
        + #"{"id":"u"}]"#

    private static func airship(_ platforms: String, _ expiry: String) -> String {
        #"{"payload":{"audience":"all","device_types":"all","notification":{"actions":{"open":{"type":"url","#
            + #""content":"one:/"}},\#(platforms)},"options":{"expiry":\#(expiry)}},\#(devices)}"#
    }

    private static func braze(_ messages: String) -> String { #"{"payload":{"messages":{\#(messages)}},\#(devices)}"# }

    private static let long = String(repeating: "x", count: 129)

    /// Values of records, and the context and the notes of each decision.
    static let cases: [(String, [String])] = [
        // The expiry of any event, in UTC.
        (
            #"{"link":"one:/","expires":"2026-11-21T11:00:00+01:00","device":{"id":"d"}}"#,
            [#"{"expires":"2026-11-21T10:00:00Z"}"#]
        ),
        (
            #"{"path":"/home/feed","expires":"2026-11-21T10:00:00.2509Z","devices":[{"id":"d"},{"id":"e"}]}"#,
            Array(repeating: #"{"expires":"2026-11-21T10:00:00.250Z"}"#, count: 2)
        ),
        (
            #"{"link":"one:/","expires":"1970-01-01T00:00:00Z","device":{"id":"d"}}"#,
            [#"{"expires":"1970-01-01T00:00:00Z"}"#]
        ),
        // A time that is not in the years 1 to 9999.
        (#"{"link":"one:/","expires":"0000-01-01T00:00:00Z","device":{"id":"d"}}"#, [#"["expires_skipped"]"#]),
        (
            #"{"link":"one:/","expires":"9999-12-31T23:59:59-00:01","device":{"id":"d"}}"#,
            [#"["expires_skipped"]"#]
        ),
        (
            #"{"path":"/home/feed","expires":"9999-12-31T23:59:59.999Z","device":{"id":"d"}}"#,
            [#"{"expires":"9999-12-31T23:59:59.999Z"}"#]
        ),
        (
            fcm(#"{"ttl":"999999999999s"}"#, web: #"{"TTL":"253402300798","Urgency":"low"}"#),
            [#"["expires_skipped"]"#, "", #"{"push":{"priority":"low"},"expires":"9999-12-31T23:59:59Z"}"#, ""]
        ),
        (expo(#","ttl":253402300799"#), [#"{"push":{"vendor":"expo"}} ["expires_skipped"]"#]),
        // The headers of APNs.
        (
            apns(#"{"apns-expiration":"1795255200","apns-collapse-id":"c\"1","apns-priority":"5"}"#),
            [#"{"push":{"collapse":"c\"1","priority":"normal"},"expires":"2026-11-21T10:00:00Z"}"#]
        ),
        (apns(#"{"apns-priority":10}"#), [#"{"push":{"priority":"high"}}"#]),
        (apns(#"{"apns-priority":1,"apns-expiration":0}"#), [#"{"push":{"priority":"low"}}"#]),
        (apns(#"{"apns-expiration":999999999999,"ttl":1,"topic":"t","urgency":[]}"#), [#"["expires_skipped"]"#]),
        (
            apns(#"{"apns-expiration":"5"}"#, #","expires":"1970-01-01T00:00:02Z""#),
            [#"{"expires":"1970-01-01T00:00:02Z"}"#]
        ),
        (
            apns(#"{"apns-priority":"2","apns-collapse-id":"\#(long)"}"#),
            [#"["header_unreadable /headers/apns-collapse-id","header_unreadable /headers/apns-priority"]"#]
        ),
        // The headers of Web Push.
        (
            web(#"{"ttl":"60","topic":"t","urgency":"very-low","apns-priority":{}}"#),
            [#"{"push":{"collapse":"t","priority":"very-low"},"expires":"1970-01-01T00:01:01Z"}"#]
        ),
        (
            web(#"{"TTL":60,"Topic":"t","Urgency":"Low"}"#),
            [#"{"push":{"collapse":"t","priority":"low"},"expires":"1970-01-01T00:01:01Z"}"#]
        ),
        (
            web(#"{"ttl":"-1","topic":"","urgency":"urgent"}"#),
            [
                #"["header_unreadable /headers/ttl","header_unreadable /headers/topic","#
                    + #""header_unreadable /headers/urgency"]"#
            ]
        ),
        // The parts of FCM: each kind of devices has its own, and unknown devices have none.
        (
            fcm(
                #"{"ttl":"3600s","collapse_key":"k","priority":"HIGH"}"#,
                apple: #"{"apns-expiration":"1795255200","apns-collapse-id":"c","apns-priority":"5"}"#,
                web: #"{"TTL":"60","Topic":"t","Urgency":"low"}"#),
            [
                #"{"push":{"collapse":"k","priority":"high"},"expires":"1970-01-01T01:00:01Z"}"#,
                #"{"push":{"collapse":"c","priority":"normal"},"expires":"2026-11-21T10:00:00Z"}"#,
                #"{"push":{"collapse":"t","priority":"low"},"expires":"1970-01-01T00:01:01Z"}"#, "",
            ]
        ),
        (
            fcm(#"{"ttl":"3.5009s","collapseKey":"k"}"#, apple: "[]", web: #"{"ttl":0,"urgency":null}"#),
            [#"{"push":{"collapse":"k"},"expires":"1970-01-01T00:00:04.500Z"}"#, "", "", ""]
        ),
        (
            fcm(
                #"{"ttl":"1.s","collapse_key":"a\u202e","priority":7}"#,
                apple: #"{"apns-expiration":"soon","apns-collapse-id":{}}"#, web: #"{"TTL":"1e3"}"#),
            [
                #"["UNREADABLE /message/android/collapse_key","UNREADABLE /message/android/priority","#
                    + #""UNREADABLE /message/android/ttl"]"#,
                #"["UNREADABLE /message/apns/headers/apns-collapse-id","#
                    + #""UNREADABLE /message/apns/headers/apns-expiration"]"#,
                #"["UNREADABLE /message/webpush/headers/TTL"]"#, "",
            ]
        ),
        // The ids of a vendor come first.
        (
            #"{"payload":{"message":{"data":{"_ab":"1","cid":"s"},"android":{"priority":"normal"}}},"#
                + #""device":{"id":"d","platform":"android"}}"#,
            [#"{"push":{"vendor":"braze","campaign":"s","priority":"normal"}}"#]
        ),
        // Requests of vendors, by their forms.
        (
            expo(#","ttl":60,"expiration":5,"priority":"high""#),
            [#"{"push":{"vendor":"expo","priority":"high"},"expires":"1970-01-01T00:01:01Z"}"#]
        ),
        (
            expo(#","expiration":5,"priority":"default""#),
            [#"{"push":{"vendor":"expo"},"expires":"1970-01-01T00:00:05Z"}"#]
        ),
        (
            expo(#","expiration":"1970-01-01T00:00:07+00:00","priority":[]"#),
            [#"{"push":{"vendor":"expo"},"expires":"1970-01-01T00:00:07Z"} ["UNREADABLE /priority"]"#]
        ),
        // A time to live of zero precedes a time of expiry.
        (expo(#","ttl":0,"expiration":5,"collapseId":"c""#), [#"{"push":{"vendor":"expo","collapse":"c"}}"#]),
        (
            fcm(#"{"ttl":3600000.5}"#, web: #"{"TTL":60}"#),
            [#"{"expires":"1970-01-01T01:00:01Z"}"#, "", #"{"expires":"1970-01-01T00:01:01Z"}"#, ""]
        ),
        (fcm(#"{"ttl":0.5}"#), ["", "", "", ""]),
        (
            airship(#""ios":{"expiry":-1},"android":{"time_to_live":"x"}"#, #""2026-11-21T11:00:00""#),
            [
                #"{"push":{"vendor":"airship"}} ["UNREADABLE /notification/ios/expiry"]"#,
                #"{"push":{"vendor":"airship"}} ["UNREADABLE /notification/android/time_to_live"]"#,
                #"{"push":{"vendor":"airship"},"expires":"2026-11-21T11:00:00Z"}"#,
                #"{"push":{"vendor":"airship"},"expires":"2026-11-21T11:00:00Z"}"#,
            ]
        ),
        (
            airship(#""ios":{"expiry":60,"collapse_id":"c","priority":5},"android":{"time_to_live":0}"#, "90"),
            [
                #"{"push":{"vendor":"airship","collapse":"c","priority":"normal"},"expires":"1970-01-01T00:01:01Z"}"#,
                #"{"push":{"vendor":"airship"}}"#,
                #"{"push":{"vendor":"airship"},"expires":"1970-01-01T00:01:31Z"}"#,
                #"{"push":{"vendor":"airship"},"expires":"1970-01-01T00:01:31Z"}"#,
            ]
        ),
        (
            airship(
                #""ios":{"expiry":"2026-11-21T10:00:00"},"android":{"collapse_key":"k","delivery_priority":"high"}"#,
                #""2026-11-21T11:00:00""#),
            [
                #"{"push":{"vendor":"airship"},"expires":"2026-11-21T10:00:00Z"}"#,
                #"{"push":{"vendor":"airship","collapse":"k","priority":"high"},"expires":"2026-11-21T11:00:00Z"}"#,
                #"{"push":{"vendor":"airship"},"expires":"2026-11-21T11:00:00Z"}"#,
                #"{"push":{"vendor":"airship"},"expires":"2026-11-21T11:00:00Z"}"#,
            ]
        ),
        (
            braze(
                #""apple_push":{"expiry":"2026-11-21T10:00:00","collapse_id":"c","apns_priority":10,"#
                    + #""custom_uri":"one:/"},"#
                    + #""android_push":{"time_to_live":60,"collapse_key":"k","priority":2,"custom_uri":"one:/"},"#
                    + #""web_push":{"time_to_live":"x","custom_uri":"one:/"}"#),
            [
                #"{"push":{"vendor":"braze","collapse":"c","priority":"high"},"expires":"2026-11-21T10:00:00Z"}"#,
                #"{"push":{"vendor":"braze","collapse":"k"},"expires":"1970-01-01T00:01:01Z"}"#,
                #"{"push":{"vendor":"braze"}} ["UNREADABLE /messages/web_push/time_to_live"]"#,
                #"{"push":{"vendor":"braze"}} ["platform_needed /messages/apple_push/custom_uri","#
                    + #""platform_needed /messages/android_push/custom_uri","#
                    + #""platform_needed /messages/web_push/custom_uri"]"#,
            ]
        ),
        (signal("ios"), [#"{"push":{"vendor":"onesignal","collapse":"c","priority":"high"}}"#]),
        (signal("web"), [#"{"push":{"vendor":"onesignal","collapse":"w","priority":"high"}}"#]),
        (signal("tv"), [#"{"push":{"vendor":"onesignal","priority":"high"}}"#]),
    ]

    @Test("A decision has the expiry, the collapse id, and the priority for its device", arguments: cases)
    func values(_ value: String, _ expected: [String]) throws {
        #expect(try Self.tails(value) == expected)
    }

    @Test("Messages of one shape have their own values, and those without any have none")
    func shapes() throws {
        var decider = Decider(
            DeciderConfiguration(tables: TableSet([try RouteTable(json: Array(VendorDecisionTests.table.utf8))])))
        for key in ["a", "\u{202E}", "b", "", "b"] {
            let text = Self.fcm(#"{"collapse_key":"\#(key)"}"#)
            let found = VendorDecisionTests.process(text, key: nil, &decider).decisions.first ?? ""
            #expect(found.contains(#""push":{"collapse":"\#(key)"}}"#) == (key.utf8.count == 1), "\(found)")
            #expect(found.contains("delivery_unreadable") == (key.utf8.count != 1), "\(found)")
        }
        #expect(try Self.tails(Self.fcm("{}")) == ["", "", "", ""])
    }
}
