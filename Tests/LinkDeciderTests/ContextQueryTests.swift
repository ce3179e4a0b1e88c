import LinkCoordinator
import LinkDecider
import StrictJSON
import TestSupport
import Testing

/// Decisions about links of the table of `VendorDecisionTests`, whose scheme is `one`.
@Suite("Items of the link's query are copied into the context")
struct ContextQueryTests {
    /// The members `context` and `notes` of a decision.
    private static func tail(_ value: String, names: [String] = QueryNames.campaign) throws -> [String] {
        let (decisions, cause) = try VendorDecisionTests.process(value, contextQuery: names)
        #expect(cause == nil, "\(value): \(cause?.detail ?? "")")
        return try decisions.map { decision in
            let json = try JSONValue.parse(Array(decision.drop { $0 != "{" }.utf8))
            return ["context", "notes"].compactMap { json[$0]?.text }.joined(separator: " ")
        }
    }

    private static let long = String(repeating: "x", count: 1000)

    /// Values of records, and the context and the notes of each decision.
    static let cases: [(String, [String])] = [
        (
            "one:/?utm_campaign=spring+sale%21&x=1&utm_source=push",
            [#"{"query":{"utm_source":"push","utm_campaign":"spring sale!"}}"#]
        ),
        ("one:/", [""]), ("one:/?", [""]), ("one:/?x=1&utm_=2&utm_sourc=3&utm_source&=utm_source", [""]),
        // The first value that is not empty, of a name in exactly this spelling.
        (
            "one:/?utm_source=&UTM_SOURCE=a&utm_source=b=c&utm_source=d&&xutm_term=e",
            [#"{"query":{"utm_source":"b=c"}}"#]
        ),
        // The fragment has no items.
        ("one:/?utm_source=a#x?utm_term=b", [#"{"query":{"utm_source":"a"}}"#]), ("one:/#?utm_term=b", [""]),
        // What cannot be decoded, and what is beyond the limit, is left out with a note.
        (
            "one:/?utm_source=%zz&utm_medium=%ff&utm_campaign=%0a&utm_term=%E2%80%AE&utm_content=%22%5C%C3%A9",
            [
                #"{"query":{"utm_content":"\"\\é"}} ["query_skipped utm_source","query_skipped utm_medium","#
                    + #""query_skipped utm_campaign","query_skipped utm_term"]"#
            ]
        ),
        ("one:/?utm_source=%", [#"["query_skipped utm_source"]"#]),
        (
            #"{"link":"one:/?utm_source=%","expires":"9999-12-31T23:59:59-00:01","device":{"id":"d"}}"#,
            [#"["expires_skipped","query_skipped utm_source"]"#]
        ),
        (
            "one:/?utm_source=\(long)&utm_medium=1234567890123456789012345&utm_term=%31%32",
            [#"{"query":{"utm_source":"\#(long)","utm_term":"12"}} ["query_skipped utm_medium"]"#]
        ),
        // Rejected links and expired events have them too, but not links with a byte that no link may have.
        ("one:/nope?utm_source=a", [#"{"query":{"utm_source":"a"}}"#]),
        ("two:/?utm_source=a#b", [#"{"query":{"utm_source":"a"}}"#]),
        (
            #"{"link":"one:/?utm_source=a","expires":"1970-01-01T00:00:00Z","device":{"id":"d"}}"#,
            [#"{"expires":"1970-01-01T00:00:00Z","query":{"utm_source":"a"}}"#]
        ),
        (#"{"link":"one:/?utm_source=a\u0001","device":{"id":"d"}}"#, [""]),
        // Each device reads the query, so its length and its items have the limits that a table can have.
        (
            #"{"link":"one:/?utm_source=a&\#(String(repeating: "x", count: 65_536 - 19))","#
                + #""expires":"1970-01-01T00:00:00Z","device":{"id":"d"}}"#,
            [#"{"expires":"1970-01-01T00:00:00Z","query":{"utm_source":"a"}}"#]
        ),
        (
            #"{"link":"one:/?utm_source=a&\#(String(repeating: "x", count: 65_536 - 18))","#
                + #""expires":"1970-01-01T00:00:00Z","device":{"id":"d"}}"#,
            [#"{"expires":"1970-01-01T00:00:00Z"}"#]
        ),
        ("one:/?\(String(repeating: "&", count: 1_023))utm_source=a", [#"{"query":{"utm_source":"a"}}"#]),
        ("one:/?\(String(repeating: "&", count: 1_024))utm_source=a", [""]),
        // Every device of an event, after the other members of the context.
        (
            #"{"link":"one:/?utm_source=%&utm_term=t","devices":[{"id":"a"},{"id":"b"},{"id":"c"}]}"#,
            Array(repeating: #"{"query":{"utm_term":"t"}} ["query_skipped utm_source"]"#, count: 3)
        ),
        (
            #"{"payload":{"aps":{},"ab":{"c":"s"},"ab_uri":"one:/?utm_source=a"},"device":{"id":"d"}}"#,
            [#"{"push":{"vendor":"braze","campaign":"s"},"query":{"utm_source":"a"}}"#]
        ),
        // The link at the table's pointer, and not the vendor's.
        (
            #"{"payload":{"aps":{},"first":"one:/?utm_term=t","ab":{},"ab_uri":"one:/?utm_source=a"},"#
                + #""device":{"id":"d"}}"#,
            [#"{"push":{"vendor":"braze"},"query":{"utm_term":"t"}}"#]
        ),
        // Neither a path nor the parameters of a route are a link.
        (#"{"path":"/home/feed?utm_source=a","device":{"id":"d"}}"#, [""]),
        (#"{"route":"start","params":{"utm_source":"a"},"device":{"id":"d"}}"#, [""]),
        // The wrapper has what the destination lacks.
        (
            #"{"link":"https://b.onelink.me/a?utm_term=out&af_dp=one%3A%2F%3Futm_source%3Din%26utm_term%3D&utm_source="#
                + #"o","device":{"id":"d"}}"#,
            [#"{"query":{"utm_source":"in","utm_term":"out"}} ["unwrapped:appsflyer.af_dp"]"#]
        ),
        // Of two wrappers, the inner one precedes the outer one.
        (
            "https://eur02.safelinks.protection.outlook.com/?utm_term=1&utm_medium=1&url=https%3A%2F%2Fb.onelink.me%2Fa"
                + "%3Futm_medium%3D2%26utm_source%3D2%26af_dp%3Done%253A%252F%253Futm_source%253D3",
            [
                #"{"query":{"utm_source":"3","utm_medium":"2","utm_term":"1"}} ["unwrapped:click-tracking.url","#
                    + #""unwrapped:appsflyer.af_dp"]"#
            ]
        ),
        // A short link is its own wrapper, and a table's pointer can lead to one.
        (
            "https://brand.app.link/x?utm_source=s",
            [#"{"query":{"utm_source":"s"}} ["unwrapped:branch"]"#]
        ),
        (
            #"{"payload":{"aps":{},"first":"https://b.onelink.me/a?af_dp=one%3A%2F&utm_source=w"},"#
                + #""device":{"id":"d"}}"#,
            [#"{"query":{"utm_source":"w"}} ["unwrapped:appsflyer.af_dp"]"#]
        ),
    ]

    @Test("A decision has the values of the destination, else of its wrappers", arguments: cases)
    func values(_ value: String, _ expected: [String]) throws {
        #expect(try Self.tail(value) == expected)
        // Without names, nothing is copied and noted.
        let plain = try Self.tail(value, names: [])
        #expect(plain.allSatisfy { !$0.contains("query") }, "\(plain)")
    }

    @Test("Names are in the order of the setting, and repeated ones and those beyond the limit are ignored")
    func names() throws {
        let names = ["b", "a\"", "b", ""] + (0..<20).map { "n\($0)" }
        let link = "one:/?" + (["a\"=1", "b=2"] + (0..<20).map { "n\($0)=3" }).joined(separator: "&")
        let rest = (0..<14).map { #","n\#($0)":"3""# }.joined()
        #expect(try Self.tail(link, names: names) == [#"{"query":{"b":"2","a\"":"1"\#(rest)}}"#])
    }

    @Test("The first value that is not empty counts, whatever surrounds it")
    func law() throws {
        var random = SeededGenerator(seed: .random(in: 0 ... .max))
        let pieces = ["utm_term=", "utm_source=", "utm_", "x", "=", "&", "&", "%41", "+", "ü", "utm_term", "1"]
        for _ in 0..<500 {
            let query = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            let members = ["utm_source", "utm_term"].compactMap { name in
                query.split(separator: "&").first { $0.hasPrefix(name + "=") && $0 != name + "=" }.map { item in
                    let value = item.dropFirst(name.count + 1).replacing("%41", with: "A").replacing("+", with: " ")
                    return #""\#(name)":"\#(value)""#
                }
            }
            let expected = members.isEmpty ? "" : #"{"query":{\#(members.joined(separator: ","))}}"#
            let found = try Self.tail("one:/?" + query, names: ["utm_source", "utm_term"])
            #expect(found == [expected], "seed \(random.seed): \(query)")
        }
    }
}
