internal import LinkCoordinator
internal import ByteStorage

/// The path that a redirect's template produces from a link: each segment is a text or a capture of the link.
struct TemplatePath {
    private enum Element {
        case text([UInt8])
        case capture(CaptureLocation)
        /// More than one capture, or a hidden one. No matcher of a segment of the link describes it.
        case unknown
    }

    /// A captured text that is not the text of one segment of the link.
    enum HiddenText {
        /// The same text in all links.
        case constant([UInt8])
        /// The text of a segment that differs from link to link.
        case segment
        /// A tail that begins with segments of a template.
        case tail
    }

    /// The links whose redirected paths a pattern matches.
    struct Preimage {
        /// Lists of patterns, one for each alternative, whose links match all patterns of the list.
        var alternatives: [[ProofPattern]]
        /// A Boolean value that indicates whether the alternatives describe the links exactly.
        ///
        /// Otherwise some of the links do not lead to the pattern.
        var isExact = true
        /// A Boolean value that indicates whether the pattern matches all links that reach this redirect.
        var matchesAll = false
    }

    private var elements: [Element] = []
    /// The index of the link's first segment after the elements, or nil if the path ends with them.
    private var tail: Int?

    /// The number of segments that the path adds to the link, or nil if the link's remaining segments are not part of
    /// it.
    var growth: Int? { tail.map { elements.count - $0 } }

    /// Fills a template, or returns nil if segments follow a tail, because their positions are not known.
    init?(
        _ template: TableSource.PathTemplate, _ locations: [String: CaptureLocation], hidden: [String: HiddenText]
    ) {
        for segment in template.segments {
            if tail != nil { return nil }
            var names: [CaptureLocation] = []
            var before: [UInt8] = []
            var after: [UInt8] = []
            var isHidden = false
            func add(_ text: [UInt8]) { if names.isEmpty { before += text } else { after += text } }
            for part in segment {
                switch part {
                case .text(let text): add(Array(text.utf8))
                case .name(let name):
                    switch hidden[name.value] {
                    case .constant(let text)?: add(text)
                    case .segment?: isHidden = true
                    case .tail?: return nil
                    case nil: names += locations[name.value].map { [$0] } ?? []
                    }
                case .query: return nil
                }
            }
            // A tail beside a text or another capture becomes several segments.
            if names.contains(where: \.isTail), segment.count > 1 { return nil }
            if isHidden {
                elements.append(.unknown)
            } else if names.isEmpty {
                // A segment without text is dropped.
                if !(before + after).isEmpty { elements.append(.text(nfc(before + after))) }
            } else if names.count > 1 {
                elements.append(.unknown)
            } else if names[0].isTail {
                tail = names[0].depth
            } else {
                var location = names[0]
                location.steps.insert(.strip(prefix: before, suffix: after), at: 0)
                elements.append(.capture(location))
            }
        }
    }

    /// Returns the locations of a pattern's captures in the redirected link.
    func locations(of path: Pattern, _ rewrites: [String: CaptureLocation]) -> [String: CaptureLocation] {
        var locations = rewrites
        for capture in path.captures {
            // An empty tail hides the capture of a rewrite.
            locations[capture.name] = nil
            if capture.segment >= elements.count {
                if let tail {
                    locations[capture.name] = CaptureLocation(
                        capture, in: path, depth: tail + capture.segment - elements.count)
                }
            } else if !capture.isTail, case .capture(var location) = elements[capture.segment] {
                location.steps.insert(contentsOf: capture.steps(in: path), at: 0)
                locations[capture.name] = location
            }
        }
        return locations
    }

    /// Returns the captures of a pattern without a location in the link that have a text nevertheless.
    func hidden(of path: Pattern) -> [String: HiddenText] {
        var hidden: [String: HiddenText] = [:]
        for capture in path.captures where capture.segment < elements.count {
            switch elements[capture.segment] {
            case _ where capture.isTail: hidden[capture.name] = .tail
            case .capture: break
            case .text(let text)
            where capture.matcher == .any && capture.isWholeSegment && text.allSatisfy { $0 < 128 }:
                hidden[capture.name] = .constant(text)
            case .text, .unknown: hidden[capture.name] = .segment
            }
        }
        return hidden
    }

    /// Returns the links whose redirected path a pattern matches, or nil if there are none.
    func preimage(
        of path: Pattern, _ pattern: ProofPattern, _ table: ProofTable, _ space: inout PatternSpace
    ) -> Preimage? {
        var requirements = Requirements(folds: table.source.foldsPathCase)
        for (index, matcher) in path.matchers.prefix(path.segmentCount).enumerated() {
            guard addRequirement(matcher, at: index, &requirements) else { return nil }
        }
        let surplus = path.segmentCount - elements.count
        switch path.matchers[path.segmentCount] {
        case .end:
            if surplus < 0 || surplus > 0 && tail == nil { return nil }
            if let tail { requirements.end = (tail + surplus, .end) }
        case .restStar: if surplus >= 0, let tail { requirements.end = (tail + surplus, .star) }
        case .restPlus:
            if surplus >= 0 {
                guard let tail else { return nil }
                requirements.end = (tail + surplus, .plus)
            }
        case .coordinatorPath:
            if surplus >= 0 {
                guard let tail else { return nil }
                requirements.end = (tail + surplus, pattern.tail)
            } else {
                let names = table.source.coordinators.map { Array($0.name.value.utf8) }
                guard addRequirement(.enumeration(names), at: path.segmentCount, &requirements, isExact: true) else {
                    return nil
                }
            }
        case .anySegment(let text): return anySegment(text, pattern, requirements, &space)
        default: return nil
        }
        return Preimage(
            alternatives: [requirements.patterns(like: pattern, &space)], isExact: requirements.isExact,
            matchesAll: requirements.isEmpty && pattern.constraints.isEmpty && pattern.rule == 0)
    }

    private func anySegment(
        _ text: [UInt8], _ pattern: ProofPattern, _ requirements: Requirements, _ space: inout PatternSpace
    ) -> Preimage? {
        var preimage = Preimage(alternatives: [])
        for index in elements.indices {
            var requirements = requirements
            guard addRequirement(.literal(text), at: index, &requirements) else { continue }
            preimage.alternatives.append(requirements.patterns(like: pattern, &space))
            preimage.isExact = preimage.isExact && requirements.isExact
        }
        if let tail {
            var requirements = requirements
            requirements.end = (tail, pattern.tail)
            preimage.alternatives.append(requirements.patterns(like: pattern, &space))
        }
        return preimage.alternatives.isEmpty ? nil : preimage
    }

    /// Adds the requirement of a segment of the path.
    ///
    /// - Parameter isExact: A Boolean value that indicates whether the matcher distinguishes case in every table.
    /// - Returns: False if the requirement cannot be met.
    private func addRequirement(
        _ matcher: Matcher, at index: Int, _ requirements: inout Requirements, isExact: Bool = false
    ) -> Bool {
        let folds = requirements.folds && !isExact
        guard index < elements.count else {
            guard let tail else { return false }
            requirements.matchers.append((tail + index - elements.count, matcher, folds))
            return true
        }
        switch elements[index] {
        case .text(let text):
            return text.withUnsafeBufferPointer { matcher.matches(ByteView($0), foldsCase: folds) }
        case .unknown: requirements.isExact = false
        case .capture(let location):
            switch location.preimage(of: matcher, folds: requirements.folds, isExact: isExact) {
            case .nothing: return false
            case .unknown: requirements.isExact = false
            case .matcher(.any): break
            case .matcher(let preimage):
                // A capture with few texts gives the table's spelling of what the link has in any case.
                let folds = folds || requirements.folds && location.hasFewTexts
                requirements.matchers.append((location.depth, preimage, folds))
            }
        }
        return true
    }
}

/// The requirements of a link, segment by segment.
private struct Requirements {
    var folds: Bool
    var matchers: [(depth: Int, matcher: Matcher, folds: Bool)] = []
    /// The number of segments, or the number before a tail.
    var end: (depth: Int, tail: ProofPattern.Tail)?
    var isExact = true

    var isEmpty: Bool { matchers.isEmpty && end == nil && isExact }

    /// Returns the requirements as patterns.
    ///
    /// The first one has the query constraints and origin of `pattern`. More than one is needed only if a segment must
    /// match several matchers.
    func patterns(like pattern: ProofPattern, _ space: inout PatternSpace) -> [ProofPattern] {
        var layers: [[Int: Int]] = [[:]]
        for (depth, matcher, folds) in matchers {
            let number = space.segments.number(of: matcher, folds: folds)
            if let free = layers.firstIndex(where: { $0[depth] == nil || $0[depth] == number }) {
                layers[free][depth] = number
            } else {
                layers.append([depth: number])
            }
        }
        return layers.enumerated().map { index, layer in
            let isFirst = index == 0
            let count = max((layer.keys.max() ?? -1) + 1, isFirst ? end?.depth ?? 0 : 0)
            return ProofPattern(
                table: pattern.table, rule: isFirst ? pattern.rule : 0,
                segments: (0..<count).map { layer[$0] ?? space.segments.any },
                tail: isFirst ? end?.tail ?? .star : .star, constraints: isFirst ? pattern.constraints : [])
        }
    }
}

/// The location of a captured text in the received link: a segment, with the steps from the text to the segment.
struct CaptureLocation {
    /// A step from the captured text to the segment.
    enum Step {
        /// Replaces the canonical text of a capture by a text that it matches.
        case read(Capture)
        /// Adds text before and after the text so far.
        case add(prefix: [UInt8], suffix: [UInt8])
        /// Removes text from the start and the end of the text so far, which must have both.
        case strip(prefix: [UInt8], suffix: [UInt8])

        /// All texts that are read, if there are few.
        fileprivate var texts: [[UInt8]]? {
            if case .read(let capture) = self { capture.matcher.finiteTexts } else { nil }
        }
    }

    /// The preimage of a matcher: the segments whose captured text it matches.
    enum Preimage {
        /// No segment leads to a text that the matcher matches.
        case nothing
        /// Exactly the texts of this matcher.
        case matcher(Matcher)
        /// The segments cannot be described by one matcher.
        case unknown
    }

    /// The index in the link of the segment, or of the first segment of a tail.
    var depth: Int
    /// The steps from the captured text to the segment.
    var steps: [Step]
    /// A Boolean value that indicates whether the capture is all segments from `depth` on.
    var isTail = false

    /// A Boolean value that indicates whether one of the captures on the way to the segment matches few texts.
    var hasFewTexts: Bool { steps.contains { $0.texts != nil } }

    /// Creates the location of a capture whose segment has this index in the link.
    init(_ capture: Capture, in path: Pattern, depth: Int) {
        self.depth = depth
        steps = capture.steps(in: path)
        isTail = capture.isTail
    }

    /// Returns the segment for a captured text, or nil if no segment leads to it.
    func segment(for text: [UInt8], folds: Bool) -> [UInt8]? {
        steps.reduce(text) { text, step in
            guard let text else { return nil }
            switch step {
            case .read: return text
            case .add(let prefix, let suffix): return prefix + text + suffix
            case .strip(let prefix, let suffix): return inner(text, prefix, suffix, folds: folds)
            }
        }
    }

    /// Returns the preimage of a matcher: the segments for which it matches the captured text after the steps.
    ///
    /// - Parameters:
    ///   - folds: A Boolean value that indicates whether the table ignores case.
    ///   - isExact: A Boolean value that indicates whether the matcher distinguishes case nevertheless.
    func preimage(of matcher: Matcher, folds: Bool, isExact: Bool = false) -> Preimage {
        var result = Preimage.matcher(matcher)
        var rest = steps[...]
        var isExact = isExact
        // The texts of a capture with few texts are tested one by one.
        let few = steps.lastIndex { $0.texts != nil }
        if let few {
            let texts = (steps[few].texts ?? []).filter { text in
                guard let read = read(text, steps[...few], folds: folds) else { return false }
                return read.withUnsafeBufferPointer { matcher.matches(ByteView($0), foldsCase: folds && !isExact) }
            }
            if texts.isEmpty { return .nothing }
            result = .matcher(.enumeration(texts.sorted { compareBytes($0, $1) < 0 }))
            rest = steps[(few + 1)...]
            isExact = false
        }
        for (index, step) in zip(rest.indices, rest) {
            guard case .matcher(let matcher) = result else { return result }
            switch step {
            case .add(let prefix, let suffix):
                // The text around a capture ignores case, and the rest of the matcher does not.
                if folds, isExact, !(prefix + suffix).isEmpty { return .unknown }
                result = .matcher(matcher.wrapped(prefix, suffix))
            case .strip(let prefix, let suffix):
                if folds, matcher == .bool, !(prefix + suffix).isEmpty { return .unknown }
                if composes(prefix, suffix, after: index), matcher.seesComposition(after: prefix.count) {
                    return .unknown
                }
                result = matcher.between(prefix, suffix, folds: folds && !isExact)
            case .read(let capture):
                // The canonical text of a UUID is in uppercase, which only some matchers ignore.
                if capture.matcher == .uuid, let preimage = matcher.preimageOfUUID { return preimage }
            }
        }
        return result
    }

    /// Returns the captured text for a text of the capture farthest from it, or nil if a pattern does not match.
    private func read(_ text: [UInt8], _ steps: ArraySlice<Step>, folds: Bool) -> [UInt8]? {
        steps.reversed().reduce(text) { text, step in
            guard let text else { return nil }
            switch step {
            case .read(let capture): return capture.canonicalText(text, foldsCase: folds)
            case .add(let prefix, let suffix): return inner(text, prefix, suffix, folds: folds)
            case .strip(let prefix, let suffix): return nfc(prefix + text + suffix)
            }
        }
    }

    /// Returns a Boolean value that indicates whether a template's text and the capture between it may become other
    /// characters in NFC, as `e` and a combining accent do.
    private func composes(_ prefix: [UInt8], _ suffix: [UInt8], after index: Int) -> Bool {
        guard index + 1 < steps.count, case .read(let capture) = steps[index + 1] else { return false }
        return capture.matcher.composes(prefix, suffix)
    }
}

/// Returns the text between a prefix and a suffix, or nil if there is none.
private func inner(_ text: [UInt8], _ prefix: [UInt8], _ suffix: [UInt8], folds: Bool) -> [UInt8]? {
    func isSame(_ a: UInt8, _ b: UInt8) -> Bool { a == b || folds && lowerASCII(a) == lowerASCII(b) }
    guard text.count > prefix.count + suffix.count, text.starts(with: prefix, by: isSame),
        text.reversed().starts(with: suffix.reversed(), by: isSame)
    else { return nil }
    return Array(text[prefix.count..<(text.count - suffix.count)])
}

extension Matcher {
    /// Returns a matcher of this matcher's texts with a prefix and a suffix added.
    fileprivate func wrapped(_ prefix: [UInt8], _ suffix: [UInt8]) -> Matcher {
        if prefix.isEmpty && suffix.isEmpty { return self }
        switch self {
        case .literal(let text): return .literal(prefix + text + suffix)
        case .enumeration(let values): return .enumeration(values.map { prefix + $0 + suffix })
        case .affix(let own, let inner, let end):
            return .affix(prefix: prefix + own, inner: inner, suffix: end + suffix)
        default: return .affix(prefix: prefix, inner: self, suffix: suffix)
        }
    }

    /// Returns a Boolean value that indicates whether a text of the matcher may become other characters in NFC between
    /// a prefix and a suffix, as `e` and a combining accent do.
    func composes(_ prefix: [UInt8], _ suffix: [UInt8]) -> Bool {
        if let first = suffix.first, first >= 128 { return true }
        switch self {
        case .any, .affix(_, .any, _): break
        default: return false
        }
        // Of the other characters of ASCII, none composes.
        let composing = prefix.last.map {
            $0 >= 128 || lowerASCII($0) &- UInt8(ascii: "a") < 26 || "<=>".utf8.contains($0)
        }
        return composing ?? false
    }

    /// The preimage of the matcher for the canonical text of a UUID, or nil if it is the matcher itself.
    fileprivate var preimageOfUUID: CaptureLocation.Preimage? {
        func isUUID(_ text: [UInt8]) -> Bool {
            text.withUnsafeBufferPointer { Matcher.uuid.matches(ByteView($0), foldsCase: true) }
        }
        switch self {
        case .any, .uuid: return nil
        case .literal(let text): return isUUID(text) ? .unknown : .nothing
        case .enumeration(let values): return values.contains(where: isUUID) ? .unknown : .nothing
        default: return .unknown
        }
    }

    /// Returns a Boolean value that indicates whether the matcher distinguishes a composed character, at the end of the
    /// first `count` bytes, from its parts.
    ///
    /// A composed character is never in ASCII.
    fileprivate func seesComposition(after count: Int) -> Bool {
        func isForeign(_ text: [UInt8]) -> Bool { text.contains { $0 >= 128 } }
        switch self {
        case .literal(let text): return isForeign(text)
        case .enumeration(let values): return values.contains(where: isForeign)
        case .affix(let prefix, let inner, let suffix):
            return isForeign(prefix) || isForeign(suffix) || inner == .any && prefix.count <= count
                || inner.seesComposition(after: count - prefix.count)
        default: return false
        }
    }

    /// Returns the preimage of this matcher: the texts that it matches after a prefix and a suffix are added.
    fileprivate func between(_ prefix: [UInt8], _ suffix: [UInt8], folds: Bool) -> CaptureLocation.Preimage {
        if prefix.isEmpty && suffix.isEmpty { return .matcher(self) }
        switch self {
        case .any: return .matcher(.any)
        case .literal(let text):
            return inner(text, prefix, suffix, folds: folds).map { .matcher(.literal($0)) } ?? .nothing
        case .enumeration(let values):
            let texts = values.compactMap { inner($0, prefix, suffix, folds: folds) }
            return texts.isEmpty ? .nothing : .matcher(.enumeration(texts.sorted { compareBytes($0, $1) < 0 }))
        case .characters(let set, let min, let max):
            let around = prefix.count + suffix.count
            guard (prefix + suffix).allSatisfy(set.contains), max > around else { return .nothing }
            return .matcher(.characters(set, min: Swift.max(1, min - around), max: max - around))
        case .bool:
            return Matcher.enumeration(Self.boolTexts.sorted { compareBytes($0, $1) < 0 }).between(
                prefix, suffix, folds: false)
        case .affix(let own, let inner, let end):
            let (prefix, suffix) = folds ? (prefix.map(lowerASCII), suffix.map(lowerASCII)) : (prefix, suffix)
            guard own.starts(with: prefix), end.reversed().starts(with: suffix.reversed()) else {
                return own.starts(with: prefix.prefix(own.count))
                    && end.reversed().starts(
                        with: suffix.reversed().prefix(end.count))
                    ? .unknown : .nothing
            }
            let ownPrefix = Array(own.dropFirst(prefix.count))
            return .matcher(inner.wrapped(ownPrefix, Array(end.dropLast(suffix.count))))
        case .int, .date, .uuid: return .unknown
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: return .nothing
        }
    }
}

extension Capture {
    /// Returns the steps from the text of the capture to its segment, or none for a tail.
    fileprivate func steps(in path: Pattern) -> [CaptureLocation.Step] {
        if isTail { return [] }
        guard case .affix(let prefix, _, let suffix) = path.matchers[segment] else { return [.read(self)] }
        return [.read(self), .add(prefix: prefix, suffix: suffix)]
    }
}

/// Coordinator paths for which the coordinators of two tables can differ.
///
/// They contain every screen, and pairs of screens if the tables present or keep one of the two differently, or have
/// other fallbacks for pairs that break a rule of presentation.
struct CoordinatorPaths {
    /// The paths, as segments, in which a name that neither table has represents all unknown names.
    private(set) var paths: [[String]] = []

    /// A Boolean value that indicates whether the paths contain every pair of screens in which one screen changed.
    private(set) var isWhole = true

    /// The maximum number of pairs.
    private static let maxPairs = 2_000

    /// Creates the paths for two tables.
    init(_ tables: [ProofTable]) {
        var names: [String] = []
        var screens: [String: [String]] = [:]
        for coordinator in tables.flatMap(\.source.coordinators) {
            let name = coordinator.name.value
            if screens[name] == nil { names.append(name) }
            for screen in coordinator.screens.map(\.name.value) where screens[name]?.contains(screen) != true {
                screens[name, default: []].append(screen)
            }
            screens[name, default: []] += []
        }
        var steps: [[String]] = []
        for name in names {
            paths += [[name], [name, Self.unknown]]
            steps += (screens[name] ?? []).map { [name, $0] }
        }
        paths += steps
        let changed = steps.filter { step in Set(tables.map { Self.signature(step, $0) }).count > 1 }
        for step in changed {
            paths.append(step + Array(repeating: step[1], count: StaticStack.maxModals))
            for other in steps {
                if paths.count < Self.maxPairs { paths += [step + other, other + step] } else { isWhole = false }
            }
        }
        // A path that ends at a coordinator after another one covers the initial screens.
        for name in names { paths += steps.prefix(1).map { $0 + [name] } }
        let fallbacks = tables.map { table in
            table.source.fallback.first { $0.on?.contains { $0.value == .presentation } ?? true }?.piece
        }
        if Set(fallbacks).count > 1 { for table in tables { breakPresentation(of: table) } }
    }

    /// Creates the paths for one table, with a screen above each sheet, cover, and alert.
    init(breakingPresentationOf table: ProofTable) {
        self.init([table])
        breakPresentation(of: table)
    }

    /// Adds paths with a screen above each sheet, cover, and alert.
    private mutating func breakPresentation(of table: ProofTable) {
        for coordinator in table.source.coordinators {
            let pushed = coordinator.screens.first { $0.defaultPresentation == .push }
            for screen in coordinator.screens where screen.defaultPresentation != .push {
                if paths.count >= Self.maxPairs { return isWhole = false }
                let step = [coordinator.name.value, screen.name.value]
                paths += [step + [(pushed ?? screen).name.value], step + Array(repeating: step[1], count: 4)]
            }
        }
    }

    private static let unknown = "zz-unknown"

    /// Returns the properties of a screen that affect the screens before and after it.
    private static func signature(_ step: [String], _ table: ProofTable) -> [String] {
        guard let coordinator = table.source.coordinators.first(where: { $0.name.value == step[0] }),
            let screen = coordinator.screen(named: step[1])
        else { return [] }
        return [screen.defaultPresentation.rawValue, "\(screen.nav)", "\(coordinator.singleSlot)"]
    }
}
