internal import ByteStorage
internal import LinkCoordinator

/// A pattern of Apple's `components` for a path, which is compared with others.
struct Glob {
    /// The common prefix of all matches.
    fileprivate let start: [UInt8]
    /// The common suffix of all matches, reversed.
    private let finish: [UInt8]
    private var automaton = ScalarAutomaton()

    /// Parses a pattern of a path.
    ///
    /// Slashes at the end of a path and of a pattern are insignificant, and a pattern that ends with `/*` also matches
    /// the path before it.
    init(_ pattern: String, variables: AppleVariables, foldsCase: Bool) {
        let own = ApplePatternText.path(pattern)
        let isOpen = own.utf8.count > 2 && own.hasSuffix("/*")
        let bytes = own.utf8.map { foldsCase ? lowerASCII($0) : $0 }
        let fixed = bytes.prefix { !"*?$".utf8.contains($0) }
        start = Array(isOpen && fixed.count == bytes.count - 1 ? fixed.dropLast() : fixed)
        finish = Array(bytes.reversed().prefix { !"*?)".utf8.contains($0) })
        for form in isOpen ? [own, String(own.dropLast(2))] : [own] {
            let begin = automaton.begin()
            let text = ApplePatternText(form)
            if let end = automaton.apple(text, from: begin, variables: variables, folds: foldsCase) {
                automaton.finish(end, pattern: 0)
            }
        }
    }

    /// Returns a Boolean value that indicates whether two patterns match a common text.
    static func overlap(_ a: Glob, _ b: Glob) -> Bool {
        // Most pairs differ here, which avoids the product of the automata.
        zip(a.start, b.start).allSatisfy(==) && zip(a.finish, b.finish).allSatisfy(==)
            && ScalarAutomaton.overlap(a.automaton, b.automaton)
    }
}

/// An ordered list of patterns, indexed for a fast search for overlaps.
struct GlobIndex {
    private let globs: [Glob?]
    /// The indices of the patterns by their common prefix, and these prefixes sorted.
    private var byStart: [[UInt8]: [Int]] = [:]
    private let starts: [[UInt8]]

    /// Creates the index, in which a pattern that is nil overlaps with none.
    init(_ globs: [Glob?]) {
        self.globs = globs
        for (number, glob) in globs.enumerated() {
            if let glob { byStart[glob.start, default: []].append(number) }
        }
        starts = byStart.keys.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Returns a Boolean value that indicates whether a pattern after an index overlaps with another pattern.
    func overlaps(_ glob: Glob, after number: Int) -> Bool {
        for length in 0...glob.start.count where isOverlapping(glob, Array(glob.start.prefix(length)), number) {
            return true
        }
        let low = starts.partitioningIndex { !$0.lexicographicallyPrecedes(glob.start) }
        let longer = starts[low...].prefix { $0.starts(with: glob.start) }.filter { $0.count > glob.start.count }
        return longer.contains { isOverlapping(glob, $0, number) }
    }

    private func isOverlapping(_ glob: Glob, _ start: [UInt8], _ number: Int) -> Bool {
        (byStart[start] ?? []).contains { other in
            other > number && globs[other].map { Glob.overlap(glob, $0) } ?? false
        }
    }
}
