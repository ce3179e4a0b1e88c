internal import StrictJSON

/// The texts that one segment can be, cut into atoms: classes that some matchers do not tell apart.
///
/// Matchers go by number; equal ones have one number. Answers are kept, for tables ask the same again and again.
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

    private let foldsCase: Bool
    /// Names of the coordinators of each table, which are compared as they are; they stand after `any`.
    private let names: [[[UInt8]]]
    private var matchers: [Matcher] = []
    private var numbers: [Matcher: Int] = [:]
    private var answers: [Question: [Atom]] = [:]

    private struct Question: Hashable {
        var inside: [Int]
        var outside: [Int]
    }

    /// Makes the space of tables.
    init(foldsCase: Bool, coordinators: [[String]]) {
        self.foldsCase = foldsCase
        names = coordinators.map { $0.map { Array($0.utf8) } }
        matchers = [.any] + names.map { _ in .coordinatorPath }
        numbers = [.any: 0]
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

    /// The number of a matcher of segments.
    mutating func number(of matcher: Matcher) -> Int {
        if let known = numbers[matcher] { return known }
        numbers[matcher] = matchers.count
        matchers.append(matcher)
        return matchers.count - 1
    }

    /// The text of a matcher that takes no other, where case does not blur it.
    func literal(_ number: Int) -> [UInt8]? {
        if case .literal(let text) = matchers[number] { text } else { nil }
    }

    /// Whether a matcher takes a text.
    func takes(_ number: Int, _ text: [UInt8]) -> Bool {
        if let names = names(number) { return names.contains(text) }
        return text.withUnsafeBufferPointer { matchers[number].takes(ByteView($0), foldsCase: foldsCase) }
    }

    /// Whether some text is taken by both.
    mutating func meet(_ a: Int, _ b: Int, _ budget: inout WorkBudget) throws(WorkBudget.Exhausted) -> Bool {
        if a == b || a == any || b == any { return true }
        if case .affix(let p, _, let s) = matchers[a], case .affix(let q, _, let t) = matchers[b],
            !zip(p, q).allSatisfy({ $0 == $1 }) || !zip(s.reversed(), t.reversed()).allSatisfy({ $0 == $1 })
        {
            return false
        }
        return try !atoms(inside: [min(a, b), max(a, b)], outside: [], &budget).isEmpty
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
        let all = question.inside + question.outside
        let minding = foldsCase && all.contains { mindsCase($0) }
        let lists = minding ? [] : question.inside.compactMap { finite($0) }
        if let shortest = lists.min(by: { $0.count < $1.count }) {
            var atoms: [Atom] = []
            for text in shortest where Self.isWritable(text) && question.inside.allSatisfy({ takes($0, text) }) {
                try budget.spend(question.outside.count)
                add(Atom(text: text, taken: Set(question.outside.filter { takes($0, text) })), to: &atoms)
            }
            return atoms
        }
        return try product(question, &budget)
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
        var automaton = SegmentAutomaton(foldsCase: foldsCase)
        for number in question.inside + open {
            if let names = names(number) { automaton.add(names: names) } else { automaton.add(matchers[number]) }
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
        switch matchers[number] {
        case .literal(let text): return [text]
        case .enumeration(let values): return values
        case .bool: return ["true", "false", "1", "0"].map { Array($0.utf8) }
        default: return nil
        }
    }

    /// Whether the case of letters counts for a matcher although the table folds it.
    private func mindsCase(_ number: Int) -> Bool {
        func minds(_ matcher: Matcher) -> Bool {
            switch matcher {
            case .bool, .characters: true
            case .affix(_, let inner, _): minds(inner)
            default: false
            }
        }
        return names(number) != nil || minds(matchers[number])
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
