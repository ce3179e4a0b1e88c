internal import LinkCoordinator
internal import ByteStorage

/// The texts of one segment, divided into atoms: classes that some matchers do not distinguish.
///
/// Matchers are numbered. Equal matchers have the same number, except matchers with text in tables with different case
/// folding. Results are cached, because tables repeat the same questions.
struct SegmentSpace {
    /// A set of texts that the same matchers match, represented by one of them.
    struct Atom {
        /// A text of the class, decoded.
        var text: [UInt8]
        /// The given matchers that match it.
        var matchers: Set<Int>
    }

    /// The number of the matcher of any segment.
    let any: Int

    /// A matcher with its case folding.
    private struct Member: Hashable {
        var matcher: Matcher
        var folds: Bool
    }

    /// The case-sensitive names of the coordinators of each table, with numbers that follow `any`.
    private let names: [[[UInt8]]]
    private var members: [Member] = []
    private var numbers: [Member: Int] = [:]
    private var foldsAny = false
    private var answers: [Question: [Atom]] = [:]

    private struct Question: Hashable {
        var inside: [Int]
        var outside: [Int]
    }

    /// Creates the space of tables.
    init(coordinators: [[String]]) {
        names = coordinators.map { $0.map { Array($0.utf8) } }
        members = ([.any] + names.map { _ in .coordinatorPath }).map { Member(matcher: $0, folds: false) }
        numbers = [members[0]: 0]
        any = 0
    }

    /// Returns the number of a table's coordinator names, the same for all tables with the same names.
    func coordinators(of table: Int) -> Int {
        1 + (names.firstIndex { Set($0) == Set(names[table]) } ?? table)
    }

    /// Returns the coordinator names with a number, or nil if the number belongs to a matcher.
    private func names(_ number: Int) -> [[UInt8]]? {
        number > 0 && number <= names.count ? names[number - 1] : nil
    }

    /// Returns the number of a segment's matcher, in a table with or without case folding.
    mutating func number(of matcher: Matcher, folds: Bool) -> Int {
        let member = Member(matcher: matcher, folds: folds && Self.hasText(matcher))
        if let known = numbers[member] { return known }
        numbers[member] = members.count
        members.append(member)
        foldsAny = foldsAny || member.folds
        return members.count - 1
    }

    private static func hasText(_ matcher: Matcher) -> Bool {
        switch matcher {
        case .literal, .enumeration, .affix, .anySegment: true
        default: false
        }
    }

    /// Returns the matcher with a number.
    func matcher(_ number: Int) -> Matcher { members[number].matcher }

    /// Returns the text of a matcher with a single text, in lowercase with case folding, or nil for others.
    func literal(_ number: Int) -> [UInt8]? {
        if case .literal(let text) = members[number].matcher { text } else { nil }
    }

    /// Returns the texts around the capture of a matcher, or nil if there are none.
    func affix(_ number: Int) -> (prefix: [UInt8], suffix: [UInt8])? {
        if case .affix(let prefix, _, let suffix) = members[number].matcher { (prefix, suffix) } else { nil }
    }

    /// Returns a Boolean value that indicates whether a matcher matches a text.
    func matches(_ number: Int, _ text: [UInt8]) -> Bool {
        if let names = names(number) { return names.contains(text) }
        let member = members[number]
        return text.withUnsafeBufferPointer { member.matcher.matches(ByteView($0), foldsCase: member.folds) }
    }

    /// Returns a Boolean value that indicates whether two matchers match a common text.
    mutating func overlaps(_ a: Int, _ b: Int, _ budget: inout WorkBudget) throws(WorkBudget.Exhausted) -> Bool {
        if a == b || a == any || b == any { return true }
        if let (p, s) = affix(a), let (q, t) = affix(b) {
            if !fit(p, q) || !fit(s.reversed(), t.reversed()) { return false }
            // If both allow any text between their affixes, one text can have the affixes of both.
            if allowsAnyText(a), allowsAnyText(b) { return true }
        }
        return try !atoms(inside: [min(a, b), max(a, b)], outside: [], &budget).isEmpty
    }

    /// Returns a Boolean value that indicates whether any text is allowed between the affixes of a matcher.
    private func allowsAnyText(_ number: Int) -> Bool {
        if case .affix(_, .any, _) = members[number].matcher { true } else { false }
    }

    /// Returns a Boolean value that indicates whether a matcher matches all texts of another.
    ///
    /// It compares the two matchers directly, so it returns false if only a search can decide.
    func plainlyIncludes(_ number: Int, _ other: Int) -> Bool {
        if number == other || number == any { return true }
        if case .int(let min, let max) = members[number].matcher, case .int(let low, let high) = members[other].matcher
        {
            return min <= low && high <= max
        }
        return false
    }

    /// Returns a Boolean value that indicates whether one text is a prefix of the other.
    private func fit(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        zip(a, b).allSatisfy { $0 == $1 || foldsAny && lowerASCII($0) == lowerASCII($1) }
    }

    /// Returns the texts that all of `inside` match, divided by the matchers of `outside` that match them too.
    ///
    /// If the matchers of one part are a subset of another's, only the smaller one is returned, because it is always
    /// sufficient.
    mutating func atoms(
        inside: [Int], outside: [Int], _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> [Atom] {
        let question = Question(inside: Set(inside).sorted(), outside: Set(outside).sorted())
        let isSmall = question.outside.count <= 64
        if isSmall, let known = answers[question] {
            try budget.spend(1)
            return known
        }
        try budget.spend(1 + question.inside.count * (1 + question.outside.count))
        let found = try texts(question, &budget)
        if isSmall { answers[question] = found }
        return found
    }

    private func texts(_ question: Question, _ budget: inout WorkBudget) throws(WorkBudget.Exhausted) -> [Atom] {
        if question.outside.contains(any) {
            let reduced = Question(inside: question.inside, outside: question.outside.filter { $0 != any })
            return try texts(reduced, &budget).map { Atom(text: $0.text, matchers: $0.matchers.union([any])) }
        }
        let all = question.inside + question.outside
        let mixesCase = foldsAny && all.contains { members[$0].folds } && all.contains { isCaseSensitive($0) }
        // In lowercase, a letter can compose with the mark after it, so that only its capital is in NFC.
        let mayCompose = question.inside.contains { number in
            members[number].folds && finiteTexts(number)?.contains { !$0.allSatisfy { $0 < 0x80 } } ?? false
        }
        let lists = mixesCase || mayCompose ? [] : question.inside.compactMap { finiteTexts($0) }
        if let shortest = lists.min(by: { $0.count < $1.count }) {
            var atoms: [Atom] = []
            for text in shortest where Self.isWritable(text) && question.inside.allSatisfy({ matches($0, text) }) {
                try budget.spend(question.outside.count)
                add(Atom(text: text, matchers: Set(question.outside.filter { matches($0, text) })), to: &atoms)
            }
            return atoms
        }
        if let text = freeText(question) {
            try budget.spend(question.outside.count)
            return [Atom(text: text, matchers: [])]
        }
        return try product(question, &budget)
    }

    /// The number of matchers above which to look first for a text that no matcher matches, because there nearly always
    /// is one.
    private static let manyMatchers = 32

    /// Returns a likely text that all of `inside` and none of `outside` match.
    ///
    /// For a matcher that allows any text between its affixes, only the first sample is tried, because the automaton
    /// would find the same text.
    private func freeText(_ question: Question) -> [UInt8]? {
        guard let first = question.inside.first(where: { $0 != any }) ?? question.inside.first else { return nil }
        var count = 1
        if question.outside.count > Self.manyMatchers {
            count = .max
        } else {
            switch members[first].matcher {
            case .any, .affix(_, .any, _): break
            default: return nil
            }
        }
        return SegmentSamples.texts(of: members[first].matcher).prefix(count).first { text in
            Self.isWritable(text) && question.inside.allSatisfy { matches($0, text) }
                && !question.outside.contains { matches($0, text) }
        }
    }

    private func add(_ atom: Atom, to atoms: inout [Atom]) {
        if atoms.contains(where: { $0.matchers.isSubset(of: atom.matchers) }) { return }
        atoms.removeAll { atom.matchers.isSubset(of: $0.matchers) }
        atoms.append(atom)
    }

    /// Divides the texts by the automaton of all matchers that match more than single texts, then excludes the single
    /// texts.
    private func product(_ question: Question, _ budget: inout WorkBudget) throws(WorkBudget.Exhausted) -> [Atom] {
        let open = question.outside.filter { finiteTexts($0) == nil }
        let closed = question.outside.filter { finiteTexts($0) != nil }
        var automaton = SegmentAutomaton()
        for number in question.inside + open {
            if let names = names(number) {
                automaton.add(names: names)
            } else {
                automaton.add(members[number].matcher, folds: members[number].folds)
            }
        }
        let product = try SegmentProduct(automaton, inside: question.inside.count, &budget)
        let fixed = (question.inside + open).map { fixedBytes($0) }
        let starts = fixed.map(\.start).max() ?? 0
        let ends = fixed.map(\.end).max() ?? 0
        let excluded = closed.map { fixedBytes($0).start }.max() ?? 0
        let longest = 66 + starts + ends + excluded
        var atoms: [Atom] = []
        for part in product.classes.sorted(by: { $0.matchers.count < $1.matchers.count }) {
            let matchers = Set(part.matchers.dropFirst(question.inside.count).map { open[$0 - question.inside.count] })
            if atoms.contains(where: { $0.matchers.isSubset(of: matchers) }) { continue }
            try budget.spend(closed.count)
            try product.enumerate(part, longest: longest, &budget) { text in
                guard Self.isWritable(text) else { return false }
                let matching = closed.filter { matches($0, text) }
                add(Atom(text: text, matchers: matchers.union(matching)), to: &atoms)
                return matching.isEmpty
            }
        }
        return atoms
    }

    /// Returns the numbers of bytes of a matcher's text before and after a capture, or of its longest text.
    private func fixedBytes(_ number: Int) -> (start: Int, end: Int) {
        if let texts = finiteTexts(number) { return (texts.map(\.count).max() ?? 0, 0) }
        if case .affix(let prefix, _, let suffix) = members[number].matcher { return (prefix.count, suffix.count) }
        return (0, 0)
    }

    /// Returns the texts of a matcher with few texts, in which with case folding each represents all its spellings.
    private func finiteTexts(_ number: Int) -> [[UInt8]]? {
        if let names = names(number) { return names }
        return members[number].matcher.finiteTexts
    }

    /// Returns a Boolean value that indicates whether a matcher distinguishes case in a table with or without case
    /// folding.
    private func isCaseSensitive(_ number: Int) -> Bool {
        let member = members[number]
        func distinguishesCase(_ matcher: Matcher) -> Bool {
            switch matcher {
            case .bool, .characters: true
            case .affix(_, let inner, _): !member.folds || distinguishesCase(inner)
            case .literal, .enumeration: !member.folds
            default: false
            }
        }
        return names(number) != nil || distinguishesCase(member.matcher)
    }

    /// Returns a Boolean value that indicates whether a link can have the segment.
    ///
    /// A segment is not empty, `.`, or `..`, has no control or invisible characters, and is in NFC.
    static func isWritable(_ text: [UInt8]) -> Bool {
        if text.isEmpty || text.elementsEqual(".".utf8) || text.elementsEqual("..".utf8) { return false }
        return text.withUnsafeBufferPointer { bytes in
            let view = ByteView(bytes)
            return PercentDecoding.isClean(view, invisiblesAllowed: false)
                && (view.isSurelyComposed || nfc(text) == text)
        }
    }
}

/// The product of an automaton's matchers, which determines the matchers of every text.
struct SegmentProduct {
    /// A set of texts that the same matchers match.
    struct Class {
        /// The numbers of these matchers, sorted.
        var matchers: [Int]
        /// The states in which the texts end.
        var states: [Int]
    }

    /// The classes of texts, the shortest first.
    private(set) var classes: [Class] = []

    private let symbols: [[Unicode.Scalar]]
    /// The next state for each state and each class of symbols, or -1.
    private var next: [[Int]] = []

    /// The maximum number of states of a product.
    private static let maxStates = 20_000

    /// Follows all texts that the first `inside` matchers can still match.
    init(_ automaton: SegmentAutomaton, inside: Int, _ budget: inout WorkBudget) throws(WorkBudget.Exhausted) {
        symbols = SymbolClasses(automaton.tests).classes
        var numbers: [[Int]: Int] = [automaton.starts.sorted(): 0]
        var sets = [automaton.starts.sorted()]
        var classIndices: [[Int]: Int] = [:]
        var at = 0
        while at < sets.count {
            let set = sets[at]
            try addState(set, at, automaton, inside, &classIndices)
            var row: [Int] = []
            for symbol in symbols {
                try budget.spend(set.count + 1)
                let target = Self.step(set, symbol[0], automaton)
                guard Self.reachesInside(target, inside, automaton) else {
                    row.append(-1)
                    continue
                }
                if let known = numbers[target] {
                    row.append(known)
                } else {
                    if sets.count >= Self.maxStates { throw WorkBudget.Exhausted() }
                    numbers[target] = sets.count
                    row.append(sets.count)
                    sets.append(target)
                }
            }
            next.append(row)
            at += 1
        }
    }

    private mutating func addState(
        _ set: [Int], _ state: Int, _ automaton: SegmentAutomaton, _ inside: Int, _ classIndices: inout [[Int]: Int]
    ) throws(WorkBudget.Exhausted) {
        let matchers = Set(set.filter { automaton.accepts[$0] }.map { automaton.owner[$0] }).sorted()
        guard matchers.prefix(inside).elementsEqual(0..<inside) else { return }
        if let classIndex = classIndices[matchers] {
            classes[classIndex].states.append(state)
        } else {
            classIndices[matchers] = classes.count
            classes.append(Class(matchers: matchers, states: [state]))
        }
    }

    private static func step(_ set: [Int], _ symbol: Unicode.Scalar, _ automaton: SegmentAutomaton) -> [Int] {
        var targets: [Int] = []
        for state in set {
            for step in automaton.steps[state] where step.test.matches(symbol) { targets.append(step.target) }
        }
        return Array(Set(targets)).sorted()
    }

    private static func reachesInside(_ set: [Int], _ inside: Int, _ automaton: SegmentAutomaton) -> Bool {
        var seen = Set<Int>()
        for state in set where automaton.owner[state] < inside { seen.insert(automaton.owner[state]) }
        return seen.count == inside
    }

    /// Calls a closure with each text of a class, the shortest first, until it returns false or there are no more.
    ///
    /// - Parameter longest: The length in characters after which a class counts as infinite.
    func enumerate(
        _ members: Class, longest: Int, _ budget: inout WorkBudget, _ stop: ([UInt8]) -> Bool
    ) throws(WorkBudget.Exhausted) {
        // reach[n] contains the states from which the class is reached in exactly n steps.
        var reach: [[Bool]] = [next.indices.map { members.states.contains($0) }]
        for length in 0...longest {
            if length > 0 {
                try budget.spend(next.count)
                let last = reach[length - 1]
                reach.append(next.map { row in row.contains { $0 >= 0 && last[$0] } })
            }
            if !reach[length].contains(true) { return }
            guard reach[length][0] else { continue }
            var text: [UInt8] = []
            if try walk(0, length, reach, &text, &budget, stop) { return }
        }
    }

    private func walk(
        _ state: Int, _ remaining: Int, _ reach: [[Bool]], _ text: inout [UInt8], _ budget: inout WorkBudget,
        _ stop: ([UInt8]) -> Bool
    ) throws(WorkBudget.Exhausted) -> Bool {
        try budget.spend(1)
        if remaining == 0 { return stop(text) }
        for (number, target) in next[state].enumerated() where target >= 0 && reach[remaining - 1][target] {
            for symbol in symbols[number] {
                let count = text.count
                text += Array(String(symbol).utf8)
                if try walk(target, remaining - 1, reach, &text, &budget, stop) { return true }
                text.removeSubrange(count...)
            }
        }
        return false
    }
}
