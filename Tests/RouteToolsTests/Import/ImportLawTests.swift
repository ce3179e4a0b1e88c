@testable internal import RouteTools
internal import LinkCoordinator
internal import TestSupport
internal import Testing

/// Imported tables, checked against their sources with every short path.
@Suite struct ImportLawTests {
    /// All paths of at most six characters of a small alphabet, without repeated slashes and slashes at the end.
    private static let paths: [String] = {
        var all = ["/"]
        var last = all
        for _ in 0..<5 {
            last = last.flatMap { path in ["/", "a", "b"].map { path + $0 } }
            all += last
        }
        return all.filter { $0 == "/" || !$0.contains("//") && !$0.hasSuffix("/") }
    }()

    /// Compares the decisions of a table with those of its source.
    ///
    /// Returns a Boolean value that indicates whether they are equal.
    private func check(_ imported: TableImport, _ links: [String], _ label: String, opens: (String) throws -> Bool)
        throws -> Bool
    {
        let kinds = Set(imported.notes.filter { $0.line > 0 }.map(\.kind))
        var isSame = true
        for link in links {
            let isOpen = imported.table.resolve(link).outcome == .navigate
            let isWanted = try opens(link)
            if isOpen != isWanted { isSame = false }
            #expect(!isOpen || isWanted || kinds.contains(.opensMore), "\(label): opens \(link)\n\(imported.json)")
            #expect(isOpen || !isWanted || kinds.contains(.leavesOut), "\(label): leaves out \(link)\n\(imported.json)")
        }
        return isSame
    }

    private static let globs = [
        "/", "*", "/*", "/a", "/a/", "/a/*", "/?", "/??", "/a/?*", "*b", "/*/b", "/a*b", "/$(v)", "/$(v)/*", "b/*",
        "/a*", "/a/b", "/b*/a", "/*/a/*", "/a?*", "/$(lower)", "/A", "/a/*/b",
    ]
    private static let conditions = [
        #""q": "1""#, #""q": "?*""#, #""q": "*""#, #""q": """#, #""q": "1*""#, #""q": "?""#, #""q": "$(v)""#,
        #""q": "a""#, #""r": "1""#, #""r": "?*""#, #""Q": "1""#, #""q": "1", "r": "*1""#,
    ]
    private static let queries = [
        "", "?q=1", "?q=2", "?q=12", "?q=1&q=2", "?q=", "?r=1", "?q=1&r=1", "?r=1&q=2", "?q=a", "?Q=A", "?Q=1&q=2",
        "?r=21&z=1",
    ]
    private static let fragments = ["", "#no"]

    private static func component(_ random: inout SeededGenerator, folds: Bool) -> String {
        let glob = globs.randomElement(using: &random) ?? "*"
        let query =
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: #", "?": {\#(conditions.randomElement(using: &random) ?? "")}"#
            case 4: #", "?": "\#(["q=1", "", "?*", "q=*"].randomElement(using: &random) ?? "")""#
            case 5: ##", "#": "\##(["no", "?*", ""].randomElement(using: &random) ?? "")""##
            default: ""
            }
        let exclude = Int.random(in: 0..<5, using: &random) < 2 ? #", "exclude": true"# : ""
        let encoded = Int.random(in: 0..<8, using: &random) == 0 ? #", "percentEncoded": false"# : ""
        let ignoresCase = folds || Int.random(in: 0..<8, using: &random) == 0
        let cases = ignoresCase ? #", "caseSensitive": false"# : ""
        return #"{"/": "\#(glob)"\#(query)\#(exclude)\#(encoded)\#(cases)}"#
    }

    /// Returns a Boolean value that indicates whether a remark says that the table opens a link that the source does
    /// not.
    private static func says(_ note: ImportNote, _ link: String, _ place: AssociationProblem.Place?) -> Bool {
        guard note.kind == .opensMore else { return false }
        let name =
            note.message.split(separator: "`", omittingEmptySubsequences: false).dropFirst().first.map {
                $0.lowercased()
            } ?? ""
        let names = LinkPieces.items(LinkPieces(link)?.query ?? "").map { $0.name.lowercased() }
        if note.message.hasPrefix("links that repeat `") { return names.count { $0 == name } > 1 }
        if note.message.contains("in the query with any text") { return names.contains(name) }
        // The component that keeps the link out of the app is the one of the remark.
        if note.message.contains("depends on the") {
            return place?.line == note.line && place?.column == note.column
        }
        return false
    }

    // A case is a file of up to six components, with conditions on the query and the fragment, and exclusions before
    // and after components with the same links. Every path of at most five characters is tried with every query.
    @Test("Apple: a table opens only what its source opens, and a remark names what differs", arguments: 0..<80)
    func apple(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folds = Int.random(in: 0..<5, using: &random) == 0
        let components = (0..<Int.random(in: 1...6, using: &random)).map { _ in
            Self.component(&random, folds: folds)
        }
        let file = AppleRuleTests.file(components.joined(separator: ","), variables: #"{"v": ["a", "ab", "b*"]}"#)
        let rules = try AppleFile(Array(file.utf8)).rules
        let imported = try TableImport(Array(file.utf8), from: .aasa, id: "t", hosts: ["a.example"])
        let label = "seed \(seed): \(components)"
        let leavesOut = imported.notes.contains { $0.line > 0 && $0.kind == .leavesOut }
        for path in Self.paths + ["/A", "/B/a", "/A/x/b"] where path.count < 6 {
            for query in Self.queries {
                let fragment = Self.fragments.randomElement(using: &random) ?? ""
                let link = "https://a.example\(path)\(query)\(fragment)"
                let isOpen = imported.table.resolve(link).outcome == .navigate
                let wanted = try rules.decide(#require(LinkPieces(link)))
                if isOpen, !wanted.isHanded {
                    let place = wanted.rule.map { rules.rules[$0].place }
                    let isSaid = imported.notes.contains { Self.says($0, link, place) }
                    #expect(isSaid, "\(label): opens \(link)\n\(imported.json)\n\(imported.notes)")
                } else if !isOpen, wanted.isHanded {
                    #expect(leavesOut, "\(label): leaves out \(link)\n\(imported.json)\n\(imported.notes)")
                }
            }
        }
    }

    private static let attributes: [(AndroidPatternText.Kind, [String])] = [
        (.literal, ["/", "/a", "/a/", "/a/b"]), (.prefix, ["/", "/a", "/b/"]), (.suffix, ["b", "/a", "ab"]),
        (.simple, [".*", "/.*", "/.*/b", "/a*b", "/a.*b", "/.", "/ab*", "/a/.*"]),
        (.advanced, ["/[ab]", "/[^/]+", "/[^/]+/b", "/a+b?", "/.{1,2}", "/[ab]*b", "/[ab]{2,3}/a", "/a/.+"]),
    ]

    // A case is a filter with up to three paths. Every short path is tried.
    @Test("Android: a table opens only what its source opens, and a remark names what differs", arguments: 0..<30)
    func android(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let data = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let (kind, texts) = Self.attributes.randomElement(using: &random) ?? (.literal, ["/"])
            return "\n<data android:\(kind.rawValue)=\"\(texts.randomElement(using: &random) ?? "/")\" />"
        }
        let manifest = Array(AndroidRuleTests.manifest(AndroidRuleTests.web + data.joined()).utf8)
        let rules = AndroidRules(filters: try ManifestFile(manifest).filters)
        let imported: TableImport
        do throws(AssociationProblem) {
            imported = try TableImport(manifest, from: .manifest, id: "t")
        } catch {
            return try #require(error.message.hasPrefix("nothing"))
        }
        let hosts = ["https://a.example", "https://b.example"]
        let links = Self.paths.flatMap { path in hosts.map { $0 + path } }
        _ = try check(imported, links, "seed \(seed): \(data)") { link in
            try rules.decide(#require(LinkPieces(link))).isHanded
        }
    }

    private static let segments = ["a", "b", ":x", ":y?", "*", ":z(a|ab)", ":w([ab]{2})"]

    // A case is a configuration of up to five screens, one of them inside another. Every short path is tried.
    @Test("React Navigation: a table shows the screen that its source shows, with its parameters", arguments: 0..<30)
    func navigation(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func path() -> String {
            var left = Self.segments.shuffled(using: &random)
            return (0..<Int.random(in: 0...3, using: &random)).map { _ in left.removeLast() }.joined(separator: "/")
        }
        let screens = (0..<Int.random(in: 1...4, using: &random)).map { #""S\#($0)": "\#(path())""# }
        let config = """
            {"prefixes": ["t://"], "config": {"initialRouteName": "S0", "screens": {\(screens.joined(separator: ", ")),
             "N": {"path": "b", "initialRouteName": "I", "screens": {
             "I": "\(path())", "J": {"path": "a", "exact": true}}}}}}
            """
        let file = try NavigationFile(Array(config.utf8))
        let imported = try TableImport(Array(config.utf8), from: .reactNavigation, id: "t")
        let source = NavigationOracle(file)
        for path in Self.paths where !source.isUndecided(path) {
            let decision = imported.table.resolve("t:/" + path)
            let entry = decision.outcome == .navigate ? decision.stack.last : nil
            let wanted = source.state(path)
            let isLeftOut = entry == nil && imported.notes.contains { $0.kind == .leavesOut }
            #expect(isLeftOut || entry?.screen == wanted?.screen, "seed \(seed): \(path) \(config)\n\(imported.json)")
            guard let entry, let wanted, entry.screen == wanted.screen else { continue }
            var values: [String: String] = [:]
            for (name, value) in entry.models.fields.values.first ?? [:] {
                // React Navigation has no parameter for what `*` stands for.
                if case .text(let text) = value, !name.hasPrefix("part") { values[name] = text }
            }
            #expect(values == wanted.parameters, "seed \(seed): \(path) \(config)\n\(imported.json)")
        }
    }

    /// Configurations of React Navigation with the last screen that some links show, nil for none, which is right.
    static let navigations: [(screens: String, shown: [(link: String, screen: String?)])] = [
        (
            #""Order": "order/:id([0-9a-f]+-[0-9a-f]+)", "Any": "order/:name", "Edit": "order/:id/edit", "Home": "h""#,
            [("order/12ab-99", nil), ("order/12ab/edit", "Edit"), ("h", "Home")]
        ),
        (
            #""Admin": "admin/:page(.*)", "Sub": "admin/:id/edit", "Article": "*", "Home": "h""#,
            [("admin/users", nil), ("admin/users/3/4", nil), ("admin/3/edit", nil), ("x/y", "Article"), ("h", "Home")]
        ),
        (
            #""Raw": "files/*/raw", "File": "files/:id", "Catch": "*""#,
            [
                ("files/a/raw", "Raw"), ("files/a/b/c/raw", "Raw"), ("files/a/b/c/d/raw", nil), ("files/a", "File"),
                ("files/a/b/c", "Catch"), ("files", "Catch"),
            ]
        ),
        (
            #""User": { "path": "user/:id", "screens": { "Post": "post/:id", "Top": "top" } }, "Any": "*""#,
            [("user/1/post/2", nil), ("user/1/top", "Top"), ("user/1/x", "Any"), ("a", "Any")]
        ),
        (#""A": "x/:rest+", "B": "x/:id", "C": "y/:id""#, [("x/1/2", nil), ("x/1", nil), ("y/1", "C")]),
        // A regular expression comes first in its segment, whatever follows.
        (#""S": ":k(a|b)/:y", "T": ":k(a|b)/:r([0-9]-[0-9])""#, [("a/1-2", nil)]),
        (#""S": ":id/edit", "T": ":n([a-z]+-[0-9]+)/:x""#, [("ab-1/edit", nil)]),
        // A text that no pattern has takes away only links that begin like it.
        (#""Odd": "x%2Fy", "Any": ":id""#, [("x%2Fy", nil), ("z", "Any")]),
        (#""Odd": "terms(old)", "Any": ":id", "Star": "*""#, [("terms(old)", nil), ("z", "Any"), ("z/y", "Star")]),
        (#""All": ":page(.*)", "Id": ":id", "A": "a""#, [("b", nil), ("a", "A"), ("a/b", nil)]),
        // A path that goes on after another one comes first, in any order of the file.
        (#""List": "shop", "Item": "shop/:id?""#, [("shop", "Item"), ("shop/1", "Item")]),
        (#""Item": "shop/:id?", "List": "shop""#, [("shop", "Item"), ("shop/1", "Item")]),
        (
            #""P": { "path": "profile", "screens": { "Overview": "overview", "Section": ":section?" } }"#,
            [("profile", "Section"), ("profile/x", "Section"), ("profile/overview", "Overview")]
        ),
    ]

    @Test("React Navigation: no screen opens the links of a path that the table leaves out", arguments: navigations)
    func leftOut(screens: String, shown: [(link: String, screen: String?)]) throws {
        for prefix in ["my://", "https://a.example/app"] {
            let file = #"{"prefixes": ["\#(prefix)"], "config": {"screens": {\#(screens)}}}"#
            let imported = try TableImport(Array(file.utf8), from: .reactNavigation, id: "t")
            for (link, screen) in shown {
                let decision = imported.table.resolve(prefix + (prefix.hasSuffix("/") ? "" : "/") + link)
                #expect(decision.stack.last?.screen == screen, "\(link): \(imported.json)")
                #expect(screen != nil || imported.notes.contains { $0.kind == .leavesOut }, "\(link)")
            }
        }
    }

    // A case is a sample file of which some bytes are replaced or removed.
    @Test("A damaged file is refused, or becomes a valid table", arguments: TableImport.Source.allCases)
    func damaged(source: TableImport.Source) throws {
        let sample = try ImportTests.sample(source)
        var random = SeededGenerator(seed: 7)
        var valid = 0
        for _ in 0..<(LawCases.count / 10) {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random) {
                    bytes[at] = sample.randomElement(using: &random) ?? 0
                } else {
                    bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...8, using: &random)))
                }
            }
            if (try? TableImport(bytes, from: source, id: "t", hosts: ["a.example"], apps: [])) != nil { valid += 1 }
        }
        #expect(valid > 0)
    }
}

/// React Navigation's choice of a screen for a path, written as its documentation describes it.
private struct NavigationOracle {
    private let file: NavigationFile

    init(_ file: NavigationFile) { self.file = file }

    /// Returns the text after which paths are ordered.
    private static func text(_ path: NavigationFile.Path) -> [String] {
        path.segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .wildcard: "*"
            case .parameter, .unknown: ":"
            }
        }
    }

    /// Returns the parameters of a path that matches some segments, or nil.
    private static func match(
        _ pattern: ArraySlice<NavigationFile.Segment>, _ path: ArraySlice<String>
    ) -> [String: String]? {
        guard let first = pattern.first else { return path.isEmpty ? [:] : nil }
        let rest = pattern.dropFirst()
        switch first {
        case .unknown: return nil
        case .literal(let text): return path.first == text ? match(rest, path.dropFirst()) : nil
        case .wildcard:
            for count in (1...max(1, path.count)).reversed() where count <= path.count {
                if let found = match(rest, path.dropFirst(count)) { return found }
            }
            return nil
        case .parameter(let name, let expression, let isOptional):
            if let own = path.first, accepts(expression, own), var found = match(rest, path.dropFirst()) {
                found[name] = own
                return found
            }
            return isOptional ? match(rest, path) : nil
        }
    }

    private static func accepts(_ expression: String?, _ text: String) -> Bool {
        switch expression {
        case nil: true
        case "a|ab": text == "a" || text == "ab"
        default: text.count == 2
        }
    }

    private func matches(_ path: String) -> [(NavigationFile.Path, [String: String])] {
        let parts = path.split(separator: "/").map(String.init)[...]
        return file.paths.compactMap { one in
            if path == "/" { return isRooted(one) ? (one, [:]) : nil }
            return Self.match(one.segments[...], parts).map { (one, $0) }
        }
    }

    /// Returns a Boolean value that indicates whether neither a screen nor a navigator around it has a path.
    private func isRooted(_ path: NavigationFile.Path) -> Bool {
        path.names.indices.allSatisfy { index in
            file.paths.first { $0.names == Array(path.names[...index]) }?.text.isEmpty ?? true
        }
    }

    /// Returns a Boolean value that indicates whether the versions of React Navigation differ in the order of the
    /// patterns that match: those in which a parameter and `*`, or nothing but the number of segments, differ first.
    func isUndecided(_ path: String) -> Bool {
        let found = matches(path).map(\.0.segments)
        return found.indices.contains { index in found[..<index].contains { Self.isOpen(found[index], $0) } }
    }

    private static func isOpen(_ one: [NavigationFile.Segment], _ two: [NavigationFile.Segment]) -> Bool {
        for (a, b) in zip(one, two) {
            switch (a, b) {
            case (.literal, .literal): continue
            case (.literal, _), (_, .literal): return false
            case (.wildcard, .wildcard): continue
            case (.parameter(_, let a, let isOptional), .parameter(_, let b, let isOther)):
                if a != b || isOptional || isOther { return true }
            default: return true
            }
        }
        return true
    }

    private static func isWild(_ text: String) -> Bool { text == "*" || text == ":" }

    func state(_ path: String) -> (screen: String, parameters: [String: String])? {
        let found = matches(path).min { one, two in
            let (own, other) = (Self.text(one.0), Self.text(two.0))
            for (a, b) in zip(own, other) where Self.isWild(a) != Self.isWild(b) { return Self.isWild(b) }
            return own.count > other.count
        }
        guard let found else { return nil }
        var names = found.0.names
        while let initial = file.initials[names], file.children[names] != nil { names.append(initial) }
        return (names.last ?? "", found.1)
    }
}
