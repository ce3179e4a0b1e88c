internal import ByteStorage
internal import LinkCoordinator

// The import of apple-app-site-association files. See ImportedTables, "Apple".
extension TableDraft {
    /// Adds the components of a file, which is served on some hosts.
    mutating func add(_ file: AppleFile, hosts: [String]) throws(AssociationProblem) {
        guard !hosts.isEmpty, hosts.allSatisfy(TableImport.isHost) else {
            throw AssociationProblem(
                .error, .value, "the file does not say on which host it is served: pass --host HOST without a port")
        }
        guard !file.rules.listedNumbers.isEmpty else {
            throw AssociationProblem(
                .error, .value,
                (file.problems.first { $0.code == .notAssociated }?.message ?? "the file has no components")
                    + ": there is no link to import"
                    + (file.named.isEmpty ? "" : "; the apps of the file are " + file.named.joined(separator: ", ")))
        }
        if file.rules.listCount > 1 {
            throw AssociationProblem(
                .error, .value,
                "apps of the file have different components: pass --app-id with one of "
                    + file.apps.joined(separator: ", "))
        }
        add(file.problems)
        blocks = [Block(schemes: ["https"], hosts: hosts.map { $0.lowercased() }.unique)]
        applications = file.apps.compactMap { app in
            app.firstIndex(of: ".").map { String(app[app.index(after: $0)...]) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        applications = applications.unique
        let rules = file.rules.listedNumbers.map { file.rules.rules[$0] }.filter { !$0.isDead }
        foldsCase = !rules.isEmpty && rules.allSatisfy { !$0.caseSensitive }
        for rule in rules {
            let path = WildPath(rule, file.variables, foldsAlone: !rule.caseSensitive && !foldsCase)
            if rule.isExcluded { exclude(rule, path) } else { include(rule, path) }
        }
        note(
            .unknown,
            "the screens: each route leads to a screen of its own in the coordinator `app`, named after its path")
        note(.unknown, "the data: a captured segment or query item is text")
        note(.unknown, "the screens below a screen, for which `parents` is the key")
        note(.opensMore, "links with a port, which a host of a table allows")
    }

    private mutating func include(_ rule: AppleRule, _ path: WildPath) {
        let reading = path.narrow
        var route = Route(name: "", place: rule.place)
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
            for item in items {
                guard add(item.name, ApplePatternText(item.value.text), rule, to: &route) else {
                    return note(
                        .leavesOut, "the component `\(rule.path)`: no table can have its condition on `\(item.name)`",
                        at: rule.place)
                }
            }
        }
        append(route, reading, "the component `\(rule.path)`", at: rule.place)
    }

    /// Returns the name of an item of a query as a table has it, or nil if no table can have it.
    ///
    /// A name that ignores case is one only in a table that does too.
    private func queryName(_ name: String, _ rule: AppleRule) -> String? {
        guard let text = queryText(name, rule), !text.isEmpty, !text.contains("=") else { return nil }
        return rule.caseSensitive || foldsCase && text.utf8.allSatisfy({ $0 < 0x80 }) ? text : nil
    }

    /// Returns a text of a query as a table has it, or nil if no table can have it, or no link in the usual spelling.
    private func queryText(_ text: String, _ rule: AppleRule) -> String? {
        let plain = rule.percentEncoded ? LinkPieces.decoded(text) : text
        let isSpecial =
            Self.has(plain, anyOf: "<\u{FFFD}")
            || plain.unicodeScalars.contains { $0.properties.generalCategory == .control }
        if isSpecial
            || rule.percentEncoded && (text.contains("&") || !LinkPieces.isUsual(text, foldsCase: !rule.caseSensitive))
        {
            return nil
        }
        return plain
    }

    /// Returns the only text that a pattern matches, or nil if there are several.
    private func literal(_ pattern: ApplePatternText) -> String? {
        let literals = pattern.parts.compactMap { if case .literal(let scalar) = $0 { scalar } else { nil } }
        return literals.count == pattern.parts.count ? String(String.UnicodeScalarView(literals)) : nil
    }

    /// Adds a condition on a query item to a route that opens links, or returns false if a table cannot have it.
    private mutating func add(
        _ name: String, _ pattern: ApplePatternText, _ rule: AppleRule, to route: inout Route
    ) -> Bool {
        if pattern.parts == [.star] { return true }
        guard let own = queryName(name, rule) ?? (rule.caseSensitive ? nil : queryText(name, rule)), !own.isEmpty else {
            return false
        }
        if queryName(name, rule) == nil {
            note(.opensMore, "links that repeat `\(own)` in the query with other cases of letters", at: rule.place)
        }
        if let text = literal(pattern) {
            // A table reads `*` as any value.
            guard let text = queryText(text, rule), text != "*" else { return false }
            if !rule.caseSensitive, text.contains(where: \.isLetter) {
                note(.leavesOut, "links with other cases of letters in `\(own)` of the query", at: rule.place)
            }
            return append(Condition(name: own, value: text.isEmpty ? nil : text), to: &route)
        }
        let isOpen = pattern.parts.contains { $0 == .star || isVariable($0) }
        let least = pattern.parts.count { $0 != .star }
        let field = Self.name(own, .identifier, or: "value\(route.fields.count + 1)")
        guard append(Condition(name: own, value: "*"), to: &route) else { return false }
        guard !route.fields.contains(where: { $0.name == field }), !NameRule.isReserved(own) else { return true }
        route.fields.append(
            Field(
                name: field, type: "string(\(least)..\(isOpen ? "" : "\(least)"))", source: "query.\(own)"))
        note(
            .leavesOut, "links with another length of `\(own)` in the query, if a later component opens them",
            at: rule.place)
        note(
            .opensMore,
            "`\(own)` in the query with any text of \(isOpen ? "at least " : "")\(least) bytes, not only "
                + "`\(pattern.text)`", at: rule.place)
        return true
    }

    /// Adds a condition, or returns false if the route has another one with the name.
    private func append(_ condition: Condition, to route: inout Route) -> Bool {
        let same = route.query.first {
            $0.name == condition.name || foldsCase && $0.name.lowercased() == condition.name.lowercased()
        }
        guard let same else {
            route.query.append(condition)
            return true
        }
        return same.value == condition.value
    }

    private func isVariable(_ part: ApplePatternText.Part) -> Bool {
        if case .variable = part { true } else { false }
    }

    private mutating func exclude(_ rule: AppleRule, _ path: WildPath) {
        let reading = path.wide
        var route = Route(name: "", place: rule.place)
        route.isExcluded = true
        route.isWider = reading.difference != nil
        route.patterns = reading.patterns.map { Pattern(pieces: $0) }
        var hasText = rule.fragment != nil
        switch rule.query {
        case .any: break
        case .text: hasText = true
        case .items(let items):
            for item in items { addWide(item.name, ApplePatternText(item.value.text), rule, to: &route) }
        }
        if hasText {
            let coversAll = route.query.isEmpty && route.patterns.contains { $0.pieces.first?.isTail == true }
            let what = rule.fragment == nil ? "query" : "fragment"
            guard !coversAll else {
                return note(
                    .opensMore, "the exclusion `\(rule.path)` depends on the \(what), which no route of a table does",
                    at: rule.place)
            }
            route.isWider = true
            note(.leavesOut, "links of the exclusion `\(rule.path)` with any \(what)", at: rule.place)
        }
        if let difference = reading.difference {
            note(.leavesOut, "the exclusion `\(rule.path)` is wider: \(difference)", at: rule.place)
        }
        if !rule.percentEncoded {
            note(.opensMore, "links of the exclusion `\(rule.path)` in which `/` is written as `%2F`", at: rule.place)
        }
        append(route, WildPath.Reading(patterns: reading.patterns), "the exclusion `\(rule.path)`", at: rule.place)
    }

    /// Adds a condition on a query item to an exclusion, which holds for all links for which the one of the file does.
    private mutating func addWide(
        _ name: String, _ pattern: ApplePatternText, _ rule: AppleRule, to route: inout Route
    ) {
        if pattern.parts == [.star] { return }
        // A missing item is an empty text, which a variable can be too.
        let matchesNone = pattern.parts.allSatisfy { $0 == .star || isVariable($0) }
        let known = route.query.count
        guard !matchesNone, let own = queryName(name, rule), append(Condition(name: own, value: "*"), to: &route),
            route.query.count > known
        else {
            route.isWider = true
            return note(.leavesOut, "links with any `\(name)` in the query, or none", at: rule.place)
        }
        if let text = literal(pattern), rule.caseSensitive || !text.contains(where: \.isLetter),
            let plain = queryText(text, rule), plain != "*"
        {
            route.query[known].value = plain
            return note(.opensMore, "links that repeat `\(own)` in the query are not excluded", at: rule.place)
        }
        route.isWider = true
        note(
            .leavesOut, "links with any value of `\(own)` in the query, not only `\(pattern.text)`",
            at: rule.place)
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
        folds = !rule.caseSensitive
        self.foldsAlone = foldsAlone
    }
}
