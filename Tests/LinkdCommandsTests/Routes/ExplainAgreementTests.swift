internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

/// The law that `resolve --explain` agrees with `resolve`, for sets of tables whose schemes and hosts overlap.
@Suite("Explanations of several tables agree with decisions") struct ExplainAgreementTests {
    /// The routes that tables choose from.
    ///
    /// Some redirect, refuse, need values, or depend on the device.
    private static let routes = [
        #"{"id": "new", "match": "/p/new", "to": {"root": true}}"#,
        #"{"id": "item", "match": "/p/{id:int(1..)}", "bind": {"Item": {"id": "path.id", "count": "query.count"}},"#
            + #" "to": {"path": "/main/item", "parents": "initial"}}"#,
        #"{"id": "old", "match": "/old/{id:int(1..)}", "redirect": "/p/{id}"}"#,
        #"{"id": "legal", "match": "/legal/{rest+}", "exclude": {"outcome": "none"}}"#,
        #"{"id": "beta", "match": "/beta", "variants": [{"when": {"app": ">=4.0.0"}, "to": {"path": "/main/start"}},"#
            + #" {"to": {"root": true}}]}"#,
    ]

    /// Returns a table with some of the schemes, hosts, and routes.
    private static func table(_ id: Int, _ random: inout SeededGenerator) -> String {
        func some(_ choices: [String]) -> [String] {
            let chosen = choices.filter { _ in random.one(in: 2) }
            return chosen.isEmpty ? [random.pick(choices)] : chosen
        }
        func list(_ texts: [String]) -> String { texts.map { "\"\($0)\"" }.joined(separator: ", ") }
        let schemes = list(some(["https", "shop", "x"]))
        let hosts = list(some(["a.example", "*.a.example", "b.example", ""]))
        var chosen = some(Self.routes)
        // The redirect needs its destination.
        if chosen.contains(Self.routes[2]), !chosen.contains(Self.routes[1]) { chosen.append(Self.routes[1]) }
        let fallback = random.pick(["reject", "navigate"])
        let target = fallback == "navigate" ? #", "to": {"root": true}"# : ""
        return """
            {"schemaVersion": 1, "table": {"id": "t\(id)", "version": "1"},
             "link": {"schemes": [\(schemes)], "host": "authority", "hosts": [\(hosts)]},
             "models": {"Item": {"id": "int(1..)", "count": "int(1..9)=1"}},
             "coordinators": {"main": {"initial": "start",
                                       "screens": {"start": {}, "item": {"needs": ["Item"]}}}},
             "routes": [\(chosen.joined(separator: ", "))],
             "fallback": {"outcome": "\(fallback)"\(target)}}
            """
    }

    /// Links with each scheme, host, and path, of which a set of tables is asked some.
    private static let links: [String] = ["https", "shop", "x", "other"].flatMap { scheme in
        ["a.example", "m.a.example", "b.example", "", "c.example"].flatMap { host in
            ["/p/new", "/p/7", "/p/7?count=12", "/p/x", "/old/3", "/legal/a/b", "/beta", "/none", "/p/%zz", "/"].map {
                "\(scheme)://\(host)\($0)"
            }
        }
    }

    private static let devices = ["{}", #"{"app":"3.9.1","platform":"ios"}"#, #"{"app":"5.0.0","platform":"android"}"#]

    /// Returns the lines of `resolve` for links, as JSON.
    private static func resolve(_ flags: [String], _ tables: [String], _ links: [String]) -> [String] {
        linkd(["resolve", "--json"] + flags + tables.flatMap { ["--table", $0] } + links).out
            .split(separator: "\n").map(String.init)
    }

    @Test("The outcome, the reason, and the tables that claim a link are those of `resolve`")
    func agrees() throws {
        var random = SeededGenerator(seed: 26_2026_11)
        var kinds: [String: Int] = [:]
        for number in 0..<24 {
            let texts = (0..<1 + number % 4).map { Self.table($0, &random) }
            let paths = texts.map { text in
                let url = FileManager.default.temporaryDirectory.appending(path: "linkd-\(UUID().uuidString).json")
                _ = FileManager.default.createFile(atPath: url.path, contents: Data(text.utf8))
                return url.path
            }
            defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
            let links = Self.links.shuffled(using: &random).prefix(40).map(\.self)
            let device = ["--device", random.pick(Self.devices)]
            let alone = paths.map { Self.resolve(device, [$0], links) }
            let decided = Self.resolve(device, paths, links)
            let explained = Self.resolve(device + ["--explain"], paths, links)
            try #require(decided.count == links.count && explained.count == links.count, "\(texts)")
            for index in links.indices {
                let words: Comment = "\(links[index]) on \(device[1]) by \(texts)\n\(explained[index])"
                let kind = try Self.check(
                    alone.map { $0[index] }, decided: decided[index], explained: explained[index], words)
                kinds[kind, default: 0] += 1
            }
        }
        for kind in ["reject no_route", "navigate", "claimed by several", "claimed by none", "none excluded"] {
            #expect(kinds[kind] ?? 0 > 5, "\(kind): \(kinds)")
        }
    }

    /// Checks one link, and returns the kind of its result.
    private static func check(
        _ alone: [String], decided: String, explained: String, _ words: Comment
    ) throws -> String {
        func json(_ line: String) throws -> JSONValue { try JSONValue.parse(Array(line.utf8), maxDepth: 64) }
        let claimants = try alone.indices.filter {
            !["scheme", "host"].contains(try json(alone[$0])["reason"]?.string ?? "")
        }
        let result = try json(decided)
        let trace = try json(explained)
        guard let letter = result["dead_letter"] else {
            let explanation = try #require(trace["explain"], words)
            #expect(alone.count == 1 || claimants.count == 1, words)
            #expect(decided == alone[claimants.first ?? 0], words)
            #expect(explained.hasPrefix(decided.dropLast() + ","), words)
            let outcome = try #require(result["outcome"]?.string, words)
            let reason = result["reason"]?.string
            let failed = explanation["failed"]
            if reason != "excluded" {
                #expect(failed?["reason"]?.string == reason, words)
                #expect(failed?["detail"]?.string == result["detail"]?.string, words)
                #expect(reason == "no_route" || failed?["text"]?.string != "no pattern matches the link", words)
            }
            return [outcome, reason].compactMap(\.self).joined(separator: " ")
        }
        #expect(letter["reason"]?.string == trace["dead_letter"]?["reason"]?.string, words)
        #expect(letter["reason"]?.string == "application_unknown" && claimants.count != 1, words)
        let tables = try #require(trace["dead_letter"]?["tables"]?.array, words)
        let claims = try tables.filter { try #require($0["claims"]?.text) == "true" }.map { $0["table"]?.string }
        #expect(claims.count == claimants.count, words)
        // The tables that claim the link come first.
        #expect(tables.prefix(claims.count).map { $0["table"]?.string } == claims, words)
        for table in tables.dropFirst(claims.count) {
            let reason = table["explain"]?["failed"]?["reason"]?.string ?? "none"
            #expect(["scheme", "host"].contains(reason), "\(words): \(reason)")
        }
        return claims.isEmpty ? "claimed by none" : "claimed by several"
    }
}
