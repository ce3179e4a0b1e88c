@testable import RouteTools
internal import Foundation
internal import LinkCoordinator
internal import StrictJSON
internal import TableSupport
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct ExportTests {
    private static let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")
    private static let webTables = SampleTables.paths.filter { path in
        (try? SampleTables.load(path)).flatMap { WebBlock.first($0.source) } != nil
    }

    @Test(
        "The export equals the snapshot", arguments: ["anchor", "odd"],
        [
            ["aasa", "--app-id", "ABCDE12345.b.c"], ["android"],
            ["assetlinks", "--package", "a.b", "--fingerprint", fingerprint],
        ])
    func recorded(name: String, arguments: [String]) throws {
        let path = SampleTables.path(name)
        let result = try LinkdProcess.run(["routes", "export", path, "--format"] + arguments)
        #expect(result.code == 0, "\(result.err)")
        expectSnapshot(result.out + "--- standard error\n" + result.err, "export-\(name)-\(arguments[0])")
    }

    /// Links of a table's routes and similar links, each with the table's decision.
    private func links(
        _ table: RouteTable, seed: UInt64,
        _ body: (_ link: String, _ route: String?, _ isCanonical: Bool, _ endsWithSlash: Bool) -> Void
    ) {
        var random = SeededGenerator(seed: seed)
        var samples = table.source.routes.flatMap { SampleLinks.all(of: $0, in: table) }
        for block in table.source.blocks where block.hostRole == .authority {
            let prefixes = ["/v1", "/de", "/eu", "/v1/us"]
            samples += samples.flatMap { link in
                prefixes.compactMap { prefix in
                    guard let at = link.firstRange(of: #/:\/\/[^\/]*/#)?.upperBound else { return nil }
                    return link[..<at] + prefix + link[at...]
                }
            }
        }
        let pieces = ["", "/", "x", "/x", "/private", "1", "-", ".html", "%20", "?mode=read", "&key=1", "new", "abc"]
        for round in 0..<3000 {
            guard var link = samples.randomElement(using: &random) else { return }
            if round >= samples.count {
                for _ in 0..<Int.random(in: 1...2, using: &random) {
                    let start = link.firstRange(of: #/:\/\/[^\/]*\/?/#)?.upperBound ?? link.endIndex
                    let at = link.index(
                        start,
                        offsetBy: Int.random(in: 0...link.distance(from: start, to: link.endIndex), using: &random))
                    let end = link.index(at, offsetBy: Int.random(in: 0...4, using: &random), limitedBy: link.endIndex)
                    link.replaceSubrange(at..<(end ?? link.endIndex), with: pieces.randomElement(using: &random) ?? "")
                }
            } else {
                link = samples[round]
            }
            let decision = table.resolve(link)
            if decision.reason == "bad_encoding" || decision.reason == "dot_segment" { continue }
            let path = link.prefix { $0 != "?" && $0 != "#" }
            let isCanonical = !decision.notes.contains { $0.contains("empty segments") }
            body(link, decision.via.first ?? decision.route, isCanonical, path.hasSuffix("/"))
        }
    }

    private func excluded(_ table: RouteTable) -> Set<String> {
        Set(
            table.source.routes.filter { if case .exclude = $0.action { true } else { false } }.map(\.id.value))
    }

    @Test("Apple's file opens exactly the links that the table routes", arguments: webTables)
    func apple(path: String) throws {
        let table = try SampleTables.load(path)
        let association = try #require(AppleAssociation(table, host: nil))
        let file = try AppleMatcher(association.json(appIDs: ["A.b"]))
        let excluded = excluded(table)
        let ids = Set(table.source.routes.map(\.id.value))
        for component in file.components where component["exclude"] == nil {
            #expect(ids.contains(String(component["comment"]?.string?.prefix { $0 != " " } ?? "")))
        }
        var counts = (opened: 0, closed: 0)
        links(table, seed: 11) { link, route, isCanonical, _ in
            guard link.hasPrefix("https:") else { return }
            let decision = file.decide(link)
            if let route, !excluded.contains(route), isCanonical {
                counts.opened += 1
                #expect(decision?.opens == true, "\(link) of \(route): \(decision?.comment ?? "no component")")
            }
            if let route, excluded.contains(route), decision?.opens == true {
                let isNoted = association.notes.lines.contains { $0.contains("also matches") || $0.contains(route) }
                #expect(isNoted, "\(link)")
            }
            if let decision, decision.opens, !decision.comment.contains("; also matches ") {
                counts.closed += 1
                #expect(route.map { !excluded.contains($0) } == true, "\(link) is opened by \(decision.comment)")
            }
        }
        print("\(path): \(counts.opened) routed links open, \(counts.closed) links of exact components are routed")
        #expect(counts.opened > 50 && counts.closed > 50)
    }

    @Test("Android's filters open exactly the links that the table routes", arguments: SampleTables.paths)
    func android(path: String) throws {
        let table = try SampleTables.load(path)
        let filters = AndroidFilters(table)
        let file = AndroidMatcher(filters.xml)
        let excluded = excluded(table)
        let wider = Set(
            filters.notes.lines.compactMap {
                $0.firstMatch(of: #/^route (\S+): the export also matches/#).map { String($0.1) }
            })
        let hasHostNote = filters.notes.lines.contains { $0.contains("without a host") }
        for comment in file.filters.flatMap({ $0.paths.map(\.comment) }) {
            #expect(table.source.routes.contains { comment.hasPrefix($0.id.value + " ") })
        }
        var counts = (opened: 0, closed: 0)
        links(table, seed: 12) { link, route, isCanonical, endsWithSlash in
            let comment = file.decide(link)
            if let route, !excluded.contains(route), isCanonical, !endsWithSlash {
                counts.opened += 1
                #expect(comment != nil, "\(link) of \(route)")
            }
            guard let comment, !wider.contains(String(comment.prefix { $0 != " " })),
                !hasHostNote || link.hasPrefix("https")
            else { return }
            counts.closed += 1
            #expect(route != nil, "\(link) is opened by \(comment)")
        }
        print("\(path): \(counts.opened) routed links open, \(counts.closed) links of exact filters are routed")
        #expect(counts.opened > 50)
    }

    @Test("The Swift file is the one that the tests of generated files compile")
    func swift() throws {
        let folder = Checkout.root.appending(path: "Tests/GeneratedSwiftTests/Generated")
        for (name, arguments) in [("Odd", []), ("Anchor", ["--type-name", "AnchorLink"])] {
            let path = SampleTables.path(name.lowercased())
            let result = try LinkdProcess.run(["routes", "export", path, "--format", "swift"] + arguments)
            #expect(result.code == 0, "\(result.err)")
            #expect(try result.out == String(contentsOf: folder.appending(path: "\(name)Link.swift"), encoding: .utf8))
            #expect(result.err.contains("is excluded: it has no case"))
        }
    }

    @Test("A table with a route of which no link leads back to it cannot be exported as Swift")
    func swiftRefused() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "table-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(
            #"""
            {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["t"],"host":"segment"},
             "models":{"M":{"a":"int","b":"int"}},"coordinators":{"c":{"screens":{"s":{"needs":["M"]}}}},
             "routes":[{"id":"half","match":"/half/{a:int}","to":{"path":"/c/s"},"bind":{"M":{"a":"path.a"}}}]}
            """#.utf8
        ).write(to: file)
        let result = try LinkdProcess.run(["routes", "export", file.path, "--format", "swift"])
        #expect(result.code == 65)
        #expect(result.err.contains("no link of route half leads back to it: M.b: expected a value of type int"))
    }

    @Test(
        "An export that is not possible has advice",
        arguments: [
            ([], 64, "pass --format aasa|android|assetlinks|swift"), (["--format", "aasa"], 64, "pass --app-id"),
            (["--format", "aasa", "--app-id", "A.b", "--host", "x.example"], 64, "no https links with the host"),
            (["--format", "assetlinks", "--package", "a.b"], 64, "pass --fingerprint"),
            (
                ["--format", "assetlinks", "--package", "a.b", "--fingerprint", String(repeating: "x", count: 95)], 64,
                "not a SHA-256"
            ),
            (["--format", "assetlinks", "--package", "a b"], 64, "is not the name of an Android package"),
        ])
    func refused(arguments: [String], code: Int32, message: String) throws {
        let result = try LinkdProcess.run(["routes", "export", SampleTables.path("anchor")] + arguments)
        #expect(result.code == code)
        #expect(result.err.contains(message), "\(result.err)")
    }

    @Test("An app id without its prefix is exported with a warning")
    func prefix() throws {
        for (id, count) in [
            ("com.example.shop", 1), ("abcde12345.com.example.shop", 1), ("ABCDE12345.", 1),
            ("ABCDE12345.com.example.shop", 0),
        ] {
            let path = SampleTables.path("anchor")
            let result = try LinkdProcess.run(["routes", "export", path, "--format", "aasa", "--app-id", id])
            #expect(result.code == 0 && result.err.matches(of: /10 capital letters and digits/).count == count)
        }
    }

    @Test("A table without web links cannot be exported for a site")
    func noWeb() throws {
        let path = Checkout.root.appending(path: "config/routes/seeds/content-flow.json").path
        let result = try LinkdProcess.run(["routes", "export", path, "--format", "aasa", "--app-id", "ABCDE12345.b.c"])
        #expect(result.code == 65)
        #expect(result.err.contains("matches no https links"))
    }

    @Test("Parts that an export omits are reported: slashes, and rewrites after the sixth")
    func fewer() throws {
        let rewrites = (1...8).map { #"{"stripPrefix":"/v\#($0)"}"# }
        func notes(_ count: Int) throws -> [[String]] {
            let table = try RouteTable(
                json: [UInt8](
                    """
                    {"schemaVersion":1,"table":{"id":"t","version":"1"},
                     "link":{"schemes":["https"],"host":"authority","hosts":["a.example"],
                             "rewrites":[\(rewrites.prefix(count).joined(separator: ","))]},
                     "routes":[{"id":"x","match":"/x","to":{"root":true}}]}
                    """.utf8))
            let association = try #require(AppleAssociation(table, host: nil))
            #expect(association.components.count == 1 << min(count, 6))
            return [association.notes.lines, AndroidFilters(table).notes.lines]
        }
        let repeated = "links with repeated slashes in the path are not exported, although the table matches them"
        let atEnd = "links that end with a slash are not exported, although the table matches them"
        #expect(try notes(6) == [[repeated], [atEnd, repeated]])
        for lines in try notes(8) {
            let rest = "but not links with the prefixes of these: /v7, /v8"
            #expect(lines.last == "only the first 6 rewrites are exported, " + rest)
        }
    }

    @Test(
        "The options of the query that Apple's items do not have are reported, if a route requires a value",
        arguments: [
            ("{}", #""1""#, "duplicates first"), (#"{"duplicates":"reject"}"#, #""1""#, nil), ("{}", #""*""#, nil),
            ("{}", "null", nil),
            (
                #"{"pairSeparators":"&;","names":"insensitive","duplicates":"last","decode":"before","plus":"space"}"#,
                #""1""#, "pairSeparators &;, names insensitive, duplicates last, decode before, plus space"
            ),
            (#"{"decode":"none","duplicates":"reject","flatten":true}"#, #""1""#, "decode none, flatten"),
        ])
    func queryOptions(options: String, constraint: String, expected: String?) throws {
        let table = try RouteTable(
            json: [UInt8](
                """
                {"schemaVersion":1,"table":{"id":"t","version":"1"},
                 "link":{"schemes":["https"],"host":"authority","hosts":["a.example"],"query":\(options)},
                 "routes":[{"id":"x","match":"/x","query":{"q":\(constraint)},"to":{"root":true}}]}
                """.utf8))
        let note = try #require(AppleAssociation(table, host: nil)).notes.lines.first { $0.contains("options") }
        #expect(note?.split(separator: ": ").last.map { String($0) } == expected, "\(note ?? "no note")")
    }
}
