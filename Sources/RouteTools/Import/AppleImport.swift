internal import ByteStorage
internal import LinkCoordinator

// The import of apple-app-site-association files. See ImportedTables, "Apple".
extension TableDraft {
    /// Adds the components of a file, which is served on some hosts.
    mutating func add(_ file: AppleFile, hosts: [String]) throws(AssociationProblem) {
        guard !hosts.isEmpty else {
            throw AssociationProblem(
                .error, .value, "the file does not say on which host it is served: pass --host HOST")
        }
        if file.rules.listCount > 1 {
            throw AssociationProblem(
                .error, .value,
                "apps of the file have different components: pass --app-id with one of "
                    + file.apps.joined(separator: ", "))
        }
        add(file.problems)
        blocks = [Block(schemes: ["https"], hosts: hosts.map { $0.lowercased() })]
        applications = file.apps.compactMap { app in
            app.firstIndex(of: ".").map { String(app[app.index(after: $0)...]) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        var seen = Set<String>()
        applications.removeAll { !seen.insert($0).inserted }
        let rules = file.rules.listedNumbers.map { (number: $0, rule: file.rules.rules[$0]) }
            .filter { !$0.rule.isDead }
        foldsCase = !rules.isEmpty && rules.allSatisfy { !$0.rule.caseSensitive }
        for (number, rule) in rules {
            let path = WildPath(rule, file.variables, foldsAlone: !rule.caseSensitive && !foldsCase)
            if rule.isExcluded { exclude(rule, number, path) } else { include(rule, number, path) }
        }
        opens = { link in LinkPieces(link).map { file.rules.decide($0).isHanded } ?? false }
        note(
            .unknown,
            "the screens: each route leads to a screen of its own in the coordinator `app`, named after its path")
        note(.unknown, "the data: a captured segment or query item is text")
        note(.unknown, "the screens below a screen, for which `parents` is the key")
        note(.opensMore, "links with a port, which a host of a table allows")
    }

    private mutating func include(_ rule: AppleRule, _ number: Int, _ path: WildPath) {
        let reading = path.narrow
        var route = Route(name: "", place: rule.place, rank: number)
        route.patterns = reading.patterns.map { Pattern(pieces: $0) }
        if rule.fragment != nil {
            return note(
                .leavesOut, "the component `\(rule.path)`: no route of a table depends on a fragment", at: rule.place)
        }
        switch rule.query {
        case .any: break
        case .text:
            return note(
                .leavesOut, "the component `\(rule.path)`: a table compares the items of a query, not its text",
                at: rule.place)
        case .items(let items):
            for item in items { add(item.name, item.value.text, rule, to: &route) }
        }
        append(route, reading, "the component `\(rule.path)`", at: rule.place)
    }

    /// Adds a condition on a query item to a route that opens links.
    private mutating func add(_ name: String, _ value: String, _ rule: AppleRule, to route: inout Route) {
        let name = rule.percentEncoded ? LinkPieces.decoded(name) : name
        let parts = ApplePatternText(value).parts
        let literals = parts.compactMap { if case .literal(let scalar) = $0 { scalar } else { nil } }
        if parts == [.star] { return }
        if literals.count == parts.count {
            let text = String(String.UnicodeScalarView(literals))
            let decoded = rule.percentEncoded ? LinkPieces.decoded(text) : text
            // A table reads `*` as any value.
            if decoded != "*" {
                return route.query.append(Condition(name: name, value: decoded.isEmpty ? nil : decoded))
            }
        }
        let isOpen = parts.contains { $0 == .star || isVariable($0) }
        let least = parts.count { $0 != .star }
        let field = Self.name(name, .identifier, or: "value\(route.fields.count + 1)")
        route.query.append(Condition(name: name, value: "*"))
        guard !route.fields.contains(where: { $0.name == field }), !NameRule.isReserved(name) else { return }
        route.fields.append(
            Field(
                name: field, type: "string(\(least)..\(isOpen ? "" : "\(least)"))", source: "query.\(name)"))
        note(
            .leavesOut, "links with another length of `\(name)` in the query, if a later component opens them",
            at: rule.place)
        note(
            .opensMore,
            "`\(name)` in the query with any text of \(isOpen ? "at least " : "")\(least) bytes, not only `\(value)`",
            at: rule.place)
    }

    private func isVariable(_ part: ApplePatternText.Part) -> Bool {
        if case .variable = part { true } else { false }
    }

    private mutating func exclude(_ rule: AppleRule, _ number: Int, _ path: WildPath) {
        let reading = path.wide
        var route = Route(name: "", place: rule.place, rank: number)
        route.isExcluded = true
        route.patterns = reading.patterns.map { Pattern(pieces: $0) }
        var hasText = rule.fragment != nil
        switch rule.query {
        case .any: break
        case .text: hasText = true
        case .items(let items):
            for item in items where item.value.text != "*" {
                let name = rule.percentEncoded ? LinkPieces.decoded(item.name) : item.name
                let value = item.value.text
                let isLiteral = !value.contains { "*?$%".contains($0) }
                // A variable can be empty, and a name in another case is another one for a table.
                if value.isEmpty || value.contains("$(") || !rule.caseSensitive {
                    note(.leavesOut, "links with any `\(name)` in the query, or none", at: rule.place)
                    continue
                }
                route.query.append(Condition(name: name, value: isLiteral ? value : "*"))
                if isLiteral {
                    note(.opensMore, "links that repeat `\(name)` in the query are not excluded", at: rule.place)
                } else {
                    note(
                        .leavesOut, "links with any value of `\(name)` in the query, not only `\(value)`",
                        at: rule.place)
                }
            }
        }
        if hasText {
            let coversAll = route.patterns.contains { $0.pieces.first?.isTail == true }
            let what = rule.fragment == nil ? "query" : "fragment"
            guard !coversAll else {
                return note(
                    .opensMore, "the exclusion `\(rule.path)` depends on the \(what), which no route of a table does",
                    at: rule.place)
            }
            note(.leavesOut, "links of the exclusion `\(rule.path)` with any \(what)", at: rule.place)
        }
        if let difference = reading.difference {
            note(.leavesOut, "the exclusion `\(rule.path)` is wider: \(difference)", at: rule.place)
        }
        append(route, WildPath.Reading(patterns: reading.patterns), "the exclusion `\(rule.path)`", at: rule.place)
    }

    /// Adds a route with its name, and a remark about what its patterns leave out.
    mutating func append(
        _ route: Route, _ reading: WildPath.Reading, _ what: String, at place: AssociationProblem.Place
    ) {
        if let difference = reading.difference { note(.leavesOut, "\(what): \(difference)", at: place) }
        guard !route.patterns.isEmpty else { return }
        var route = route
        let name = Self.name(of: route.patterns, or: route.patterns[0].pieces.isEmpty ? "home" : "any")
        route.name = route.isExcluded ? Self.name("not-" + name, or: "not") : name
        routes.append(route)
    }
}

extension WildPath {
    /// Creates the path of a component.
    fileprivate init(_ rule: AppleRule, _ variables: AppleVariables, foldsAlone: Bool) {
        // The last slash of a path does not count, and the first one is optional.
        let trimmed = ApplePatternText.path("/" + rule.path.drop { $0 == "/" })
        parts = ApplePatternText(trimmed).parts.map { part in
            switch part {
            case .star: .star(without: nil)
            case .one: .one
            case .literal(let scalar): .literal(scalar)
            case .variable(let name):
                if variables.own[name] == nil, let set = AppleVariables.characters[name] {
                    .set(rule.caseSensitive ? set : set.lowercased() + set.uppercased(), least: 1, most: 1)
                } else {
                    .choice(variables.own[name] ?? AppleVariables.codes(name) ?? [])
                }
            }
        }
        isEncoded = rule.percentEncoded
        self.foldsAlone = foldsAlone
    }
}
