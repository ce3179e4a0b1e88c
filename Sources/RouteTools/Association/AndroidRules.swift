/// An intent filter of an Android manifest that receives links from other apps and from browsers.
///
/// The attributes of all `<data>` elements of a filter combine with each other.
struct AndroidFilter {
    /// A host with its port.
    struct Host: Hashable {
        /// The host, with `*` at the start for any characters before the rest.
        var name: String
        /// The port, or nil for any.
        var port: String?

        /// Returns a Boolean value that indicates whether a link can have this host.
        ///
        /// Android ignores the case of ASCII letters.
        func matches(_ host: String, _ port: String?) -> Bool {
            if let own = self.port, own != port { return false }
            let text = host.lowercased()
            guard name.hasPrefix("*") else { return text == name.lowercased() }
            return text.hasSuffix(name.dropFirst().lowercased())
        }
    }

    /// A condition of a group: on the path, an item of the query, or the fragment.
    struct Condition {
        /// The part of a link.
        enum Part: String, CaseIterable { case path, query, fragment }
        var part: Part
        var pattern: AndroidPatternText
    }

    /// A `<uri-relative-filter-group>`, whose conditions must all hold.
    struct Group {
        var isAllowed: Bool
        var conditions: [Condition]

        /// Returns a Boolean value that indicates whether all conditions hold for a link.
        func matches(_ link: LinkPieces) -> Bool {
            conditions.allSatisfy { condition in
                switch condition.part {
                case .path: return condition.pattern.matches(LinkPieces.decoded(link.path))
                case .fragment: return link.fragment.map { condition.pattern.matches(LinkPieces.decoded($0)) } ?? false
                case .query:
                    guard let query = link.query.map(LinkPieces.decoded) else { return false }
                    var items = query.split(separator: "&", omittingEmptySubsequences: false)
                    if items.count == 1 { items = query.split(separator: ";", omittingEmptySubsequences: false) }
                    return items.contains { condition.pattern.matches(String($0)) }
                }
            }
        }
    }

    /// A path of a filter.
    struct Path {
        var pattern: AndroidPatternText
        /// The attribute as written.
        var text: String
        var place: AssociationProblem.Place
    }

    /// The schemes, compared exactly.
    var schemes: [String] = []
    /// The hosts, or none if every host matches and paths are ignored.
    var hosts: [Host] = []
    /// The paths, or none if only groups decide, or if every path matches.
    var paths: [Path] = []
    /// The groups, in order: the first that matches decides.
    var groups: [Group] = []
    /// A Boolean value that indicates whether Android verifies the hosts.
    var isVerified = false
    /// The attributes with a value that is only known when the app is built.
    var unresolved: Set<String> = []
    /// The location of the filter.
    var place = AssociationProblem.Place()

    /// A Boolean value that indicates whether the filter would match fewer links if all its values were known.
    var isTooWide: Bool {
        unresolved.contains("port") || hosts.isEmpty && unresolved.contains("host")
            || paths.isEmpty && groups.isEmpty && unresolved.contains { $0.hasPrefix("path") }
    }

    /// A Boolean value that indicates whether paths and groups count.
    var readsPath: Bool { !hosts.isEmpty && !(paths.isEmpty && groups.isEmpty) }

    /// Returns a Boolean value that indicates whether the filter can match links with this scheme, host, and port.
    func takes(scheme: String, host: String, port: String?) -> Bool {
        schemes.contains(scheme) && (hosts.isEmpty || hosts.contains { $0.matches(host, port) })
    }

    /// The match of a filter.
    enum Match: Equatable {
        /// The filter has no condition on the path.
        case anyPath
        /// The path with this index matches.
        case path(Int)
        /// A group matches.
        case group
    }

    /// Returns the part of the filter that matches a link, or nil if the filter does not match.
    func match(_ link: LinkPieces) -> Match? {
        guard takes(scheme: link.scheme, host: LinkPieces.decoded(link.host), port: link.port) else { return nil }
        guard readsPath else { return .anyPath }
        let path = LinkPieces.decoded(link.path)
        if let index = paths.firstIndex(where: { $0.pattern.matches(path) }) { return .path(index) }
        return groups.first { $0.matches(link) }?.isAllowed == true ? .group : nil
    }
}

/// A rule of a Dynamic App Link in `assetlinks.json`.
///
/// The first rule that matches decides, and a link without a match is not handed over.
struct DynamicRule {
    /// The pattern of the path, or nil for any.
    var path: AndroidPatternText?
    /// The patterns of items of the query, which must all be present.
    var query: [(name: String, value: AndroidPatternText)] = []
    /// The pattern of the fragment, or nil for any.
    var fragment: AndroidPatternText?
    /// A Boolean value that indicates whether the links of the rule stay out of the app.
    var isExcluded = false
    /// The location of the rule.
    var place = AssociationProblem.Place()

    /// A Boolean value that indicates whether the rule has conditions other than the path.
    var isConditional: Bool { !query.isEmpty || fragment != nil }

    /// Returns a Boolean value that indicates whether the path of a link matches.
    func matchesPath(_ link: LinkPieces) -> Bool {
        path.map { $0.matches(LinkPieces.decoded(link.path)) } ?? true
    }

    /// Returns a Boolean value that indicates whether the query and the fragment of a link match.
    func matchesRest(_ link: LinkPieces) -> Bool {
        if let fragment {
            guard let own = link.fragment, fragment.matches(LinkPieces.decoded(own)) else { return false }
        }
        let items = LinkPieces.items(link.query ?? "").map {
            (name: LinkPieces.decoded($0.name), value: LinkPieces.decoded($0.value))
        }
        return query.allSatisfy { wanted in
            items.contains { $0.name == wanted.name && wanted.value.matches($0.value) }
        }
    }
}

/// The rules with which Android decides links.
struct AndroidRules {
    /// The filters of the manifest, or nil without a manifest.
    var filters: [AndroidFilter]?
    /// The rules of Dynamic App Links, which narrow the manifest on Android 15 and newer, or nil for none.
    var dynamic: [DynamicRule]?

    /// A decision about a link.
    struct Decision: Equatable {
        /// A Boolean value that indicates whether the app receives the link.
        var isHanded: Bool
        /// The filters that match, each with the part that matches.
        var filters: [Int] = []
        /// The dynamic rule that decided, or nil if there is none.
        var rule: Int?
    }

    /// Returns the reason why no filter or rule hands a link to the app, as a phrase.
    func missing(for link: LinkPieces) -> String? {
        let named = (filters ?? []).filter { $0.schemes.contains(link.scheme) }
        if filters != nil, named.isEmpty { return "no filter has the scheme `\(link.scheme)`" }
        let host = LinkPieces.decoded(link.host)
        let taking = named.filter { $0.takes(scheme: link.scheme, host: host, port: link.port) }
        if filters != nil, taking.isEmpty {
            let place = host.isEmpty ? "takes links without a host" : "has the host `\(host)`"
            return "no filter with the scheme `\(link.scheme)` \(place)"
        }
        if filters != nil, !taking.contains(where: { $0.match(link) != nil }) {
            return "no path of the filters for `\(link.scheme)://\(link.host)` matches"
        }
        return dynamic == nil ? nil : "the dynamic rules do not allow it"
    }

    /// Decides a link.
    func decide(_ link: LinkPieces) -> Decision {
        var found: [Int] = []
        if let filters {
            found = filters.indices.filter { filters[$0].match(link) != nil }
            if found.isEmpty { return Decision(isHanded: false) }
        }
        guard let dynamic, link.scheme == "https" || link.scheme == "http" else {
            return Decision(isHanded: filters != nil, filters: found)
        }
        guard let rule = dynamic.firstIndex(where: { $0.matchesPath(link) && $0.matchesRest(link) }) else {
            return Decision(isHanded: false, filters: found)
        }
        return Decision(isHanded: !dynamic[rule].isExcluded, filters: found, rule: rule)
    }
}

/// A pattern of an Android manifest or of `assetlinks.json`, in the form in which Android runs it.
///
/// Android reads a text once from left to right and never goes back (`android.os.PatternMatcher`), so the pattern is a
/// deterministic machine. Its state is a position in the pattern and a count, and a text costs time proportional to
/// its length, plus the length of the pattern.
struct AndroidPatternText: Sendable {
    /// A test of one UTF-16 code unit.
    enum Test: Hashable, Sendable {
        case any
        case unit(UInt16)
        case set([ClosedRange<UInt16>], isInverse: Bool)

        /// Returns a Boolean value that indicates whether a code unit passes the test.
        func matches(_ unit: UInt16) -> Bool {
            switch self {
            case .any: true
            case .unit(let own): own == unit
            case .set(let ranges, let isInverse): ranges.contains { $0.contains(unit) } != isInverse
            }
        }
    }

    /// A token of a pattern.
    enum Token: Hashable, Sendable {
        /// From `least` to `most` code units, as many as possible.
        case greedy(Test, least: Int, most: Int)
        /// Any number of one code unit. At the end of the text it counts as missing.
        case run(UInt16)
        /// Everything up to the first occurrence of a code unit, and that unit.
        case until(UInt16)
        /// Everything.
        case rest
    }

    /// The kind of a pattern: the attribute of a manifest.
    enum Kind: String, Sendable, CaseIterable {
        case literal = "path"
        case prefix = "pathPrefix"
        case suffix = "pathSuffix"
        case simple = "pathPattern"
        case advanced = "pathAdvancedPattern"
    }

    /// An error in a pattern, with which Android refuses the app.
    struct Invalid: Error, Equatable {
        /// A description of the error.
        var text: String
    }

    /// The pattern as written, without the escapes of the manifest.
    let text: String
    /// The tokens, or empty for a suffix.
    private(set) var tokens: [Token] = []
    /// The code units of a suffix, with the length of the longest border of each prefix, or nil for other kinds.
    private var suffix: (units: [UInt16], borders: [Int])?

    /// A Boolean value that indicates whether the pattern is the end of a text.
    var isSuffix: Bool { suffix != nil }

    /// The maximum number of parsed units of an advanced pattern, a limit of Android.
    static let maxStorage = 2048

    /// Parses a pattern.
    init(_ text: String, _ kind: Kind) throws(Invalid) {
        self.text = text
        let units = Array(text.utf16)
        switch kind {
        case .literal: tokens = units.map { .greedy(.unit($0), least: 1, most: 1) }
        case .prefix: tokens = units.map { .greedy(.unit($0), least: 1, most: 1) } + [.rest]
        case .suffix: suffix = (units, Self.borders(units))
        case .simple: tokens = Self.simple(units)
        case .advanced:
            var parser = AdvancedPatternParser(units)
            tokens = try parser.parse()
        }
    }

    /// Parses a pattern of a Dynamic App Link, in which `*` stops at the next literal and `?` is one character.
    init(dynamic text: String) {
        self.text = text
        var rest = Array(text.utf16)[...]
        while let unit = rest.first {
            guard unit == 0x2A || unit == 0x3F else {
                tokens.append(.greedy(.unit(unit), least: 1, most: 1))
                rest = rest.dropFirst()
                continue
            }
            let wild = rest.prefix { $0 == 0x2A || $0 == 0x3F }
            rest = rest.dropFirst(wild.count)
            // `?*` and `*?` are one or more characters.
            tokens += wild.filter { $0 == 0x3F }.map { _ in .greedy(.any, least: 1, most: 1) }
            guard wild.contains(0x2A) else { continue }
            tokens.append(rest.popFirst().map { .until($0) } ?? .rest)
        }
    }

    /// Parses a simple pattern in the order in which Android reads it.
    private static func simple(_ units: [UInt16]) -> [Token] {
        var tokens: [Token] = []
        var at = 0
        func unit(_ index: Int) -> UInt16 { index < units.count ? units[index] : 0 }
        while at < units.count {
            var own = units[at]
            at += 1
            let isEscaped = own == 0x5C
            if isEscaped {
                own = unit(at)
                at += 1
            }
            guard unit(at) == 0x2A else {
                // A dot is any character, also if it is escaped.
                tokens.append(.greedy(own == 0x2E ? .any : .unit(own), least: 1, most: 1))
                continue
            }
            if isEscaped || own != 0x2E {
                tokens.append(.run(own))
                at += 1
                continue
            }
            if at >= units.count - 1 { return tokens + [.rest] }
            at += 1
            if units[at] == 0x5C { at += 1 }
            tokens.append(.until(unit(at)))
            at += 1
        }
        return tokens
    }

    private static func borders(_ units: [UInt16]) -> [Int] {
        var borders = Array(repeating: 0, count: units.count + 1)
        guard units.count > 1 else { return borders }
        var length = 0
        for index in 1..<units.count {
            while length > 0, units[index] != units[length] { length = borders[length] }
            if units[index] == units[length] { length += 1 }
            borders[index + 1] = length
        }
        return borders
    }

    // MARK: Running

    /// A position in the pattern: the token, and the units that it matched.
    struct State: Hashable, Sendable {
        var token = 0
        var count = 0
    }

    /// Returns the state after a code unit, or nil if the text cannot match.
    func step(_ state: State, _ unit: UInt16) -> State? {
        if let suffix { return step(suffix.units, suffix.borders, state, unit) }
        var at = state
        while at.token < tokens.count {
            switch tokens[at.token] {
            case .rest: return at
            case .until(let own): return own == unit ? State(token: at.token + 1) : at
            case .run(let own): if own == unit { return State(token: at.token, count: 1) }
            case .greedy(let test, let least, let most):
                if at.count < most, test.matches(unit) {
                    if most == .max { return State(token: at.token, count: min(at.count + 1, least)) }
                    if at.count + 1 == most { return State(token: at.token + 1) }
                    return State(token: at.token, count: at.count + 1)
                }
                if at.count < least { return nil }
            }
            at = State(token: at.token + 1)
        }
        return nil
    }

    private func step(_ units: [UInt16], _ borders: [Int], _ state: State, _ unit: UInt16) -> State {
        var length = state.count == units.count ? borders[state.count] : state.count
        if units.isEmpty { return State() }
        while length > 0, units[length] != unit { length = borders[length] }
        return State(count: units[length] == unit ? length + 1 : 0)
    }

    /// Returns a Boolean value that indicates whether a text can end in a state.
    func accepts(_ state: State) -> Bool {
        if let suffix { return state.count == suffix.units.count }
        var at = state
        while at.token < tokens.count {
            switch tokens[at.token] {
            case .rest: return at.token == tokens.count - 1
            case .until: return false
            case .run: if at.count == 0 { return false }
            case .greedy(_, let least, _): if at.count < least { return false }
            }
            at = State(token: at.token + 1)
        }
        return true
    }

    /// Returns a Boolean value that indicates whether the pattern matches a whole text.
    func matches(_ text: String) -> Bool {
        var state = State()
        for unit in text.utf16 {
            guard let next = step(state, unit) else { return false }
            state = next
        }
        return accepts(state)
    }

    /// Returns the tests that determine the state after the next code unit.
    func tests(_ state: State) -> [Test] {
        if let suffix { return Array(Set(suffix.units)).map { .unit($0) } }
        var found: [Test] = []
        var at = state
        while at.token < tokens.count {
            switch tokens[at.token] {
            case .rest: return found
            case .until(let own): return found + [.unit(own)]
            case .run(let own): found.append(.unit(own))
            case .greedy(let test, let least, _):
                found.append(test)
                if at.count < least { return found }
            }
            at = State(token: at.token + 1)
        }
        return found
    }
}

/// A parser of advanced patterns, with the rules of Android.
private struct AdvancedPatternParser {
    private let units: [UInt16]
    private var at = 0
    /// The number of units that Android stores for the pattern.
    private var stored = 0
    private var tokens: [AndroidPatternText.Token] = []
    /// A Boolean value that indicates whether a modifier can follow.
    private var takesModifier = false

    init(_ units: [UInt16]) { self.units = units }

    mutating func parse() throws(AndroidPatternText.Invalid) -> [AndroidPatternText.Token] {
        while at < units.count {
            if stored > AndroidPatternText.maxStorage - 3 {
                throw fault("the pattern is longer than Android's \(AndroidPatternText.maxStorage) units")
            }
            let unit = units[at]
            at += 1
            switch unit {
            case 0x5B: try set()
            case 0x7B: try range()
            case 0x2A: try modify(0, .max)
            case 0x2B: try modify(1, .max)
            case 0x2E: add(.any)
            // A closing brace without an opening one has no effect.
            case 0x7D: break
            case 0x5C:
                guard at < units.count else { throw fault("an escape ends the pattern") }
                at += 1
                add(.unit(units[at - 1]))
            default: add(.unit(unit))
            }
        }
        return tokens
    }

    private mutating func add(_ test: AndroidPatternText.Test) {
        tokens.append(.greedy(test, least: 1, most: 1))
        stored += 1
        takesModifier = true
    }

    private mutating func modify(_ least: Int, _ most: Int) throws(AndroidPatternText.Invalid) {
        guard takesModifier, case .greedy(let test, _, _)? = tokens.popLast() else {
            throw fault("a modifier must follow a character or a set")
        }
        tokens.append(.greedy(test, least: least, most: most))
        stored += 1
        takesModifier = false
    }

    private mutating func range() throws(AndroidPatternText.Invalid) {
        guard takesModifier else { throw fault("a modifier must follow a character or a set") }
        guard let end = units[at...].firstIndex(of: 0x7D) else { throw fault("a range has no `}`") }
        let text = String(decoding: units[at..<end], as: UTF16.self)
        at = end + 1
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        let isOpen = parts.count == 2 && parts[1].isEmpty
        guard let least = Int32(parts[0]), least >= 0,
            let most = isOpen || parts.count == 1 ? (isOpen ? Int32.max : least) : Int32(parts[1])
        else { throw fault("a range is not a number or two") }
        guard least <= most else { throw fault("a range ends before it begins") }
        stored += 3
        try modify(Int(least), most == .max ? .max : Int(most))
    }

    private mutating func set() throws(AndroidPatternText.Invalid) {
        var isInverse = false
        if at < units.count, units[at] == 0x5E {
            isInverse = true
            at += 1
        }
        var ranges: [ClosedRange<UInt16>] = []
        let first = at
        stored += 2
        while at < units.count, units[at] != 0x5D {
            if stored > AndroidPatternText.maxStorage - 3 {
                throw fault("the pattern is longer than Android's \(AndroidPatternText.maxStorage) units")
            }
            let low = try member()
            stored += 2
            guard at + 1 < units.count, units[at] == 0x2D, units[at + 1] != 0x5D else {
                ranges.append(low...low)
                continue
            }
            at += 1
            let high = try member()
            // A range whose ends are in the wrong order contains nothing.
            if low <= high { ranges.append(low...high) }
        }
        guard at < units.count else { throw fault("a set has no `]`") }
        guard at > first else { throw fault("a set is empty") }
        at += 1
        tokens.append(.greedy(.set(ranges, isInverse: isInverse), least: 1, most: 1))
        takesModifier = true
    }

    private mutating func member() throws(AndroidPatternText.Invalid) -> UInt16 {
        var unit = units[at]
        at += 1
        if unit == 0x5C {
            guard at < units.count else { throw fault("an escape ends the pattern") }
            unit = units[at]
            at += 1
        }
        return unit
    }

    private func fault(_ text: String) -> AndroidPatternText.Invalid { AndroidPatternText.Invalid(text: text) }
}
