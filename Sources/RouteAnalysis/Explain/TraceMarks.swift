package import LinkCoordinator
internal import ByteStorage

// Uses of the parts of the link.
extension Tracer {
    /// Adds to every segment the rewrite, literal, or capture of the first chosen pattern that matched it.
    mutating func markSegments(_ explanation: inout Explanation) {
        guard let pattern = chosenPattern()?.pattern.path else { return }
        let prefixCount = resolver.selection.path.first
        var index = 0
        for partIndex in explanation.parts.indices where explanation.parts[partIndex].kind == .segment {
            explanation.parts[partIndex].use =
                index < prefixCount ? "rewrite" : use(of: index - prefixCount, in: pattern)
            index += 1
        }
    }

    /// Returns the chosen pattern of the table and its route.
    mutating func chosenPattern() -> (route: String, pattern: TableSource.RoutePattern)? {
        guard let pattern = resolver.selection.pattern else { return nil }
        let number = resolver.tableData.number(of: pattern)
        let route = Int(pattern.route)
        var first = number
        while first > 0, Int(resolver.tableData.patterns[first - 1].route) == route { first -= 1 }
        let source = table.source.routes[route]
        guard source.patterns.indices.contains(number - first) else { return nil }
        return (source.id.value, source.patterns[number - first])
    }

    /// Returns the use of a segment in a pattern that matches the path.
    func use(of index: Int, in pattern: Pattern) -> String {
        if case .anySegment(let text) = pattern.matchers[pattern.segmentCount] {
            return "any segment `\(String(decoding: text, as: UTF8.self))`"
        }
        if index < pattern.segmentCount {
            let capture = pattern.captures.first { $0.segment == index && !$0.isTail }
            return capture.map { "{\($0.name)}" } ?? "literal"
        }
        return pattern.captures.first(where: \.isTail).map { "{\($0.name)}" } ?? "rest"
    }

    /// Adds to every part of the query, and to the fragment, the fields and constraints of the selected route that read
    /// it.
    mutating func mark(_ explanation: inout Explanation) {
        guard let routeNumber, !explanation.parts.isEmpty else { return }
        let readers = self.readers(of: table.source.routes[routeNumber])
        let given = (explanation.link?.query ?? []).map(\.name)
        var absent: [String] = []
        for reader in readers where !absent.contains(reader.name) {
            if !given.contains(where: { isSame($0, reader.name) }) { absent.append(reader.name) }
        }
        var index = 0
        for partIndex in explanation.parts.indices {
            switch explanation.parts[partIndex].kind {
            case .query:
                defer { index += 1 }
                let names = (explanation.link?.query ?? []).map(\.name)
                // If the dialect does not allow the query to be divided, there is one part for all names.
                let isWhole = explanation.parts.count { $0.kind == .query } == 1
                let own = isWhole ? names : names.indices.contains(index) ? [names[index]] : []
                let uses = readers.filter { reader in own.contains { isSame($0, reader.name) } }.map(\.use)
                if !uses.isEmpty {
                    explanation.parts[partIndex].use = uses.joined(separator: ", ")
                } else if own.count == 1, let suggestion = NearestName.of(own[0], among: absent) {
                    explanation.parts[partIndex].hint = "unused, did you mean `\(suggestion)`?"
                }
            case .fragment:
                let uses = explanation.bindings.filter { $0.source == "fragment" }.map(\.field)
                if !uses.isEmpty { explanation.parts[partIndex].use = uses.joined(separator: ", ") }
            default: continue
            }
        }
    }

    private mutating func isSame(_ a: String, _ b: String) -> Bool {
        resolver.link.block.namesFold ? a.equalsFolded(b) : a.utf8.elementsEqual(b.utf8)
    }

    /// Returns the names of the query that a route reads, each with its use.
    private func readers(of route: TableSource.Route) -> [(name: String, use: String)] {
        var readers: [(name: String, use: String)] = []
        for constraint in route.query { readers.append((constraint.name.value, "constraint")) }
        for binding in route.bindings {
            guard case .query(let name) = binding.source.value else { continue }
            readers.append((name, "\(binding.model.value).\(binding.field.value)"))
        }
        for (index, variant) in route.variants.enumerated() {
            for constraint in variant.when?.query ?? [] { readers.append((constraint.name.value, "variant \(index)")) }
            guard case .external(let template) = variant.to.destination else { continue }
            for part in template.parts {
                if case .query(let name) = part { readers.append((name.value, "url")) }
            }
        }
        return readers
    }
}

/// A drawing of a link with labels under its parts, one column for each character.
///
/// A row below the link marks the parts with carets, or with exclamation marks if they have a fault. Each label begins
/// under the first column of its part. The rightmost label is on the highest row, and no two labels overlap.
struct PartMarks {
    /// The maximum number of columns, beyond which parts have no label.
    static let maxColumns = 200

    private var rows: [[Character]] = []
    private var carets: [Character] = []
    private let link: String

    init(_ link: String, _ parts: [LinkPart], label: (LinkPart) -> String) {
        let shown = Self.visible(link)
        self.link = shown.count > Self.maxColumns ? shown.prefix(Self.maxColumns) + "…" : shown
        var labels: [(column: Int, label: String)] = []
        for part in parts {
            let column = Self.columns(link, part.offset)
            let end = Self.columns(link, part.offset + part.count)
            guard column < Self.maxColumns else { continue }
            let mark: Character = part.fault == nil ? "^" : "!"
            for index in column..<min(max(end, column + 1), Self.maxColumns) { Self.put(mark, at: index, in: &carets) }
            labels.append((column, label(part)))
        }
        labels.sort { $0.column < $1.column }
        labels.removeAll { $0.label.isEmpty }
        for entry in labels.reversed() { addLabel(entry.label, at: entry.column) }
    }

    /// The rows of the drawing: the link, the carets, and the labels.
    var lines: [String] { [link, String(carets)] + rows.map { String($0) } }

    /// Puts a label on the highest row on which it does not touch the labels to its right.
    private mutating func addLabel(_ label: String, at column: Int) {
        var row = 0
        while row < rows.count, Self.first(rows[row]) < column + label.count + 1 { row += 1 }
        while rows.count <= row { rows.append([]) }
        for above in 0..<row { Self.put("|", at: column, in: &rows[above]) }
        for (index, character) in label.enumerated() { Self.put(character, at: column + index, in: &rows[row]) }
    }

    private static func first(_ row: [Character]) -> Int { row.firstIndex { $0 != " " } ?? .max - 1 }

    private static func put(_ character: Character, at column: Int, in row: inout [Character]) {
        while row.count <= column { row.append(" ") }
        row[column] = character
    }

    /// Returns the number of characters before a byte offset.
    private static func columns(_ text: String, _ offset: Int) -> Int {
        let bytes = text.utf8
        return visible(String(decoding: bytes.prefix(min(offset, bytes.count)), as: UTF8.self)).count
    }

    /// Returns the text with every scalar as one visible character.
    private static func visible(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            // Each scalar has one column: combining and invisible scalars would shift the following ones.
            let isPlain = scalar.properties.generalCategory.isVisible && scalar.value != 0x7F
            shown.unicodeScalars.append(isPlain ? scalar : "\u{FFFD}")
        }
        return shown
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isVisible: Bool {
        switch self {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .nonspacingMark, .enclosingMark, .spacingMark:
            false
        default: true
        }
    }
}

/// The cheapest way to edit a path so that a pattern matches it.
///
/// The alignment is an edit distance over segments (Wagner and Fischer, 1974), with steps for segments that match,
/// differ, are superfluous, or are missing. A misspelling costs less than a different type, and a different type costs
/// less than a different word. The pattern with the least cost is therefore the most likely intended one.
struct PatternAlignment {
    /// One step of the alignment.
    enum Step: Equatable {
        /// The segment matches the matcher.
        case fits(segment: Int, matcher: Int)
        /// The segment differs from what the matcher expects.
        case wrong(segment: Int, matcher: Int)
        /// The segment is superfluous.
        case extra(segment: Int)
        /// A segment that the matcher expects is missing before this one.
        case missing(matcher: Int, before: Int)
    }

    /// The steps from left to right.
    private(set) var steps: [Step] = []
    /// The sum of the steps' costs, or 0 if the pattern matches the path.
    private(set) var cost = 0
    /// The number of steps that do not match.
    var mismatchCount: Int { steps.count { if case .fits = $0 { false } else { true } } }

    /// The number of literals that match.
    private(set) var literals = 0
    /// A Boolean value that indicates whether the pattern is similar to the path.
    ///
    /// It is similar if a segment of it matches or is misspelled, or if the pattern matches the whole path.
    private(set) var isNear = false

    /// The costs of steps, chosen for their order.
    ///
    /// A misspelling costs `misspelling` plus one for each edit, but always less than a different type.
    enum Cost {
        static let misspelling = 2
        static let type = 7
        static let extra = 9
        static let missing = 10
        static let other = 12
    }

    /// Aligns a path with a pattern.
    init(_ pattern: Pattern, _ segments: [[UInt8]], foldsCase: Bool, coordinators: Set<[UInt8]>) {
        let count = pattern.segmentCount
        var costs = [[Int]](repeating: [Int](repeating: 0, count: segments.count + 1), count: count + 1)
        var own = [[Int]](repeating: [Int](repeating: 0, count: segments.count), count: count)
        for m in 0..<count {
            for s in segments.indices {
                // Alignments this far from the diagonal are never similar, so they are not computed exactly.
                let isFar = abs(m - s) > Self.band
                own[m][s] = Self.cost(of: pattern.matchers[m], segments[s], foldsCase, comparing: !isFar)
            }
        }
        for m in 0...count {
            for s in 0...segments.count where m + s > 0 {
                var best = Int.max
                if m > 0, s > 0 { best = costs[m - 1][s - 1] + own[m - 1][s - 1] }
                if m > 0 { best = min(best, costs[m - 1][s] + Cost.missing) }
                if s > 0 { best = min(best, costs[m][s - 1] + Cost.extra) }
                costs[m][s] = best
            }
        }
        let terminal = pattern.matchers[count]
        var (end, tail) = (segments.count, Int.max)
        for s in (0...segments.count).reversed() {
            let rest = Self.cost(ofTail: terminal, segments, from: s, foldsCase, coordinators)
            if let rest, tail == .max || costs[count][s] + rest < tail { (end, tail) = (s, costs[count][s] + rest) }
        }
        cost = tail
        walk(back: costs, own, from: (count, end))
        isNear = cost == 0 || (1..<Cost.type).contains(cost - costs[count][end])
        for step in steps {
            switch step {
            case .fits(_, let matcher):
                isNear = isNear || pattern.matchers[matcher] != .any
                if case .literal = pattern.matchers[matcher] { literals += 1 }
            case .wrong(let segment, let matcher): isNear = isNear || own[matcher][segment] < Cost.type
            case .extra, .missing: continue
            }
        }
        if cost > costs[count][end] {
            steps.append(
                end < segments.count ? .wrong(segment: end, matcher: count) : .missing(matcher: count, before: end))
        }
    }

    private mutating func walk(back costs: [[Int]], _ own: [[Int]], from position: (m: Int, s: Int)) {
        var (m, s) = position
        while m > 0 || s > 0 {
            let cost = costs[m][s]
            if m > 0, s > 0, cost == costs[m - 1][s - 1] + own[m - 1][s - 1] {
                (m, s) = (m - 1, s - 1)
                steps.append(own[m][s] == 0 ? .fits(segment: s, matcher: m) : .wrong(segment: s, matcher: m))
            } else if m > 0, cost == costs[m - 1][s] + Cost.missing {
                m -= 1
                steps.append(.missing(matcher: m, before: s))
            } else {
                s -= 1
                steps.append(.extra(segment: s))
            }
        }
        steps.reverse()
    }

    /// The maximum difference between the positions of a literal and a segment for which a misspelling is considered.
    private static let band = 8

    private static func cost(
        of matcher: Matcher, _ segment: [UInt8], _ folds: Bool, comparing: Bool
    ) -> Int {
        if segment.withUnsafeBufferPointer({ matcher.matches(ByteView($0), foldsCase: folds) }) { return 0 }
        switch matcher {
        case .literal(let text): return comparing ? cost(ofMisspelling: segment, [text]) ?? Cost.other : Cost.other
        case .enumeration(let values): return cost(ofMisspelling: segment, values) ?? Cost.type
        default: return Cost.type
        }
    }

    /// Returns the cost of the text as a misspelling of one of several texts, or nil if it is not similar to any.
    private static func cost(ofMisspelling text: [UInt8], _ known: some Sequence<[UInt8]>) -> Int? {
        known.compactMap { Misspelling.edits(text, $0) }.min().map { min(Cost.misspelling + $0, Cost.type - 1) }
    }

    /// Returns the cost of the tail from a segment on, or nil if it cannot begin there.
    private static func cost(
        ofTail matcher: Matcher, _ segments: [[UInt8]], from index: Int, _ folds: Bool, _ coordinators: Set<[UInt8]>
    ) -> Int? {
        switch matcher {
        case .end: return index == segments.count ? 0 : nil
        case .restPlus: return index < segments.count ? 0 : Cost.missing
        case .coordinatorPath:
            guard index < segments.count else { return Cost.missing }
            if coordinators.contains(segments[index]) { return 0 }
            return cost(ofMisspelling: segments[index], coordinators) ?? Cost.other
        case .anySegment(let text):
            let isMatched = matcher.matchesTail(segments, from: index, foldsCase: folds) { _ in false }
            if isMatched { return 0 }
            return segments.compactMap { cost(ofMisspelling: $0, [text]) }.min() ?? Cost.other
        default: return 0
        }
    }
}

/// Detection of misspellings.
enum Misspelling {
    /// The maximum length of a text to compare, because longer ones are never misspellings.
    private static let maxLength = 64

    /// Returns the number of edits from a text to a known one, or nil if the text is not a likely misspelling.
    ///
    /// One edit is allowed for each three characters, and at least one. Case is ignored. A single character is a
    /// misspelling of two that contain it, but not of another one.
    static func edits(_ text: [UInt8], _ known: [UInt8]) -> Int? {
        let limit = max(1, text.count / 3)
        guard text.count <= maxLength, known.count <= maxLength, abs(text.count - known.count) <= limit else {
            return nil
        }
        let (a, b) = (text.map(lowerASCII), known.map(lowerASCII))
        if a == b { return 0 }
        let edits = NearestName.edits(a, b)
        return edits <= limit && edits < max(a.count, b.count) ? edits : nil
    }

    /// Returns a Boolean value that indicates whether a text is a likely misspelling of a known one.
    static func isNear(_ text: [UInt8], _ known: [UInt8]) -> Bool { edits(text, known) != nil }
}

/// A pattern's segments in the table's notation: classes keep their order, bounds, and spelling.
package struct WrittenPattern {
    private let segments: [Substring]

    /// Splits a pattern into its segments.
    package init(_ pattern: Pattern) {
        // Neither captures nor classes can contain a slash.
        segments = pattern.text.hasPrefix("/") ? pattern.text.dropFirst().split(separator: "/") : []
    }

    /// Returns a segment, such as `new`, `{id:uuid}` or `order-{id:int}`.
    package func segment(_ index: Int, _ matcher: Matcher) -> String {
        segments.indices.contains(index) ? String(segments[index]) : matcher.name
    }

    /// Returns the expected text: the class of a capture that is the whole segment, or the segment.
    func expectedText(_ index: Int, _ matcher: Matcher) -> String {
        let text = segment(index, matcher)
        if case .affix = matcher { return text }
        guard text.hasPrefix("{"), text.hasSuffix("}"), let colon = text.firstIndex(of: ":") else { return text }
        let type = text[text.index(after: colon)...].dropLast()
        return String(type.last == "?" ? type.dropLast() : type)
    }
}

extension Matcher {
    /// Returns the difference between a text and a matcher's type that it nearly matches, or nil if there is none to
    /// report.
    func hint(for text: [UInt8]) -> String? {
        let isNumber = !text.isEmpty && text.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
        switch self {
        case .int:
            if text.first == UInt8(ascii: "+") { return "remove the plus sign" }
            if isNumber, text.count > 1, text[0] == UInt8(ascii: "0") { return "remove the leading zeros" }
            if isNumber || (text.first == UInt8(ascii: "-") && text.dropFirst().allSatisfy { $0 &- 0x30 < 10 }) {
                return "out of range"
            }
            return nil
        case .uuid:
            let hasDash = String(decoding: text, as: UTF8.self).unicodeScalars.contains {
                (0x2010...0x2015).contains($0.value) || $0.value == 0x2212
            }
            if hasDash { return "it contains a dash other than `-`" }
            return text.count > 20 && text.count != 36 ? "\(text.count) characters, a UUID has 36" : nil
        case .date:
            return text.count == 10 && text[4] == UInt8(ascii: "-") && text[7] == UInt8(ascii: "-")
                ? "not a calendar date" : nil
        case .characters(let set, let min, let max):
            if let bad = String(decoding: text, as: UTF8.self).unicodeScalars.first(where: {
                !$0.isASCII || !set.contains(UInt8($0.value))
            }) {
                return "`\(bad)` is not in the class"
            }
            if text.count < min || text.count > max {
                let limit = text.count < min ? "at least \(min)" : "at most \(max)"
                return "\(text.count) \(text.count == 1 ? "character" : "characters"), expected \(limit)"
            }
            return nil
        default: return nil
        }
    }
}
