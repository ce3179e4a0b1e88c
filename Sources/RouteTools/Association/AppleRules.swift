/// A component of an apple-app-site-association file, with the defaults that apply to it.
struct AppleRule {
    /// The condition on a query.
    enum Query {
        /// Any query, also none.
        case any
        /// A pattern of the whole query.
        case text(TextPattern)
        /// A pattern for each named item.
        case items([(name: String, value: TextPattern)])
    }

    /// A pattern of a query or a fragment with the automaton that runs it.
    struct TextPattern {
        /// The pattern as written.
        var text: String
        /// The automaton, in which the pattern has the number 0.
        var automaton: ScalarAutomaton

        /// Returns a Boolean value that indicates whether the pattern matches a whole text.
        func matches(_ text: String) -> Bool { !automaton.numbers(matching: text).isEmpty }
    }

    /// The pattern of the path as written.
    var path = "*"
    /// The condition on the query.
    var query = Query.any
    /// The pattern of the fragment, or nil for any.
    var fragment: TextPattern?
    /// A Boolean value that indicates whether the links of the component stay out of the app.
    var isExcluded = false
    /// A Boolean value that indicates whether the case of letters counts.
    var caseSensitive = true
    /// A Boolean value that indicates whether the link is compared as written, with its percent escapes.
    var percentEncoded = true
    /// A Boolean value that indicates whether a variable is undefined, so that the component never matches.
    var isDead = false
    /// The location of the component.
    var place = AssociationProblem.Place()

    /// A Boolean value that indicates whether the component has conditions other than the path.
    var isConditional: Bool {
        if case .any = query { fragment != nil } else { true }
    }

    /// Returns a Boolean value that indicates whether the query and the fragment of a link match; the path is tested
    /// elsewhere.
    func matchesRest(_ link: LinkPieces) -> Bool {
        if let fragment, !fragment.matches(read(link.fragment ?? "")) { return false }
        switch query {
        case .any: return true
        case .text(let pattern): return pattern.matches(read(link.query ?? ""))
        case .items(let wanted):
            let items = LinkPieces.items(link.query ?? "").map { (name: read($0.name), value: read($0.value)) }
            return wanted.allSatisfy { pattern in
                // Each item with the name must match. A missing item counts as an empty text.
                let values = items.filter { isName($0.name, pattern.name) }.map(\.value)
                return (values.isEmpty ? [""] : values).allSatisfy { pattern.value.matches($0) }
            }
        }
    }

    private func read(_ text: String) -> String { percentEncoded ? text : LinkPieces.decoded(text) }

    private func isName(_ name: String, _ wanted: String) -> Bool {
        if name.utf8.elementsEqual(wanted.utf8) { return true }
        return !caseSensitive
            && name.unicodeScalars.map(ScalarTest.fold).elementsEqual(wanted.unicodeScalars.map(ScalarTest.fold))
    }
}

/// The components of an apple-app-site-association file, ready to decide links.
///
/// The first component that matches a link decides. Each app has its own list, and a link is handed over if any of the
/// apps receives it.
struct AppleRules {
    /// All components.
    private(set) var rules: [AppleRule] = []
    /// The number of lists of components, one for each set of apps with the same components.
    private(set) var listCount = 0
    /// The lists that each component belongs to; the numbers of a list ascend.
    private var lists: [[Int]] = []

    /// The patterns of paths that are compared as written, and those that are compared with the decoded link.
    private(set) var written = ScalarAutomaton()
    private(set) var decoded = ScalarAutomaton()

    /// A Boolean value that indicates whether the patterns exceed the limit of states.
    var isTooLarge: Bool { written.isTooLarge || decoded.isTooLarge }

    /// Adds a component and returns its number.
    mutating func add(_ rule: AppleRule, _ variables: AppleVariables) -> Int {
        let number = rules.count
        rules.append(rule)
        lists.append([])
        if !rule.isDead, !isTooLarge {
            for form in ApplePatternText.pathForms(rule.path) {
                if rule.percentEncoded {
                    Self.add(form, number, rule, variables, &written)
                } else {
                    Self.add(form, number, rule, variables, &decoded)
                }
            }
        }
        return number
    }

    private static func add(
        _ form: String, _ number: Int, _ rule: AppleRule, _ variables: AppleVariables,
        _ automaton: inout ScalarAutomaton
    ) {
        let start = automaton.begin()
        let pattern = ApplePatternText(form)
        if let end = automaton.apple(pattern, from: start, variables: variables, folds: !rule.caseSensitive) {
            automaton.finish(end, pattern: number)
        }
    }

    /// A decision about a link.
    struct Decision: Equatable {
        /// A Boolean value that indicates whether an app receives the link.
        var isHanded: Bool
        /// The component that decided, or nil if none matches.
        var rule: Int?
    }

    /// The numbers of the components that hand over links of an app that counts.
    var handingNumbers: [Int] { rules.indices.filter { !rules[$0].isExcluded && !lists[$0].isEmpty } }

    /// The numbers of the components of an app that counts, in their order.
    var listedNumbers: [Int] { rules.indices.filter { !lists[$0].isEmpty } }

    /// Adds the components of an app, or of several with the same components, in ascending order.
    mutating func add(list: [Int]) {
        for number in list { lists[number].append(listCount) }
        listCount += 1
    }

    /// Returns the components that can hand over a link whose path matches some components.
    ///
    /// A component without conditions on the query and the fragment ends the search in its lists.
    func handing(_ matching: Set<Int>) -> [Int] {
        var found: [Int] = []
        var decided = Set<Int>()
        for number in matching.sorted() {
            let open = lists[number].filter { !decided.contains($0) }
            guard !open.isEmpty else { continue }
            if !rules[number].isExcluded { found.append(number) }
            if !rules[number].isConditional { decided.formUnion(open) }
        }
        return found
    }

    /// Decides a link: the first component that hands it over to any app, or else the first one that matches.
    func decide(_ link: LinkPieces) -> Decision {
        let scheme = link.scheme.lowercased()
        guard scheme == "https" || scheme == "http" else { return Decision(isHanded: false) }
        let path = link.path.isEmpty ? "/" : link.path
        var matching = Set(written.numbers(matching: ApplePatternText.path(path)))
        let plain = ApplePatternText.path(LinkPieces.decoded(path))
        matching.formUnion(decoded.numbers(matching: plain))
        var first: Int?
        var decided = Set<Int>()
        for number in matching.sorted() where rules[number].matchesRest(link) {
            let open = lists[number].filter { !decided.contains($0) }
            guard !open.isEmpty else { continue }
            if !rules[number].isExcluded { return Decision(isHanded: true, rule: number) }
            decided.formUnion(open)
            first = first ?? number
        }
        return Decision(isHanded: false, rule: first)
    }
}
