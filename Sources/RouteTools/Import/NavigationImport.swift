internal import ByteStorage
internal import LinkCoordinator

// The import of a linking configuration of React Navigation. See ImportedTables, "React Navigation".
extension TableDraft {
    /// Adds the screens and paths of a configuration.
    mutating func add(_ file: NavigationFile) throws(AssociationProblem) {
        rejectsEmptySegments = false
        for note in file.notes {
            self.note(note.kind, note.message, at: .init(line: note.line, column: note.column, pointer: note.pointer))
        }
        let origins = file.prefixes.compactMap { prefix in addOrigin(prefix.text, at: prefix.place) }
        guard !origins.isEmpty else {
            throw AssociationProblem(.error, .value, "no prefix is a scheme with or without a host")
        }
        let names = NavigationNames(file)
        let hasPaths = origins.contains { !$0.path.isEmpty }
        func patterns(_ own: [[PatternPiece]]) -> [Pattern] {
            guard hasPaths else { return own.map { Pattern(pieces: $0) } }
            return origins.flatMap { origin in
                own.map { Pattern(pieces: origin.path + $0, scheme: origin.scheme, host: origin.host) }
            }
        }
        excludedOutcome = "none"
        for path in Self.ordered(deepest(file.paths)) {
            var route = Route(name: Self.name(path.names.last ?? "", or: "screen"), place: path.place)
            let reading = path.isLeftOut ? WildPath.Reading() : read(path)
            route.patterns = patterns(reading.patterns)
            if let difference = reading.difference {
                note(.leavesOut, "the path `\(path.text)`: \(difference)", at: path.place)
            }
            // No other screen opens the links that are left out.
            var exclusion = Route(name: Self.name("not-" + route.name, or: "not"), place: path.place)
            exclusion.isExcluded = true
            exclusion.isWider = true
            exclusion.patterns = patterns(Self.remaining(path, after: reading))
            try checkCount(adding: route.patterns.count + exclusion.patterns.count)
            defer { if !exclusion.patterns.isEmpty { routes.append(exclusion) } }
            if route.patterns.isEmpty { continue }
            let leaf = names.leaf(of: path.names)
            if leaf.isGuessed {
                note(
                    .unknown,
                    "the screen that `\(path.names.last ?? "")` shows first: the table shows "
                        + "`\(leaf.names.last ?? "")`", at: path.place)
            }
            route.screen = names.screen(leaf.names)
            route.parents = parents(of: path.names, file, names, at: path.place)
            routes.append(route)
        }
        for (chain, initial) in file.initials where file.children[chain + [initial]] == nil {
            let screen = names.screen(chain + [initial])
            initials[screen.coordinator] = screen.name
        }
        for (name, own) in names.renamed { note(.unknown, "the name `\(name)`, which is `\(own)` in the table") }
        note(.unknown, "the data types: every parameter is text")
        note(.unknown, "the items of queries, which React Navigation gives to the screen")
    }

    // MARK: Paths

    /// Returns paths in the order in which the newest version of React Navigation tries them.
    private static func ordered(_ paths: [NavigationFile.Path]) -> [NavigationFile.Path] {
        let ranked = paths.enumerated().map { offset, path in
            let segments = path.segments.map { segment in
                switch segment {
                case .literal: 0
                case .parameter(_, .some, _), .unknown: 1
                case .parameter: 2
                case .wildcard: 3
                }
            }
            // A path comes after those that go on after it.
            return (path: path, rank: segments + [4, offset])
        }
        return ranked.sorted { $0.rank.lexicographicallyPrecedes($1.rank) }.map(\.path)
    }

    /// Returns patterns of all links of a path that its own patterns do not match, which can match more.
    private static func remaining(
        _ path: NavigationFile.Path, after reading: WildPath.Reading
    ) -> [[PatternPiece]] {
        func isExpressed(_ index: Int) -> Bool {
            switch path.segments[index] {
            case .literal(let text): [PatternPiece.literal(text)].pattern != nil
            case .parameter(_, let expression?, _): expression != ".+" && Self.type(of: expression).type != nil
            case .parameter: true
            case .wildcard: index == path.segments.count - 1
            case .unknown: false
            }
        }
        let different = path.segments.indices.filter { !isExpressed($0) }
        if different.isEmpty, !reading.patterns.isEmpty { return [] }
        let isOnly = different.count == 1 && !reading.patterns.isEmpty
        var patterns: [[PatternPiece]] = [[]]
        for (index, segment) in path.segments.enumerated() {
            var forms: [[PatternPiece]] = [[.any]]
            var isOpen = patterns.count > WildPath.maxPatterns / 4 || index >= 32
            switch segment {
            case .literal(let text):
                forms = [[isExpressed(index) ? .literal(text) : .capture(prefix: Self.beginning(text))]]
            case .parameter(_, let expression, let isOptional):
                if isOptional { forms.append([]) }
                if let expression, !isExpressed(index), Self.canHaveSlash(expression) {
                    forms = [isOnly ? [.any, .any] : []]
                    isOpen = true
                }
            case .wildcard:
                forms = [Array(repeating: .any, count: isOnly ? WildPath.maxWild + 1 : 1)]
                isOpen = true
            case .unknown(let text) where text.hasPrefix(":"): (forms, isOpen) = ([[]], true)
            case .unknown(let text): forms = [[.capture(prefix: Self.beginning(text))]]
            }
            if isOpen { return patterns.flatMap { start in forms.map { start + $0 + [.tail(isRequired: false)] } } }
            patterns = patterns.flatMap { start in forms.map { start + $0 } }
        }
        return patterns.filter { !$0.isEmpty }
    }

    /// Returns the beginning of a segment that a pattern of a table can have.
    private static func beginning(_ text: String) -> String {
        String(text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
    }

    /// Returns a Boolean value that indicates whether a regular expression may match several segments.
    private static func canHaveSlash(_ expression: String) -> Bool {
        has(expression, anyOf: "/.^") || ["\\D", "\\W", "\\S"].contains { expression.contains($0) }
    }

    /// Returns the paths without those that another screen inside has too, which is the one that is shown.
    private mutating func deepest(_ paths: [NavigationFile.Path]) -> [NavigationFile.Path] {
        // The empty path leads to a screen only if all navigators around it have no path.
        let isRooted = Dictionary(
            paths.map { ($0.names, $0.text.isEmpty) }, uniquingKeysWith: { first, _ in first })
        let open = paths.filter { path in
            !path.segments.isEmpty || path.names.indices.allSatisfy { isRooted[Array(path.names[...$0])] ?? true }
        }
        var best: [[NavigationFile.Segment]: [String]] = [:]
        for path in open where !path.isLeftOut {
            let known = best[path.segments]
            if known.map({ path.names.starts(with: $0) }) ?? true { best[path.segments] = path.names }
        }
        for path in open where !path.isLeftOut {
            guard let own = best[path.segments], own != path.names, !own.starts(with: path.names) else { continue }
            note(
                .leavesOut, "the path `\(path.text)` of `\(path.names.last ?? "")`, which `\(own.last ?? "")` has too",
                at: path.place)
        }
        return open.filter { $0.isLeftOut || best[$0.segments] == $0.names }
    }

    private mutating func read(_ path: NavigationFile.Path) -> WildPath.Reading {
        var result = WildPath.Reading(patterns: [[]])
        var segments: [NavigationFile.Segment] = []
        for segment in path.segments {
            // What follows `*` and is optional gets nothing, because `*` takes as much as it can.
            if case .parameter(_, _, isOptional: true) = segment, segments.last == .wildcard { continue }
            segments.append(segment)
        }
        for (index, segment) in segments.enumerated() {
            var forms: [[PatternPiece]] = []
            switch segment {
            case .unknown: return WildPath.Reading()
            case .literal(let text): forms = [[.literal(text)]]
            case .wildcard where index == segments.count - 1: forms = [[.tail(isRequired: true)]]
            case .wildcard:
                forms = (1...WildPath.maxWild).map { Array(repeating: .any, count: $0) }
                result.difference = result.difference ?? "more than \(WildPath.maxWild) segments in place of `*`"
            case .parameter(let name, let expression, let isOptional):
                var type: String?
                if let expression {
                    let (known, difference) = Self.type(of: expression)
                    result.difference = result.difference ?? difference
                    guard let known else { return WildPath.Reading(patterns: [], difference: difference) }
                    type = known.isEmpty ? nil : known
                }
                let own = Self.name(name, .identifier, or: "parameter\(index)")
                if own != name { note(.unknown, "the name `\(name)`, which is `\(own)` in the table", at: path.place) }
                forms = [[.capture(type: type, name: own)]]
                if isOptional { forms.append([]) }
            }
            result.patterns = result.patterns.flatMap { start in forms.map { start + $0 } }
            if result.patterns.count > WildPath.maxPatterns {
                return WildPath.Reading(patterns: [], difference: "it has more than \(WildPath.maxPatterns) forms")
            }
        }
        // Only a screen without a path has the empty path, not one with optional parameters.
        if !path.segments.isEmpty { result.patterns.removeAll(where: \.isEmpty) }
        let known = result.patterns.filter { $0.pattern != nil }
        if known.count < result.patterns.count {
            result.difference = result.difference ?? "characters or names that no pattern of a table has"
        }
        result.patterns = known
        return result
    }

    /// Returns the type of a capture for a regular expression, empty for any text, and how they differ.
    ///
    /// The type is nil if a table has none that matches only what the expression matches.
    static func type(of expression: String) -> (type: String?, difference: String?) {
        if ["[^/]+", "[^\\/]+"].contains(expression) { return ("", nil) }
        if expression == ".+" { return ("", "several segments in place of `.+`") }
        let words = expression.split(separator: "|", omittingEmptySubsequences: false)
        if words.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { NameRule.identifier.continues($0) } }) {
            var seen = Set<Substring>()
            return ("enum(\(words.filter { seen.insert($0).inserted }.joined(separator: "|")))", nil)
        }
        let unknown: (String?, String?) = (nil, "`\(expression)`, for which a table has no type of a capture")
        var rest = expression[...]
        guard var characters = Self.characters(&rest) else { return unknown }
        characters = Set(characters.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) })
        guard !characters.isEmpty else { return unknown }
        var (least, most) = (1, 1)
        if rest == "+" {
            most = 1000
        } else if rest.hasPrefix("{"), rest.hasSuffix("}") {
            let ends = rest.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false).map {
                Int($0)
            }
            guard ends.count < 3, let low = ends.first ?? nil, low > 0, low <= 64 else { return unknown }
            (least, most) = (low, ends.count == 1 ? low : (ends[1] ?? 1000))
            if most < least { return unknown }
        } else if !rest.isEmpty {
            return unknown
        }
        return (
            "[\(WildPath.ranges(characters))]{\(least),\(min(most, 64))}",
            most > 64 ? "more than 64 characters in place of `\(expression)`" : nil
        )
    }

    /// Reads a class of characters: `\\d`, `\\w`, or one in brackets.
    private static func characters(_ rest: inout Substring) -> Set<Character>? {
        func escaped(_ character: Character) -> Set<Character>? {
            switch character {
            case "d": Set("0123456789")
            case "w": Set("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
            case "-", ".", "_", "~": [character]
            default: nil
            }
        }
        if rest.hasPrefix("\\") {
            rest.removeFirst()
            return rest.popFirst().flatMap(escaped)
        }
        guard rest.popFirst() == "[", let end = rest.firstIndex(of: "]") else { return nil }
        var own = rest[..<end]
        rest = rest[rest.index(after: end)...]
        var found = Set<Character>()
        if own.first == "^" { return nil }
        while let first = own.popFirst() {
            if first == "\\" {
                guard let set = own.popFirst().flatMap(escaped) else { return nil }
                found.formUnion(set)
            } else if own.first == "-", let last = own.dropFirst().first {
                own = own.dropFirst(2)
                guard let low = first.asciiValue, let high = last.asciiValue, low <= high, last != "\\" else {
                    return nil
                }
                found.formUnion((low...high).map { Character(Unicode.Scalar($0)) })
            } else {
                found.insert(first)
            }
        }
        return found
    }

    // MARK: Screens

    /// Returns the initial screens of the navigators around a screen, as coordinator paths.
    private mutating func parents(
        of names: [String], _ file: NavigationFile, _ own: NavigationNames, at place: AssociationProblem.Place
    ) -> [String] {
        var parents: [String] = []
        for index in names.indices {
            let chain = Array(names[..<index])
            guard let initial = file.initials[chain], initial != names[index] else { continue }
            let leaf = own.leaf(of: chain + [initial])
            let screen = own.screen(leaf.names)
            if leaf.isGuessed {
                note(
                    .unknown, "the screen that `\(initial)` shows first: the table shows `\(leaf.names.last ?? "")`",
                    at: place)
            }
            otherScreens.append(screen)
            parents.append("/\(screen.coordinator)/\(screen.name)")
        }
        return parents
    }

    // MARK: Prefixes

    private typealias Origin = (scheme: String, host: String?, path: [PatternPiece])

    /// Adds a prefix to the link blocks, and returns its parts, or nil with a remark if the table cannot have it.
    private mutating func addOrigin(_ text: String, at place: AssociationProblem.Place) -> Origin? {
        let scheme = text.prefix { $0 != ":" }
        guard scheme.count < text.count, Self.isScheme(scheme.lowercased()) else {
            note(.leavesOut, "the prefix `\(text)`, which has no scheme", at: place)
            return nil
        }
        let parts = text.dropFirst(scheme.count + 1).split(separator: "/")
        let host = parts.first.map { $0 == "*" ? "*" : $0.lowercased() }
        let path = parts.dropFirst().map { PatternPiece.literal(LinkPieces.decoded(String($0))) }
        let own = scheme.lowercased()
        let isWeb = own == "https" || own == "http"
        let rule = host.flatMap { try? HostRule.parse($0) }
        guard host == nil ? !isWeb : rule != nil, path.isEmpty || path.pattern != nil else {
            note(.leavesOut, "the prefix `\(text)`, whose host or path no table can have", at: place)
            return nil
        }
        if rule == .any || host?.contains(":") == false {
            note(.opensMore, "links with a port, which a host of a table allows")
        }
        if let index = blocks.firstIndex(where: { $0.schemes == [own] }) {
            guard var hosts = blocks[index].hosts, let host else {
                note(.leavesOut, "the prefix `\(text)`, because another one has its scheme without a host", at: place)
                return nil
            }
            if !hosts.contains(host) { hosts.append(host) }
            blocks[index].hosts = hosts
        } else {
            blocks.append(Block(schemes: [own], hosts: host.map { [$0] }, isExact: scheme == own))
        }
        return (own, host, Array(path))
    }
}

/// The names of the screens and coordinators of a table for the screens and navigators of a configuration.
private struct NavigationNames {
    private let file: NavigationFile
    private var coordinators: [[String]: String] = [:]
    private var screens: [[String]: String] = [:]
    /// The names that differ, in the order of the table.
    private(set) var renamed: [(name: String, own: String)] = []

    init(_ file: NavigationFile) {
        self.file = file
        let chains = file.children.keys.sorted { $0.lexicographicallyPrecedes($1) }
        var leaves = Set<String>()
        for chain in chains {
            var taken = Set<String>()
            for name in file.children[chain] ?? [] where file.children[chain + [name]] == nil {
                let own = TableDraft.unique(TableDraft.name(name, or: "screen"), &taken)
                screens[chain + [name]] = own
                leaves.insert(own)
                if own != name { renamed.append((name, own)) }
            }
        }
        var taken = leaves
        for chain in chains {
            let name = chain.last ?? "app"
            let own = TableDraft.name(name, or: "navigator")
            coordinators[chain] = TableDraft.unique(leaves.contains(own) ? own + "Navigator" : own, &taken)
            if let own = coordinators[chain], own != name, !chain.isEmpty { renamed.append((name, own)) }
        }
    }

    /// Returns the names of the screen that is shown for a screen or navigator.
    ///
    /// It is a guess if a navigator does not state its initial screen.
    func leaf(of names: [String]) -> (names: [String], isGuessed: Bool) {
        var own = names
        var isGuessed = false
        while let children = file.children[own], let first = file.initials[own] ?? children.first {
            if file.initials[own] == nil { isGuessed = true }
            own.append(first)
        }
        return (own, isGuessed)
    }

    /// Returns the coordinator and the name of a screen.
    func screen(_ names: [String]) -> (coordinator: String, name: String) {
        (
            coordinators[Array(names.dropLast())] ?? "app",
            screens[names] ?? TableDraft.name(names.last ?? "", or: "screen")
        )
    }
}
