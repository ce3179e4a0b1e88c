import RouteAnalysis
import LinkCoordinator
import TableSupport
import Testing

@Suite("Hosts that browsers would read differently")
struct HostTests {
    private static func table(_ hosts: String, schemes: String = #""t","http","https""#, path: String = "/p/new") throws
        -> RouteTable
    {
        try RouteTable.checked(
            Array(
                """
                {"schemaVersion":1,"table":{"id":"h","version":"1"},
                 "link":{"schemes":[\(schemes)],"host":"authority","hosts":[\(hosts)]},
                 "coordinators":{"c":{"screens":{"a":{}}}},
                 "routes":[{"id":"r","match":"\(path)","to":{"path":"/c/a"}}],
                 "fallback":{"outcome":"reject"}}
                """.utf8))
    }

    @Test("Two rules for hosts overlap in any order if and only if one host matches both")
    func overlaps() throws {
        let rules = try ["", "*", "a.ex", "a.ex:8443", "a.ex:81", "b.ex", "*.ex", "*.a.ex"].map(HostRule.parse)
        let hosts = ["", "a.ex", "b.ex", "c.ex", "x.a.ex", "other"].flatMap { host in
            [nil, 8443, 81, 5].map { (host: Array(host.utf8), port: $0 as UInt16?) }
        }
        for one in rules {
            for other in rules {
                let isCommon = hosts.contains {
                    one.matches(host: $0.host, port: $0.port) && other.matches(host: $0.host, port: $0.port)
                }
                #expect(one.overlaps(other) == isCommon, "\(one) and \(other)")
            }
        }
    }

    private static let missing = [
        "https:p/new", "https:/p/new", "https:///p/new", "https://", "https://:443/p/new", "https://:8443/p/new",
        "https:", "https:///", "https://?p/new", "https://#p", "http:p/new", "HTTP:///p/new", "hTTps:/p/new",
        "https://./p/new",
    ]

    @Test(
        "An `http` or `https` link without a host is rejected, regardless of the listed hosts",
        arguments: [#""""#, #""*""#, #""","*""#, #""a.example","""#])
    func missing(hosts: String) throws {
        let table = try Self.table(hosts)
        for link in Self.missing {
            let decision = table.resolve(link)
            #expect(decision.reason == "host" && decision.detail == "missing", "\(link)")
            let explanation = table.explain(.link(link))
            #expect(explanation.decision.json == decision.json, "\(link)")
        }
        // Links of other schemes need no host.
        for link in ["t:p/new", "t:/p/new", "t:///p/new", "t://:443/p/new", "t://./p/new"] {
            #expect(table.resolve(link).outcome == .navigate, "\(link)")
        }
    }

    @Test("Other errors of the authority precede a missing host")
    func order() throws {
        let table = try Self.table(#""*""#)
        #expect(table.resolve("https://u@/p/new").detail == "userinfo")
        #expect(table.resolve("https://:99999/p/new").detail == "port")
        #expect(table.resolve("https://%20/p/new").detail == "syntax")
        #expect(table.resolve("https://a.example/p/new").outcome == .navigate)
    }

    @Test("Empty labels are rejected with every scheme")
    func labels() throws {
        let table = try Self.table(#""*","*.shop.example""#)
        for scheme in ["t", "http", "https"] {
            for host in [
                "..shop.example", "b..shop.example", ".shop.example", "shop..example", "shop.example..", "..", "...",
                ".", "a.shop.example.",
            ] {
                let decision = table.resolve("\(scheme)://\(host)/p/new")
                switch host {
                case ".": #expect(decision.detail == (scheme == "t" ? nil : "missing"), "\(scheme) \(host)")
                case "a.shop.example.": #expect(decision.outcome == .navigate, "\(scheme) \(host)")
                default: #expect(decision.reason == "host" && decision.detail == "syntax", "\(scheme) \(host)")
                }
            }
        }
    }

    @Test("A host with an empty label cannot be listed", arguments: ["a..b", "*.a..b", ".a", "a.."])
    func listed(host: String) {
        #expect(throws: RouteTableError.self) { try Self.table(#""\#(host)""#) }
    }

    @Test("Witnesses, samples, and written links have a host or another scheme")
    func links() throws {
        for hosts in [#""""#, #""*""#, #""","*""#, #""","a.example","*.b.example""#] {
            let table = try Self.table(hosts)
            let link = try table.link(route: "r")
            #expect(table.resolve(link).route == "r", "\(hosts): \(link)")
        }
        // This table reads no `https` links, so its only route is never selected.
        #expect(throws: RouteTableError.self) { try Self.table(#""""#, schemes: #""https""#) }
    }

    @Test("Tables that differ only in the empty host differ only in links of other schemes")
    func differences() throws {
        let web = #""https""#
        let a = try Self.table(#""a.example""#, schemes: web)
        let b = try Self.table(#""a.example","""#, schemes: web)
        #expect(b.difference(from: a).changes.isEmpty)
    }

    @Test(
        "A tail parameter of a route request follows the rules of a path",
        arguments: [
            (#"a\u0001b"#, "bad_encoding", "byte 1"), (#"a\\c"#, "bad_encoding", "byte 1"),
            (#"x/\u007f"#, "bad_encoding", "byte 2"), ("x/%00", "bad_encoding", "segment 2"),
            ("x/%5C", nil, nil), ("x/%zz", "bad_encoding", "segment 2"), (#"\u200b"#, "bad_encoding", "segment 1"),
            ("x/%E2%80%8B", "bad_encoding", "segment 2"), ("a/../b", "dot_segment", "segment 2"), ("a/b", nil, nil),
        ] as [(String, String?, String?)])
    func tails(text: String, reason: String?, detail: String?) throws {
        let table = try Self.table(#""*""#, path: "/f/{rest*}")
        let decision = table.resolve(.route("r", params: .json(#"{"rest":"\#(text)"}"#)))
        #expect(decision.reason?.rawValue == reason && decision.detail == detail, "\(text)")
    }
}
