internal import LinkCoordinator
internal import ByteStorage

/// The texts that one segment can be, cut into atoms: classes that some matchers do not tell apart.
///
/// Matchers go by number; equal ones have one number, but those with text in a table that folds case and in one that
/// does not. Answers are kept, for tables ask the same again and again.
struct SegmentSpace {
    /// Texts that the same matchers take, one of them for all.
    struct Atom {
        /// A text of the class, as a link has it after decoding.
        var text: [UInt8]
        /// Which of the matchers that were asked for take it.
        var taken: Set<Int>
    }

    /// Number of the matcher of any segment.
    let any: Int

    /// A matcher, and whether it folds the case of letters.
    private struct Member: Hashable {
        var matcher: Matcher
        var folds: Bool
    }

    /// Names of the coordinators of each table, which are compared as they are; they stand after `any`.
    private let names: [[[UInt8]]]
    private var members: [Member] = []
    private var numbers: [Member: Int] = [:]
    private var foldsAny = false
    private var answers: [Question: [Atom]] = [:]

    private struct Question: Hashable {
        var inside: [Int]
        var outside: [Int]
    }

    /// Makes the space of tables.
    init(coordinators: [[String]]) {
        names = coordinators.map { $0.map { Array($0.utf8) } }
        members = ([.any] + names.map { _ in .coordinatorPath }).map { Member(matcher: $0, folds: false) }
        numbers = [members[0]: 0]
        any = 0
    }

    /// The number of the names of a table's coordinators; tables with the same names have the same.
    func coordinators(of table: Int) -> Int {
        1 + (names.firstIndex { Set($0) == Set(names[table]) } ?? table)
    }

    /// The names of coordinators under a number, nil where it stands for something else.
    private func names(_ number: Int) -> [[UInt8]]? {
        number > 0 && number <= names.count ? names[number - 1] : nil
    }

    /// The number of a matcher of segments, in a table that folds case or not.
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

    /// The matcher of a number.
    func matcher(_ number: Int) -> Matcher { members[number].matcher }

    /// The text of a matcher that takes no other; in lower case where case is folded.
    func literal(_ number: Int) -> [UInt8]? {
        if case .literal(let text) = members[number].matcher { text } else { nil }
    }

    /// The texts before and after the capture of a matcher that has one or both.
    func affix(_ number: Int) -> (prefix: [UInt8], suffix: [UInt8])? {
        if case .affix(let prefix, _, let suffix) = members[number].matcher { (prefix, suffix) } else { nil }
    }

    /// Whether a matcher takes a text.
    func takes(_ number: Int, _ text: [UInt8]) -> Bool {
        if let names = names(number) { return names.contains(text) }
        let member = members[number]
        return text.withUnsafeBufferPointer { member.matcher.takes(ByteView($0), foldsCase: member.folds) }
    }

    /// Whether some text is taken by both.
    mutating func meet(_ a: Int, _ b: Int, _ budget: inout WorkBudget) throws(WorkBudget.Exhausted) -> Bool {
        if a == b || a == any || b == any { return true }
        if let (p, s) = affix(a), let (q, t) = affix(b) {
            if !fit(p, q) || !fit(s.reversed(), t.reversed()) { return false }
            // Between affixes of any text there is always room for both.
            if takesAny(a), takesAny(b) { return true }
        }
        return try !atoms(inside: [min(a, b), max(a, b)], outside: [], &budget).isEmpty
    }

    /// Whether any text may stand between the affixes of a matcher.
    private func takesAny(_ number: Int) -> Bool {
        if case .affix(_, .any, _) = members[number].matcher { true } else { false }
    }

    /// Whether a matcher takes all segments that another takes, as far as that is seen by looking at the two.
    func plainlyIncludes(_ number: Int, _ other: Int) -> Bool {
        if number == other || number == any { return true }
        if case .int(let min, let max) = members[number].matcher, case .int(let low, let high) = members[other].matcher
        {
            return min <= low && high <= max
        }
        return false
    }

    /// Whether one text begins with the other.
    private func fit(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        zip(a, b).allSatisfy { $0 == $1 || foldsAny && lowerASCII($0) == lowerASCII($1) }
    }

    /// The texts that all of `inside` take, parted by which of `outside` take them too.
    ///
    /// Of two parts of which one is taken by fewer, only that one is given: it is the easier way out of them all.
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
            let rest = Question(inside: question.inside, outside: question.outside.filter { $0 != any })
            return try texts(rest, &budget).map { Atom(text: $0.text, taken: $0.taken.union([any])) }
        }
        let all = question.inside + question.outside
        let minding = foldsAny && all.contains { members[$0].folds } && all.contains { mindsCase($0) }
        let lists = minding ? [] : question.inside.compactMap { finite($0) }
        if let shortest = lists.min(by: { $0.count < $1.count }) {
            var atoms: [Atom] = []
            for text in shortest where Self.isWritable(text) && question.inside.allSatisfy({ takes($0, text) }) {
                try budget.spend(question.outside.count)
                add(Atom(text: text, taken: Set(question.outside.filter { takes($0, text) })), to: &atoms)
            }
            return atoms
        }
        if let text = freeText(question) {
            try budget.spend(question.outside.count)
            return [Atom(text: text, taken: [])]
        }
        return try product(question, &budget)
    }

    /// Above so many matchers a text that none of them takes is looked for first: there nearly always is one.
    private static let manyMatchers = 32

    /// A text that all of `inside` take and none of `outside`, among a few that are likely to be one.
    ///
    /// Where any text may stand between affixes, the first is the one that the automaton would find.
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
            Self.isWritable(text) && question.inside.allSatisfy { takes($0, text) }
                && !question.outside.contains { takes($0, text) }
        }
    }

    private func add(_ atom: Atom, to atoms: inout [Atom]) {
        if atoms.contains(where: { $0.taken.isSubset(of: atom.taken) }) { return }
        atoms.removeAll { atom.taken.isSubset(of: $0.taken) }
        atoms.append(atom)
    }

    /// Asks the automaton of all matchers but those of single texts, then looks for a text that is none of those.
    private func product(_ question: Question, _ budget: inout WorkBudget) throws(WorkBudget.Exhausted) -> [Atom] {
        let open = question.outside.filter { finite($0) == nil }
        let closed = question.outside.filter { finite($0) != nil }
        var automaton = SegmentAutomaton()
        for number in question.inside + open {
            if let names = names(number) {
                automaton.add(names: names)
            } else {
                automaton.add(members[number].matcher, folds: members[number].folds)
            }
        }
        let product = try SegmentProduct(automaton, inside: question.inside.count, &budget)
        let longest = 66 + (closed.flatMap { finite($0) ?? [] }.map(\.count).max() ?? 0)
        var atoms: [Atom] = []
        for part in product.classes.sorted(by: { $0.taken.count < $1.taken.count }) {
            let taken = Set(part.taken.dropFirst(question.inside.count).map { open[$0 - question.inside.count] })
            if atoms.contains(where: { $0.taken.isSubset(of: taken) }) { continue }
            try budget.spend(closed.count)
            try product.enumerate(part, longest: longest, &budget) { text in
                guard Self.isWritable(text) else { return false }
                let hit = closed.filter { takes($0, text) }
                add(Atom(text: text, taken: taken.union(hit)), to: &atoms)
                return hit.isEmpty
            }
        }
        return atoms
    }

    /// The texts of a matcher of few; under folding each stands for all its spellings.
    private func finite(_ number: Int) -> [[UInt8]]? {
        if let names = names(number) { return names }
        switch members[number].matcher {
        case .literal(let text): return [text]
        case .enumeration(let values): return values
        case .bool: return ["true", "false", "1", "0"].map { Array($0.utf8) }
        default: return nil
        }
    }

    /// Whether the case of letters counts for a matcher, in a table that folds it or in one that does not.
    private func mindsCase(_ number: Int) -> Bool {
        let member = members[number]
        func minds(_ matcher: Matcher) -> Bool {
            switch matcher {
            case .bool, .characters: true
            case .affix(_, let inner, _): !member.folds || minds(inner)
            case .literal, .enumeration: !member.folds
            default: false
            }
        }
        return names(number) != nil || minds(member.matcher)
    }

    /// Whether a link can have the segment: `.`, `..`, controls and invisibles cannot be written, and text is in NFC.
    static func isWritable(_ text: [UInt8]) -> Bool {
        if text.isEmpty || text.elementsEqual(".".utf8) || text.elementsEqual("..".utf8) { return false }
        return text.withUnsafeBufferPointer { bytes in
            let view = ByteView(bytes)
            return PercentDecoding.isClean(view, invisiblesAllowed: false)
                && (view.isSurelyComposed || nfc(text) == text)
        }
    }
}
