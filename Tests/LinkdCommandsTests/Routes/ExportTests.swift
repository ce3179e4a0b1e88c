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
            ["aasa", "--app-id", "A.b.c"], ["android"], ["swift"],
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
        _ table: RouteTable, seed: UInt64, _ body: (_ link: String, _ route: String?, _ isCanonical: Bool) -> Void
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
            let isCanonical = !path.hasSuffix("/") && !decision.notes.contains { $0.contains("empty segments") }
            body(link, decision.via.first ?? decision.route, isCanonical)
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
        links(table, seed: 11) { link, route, isCanonical in
            guard link.hasPrefix("https:") else { return }
            let decision = file.decide(link)
            if let route, !excluded.contains(route), isCanonical {
                counts.opened += 1
                #expect(decision?.opens == true, "\(link) of \(route): \(decision?.comment ?? "no component")")
            }
            if let route, excluded.contains(route), decision?.opens == true {
                let isNoted = association.notes.lines.contains { $0.contains("matches more") || $0.contains(route) }
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
            filters.notes.lines.compactMap { $0.firstMatch(of: #/^route (\S+) matches more/#).map { String($0.1) } })
        let hasHostNote = filters.notes.lines.contains { $0.contains("without a host") }
        for comment in file.filters.flatMap({ $0.paths.map(\.comment) }) {
            #expect(table.source.routes.contains { comment.hasPrefix($0.id.value + " ") })
        }
        var counts = (opened: 0, closed: 0)
        links(table, seed: 12) { link, route, isCanonical in
            let comment = file.decide(link)
            if let route, !excluded.contains(route), isCanonical {
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

    @Test("The Swift enums of all tables compile without a warning")
    func swiftCompiles() throws {
        try withFolder { folder in
            for (index, path) in SampleTables.paths.enumerated() {
                let text = SwiftLinks(try SampleTables.load(path), typeName: "Links\(index)").text
                try Data(text.utf8).write(to: folder.appending(path: "Links\(index).swift"))
            }
            let files = SampleTables.paths.indices.map { "Links\($0).swift" }
            let result = try ChildProcess.run(
                ["swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors"] + files, in: folder, seconds: 300
            )
            #expect(result.status == 0, "\(result.output)\(result.errors)")
        }
    }

    @Test("Links of the Swift enum reach their route with their values, and invalid values have no link")
    func swiftRuns() throws {
        let main = #"""
            import Foundation
            let id = UUID(uuidString: "B121D5E7-EA65-49F8-8B33-B3C43FA93866")!
            let odd: [OddLink] = [
                .ref(id: "ab1", day: "2024-02-29", flag: true, rate: 2.5), .ref(id: "ab"),
                .kind(kind: .old, id2: "x y&z"),
                .kind(kind: .new, id: "é/?#", id2: "1"),
                .page(number: 9, book: "b", url: "https://a.example/x?y", ids: [1, -2]),
                .wide, .deep(when: "2025-11-20", on: false), .deepTop, .path(p: ["main", "start"]), .rest(),
                .rest(rest: ["a b", "c"]), .word, .ref(id: "A"), .ref(id: "ab", day: "2025-02-29"),
                .ref(id: "ab", rate: 0.1 + 0.2), .page(number: 10, book: "b"), .page(number: 1, book: ""),
                .page(number: 1, book: "b", ids: [1, 2, 3, 4]), .path(p: []), .rest(rest: [".."]),
            ]
            for link in odd { print("odd", link.route, link.link() ?? "none") }
            let shop: [ShopLink] = [
                .item(id: id, count: 3), .item(id: id), .newItems, .order(order: 12), .home,
                .search(q: "ü", tags: ["a", "b"]),
                .item(id: id, count: 100), .order(order: 0), .search(q: ""),
            ]
            for link in shop { print("anchor", link.route, link.link() ?? "none") }
            print("anchor", "home", ShopLink.home.link(origin: "shop:///") ?? "none")
            """#
        try withFolder { folder in
            for name in ["odd", "anchor"] {
                let text = SwiftLinks(try SampleTables.load(SampleTables.path(name)), typeName: nil).text
                try Data(text.utf8).write(to: folder.appending(path: "\(name).swift"))
            }
            try Data(main.utf8).write(to: folder.appending(path: "main.swift"))
            let built = try ChildProcess.run(
                ["swiftc", "-swift-version", "6", "-o", "links", "main.swift", "odd.swift", "anchor.swift"], in: folder,
                seconds: 300)
            try #require(built.status == 0, "\(built.errors)")
            let lines = try ChildProcess.run(["./links"], in: folder).output.split(separator: "\n").map(String.init)
            try #require(lines.count == 30)
            var none = 0
            for line in lines {
                let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
                if parts[2] == "none" {
                    none += 1
                    continue
                }
                let decision = try SampleTables.load(SampleTables.path(parts[0])).resolve(
                    parts[2], device: DeviceFacts(app: "6.0", capabilities: ["orders"], claims: ["user", "session"]))
                #expect(decision.route == parts[1], "\(line)")
                #expect(
                    decision.outcome == .navigate || decision.outcome == .external,
                    "\(line) \(String(decoding: decision.json, as: UTF8.self))")
            }
            #expect(none == 11)
            #expect(lines[0] == "odd ref https://a.example/ref/ab1?day=2024-02-29&flag=true&rate=2.5")
        }
    }

    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "links-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test(
        "An export that is not possible has advice",
        arguments: [
            ([], 64, "pass --format aasa|android|assetlinks|swift"), (["--format", "aasa"], 64, "pass --app-id"),
            (["--format", "assetlinks", "--package", "a.b"], 64, "pass --fingerprint"),
            (
                ["--format", "assetlinks", "--package", "a.b", "--fingerprint", String(repeating: "x", count: 95)], 64,
                "not a SHA-256"
            ),
        ])
    func refused(arguments: [String], code: Int32, words: String) throws {
        let result = try LinkdProcess.run(["routes", "export", SampleTables.path("anchor")] + arguments)
        #expect(result.code == code)
        #expect(result.err.contains(words), "\(result.err)")
    }

    @Test("A table without web links cannot be exported for a site")
    func noWeb() throws {
        let path = Checkout.root.appending(path: "config/routes/seeds/content-flow.json").path
        let result = try LinkdProcess.run(["routes", "export", path, "--format", "aasa", "--app-id", "A.b.c"])
        #expect(result.code == 65)
        #expect(result.err.contains("matches no https links"))
    }

    @Test("Parts that an export omits are reported: trailing slashes, and rewrites after the sixth")
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
        for lines in try notes(6) {
            #expect(lines == ["links that end with a slash are not exported, although the table matches them"])
        }
        for lines in try notes(8) {
            let rest = "but not links with the prefixes of these: /v7, /v8"
            #expect(lines.last == "only the first 6 rewrites are exported, " + rest)
        }
    }
}
