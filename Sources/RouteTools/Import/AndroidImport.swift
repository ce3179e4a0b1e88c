internal import LinkCoordinator

// The import of Android manifests. See ImportedTables, "Android".
extension TableDraft {
    /// Adds the intent filters of a manifest.
    mutating func add(_ file: ManifestFile) throws(AssociationProblem) {
        add(file.problems.filter { $0.code != .unverified && $0.code != .dead })
        for problem in file.problems where problem.code == .unverified {
            note(
                .opensMore, problem.message, at: .init(line: problem.line, column: problem.column))
        }
        if let name = file.packageName {
            if name.contains("$") || name.hasPrefix("@") {
                note(.unknown, "the package, which is only known when the app is built")
            } else {
                applications = [name]
            }
        } else {
            note(.unknown, "the package of the app, which `applications` lists")
        }
        var hosts: [String: Set<String>] = [:]
        var order: [String] = []
        for filter in file.filters {
            let own = Set(filter.hosts.map { "\($0.name):\($0.port ?? "")" })
            try checkCount(adding: Set(filter.schemes).count * own.count)
            for (scheme, host) in origins(of: filter) {
                if hosts[scheme] == nil { order.append(scheme) }
                hosts[scheme, default: []].insert(host)
            }
        }
        for scheme in order {
            let own = (hosts[scheme] ?? []).sorted()
            if let same = blocks.firstIndex(where: { $0.hosts == own }) {
                blocks[same].schemes.append(scheme)
            } else {
                blocks.append(Block(schemes: [scheme], hosts: own, isExact: true))
            }
        }
        guard !blocks.isEmpty else {
            throw AssociationProblem(
                .error, .value,
                "no filter has a scheme and a host that a table can have: there is no link to import"
                    + (file.isUnresolved ? "; import the merged manifest, in which they are" : ""))
        }
        let isSingle = blocks.count == 1 && blocks[0].schemes.count == 1 && blocks[0].hosts?.count == 1
        for filter in file.filters { try add(filter, isSingle: isSingle) }
        note(
            .unknown,
            "the screens: each route leads to a screen of its own in the coordinator `app`, named after its path")
        note(.unknown, "the data: a captured segment is text, and the items of queries are not listed")
        note(.unknown, "the screens below a screen, for which `parents` is the key")
        note(.opensMore, "links with a slash at the end of the path, which a table reads as without it")
        if hosts.values.contains(where: { $0.contains("*") }) {
            note(.opensMore, "links without an authority, which the host `*` of a table also matches")
        }
        if file.filters.contains(where: { $0.paths.contains { $0.pattern.matches("/") && !$0.pattern.matches("") } }) {
            note(.opensMore, "links without a path, which a table reads as the path `/`")
        }
    }

    private mutating func add(_ filter: AndroidFilter, isSingle: Bool) throws(AssociationProblem) {
        let origins = origins(of: filter)
        // A pattern without a scheme and a host would match the links of other filters.
        guard !origins.isEmpty else {
            return note(.leavesOut, "the filter, because no table can have its schemes and hosts", at: filter.place)
        }
        var readings: [(WildPath.Reading, String, AssociationProblem.Place)] = []
        if !filter.readsPath {
            let every = [PatternPiece.tail(isRequired: false)]
            readings.append((WildPath.Reading(patterns: [every]), "the filter", filter.place))
        }
        for path in filter.readsPath ? filter.paths : [] {
            readings.append((WildPath(path.pattern).narrow, "`\(path.text)`", path.place))
        }
        if filter.readsPath, !filter.groups.isEmpty {
            note(.leavesOut, "links of a `uri-relative-filter-group`, which no route of a table is", at: filter.place)
        }
        let count = readings.reduce(0) { $0 + $1.0.patterns.count }
        try checkCount(adding: isSingle ? count : count * origins.count)
        for (reading, what, place) in readings {
            var route = Route(name: "", place: place)
            for pieces in reading.patterns {
                if isSingle {
                    route.patterns.append(Pattern(pieces: pieces))
                    continue
                }
                route.patterns += origins.map { Pattern(pieces: pieces, scheme: $0.scheme, host: $0.host) }
            }
            append(route, reading, what, at: place)
        }
    }

    /// Returns the schemes of a filter with each of its hosts, as rules of a table.
    private mutating func origins(of filter: AndroidFilter) -> [(scheme: String, host: String)] {
        var hosts: [String] = filter.hosts.isEmpty ? ["*"] : []
        for host in filter.hosts {
            let name = host.name.lowercased()
            var rule = name + (host.port.map { ":" + $0 } ?? "")
            if name.hasPrefix("*"), name != "*", !name.hasPrefix("*.") {
                rule = "*." + name.dropFirst()
                note(
                    .leavesOut, "the hosts of `\(host.name)` that `\(rule)` does not match", at: filter.place)
            }
            guard !rule.isEmpty, (try? HostRule.parse(rule)) != nil, !(name.hasPrefix("*") && host.port != nil) else {
                note(.leavesOut, "the host `\(host.name)`, which no table can have", at: filter.place)
                continue
            }
            if !hosts.contains(rule) { hosts.append(rule) }
        }
        var origins: [(String, String)] = []
        var seen = Set<String>()
        for scheme in filter.schemes where seen.insert(scheme).inserted && Self.isScheme(scheme) {
            origins += hosts.map { (scheme, $0) }
        }
        return origins
    }

    /// Returns a Boolean value that indicates whether a text is a scheme in lowercase.
    static func isScheme(_ text: String) -> Bool {
        text.utf8.first.map { $0 &- UInt8(ascii: "a") < 26 } == true
            && text.utf8.allSatisfy {
                $0 &- UInt8(ascii: "a") < 26 || $0 &- UInt8(ascii: "0") < 10 || "+-.".utf8.contains($0)
            }
    }
}

extension WildPath {
    /// Creates the path of a filter.
    fileprivate init(_ pattern: AndroidPatternText) {
        parts = []
        tailIsOptional = false
        if pattern.isSuffix {
            parts = [.literal("/"), .star(without: nil)] + pattern.text.unicodeScalars.map { .literal($0) }
            return
        }
        for (index, token) in pattern.tokens.enumerated() {
            switch token {
            case .rest: parts.append(.star(without: nil))
            case .until(let unit):
                let scalar = Unicode.Scalar(unit)
                parts += scalar.map { [.star(without: $0), .literal($0)] } ?? [.other]
            case .run: parts.append(.other)
            case .greedy(.unit(let unit), 1, 1): parts.append(Unicode.Scalar(unit).map { .literal($0) } ?? .other)
            case .greedy(.any, 1, 1): parts.append(.one)
            case .greedy(.any, _, .max) where index == pattern.tokens.count - 1:
                if case .greedy(.any, let least, _) = token, least > 0 { parts.append(.one) }
                parts.append(.star(without: nil))
            case .greedy(.set(let ranges, let isInverse), let least, let most):
                let own = ranges.flatMap { range in
                    range.lowerBound < 0x80
                        ? (range.lowerBound...min(range.upperBound, 0x7F)).compactMap { Unicode.Scalar($0) } : []
                }
                let set = String(String.UnicodeScalarView(own))
                if isInverse {
                    let isSegment =
                        own == ["/"] && index == pattern.tokens.count - 1 && least <= 1 && most == .max
                        && parts.last == .literal("/")
                    parts.append(isSegment ? .star(without: "/") : .other)
                } else {
                    parts.append(.set(set, least: least, most: most == .max ? 1000 : most))
                }
            case .greedy: parts.append(.other)
            }
        }
        // A character set takes as much as it can, so what follows must not be in the set.
        for index in parts.indices.dropLast() {
            guard case .set(let own, let least, let most) = parts[index], least != most else { continue }
            if case .literal(let scalar) = parts[index + 1], !own.unicodeScalars.contains(scalar) { continue }
            parts[index] = .other
        }
    }
}
