/// A system that hands links to an app, as a machine over the characters of a path.
///
/// A unit is a part of an association file that can hand over links: a component, or a path of a filter.
protocol HandingPlatform {
    /// The state after a part of a path.
    associatedtype State: Hashable

    /// The state before the first character.
    var start: State { get }
    /// Returns the state after a character.
    func step(_ state: State, _ symbol: PathAlphabet.Symbol) -> State
    /// Returns the sets of symbols that determine the next state.
    func masks(_ state: State, _ alphabet: PathAlphabet) -> Set<SymbolMask>
    /// Returns the units that can hand over a link whose path ends in a state, with some query and fragment.
    func units(_ state: State) -> [Int]
    /// Returns the work of a step from a state.
    func cost(_ state: State) -> Int
    /// The work of a decision about a link.
    var total: Int { get }
    /// Returns a Boolean value that indicates whether no path that continues here is handed over.
    func isDead(_ state: State) -> Bool
    /// Returns queries and fragments to try for links of a unit.
    func rests(_ unit: Int) -> [LinkRest]
    /// Returns the units that hand over a link, or empty if the app does not receive it.
    func handing(_ link: LinkPieces) -> [Int]
    /// The characters that the patterns name.
    var named: Set<Unicode.Scalar> { get }
}

/// A query and a fragment to try.
struct LinkRest: Hashable {
    /// The query without `?`, or an empty text.
    var query = ""
    /// The fragment without `#`, or an empty text.
    var fragment = ""
}

/// Apple's systems with the components of one file.
struct ApplePlatform: HandingPlatform {
    /// The components.
    let rules: AppleRules

    struct State: Hashable {
        /// The states without the slashes at the end of the path, which are insignificant.
        var written: [Int]
        var decoded: [Int]
        /// The states with these slashes.
        var openWritten: [Int]
        var openDecoded: [Int]
        var isStart = false
    }

    var start: State {
        let (written, decoded) = (rules.written.start(), rules.decoded.start())
        return State(
            written: [], decoded: [], openWritten: written, openDecoded: decoded, isStart: true)
    }

    func step(_ state: State, _ symbol: PathAlphabet.Symbol) -> State {
        var next = state
        for scalar in symbol.written.unicodeScalars { next.openWritten = rules.written.step(next.openWritten, scalar) }
        next.openDecoded = rules.decoded.step(next.openDecoded, symbol.scalar)
        if symbol.scalar != "/" || state.isStart {
            next.written = next.openWritten
            next.decoded = next.openDecoded
        }
        next.isStart = false
        return next
    }

    func masks(_ state: State, _ alphabet: PathAlphabet) -> Set<SymbolMask> {
        rules.written.masks(state.openWritten, alphabet)
            .union(rules.decoded.masks(state.openDecoded, alphabet))
            .union([alphabet.mask(.exact("/", folds: false))])
    }

    func units(_ state: State) -> [Int] {
        let matching = Set(rules.written.numbers(state.written) + rules.decoded.numbers(state.decoded))
        return rules.handing(matching)
    }

    func cost(_ state: State) -> Int {
        rules.written.work(state.openWritten) + rules.decoded.work(state.openDecoded)
    }

    // A decision runs all patterns, and only a few of their states are active at a time.
    var total: Int { rules.rules.count + (rules.written.steps.count + rules.decoded.steps.count) / 4 }

    func isDead(_ state: State) -> Bool {
        state.openWritten.isEmpty && state.openDecoded.isEmpty && units(state).isEmpty
    }

    func rests(_ unit: Int) -> [LinkRest] {
        let rule = rules.rules[unit]
        guard rule.isConditional else { return [] }
        var rest = LinkRest()
        switch rule.query {
        case .any: break
        case .text(let pattern): rest.query = Self.sample(pattern.text)
        case .items(let items):
            rest.query = items.map { "\($0.name)=\(Self.sample($0.value.text))" }.joined(separator: "&")
        }
        if let fragment = rule.fragment { rest.fragment = Self.sample(fragment.text) }
        return [rest]
    }

    func handing(_ link: LinkPieces) -> [Int] {
        let decision = rules.decide(link)
        return decision.isHanded ? [decision.rule].compactMap(\.self) : []
    }

    var named: Set<Unicode.Scalar> { rules.decoded.named.union(rules.written.named.filter(\.isASCII)) }

    /// Returns a short text that a pattern matches.
    private static func sample(_ pattern: String) -> String {
        var text = ""
        for part in ApplePatternText(pattern).parts {
            switch part {
            case .star: break
            case .one: text += "x"
            case .literal(let scalar): text.unicodeScalars.append(scalar)
            case .variable(let name):
                let character = AppleVariables.characters[name].map { String($0.prefix(1)) }
                text += character ?? AppleVariables.codes(name)?.first ?? "x"
            }
        }
        return text
    }
}

/// Android with the filters of a manifest and the rules of `assetlinks.json`, for links of one origin.
struct AndroidPlatform: HandingPlatform {
    /// A unit: a part of a filter, or a dynamic rule if there is no manifest.
    enum Unit: Hashable {
        case anyPath(filter: Int)
        case path(filter: Int, index: Int)
        case group(filter: Int, index: Int)
        case rule(Int)

        /// The index of the filter, or nil for a rule of `assetlinks.json`.
        var filter: Int? {
            switch self {
            case .anyPath(let filter), .path(let filter, _), .group(let filter, _): filter
            case .rule: nil
            }
        }
    }

    /// A pattern of a path with the part of the file that it belongs to.
    private struct Entry {
        enum Owner: Hashable {
            case unit(Unit)
            case condition(filter: Int, group: Int)
            case rule(Int)
        }
        var pattern: AndroidPatternText
        var owner: Owner
    }

    let rules: AndroidRules
    /// All units of the files.
    let all: [Unit]
    private var entries: [Entry] = []
    /// The units that match every path.
    private var constant: [Unit] = []
    /// The filters with groups that match the origin.
    private var groupFilters: [Int] = []
    /// The work that does not depend on the state.
    private var fixedCost = 0
    let total: Int
    private let numbers: [Unit: Int]
    /// A Boolean value that indicates whether dynamic rules apply to the origin.
    private let isDynamic: Bool

    /// Returns the units of the rules, in order.
    static func units(_ rules: AndroidRules) -> [Unit] {
        guard let filters = rules.filters else { return (rules.dynamic ?? []).indices.map { .rule($0) } }
        return filters.enumerated().flatMap { number, filter -> [Unit] in
            guard filter.readsPath else { return [.anyPath(filter: number)] }
            return filter.paths.indices.map { .path(filter: number, index: $0) }
                + filter.groups.indices.map { .group(filter: number, index: $0) }
        }
    }

    /// Creates the platform for links of an origin.
    init(_ rules: AndroidRules, units: [Unit], _ origin: HandingOrigin) {
        self.rules = rules
        all = units
        numbers = Dictionary(uniqueKeysWithValues: units.enumerated().map { ($1, $0) })
        isDynamic = rules.dynamic != nil && (origin.scheme == "https" || origin.scheme == "http")
        total = units.count + (rules.dynamic?.count ?? 0)
        if isDynamic { fixedCost = rules.dynamic?.count ?? 0 }
        let port = origin.port.map { String($0) }
        for (number, filter) in (rules.filters ?? []).enumerated()
        where filter.takes(scheme: origin.scheme, host: origin.host, port: port) {
            if !filter.groups.isEmpty { groupFilters.append(number) }
            fixedCost += filter.groups.count
            guard filter.readsPath else {
                constant.append(.anyPath(filter: number))
                continue
            }
            for (index, path) in filter.paths.enumerated() {
                entries.append(Entry(pattern: path.pattern, owner: .unit(.path(filter: number, index: index))))
            }
            for (index, group) in filter.groups.enumerated() {
                for condition in group.conditions where condition.part == .path {
                    entries.append(
                        Entry(pattern: condition.pattern, owner: .condition(filter: number, group: index)))
                }
            }
        }
        for (index, rule) in (isDynamic ? rules.dynamic ?? [] : []).enumerated() {
            if let path = rule.path { entries.append(Entry(pattern: path, owner: .rule(index))) }
        }
    }

    /// The live patterns: for each one its number, its token, and its count.
    typealias State = [Int]

    var start: State { entries.indices.flatMap { [$0, 0, 0] } }

    func step(_ state: State, _ symbol: PathAlphabet.Symbol) -> State {
        var next: [Int] = []
        let unit = UInt16(truncatingIfNeeded: symbol.scalar.value)
        for at in stride(from: 0, to: state.count, by: 3) {
            let own = AndroidPatternText.State(token: state[at + 1], count: state[at + 2])
            guard let after = entries[state[at]].pattern.step(own, unit) else { continue }
            next += [state[at], after.token, after.count]
        }
        return next
    }

    func masks(_ state: State, _ alphabet: PathAlphabet) -> Set<SymbolMask> {
        var masks = Set<SymbolMask>()
        for at in stride(from: 0, to: state.count, by: 3) {
            let own = AndroidPatternText.State(token: state[at + 1], count: state[at + 2])
            for test in entries[state[at]].pattern.tests(own) { masks.insert(alphabet.mask(test)) }
        }
        return masks
    }

    func units(_ state: State) -> [Int] {
        var matching: [Entry.Owner: Int] = [:]
        for at in stride(from: 0, to: state.count, by: 3) {
            let entry = entries[state[at]]
            let own = AndroidPatternText.State(token: state[at + 1], count: state[at + 2])
            if entry.pattern.accepts(own) { matching[entry.owner, default: 0] += 1 }
        }
        guard !isDynamic || canPassRules(matching) else { return [] }
        guard rules.filters != nil else { return passingRules(matching) }
        var found = constant
        for case .unit(let unit) in matching.keys { found.append(unit) }
        for number in groupFilters {
            guard let groups = rules.filters?[number].groups else { continue }
            for (index, group) in groups.enumerated() {
                let wanted = group.conditions.count { $0.part == .path }
                guard matching[.condition(filter: number, group: index), default: 0] == wanted else { continue }
                if group.isAllowed { found.append(.group(filter: number, index: index)) }
                if wanted == group.conditions.count { break }
            }
        }
        return found.compactMap { numbers[$0] }.sorted()
    }

    func cost(_ state: State) -> Int { state.count / 3 + fixedCost }

    private func canPassRules(_ matching: [Entry.Owner: Int]) -> Bool { !passingRules(matching).isEmpty }

    /// Returns the dynamic rules that can hand over a link with a path.
    private func passingRules(_ matching: [Entry.Owner: Int]) -> [Int] {
        var found: [Int] = []
        for (index, rule) in (rules.dynamic ?? []).enumerated() {
            guard rule.path == nil || matching[.rule(index)] != nil else { continue }
            if !rule.isExcluded { found.append(index) }
            if !rule.isConditional { break }
        }
        return found
    }

    func isDead(_ state: State) -> Bool { state.isEmpty && units(state).isEmpty }

    func rests(_ unit: Int) -> [LinkRest] {
        var found: [LinkRest] = []
        var own = LinkRest()
        if case .group(let filter, let index) = all[unit], let group = rules.filters?[filter].groups[index] {
            let items = group.conditions.filter { $0.part == .query }.map(\.pattern.sample)
            own.query = items.joined(separator: "&")
            own.fragment = group.conditions.first { $0.part == .fragment }?.pattern.sample ?? ""
            found.append(own)
        }
        for rule in isDynamic ? rules.dynamic ?? [] : [] where rule.isConditional && !rule.isExcluded {
            let items = rule.query.map { "\($0.name)=\($0.value.sample)" }
            let query = (items + [own.query].filter { !$0.isEmpty }).joined(separator: "&")
            found.append(LinkRest(query: query, fragment: rule.fragment?.sample ?? own.fragment))
        }
        return found
    }

    func handing(_ link: LinkPieces) -> [Int] {
        let decision = rules.decide(link)
        guard decision.isHanded else { return [] }
        guard let filters = rules.filters else { return [decision.rule].compactMap(\.self) }
        return decision.filters.flatMap { number -> [Unit] in
            let filter = filters[number]
            guard filter.readsPath else { return [.anyPath(filter: number)] }
            let path = LinkPieces.decoded(link.path)
            let paths = filter.paths.indices.filter { filter.paths[$0].pattern.matches(path) }
            if !paths.isEmpty { return paths.map { .path(filter: number, index: $0) } }
            return filter.groups.firstIndex { $0.matches(link) }.map { [.group(filter: number, index: $0)] } ?? []
        }.compactMap { numbers[$0] }
    }

    var named: Set<Unicode.Scalar> {
        Set(entries.flatMap { $0.pattern.text.unicodeScalars })
    }
}

extension AndroidPatternText {
    /// A short text that the pattern matches, if it has one without special cases.
    var sample: String {
        var units: [UInt16] = []
        for token in tokens {
            switch token {
            case .rest, .run: break
            case .until(let unit): units.append(unit)
            case .greedy(let test, let least, _):
                let own = (Array("x0/ABCab-".utf16) + [0x2E]).first(where: test.matches)
                let unit: UInt16
                if case .unit(let literal) = test { unit = literal } else { unit = own ?? 0x78 }
                units += Array(repeating: unit, count: min(least, 64))
            }
        }
        return tokens.isEmpty ? text : String(decoding: units, as: UTF16.self)
    }
}
