@testable internal import RouteTools
internal import LinkCoordinator
internal import TestSupport
internal import Testing

/// Results of the comparison, checked against every short path.
@Suite struct AssociationLawTests {
    /// All paths of at most six characters of a small alphabet.
    private static let paths: [String] = {
        var all = ["/"]
        var last = all
        for _ in 0..<5 {
            last = last.flatMap { path in ["/", "a", "b"].map { path + $0 } }
            all += last
        }
        return all
    }()

    private static let matches = [
        "/", "/a", "/b", "/a/b", "/{x}", "/a/{x}", "/{x}/b", "/{x}/{y}", "/a/{rest*}", "/b/{rest+}", "/a{x}", "/{x}b",
        "/{x:enum(a|ab)}", "/a/{x:enum(b|bb)}/{y}",
    ]

    private static func table(_ random: inout SeededGenerator) throws -> RouteTable {
        let count = Int.random(in: 1...4, using: &random)
        let routes = matches.shuffled(using: &random).prefix(count).enumerated().map {
            #"{"id": "r\#($0.offset)", "match": "\#($0.element)", "to": {"root": true}}"#
        }
        let policy = ["collapse", "reject"].randomElement(using: &random) ?? "collapse"
        return try RouteTable(
            json: [UInt8](
                """
                {"schemaVersion": 1, "table": {"id": "t", "version": "1"},
                 "link": {"schemes": ["https"], "host": "authority", "hosts": ["a.example"],
                          "path": {"emptySegments": "\(policy)"}},
                 "routes": [\(routes.joined(separator: ","))]}
                """.utf8))
    }

    /// Checks a report against all short paths.
    private func check(
        _ report: AssociationCheck.Report, _ table: RouteTable, _ parts: Int, _ label: String,
        unit: (AssociationCheck.Finding) -> Int?, handing: (LinkPieces) -> [Int]
    ) throws -> Int {
        var handed = Set<String>()
        var unknown = Set<Int>()
        for path in Self.paths {
            let link = "https://a.example" + path
            let units = try handing(#require(LinkPieces(link)))
            let decision = table.resolve(link)
            guard !units.isEmpty else { continue }
            if let route = decision.route { handed.insert(route) }
            if decision.reason == .noRoute { unknown.formUnion(units) }
        }
        for finding in report.findings where finding.code == .neverHanded {
            #expect(!handed.contains(finding.route ?? ""), "\(label): \(finding)")
        }
        let reported = Set(report.findings.compactMap { $0.code == .unknownLinks ? unit($0) : nil })
        if report.isProved { #expect(unknown.isSubset(of: reported), "\(label): \(unknown) \(report.findings)") }
        #expect(report.isProved, "\(label)")
        return report.findings.count
    }

    private static let globs = [
        "/", "*", "/*", "/a", "/a/", "/a/*", "/?", "/??", "/a/?*", "*b", "/*/b", "/a*b", "/$(v)", "/$(v)/*", "b/*",
        "/?/?", "/a/b",
    ]

    @Test("Apple: no short link contradicts a report", arguments: 0..<40)
    func apple(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let table = try Self.table(&random)
        let components = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let glob = Self.globs.randomElement(using: &random) ?? "*"
            let more =
                [#", "exclude": true"#, #", "percentEncoded": false"#, "", ""].randomElement(using: &random) ?? ""
            return #"{"/": "\#(glob)"\#(more)}"#
        }
        let text = AppleRuleTests.file(
            components.joined(separator: ","), variables: #"{"v": ["a", "ab", "b*"]}"#)
        let file = try AppleFile(Array(text.utf8))
        var check = AssociationCheck(table, apple: file)
        let report = try #require(check.run().first)
        let count = try self.check(report, table, components.count, "seed \(seed): \(components)") { finding in
            file.rules.rules.firstIndex { $0.place.pointer == finding.pointer }
        } handing: { link in
            let decision = file.rules.decide(link)
            return decision.isHanded ? [decision.rule].compactMap(\.self) : []
        }
        print("seed \(seed): \(count) findings")
    }

    private static let attributes: [(AndroidPatternText.Kind, [String])] = [
        (.literal, ["/", "/a", "/a/", "/a/b"]), (.prefix, ["/", "/a", "/b/"]), (.suffix, ["b", "/a", "ab"]),
        (.simple, [".*", "/.*", "/.*/b", "/a*b", "/a.*b", "/.", "/ab*"]),
        (.advanced, ["/[ab]", "/[^/]+", "/[^/]+/b", "/a+b?", "/.{1,2}", "/a*/.*", "/[ab]*b"]),
    ]

    @Test("Android: no short link contradicts a report", arguments: 0..<40)
    func android(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let table = try Self.table(&random)
        let data = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let (kind, texts) = Self.attributes.randomElement(using: &random) ?? (.literal, ["/"])
            return "\n<data android:\(kind.rawValue)=\"\(texts.randomElement(using: &random) ?? "/")\" />"
        }
        let manifest = try ManifestFile(
            Array(AndroidRuleTests.manifest(AndroidRuleTests.web + data.joined()).utf8))
        let filter = try #require(manifest.filters.first)
        var check = AssociationCheck(table, manifest: manifest)
        let report = try #require(check.run().first)
        _ = try self.check(report, table, data.count, "seed \(seed): \(data)") { finding in
            filter.paths.firstIndex { $0.place.line == finding.line }
        } handing: { link in
            filter.paths.indices.filter { filter.paths[$0].pattern.matches(link.path) }
        }
    }
}
