import ByteStorage
import LinkCoordinator
import LinkDecider
import LinkIngest
import ShortLinks
import StrictJSON
import Testing

/// Decisions about links of the table of `VendorDecisionTests`, whose scheme is `one`.
@Suite("Short links are answered from a file")
struct ShortLinkDecisionTests {
    static let rows: [(String, String)] = [
        ("brand.app.link/abc", "one:/other"), ("go.example/x", "one:/"), ("go.example/x?v=2", "one:/other"),
        ("go.example/x?v=2#f", "one:/nope"), ("go.example/", "one:/other?utm_source=root"),
        ("go.example/wrapped", "https://b.onelink.me/a?af_dp=one%3A%2Fother"),
        ("go.example/unknown", "https://brand.app.link/none"), ("go.example/again", "https://go.example/x"),
        ("go.example/deep", "https://b.onelink.me/a?af_dp=one%3A%2Fother"),
        ("s.page.link/Ab1", "one:/other"), ("go.example/tracked", "one:/other"),
    ]

    static func file(_ rows: [(String, String)] = rows, hash: String? = "0123456789abcdef") -> ShortLinkFile {
        ShortLinkFile(rows.map { (Array($0.0.utf8), Array($0.1.utf8)) }, hash: hash)
    }

    static func configuration(
        _ source: ShortLinkSource?, hasPlatforms: Bool = true, contextQuery: [String] = []
    ) throws -> DeciderConfiguration {
        DeciderConfiguration(
            tables: TableSet([try RouteTable(json: Array(VendorDecisionTests.table.utf8))]),
            contextQuery: contextQuery, vendors: try VendorTable(json: VendorDecisionTests.bytes(of: "vendors.json")),
            platforms: hasPlatforms
                ? try LinkPlatforms(file: VendorDecisionTests.bytes(of: "link-platforms.json")) : nil,
            shortLinks: source)
    }

    /// Returns the route or the reason, and the notes of each decision.
    private static func outcomes(
        _ value: String, _ source: ShortLinkSource?, hasPlatforms: Bool = true
    ) throws -> [String] {
        var decider = Decider(try configuration(source, hasPlatforms: hasPlatforms))
        return try outcomes(value, &decider)
    }

    private static func outcomes(_ value: String, _ decider: inout Decider) throws -> [String] {
        let (decisions, cause) = VendorDecisionTests.process(value, key: "k", &decider)
        #expect(cause == nil, "\(value): \(cause?.detail ?? "")")
        return try decisions.map { decision in
            let json = try JSONValue.parse(Array(decision.drop { $0 != "{" }.utf8))
            let result = json["route"]?.string ?? json["reason"]?.string ?? ""
            return ([result] + (json["notes"]?.array?.compactMap(\.string) ?? [])).joined(separator: " | ")
        }
    }

    private static func note(_ key: String, _ destination: String) -> String {
        "short_link:0123456789abcdef \(key) \(destination)"
    }

    static let cases: [(String, String)] = [
        // A short link of a platform, with any scheme, case of the host, and query.
        ("https://brand.app.link/abc", "other | \(note("brand.app.link/abc", "one:/other"))"),
        ("http://Brand.APP.link/abc?utm_source=a#f", "other | \(note("brand.app.link/abc", "one:/other"))"),
        ("https://brand.app.link:443/abc", "other | \(note("brand.app.link/abc", "one:/other"))"),
        ("https://s.page.link/Ab1", "other | \(note("s.page.link/Ab1", "one:/other"))"),
        // Other links of the platform.
        ("https://brand.app.link/ABC", "needs_resolution | unwrapped:branch"),
        ("https://brand.app.link/abc/", "needs_resolution | unwrapped:branch"),
        ("https://s.page.link/ab1", "needs_resolution | unwrapped:firebase-dynamic-links"),
        ("https://brand.app.link:8443/abc", "scheme"),
        // The destination in the link itself precedes the file.
        ("https://brand.app.link/abc?$deeplink_path=one%3A%2F", "start | unwrapped:branch.$deeplink_path"),
        // A host of the file, of no platform.
        ("https://go.example/x", "start | \(note("go.example/x", "one:/"))"),
        ("https://go.example/x?v=1", "start | \(note("go.example/x", "one:/"))"),
        ("https://go.example/x?v=2", "other | \(note("go.example/x?v=2", "one:/other"))"),
        ("https://go.example/x?v=2#g", "other | \(note("go.example/x?v=2", "one:/other"))"),
        ("https://go.example/x?v=2#f", "no_route | \(note("go.example/x?v=2#f", "one:/nope"))"),
        ("https://go.example", "other | \(note("go.example/", "one:/other?utm_source=root"))"),
        ("https://go.example?a", "other | \(note("go.example/", "one:/other?utm_source=root"))"),
        // The destination is a link of a platform, or has parameters of one.
        (
            "https://go.example/wrapped",
            "other | \(note("go.example/wrapped", "https://b.onelink.me/a?af_dp=one%3A%2Fother"))"
                + " | unwrapped:appsflyer.af_dp"
        ),
        (
            "https://go.example/tracked?adj_t=1",
            "other | unwrapped:adjust | \(note("go.example/tracked", "one:/other"))"
        ),
        (
            "https://go.example/unknown",
            "needs_resolution | \(note("go.example/unknown", "https://brand.app.link/none")) | unwrapped:branch"
        ),
        // A wrapper of a short link, as deep as links can be, and deeper.
        (
            "https://l.facebook.com/l.php?u=https%3A%2F%2Fgo.example%2Fdeep",
            "other | unwrapped:click-tracking.u"
                + " | \(note("go.example/deep", "https://b.onelink.me/a?af_dp=one%3A%2Fother"))"
                + " | unwrapped:appsflyer.af_dp"
        ),
        (
            "https://l.facebook.com/l.php?u=https%3A%2F%2Fwww.google.com%2Furl%3Fq%3Dhttps%253A%252F%252Fgo.example"
                + "%252Fdeep",
            "needs_resolution | unwrapped:click-tracking.u | unwrapped:click-tracking.q"
                + " | \(note("go.example/deep", "https://b.onelink.me/a?af_dp=one%3A%2Fother")) | link_nested_too_deep"
        ),
        // Events that are no bare links, for each device.
        (
            #"{"link":"https://go.example/x","device":{"id":"d"}}"#, "start | \(note("go.example/x", "one:/"))"
        ),
        (
            #"{"payload":{"aps":{},"first":"https://brand.app.link/abc"},"device":{"id":"d"}}"#,
            "other | \(note("brand.app.link/abc", "one:/other"))"
        ),
        (
            #"{"payload":{"aps":{},"ab":{},"ab_uri":"https://go.example/x"},"device":{"id":"d"}}"#,
            "start | \(note("go.example/x", "one:/"))"
        ),
        ("one:/other", "other"),
        // An event that has expired, which is not resolved.
        (
            #"{"link":"https://go.example/x","expires":"1970-01-01T00:00:00Z","device":{"id":"d"}}"#,
            "expired | \(note("go.example/x", "one:/"))"
        ),
        (
            #"{"payload":{"aps":{},"ab":{},"ab_uri":"https://go.example/x"},"expires":"1970-01-01T00:00:00Z","#
                + #""device":{"id":"d"}}"#,
            "expired | \(note("go.example/x", "one:/"))"
        ),
        (
            #"{"link":"https://l.facebook.com/l.php?u=one%3A%2F","expires":"1970-01-01T00:00:00Z","#
                + #""device":{"id":"d"}}"#,
            "expired"
        ),
    ]

    @Test("A short link opens its destination, with a note, and unknown ones need resolution", arguments: cases)
    func decisions(value: String, expected: String) throws {
        #expect(try Self.outcomes(value, ShortLinkSource(Self.file())) == [expected])
    }

    /// A short link whose destination leads to another short link through a link of a platform, and so on.
    private static let chain = (1...4).map { number in
        (
            "go.example/c\(number)",
            number == 4 ? "one:/other" : "https://b.onelink.me/a?af_dp=https%3A%2F%2Fgo.example%2Fc\(number + 1)"
        )
    }

    @Test("Short links behind each other open the last destination, or nothing beyond the limit, also from the notes")
    func chains() throws {
        let (file, chain) = (Self.file(Self.rows + Self.chain), Self.chain)
        let middle = "unwrapped:appsflyer.af_dp"
        let links = [
            (
                "go.example/again",
                ["start", Self.note("go.example/again", "https://go.example/x"), Self.note("go.example/x", "one:/")]
            ),
            ("go.example/c3", ["other", Self.note(chain[2].0, chain[2].1), middle, Self.note(chain[3].0, chain[3].1)]),
            (
                "go.example/c2",
                [
                    "needs_resolution", Self.note(chain[1].0, chain[1].1), middle, Self.note(chain[2].0, chain[2].1),
                    "link_nested_too_deep",
                ]
            ),
            // The fourth link is a short link, which is not followed, and which the decision needs to be made again.
            (
                "b.onelink.me/a?af_dp=https%3A%2F%2Fgo.example%2Fc3",
                [
                    "needs_resolution", middle, Self.note(chain[2].0, chain[2].1), middle,
                    Self.note(chain[3].0, chain[3].1), "link_nested_too_deep",
                ]
            ),
        ]
        // A chain counts as one step, so two wrappers around it are not too deep.
        let google = "www.google.com/url?q=https%3A%2F%2Fgo.example%2Ftwo"
        let two = Self.rows + Self.chain + [("go.example/two", "https://go.example/deep?utm_source=x")]
        let opened = try Self.outcomes("https://" + google, ShortLinkSource(Self.file(two)))
        #expect(opened.first?.hasPrefix("other | unwrapped:click-tracking.q | short_link:") == true, "\(opened)")
        #expect(opened.first?.hasSuffix(middle) == true, "\(opened)")
        for (link, expected) in links {
            let found = try Self.outcomes("https://" + link, ShortLinkSource(file))
            #expect(found == [expected.joined(separator: " | ")])
            let noted = expected.compactMap { note -> (String, String)? in
                let parts = note.split(separator: " ").map(String.init)
                return parts.count == 3 ? (parts[1], parts[2]) : nil
            }
            #expect(try Self.outcomes("https://" + link, ShortLinkSource(Self.file(noted))) == found)
        }
    }

    @Test("All decisions without a short link are the same with and without a file", arguments: [true, false])
    func unchanged(hasPlatforms: Bool) throws {
        var with = Decider(try Self.configuration(ShortLinkSource(Self.file()), hasPlatforms: hasPlatforms))
        var without = Decider(try Self.configuration(nil, hasPlatforms: hasPlatforms))
        let values = [
            "one:/", "one:/nope?utm_source=a", "https://other.example/a?x=https://b.example/?y=1&z=2#f",
            "https://brand.app.link/none", "https://b.onelink.me/a?af_dp=one%3A%2Fother", "https://go.example/none",
            #"{"link":"one:/","devices":[{"id":"a"},{"id":"b","platform":"ios"}]}"#,
            #"{"payload":{"aps":{},"ab":{},"ab_uri":"https://x.example/?u=https://y.example?a=b&c"},"#
                + #""device":{"id":"d"}}"#,
            #"{"link":"https://x.example/?u=https://y.example?a=b&c","device":{"id":"d"}}"#,
        ]
        // The second time, the reader knows the origins.
        for value in values + values {
            let first = VendorDecisionTests.process(value, key: "k", &with)
            let second = VendorDecisionTests.process(value, key: "k", &without)
            #expect(first.decisions == second.decisions && first.cause == second.cause, "\(value)")
        }
    }

    @Test("Another file counts from the next record on, also for hosts that the reader knew as others")
    func replaced() throws {
        let link = #"{"link":"https://new.example/a","device":{"id":"d"}}"#
        var decider = Decider(try Self.configuration(ShortLinkSource(Self.file())))
        for _ in 0..<3 { #expect(try Self.outcomes(link, &decider) == ["scheme"]) }
        decider.use(Self.file([("new.example/a", "one:/")], hash: "f0"))
        #expect(try Self.outcomes(link, &decider) == ["start | short_link:f0 new.example/a one:/"])
        #expect(try Self.outcomes("https://go.example/x", &decider) == ["scheme"])
    }

    @Test("The query of a short link is the one of a wrapper")
    func query() throws {
        let configuration = try Self.configuration(
            ShortLinkSource(Self.file()), contextQuery: ["utm_source", "utm_term"])
        var decider = Decider(configuration)
        for link in ["https://go.example/?utm_source=out&utm_term=t", "https://go.example/?utm_term=t"] {
            let text = VendorDecisionTests.process(link, key: "k", &decider).decisions.joined()
            #expect(text.contains(#""query":{"utm_source":"root","utm_term":"t"}"#), "\(text)")
        }
    }
}
