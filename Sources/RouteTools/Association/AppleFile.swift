internal import StrictJSON

/// An apple-app-site-association file.
///
/// Unknown keys are ignored, as the system does.
package struct AppleFile {
    /// The components.
    private(set) var rules = AppleRules()
    /// The problems of the file.
    package private(set) var problems: [AssociationProblem] = []

    /// The apps whose components count, or none for all apps of the file.
    private let selected: Set<String>
    private(set) var variables = AppleVariables()
    /// The ids of the apps that count, in the order of the file.
    private(set) var apps: [String] = []
    /// The ids of all apps of the file, at most 20, in its order.
    private(set) var named: [String] = []
    /// The number of states of all patterns of queries and fragments.
    private var states = 0
    private let places: JSONPlaces

    /// Reads a file.
    ///
    /// A file that the system cannot use throws its first error.
    ///
    /// - Parameters:
    ///   - json: The bytes of the file.
    ///   - apps: The ids of the apps whose components count, or none for all apps of the file.
    package init(_ json: [UInt8], apps: [String] = []) throws(AssociationProblem) {
        let root = try AssociationJSON.read(json)
        selected = Set(apps)
        places = JSONPlaces(json)
        if json.count > AssociationLimits.appleBytes {
            problems.append(
                AssociationProblem(
                    .warning, .size,
                    "the file has \(json.count) bytes; Apple's systems read at most \(AssociationLimits.appleBytes)"))
        }
        guard root.object != nil else { throw places.error("expected an object", root, "") }
        guard let links = root["applinks"] else {
            throw places.error("expected the member `applinks`, an object", root, "")
        }
        guard links.object != nil else { throw places.error("expected an object", links, "/applinks") }
        try readVariables(links)
        try readDetails(links)
        problems.sort { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    // MARK: Variables

    private mutating func readVariables(_ links: JSONValue) throws(AssociationProblem) {
        guard let object = links["substitutionVariables"] else { return }
        let pointer = "/applinks/substitutionVariables"
        guard let members = object.object else { throw places.error("expected an object of arrays", object, pointer) }
        for member in members {
            let own = pointer + JSONLocation.step(member.name)
            guard let values = member.value.array?.map(\.string), !values.contains(nil) else {
                throw places.error("expected an array of strings", member.value, own)
            }
            if member.name.contains(where: { "$()".contains($0) }) {
                warn(.ignored, "the name of a variable cannot contain `$`, `(`, or `)`", member.value, own)
                continue
            }
            if values.contains(where: { $0?.contains("$(") == true }) {
                warn(.value, "a value cannot refer to a variable; it is read as plain text", member.value, own)
            }
            variables.own[member.name] = values.compactMap(\.self)
        }
    }

    // MARK: Details

    private mutating func readDetails(_ links: JSONValue) throws(AssociationProblem) {
        guard let details = links["details"] else {
            return warn(.dead, "the file has no `details`, so no link is handed to an app", links, "/applinks")
        }
        let base = links["defaults"]
        var entries: [(apps: [String], entry: JSONValue, pointer: String)] = []
        if let list = details.array {
            for (index, entry) in list.enumerated() {
                let pointer = "/applinks/details/\(index)"
                guard entry.object != nil else { throw places.error("expected an object", entry, pointer) }
                entries.append((apps(entry, pointer), entry, pointer))
            }
        } else if let members = details.object {
            // The oldest form has an object per app. The order of the apps is the order of their names.
            for member in members.sorted(by: { $0.name < $1.name }) {
                entries.append(([member.name], member.value, "/applinks/details" + JSONLocation.step(member.name)))
            }
        } else {
            throw places.error("expected an array of objects", details, "/applinks/details")
        }
        // An app is a list of entries first, because a file can name many apps in each of many entries.
        var ranges: [[Int]] = []
        var byApp: [[Int]] = []
        var places: [String: Int] = [:]
        for (index, (apps, entry, pointer)) in entries.enumerated() {
            ranges.append(try readEntry(entry, base, pointer))
            for app in apps where named.count < 20 && !named.contains(app) { named.append(app) }
            for app in Set(apps).sorted() where selected.isEmpty || selected.contains(app) {
                if let place = places[app] {
                    byApp[place].append(index)
                } else {
                    places[app] = byApp.count
                    self.apps.append(app)
                    byApp.append([index])
                }
            }
        }
        if byApp.isEmpty, !selected.isEmpty {
            let names = selected.sorted().joined(separator: ", ")
            warn(.notAssociated, "the file does not name the app \(names)", details, "/applinks/details")
        }
        var seen = Set<[Int]>()
        var count = 0
        for list in byApp where seen.insert(list).inserted {
            count += list.reduce(0) { $0 + ranges[$1].count }
            guard count <= AssociationLimits.maxListed else {
                throw AssociationProblem(
                    .error, .limit, "the apps have more than \(AssociationLimits.maxListed) components together")
            }
            rules.add(list: list.flatMap { ranges[$0] })
        }
        if rules.isTooLarge || states > ScalarAutomaton.maxStates {
            throw AssociationProblem(
                .error, .limit,
                "the patterns and the values of their variables need more than \(ScalarAutomaton.maxStates) states")
        }
    }

    private mutating func apps(_ entry: JSONValue, _ pointer: String) -> [String] {
        let several = entry["appIDs"]?.array?.compactMap(\.string) ?? []
        let apps = several + [entry["appID"]?.string].compactMap(\.self).filter { !several.contains($0) }
        if apps.isEmpty {
            warn(.dead, "expected `appIDs`, an array of strings; without it, no app receives links", entry, pointer)
        }
        return apps
    }

    private mutating func readEntry(
        _ entry: JSONValue, _ base: JSONValue?, _ pointer: String
    ) throws(AssociationProblem) -> [Int] {
        let defaults = [entry["defaults"], base].compactMap(\.self)
        var numbers: [Int] = []
        if let components = entry["components"] {
            guard let list = components.array else {
                throw places.error("expected an array of objects", components, pointer + "/components")
            }
            for (index, component) in list.enumerated() {
                let own = pointer + "/components/\(index)"
                guard component.object != nil else { throw places.error("expected an object", component, own) }
                numbers.append(try add(rule([component] + defaults, own)))
            }
        }
        if let paths = entry["paths"] {
            guard let list = paths.array else {
                throw places.error("expected an array of strings", paths, pointer + "/paths")
            }
            for (index, path) in list.enumerated() {
                let own = pointer + "/paths/\(index)"
                guard let text = path.string else { throw places.error("expected a string", path, own) }
                numbers.append(try add(legacyRule(text, path, own)))
            }
        }
        if entry["components"] == nil, entry["paths"] == nil {
            warn(.dead, "expected `components`, an array; without it, no link is handed over", entry, pointer)
        }
        return numbers
    }

    private mutating func add(_ rule: AppleRule) throws(AssociationProblem) -> Int {
        if rules.rules.count >= AssociationLimits.maxComponents {
            throw AssociationProblem(
                .error, .limit, "the file has more than \(AssociationLimits.maxComponents) components", at: rule.place)
        }
        return rules.add(rule, variables)
    }

    // MARK: Components

    private mutating func legacyRule(_ text: String, _ value: JSONValue, _ pointer: String) -> AppleRule {
        var rule = AppleRule()
        rule.isExcluded = text.hasPrefix("NOT ")
        rule.path = rule.isExcluded ? String(text.dropFirst(4)) : text
        rule.place = places.place(value, pointer)
        check(&rule, [ApplePatternText(rule.path)], value, pointer)
        return rule
    }

    /// Reads a component, with each value from the first object that has its key.
    private mutating func rule(_ levels: [JSONValue], _ pointer: String) -> AppleRule {
        var rule = AppleRule()
        let component = levels[0]
        rule.place = places.place(component, pointer)
        rule.isExcluded = flag("exclude", levels, pointer) ?? false
        rule.caseSensitive = flag("caseSensitive", levels, pointer) ?? true
        rule.percentEncoded = flag("percentEncoded", levels, pointer) ?? true
        let folds = !rule.caseSensitive
        rule.path = text("/", levels, pointer) ?? "*"
        var patterns = [ApplePatternText(rule.path)]
        if let fragment = text("#", levels, pointer), fragment != "*" {
            patterns.append(ApplePatternText(fragment))
            rule.fragment = pattern(fragment, folds)
        }
        if let query = Self.first("?", levels) {
            if let text = query.string {
                patterns.append(ApplePatternText(text))
                if text != "*" { rule.query = .text(pattern(text, folds)) }
            } else if let items = query.object {
                if items.contains(where: { $0.value.string == nil }) {
                    warn(
                        .ignored, "an item of the query is not a string, so all items are ignored", query,
                        pointer + "/?")
                } else {
                    patterns += items.map { ApplePatternText($0.value.string ?? "") }
                    var wanted: [(name: String, value: AppleRule.TextPattern)] = []
                    for item in items { wanted.append((item.name, pattern(item.value.string ?? "", folds))) }
                    rule.query = .items(wanted)
                }
            } else {
                warn(.value, "expected a string or an object; the query is ignored", query, pointer + "/?")
            }
        }
        check(&rule, patterns, component, pointer)
        for member in component.object ?? [] { checkKey(member, pointer) }
        return rule
    }

    private mutating func pattern(_ text: String, _ folds: Bool) -> AppleRule.TextPattern {
        var automaton = ScalarAutomaton()
        // The file is refused anyway if there are too many states.
        guard states <= ScalarAutomaton.maxStates else {
            return AppleRule.TextPattern(text: text, automaton: automaton)
        }
        let start = automaton.begin()
        if let end = automaton.apple(ApplePatternText(text), from: start, variables: variables, folds: folds) {
            automaton.finish(end, pattern: 0)
        }
        states += automaton.isTooLarge ? ScalarAutomaton.maxStates + 1 : automaton.steps.count
        return AppleRule.TextPattern(text: text, automaton: automaton)
    }

    private mutating func check(
        _ rule: inout AppleRule, _ patterns: [ApplePatternText], _ value: JSONValue, _ pointer: String
    ) {
        for name in patterns.flatMap(\.names) where !variables.defines(name) {
            rule.isDead = true
            warn(.dead, "the variable `\(name)` is not defined, so the component never matches", value, pointer)
        }
        if rule.path.contains("#") {
            warn(.dead, "a path never contains `#`: write the part after it as the key `#`", value, pointer)
        } else if patterns[0].parts.contains(.one), rule.path.contains("?"), rule.path.contains("=") {
            warn(.dead, "a path never contains a query: write the part after `?` as the key `?`", value, pointer)
        }
    }

    private static let keys = ["/", "?", "#", "exclude", "comment", "caseSensitive", "percentEncoded"]

    private mutating func checkKey(_ member: JSONMember, _ pointer: String) {
        let known = Self.keys.first { $0 != member.name && $0.lowercased() == member.name.lowercased() }
        guard let known, !Self.keys.contains(member.name) else { return }
        warn(
            .unknownKey, "the key `\(member.name)` is ignored: write `\(known)`", member.value,
            pointer + JSONLocation.step(member.name))
    }

    private static func first(_ key: String, _ levels: [JSONValue]) -> JSONValue? {
        levels.lazy.compactMap { $0[key] }.first
    }

    private mutating func text(_ key: String, _ levels: [JSONValue], _ pointer: String) -> String? {
        guard let value = Self.first(key, levels) else { return nil }
        if let text = value.string { return text }
        warn(.value, "expected a string; the key `\(key)` is ignored", value, pointer + JSONLocation.step(key))
        return nil
    }

    private mutating func flag(_ key: String, _ levels: [JSONValue], _ pointer: String) -> Bool? {
        guard let value = Self.first(key, levels) else { return nil }
        if case .bool(let flag) = value.kind { return flag }
        warn(.value, "expected true or false; the key `\(key)` is ignored", value, pointer + JSONLocation.step(key))
        return nil
    }

    // MARK: Problems

    private mutating func warn(
        _ code: AssociationProblem.Code, _ message: String, _ value: JSONValue, _ pointer: String
    ) {
        guard problems.count < AssociationJSON.maxProblems else { return }
        problems.append(AssociationProblem(.warning, code, message, at: places.place(value, pointer)))
    }
}
