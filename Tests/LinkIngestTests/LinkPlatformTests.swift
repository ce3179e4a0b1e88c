import ByteStorage
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@testable import LinkIngest

/// A line of `links.jsonl`: a link and its destination.
struct LinkCase: Sendable, CustomTestStringConvertible {
    let link: [UInt8]
    let device: DeviceClass
    let kind: String
    let to: String?
    let platform: String?
    let parameter: String?
    let notes: [String]

    var testDescription: String { String(decoding: link, as: UTF8.self) }

    static let all: [LinkCase] = {
        do {
            return try IngestFixture.lines("links.jsonl").map { line in
                LinkCase(
                    link: Array((line["link"]?.string ?? "").utf8),
                    device: line["device"]?.string.flatMap(DeviceClass.init(rawValue:)) ?? .unknown,
                    kind: line["kind"]?.string ?? "", to: line["to"]?.string, platform: line["platform"]?.string,
                    parameter: line["parameter"]?.string, notes: line["notes"]?.array?.compactMap(\.string) ?? [])
            }
        } catch {
            // The suite fails without its cases.
            return []
        }
    }()
}

/// An unwrapped link, copied into plain values.
struct LinkSnapshot: Equatable {
    var kind: String
    var to: String?
    var steps: [String]
    var notes: [String]

    init(_ found: UnwrappedLink, _ table: LinkPlatforms) {
        switch found.kind {
        case .itself: kind = "itself"
        case .link: kind = "link"
        case .noLink: kind = "no_link"
        case .needsResolution: kind = "needs_resolution"
        }
        to = found.kind == .link ? found.link.string : nil
        steps = (0..<found.stepCount).map { step in
            table.platform(of: found, step: step).string
                + (table.parameter(of: found, step: step).map { "." + $0.string } ?? "")
        }
        let names: [(UnwrappedLink.Notes, String)] = [
            (.malformed, "malformed"), (.noScheme, "no_scheme"), (.scheme, "scheme"), (.cut, "cut"),
            (.tooDeep, "too_deep"), (.tooLong, "too_long"),
        ]
        notes = names.filter { found.notes.contains($0.0) }.map(\.1)
    }
}

extension LinkPlatforms {
    /// Unwraps a link in memory of exactly its length.
    func snapshot(_ link: [UInt8], device: DeviceClass = .unknown, limit: Int = defaultLimit) -> LinkSnapshot {
        var arena = OutputArena(chunkBytes: 4096)
        let bytes = ExactBytes(link)
        return withExtendedLifetime(bytes) {
            LinkSnapshot(destination(of: bytes.view, device: device, limit: limit, into: &arena), self)
        }
    }

    func snapshot(_ link: String, limit: Int = defaultLimit) -> LinkSnapshot {
        snapshot(Array(link.utf8), limit: limit)
    }

    /// Compiles rules that a test contains.
    static func rules(_ rules: String) throws -> LinkPlatforms {
        let text = #"{"schemaVersion":1,"platforms":[{"id":"p","name":"P","rules":[\#(rules)]}]}"#
        return try LinkPlatforms(file: Array(text.utf8))
    }
}

@Suite("Links of link platforms are unwrapped without a network")
struct LinkPlatformTests {
    let table: LinkPlatforms

    init() throws { table = try LinkPlatforms(file: IngestFixture.shipped("link-platforms.json")) }

    @Test("Each link has the expected destination, platform, and parameter", arguments: LinkCase.all)
    func destination(of row: LinkCase) {
        let found = table.snapshot(row.link, device: row.device)
        #expect(found.kind == row.kind)
        #expect(found.to == row.to)
        #expect(found.notes == row.notes)
        #expect(found.steps.last == row.platform.map { $0 + (row.parameter.map { "." + $0 } ?? "") })
        // The last step of a link that is taken from another one names the parameter.
        #expect(row.kind == "itself" ? found.steps.isEmpty : !found.steps.isEmpty)
    }

    @Test("All cases are read, with every link of the vendors' own tests")
    func cases() throws {
        #expect(LinkCase.all.count > 150)
        let messages = try IngestFixture.lines("links.jsonl").count { $0["message"] != nil }
        #expect(messages == 21)
        #expect(Set(LinkCase.all.map(\.kind)) == ["itself", "link", "no_link", "needs_resolution"])
    }

    @Test("The examples of the shipped file hold, and all its platforms have some")
    func examples() throws {
        let file = try IngestFixture.shipped("link-platforms.json")
        #expect(LinkPlatforms.check(file).problems == [])
        let rows = try #require(JSONValue.parse(file)["platforms"]?.array)
        #expect(rows.allSatisfy { $0["examples"]?.array?.isEmpty == false })
    }

    @Test("The three forms of an Adjust link have one decision")
    func adjustForms() throws {
        let routes = try RouteTable(
            json: #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},
                 "link":[{"schemes":["https"],"host":"authority","hosts":["brand.go.link","example.com"]},
                         {"schemes":["example"],"host":"segment"}],
                 "coordinators":{"c":{"screens":{"x":{"needs":["M"]}}}},"models":{"M":{"y":"string?","all":"int?"}},
                 "routes":[{"id":"r","match":"/x","to":{"path":"/c/x"},"bind":{"M":{"y":"query.y"}}}]}
                """#.utf8.map { $0 })
        for query in ["?y=1", "?y=1&adj_t=abc", "?adj_t=a&y=1&adj_campaign=2&adjust_redirect=3", "?adjust_t=a&y=1"] {
            let decisions = ["https://brand.go.link/x", "https://example.com/x", "example://x"].map { form in
                let found = table.snapshot(form + query)
                return String(decoding: routes.resolve(found.to ?? form + query).json, as: UTF8.self)
            }
            #expect(decisions[0].contains(#""outcome":"navigate""#) && decisions[0].contains(#""y":"1""#))
            #expect(Set(decisions).count == 1, "\(query): \(decisions)")
        }
    }

    @Test("An origin of the app replaces the platform's host and completes values without a scheme")
    func origins() throws {
        let web = try LinkPlatforms.rules(
            #"{"hosts":["brand.go.link"],"strip":["adj_*"],"origin":"https://shop.example"}"#)
        for (link, to) in [
            ("https://brand.go.link/p/42?y=1&adj_t=a#f", "https://shop.example/p/42?y=1#f"),
            ("https://brand.go.link", "https://shop.example"), ("https://brand.go.link/", "https://shop.example"),
            ("https://brand.go.link//evil.example/x", "https://shop.example/evil.example/x"),
            ("https://brand.go.link/@evil.example", "https://shop.example/@evil.example"),
        ] {
            #expect(web.snapshot(link).to == to)
        }
        let app = try LinkPlatforms.rules(
            #"{"hosts":["*.app.link"],"unwrap":["$deeplink_path"],"origin":"shop://","result":"needs_resolution"}"#)
        for (value, to) in [
            ("p%2F42", "shop://p/42"), ("%2Fp%2F42", "shop://p/42"), ("%2F%2Fp", "shop://p"), ("a+b", "shop://a+b"),
            ("other%3A%2F%2Fp", "other://p"), ("product%3A42", "shop://product:42"), ("", nil),
        ] {
            let found = app.snapshot("https://b.app.link/abc?%24deeplink_path=\(value)")
            #expect(found.to == to && found.kind == (to == nil ? "needs_resolution" : "link"))
        }
    }

    @Test("A link inside a link is taken out at most three times, also where links lead to each other")
    func depth() throws {
        let table = try LinkPlatforms.rules(#"{"hosts":["a.example"],"unwrap":["u"]}"#)
        func nested(_ levels: Int) -> String {
            (0..<levels).reduce("https://z.example/x") { inner, _ in "https://a.example/?u=" + Self.escaped(inner) }
        }
        for levels in 0...LinkPlatforms.maxSteps {
            let found = table.snapshot(nested(levels))
            #expect(found.kind == (levels == 0 ? "itself" : "link"))
            #expect(found.to == (levels == 0 ? nil : "https://z.example/x"))
            #expect(found.steps.count == levels && found.notes == [])
        }
        for levels in LinkPlatforms.maxSteps + 1...5 {
            let found = table.snapshot(nested(levels))
            #expect(found.kind == "needs_resolution" && found.notes == ["too_deep"])
        }
        let there = #"{"hosts":["a.example"],"origin":"https://b.example"}"#
        let back = #"{"hosts":["b.example"],"origin":"https://a.example"}"#
        let circle = try LinkPlatforms.rules(there + "," + back)
        #expect(circle.snapshot("https://a.example/x").notes == ["too_deep"])
        let own = try LinkPlatforms.rules(#"{"hosts":["a.example"],"strip":["x"]}"#)
        #expect(own.snapshot("https://a.example/x?y=1").kind == "itself")
        #expect(own.snapshot("https://a.example/x?x=1&y=1").to == "https://a.example/x?y=1")
    }

    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { out, byte in
            let isPlain = byte &- 97 < 26 || byte &- 48 < 10
            out +=
                isPlain ? String(UnicodeScalar(byte)) : "%" + String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
        }
    }

    @Test("A link that is longer than the limit is its own destination, and no destination is longer")
    func limits() throws {
        let link = "https://brand.onelink.me/x?af_dp=shop%3A%2F%2Fp"
        #expect(table.snapshot(link, limit: link.utf8.count).kind == "link")
        #expect(table.snapshot(link, limit: link.utf8.count - 1).kind == "itself")
        let items = String(repeating: "&", count: LinkPlatforms.maxQueryItems - 1)
        #expect(table.snapshot("https://brand.go.link/x?adj_t=1" + items).kind == "link")
        #expect(table.snapshot("https://brand.go.link/x?adj_t=1" + items + "&").kind == "itself")
        #expect(table.snapshot("https://brand.go.link/x?" + items + "&adj_t=1").kind == "itself")
        let origin = try LinkPlatforms.rules(
            #"{"hosts":["a.example"],"unwrap":["u"],"origin":"https://a-long-host.shop.example","result":"no_link"}"#)
        let short = "https://a.example/?u=p"
        #expect(origin.snapshot(short, limit: 64).to == "https://a-long-host.shop.example/p")
        #expect(origin.snapshot(short, limit: short.utf8.count).kind == "no_link")
        #expect(origin.snapshot(short, limit: short.utf8.count).notes == ["too_long"])
        let rewriting = try LinkPlatforms.rules(
            #"{"hosts":["a.example"],"strip":["u"],"origin":"https://a-long-host.shop.example"}"#)
        #expect(rewriting.snapshot(short, limit: short.utf8.count).kind == "no_link")
    }
}
