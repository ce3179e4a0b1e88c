internal import LinkCoordinator
internal import ByteStorage

/// The path that a redirect's template produces from a link: each segment is a text or a capture of the link.
struct TemplatePath {
    private enum Element {
        case text([UInt8])
        case capture(CaptureLocation)
        /// More than one capture; no matcher of a segment of the link describes it.
        case unknown
    }

    /// The links whose redirected paths a pattern matches.
    struct Preimage {
        /// Lists of patterns; the links of an alternative match all patterns of its list.
        var alternatives: [[ProofPattern]]
        /// A Boolean value that indicates whether the alternatives describe the links exactly; otherwise some of the
        /// links do not lead to the pattern.
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
    init?(_ template: TableSource.PathTemplate, _ locations: [String: CaptureLocation]) {
        for segment in template.segments {
            if tail != nil { return nil }
            var names: [CaptureLocation] = []
            var before: [UInt8] = []
            var after: [UInt8] = []
            for part in segment {
                switch part {
                case .text(let text):
                    if names.isEmpty { before += Array(text.utf8) } else { after += Array(text.utf8) }
                case .name(let name): names += locations[name.value].map { [$0] } ?? []
                case .query: return nil
                }
            }
            if names.isEmpty {
                // A segment without text is dropped.
                if !(before + after).isEmpty { elements.append(.text(before + after)) }
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
            let step = capture.affixes(in: path)
            if capture.segment >= elements.count {
                if let tail {
                    locations[capture.name] = CaptureLocation(
                        depth: tail + capture.segment - elements.count, steps: [step], isTail: capture.isTail,
                        capture: capture.isTail ? nil : capture)
                }
            } else if !capture.isTail, case .capture(var location) = elements[capture.segment] {
                location.steps.insert(step, at: 0)
                location.capture = capture
                locations[capture.name] = location
            }
        }
        return locations
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
                requirements.folds = false
                guard addRequirement(.enumeration(names), at: path.segmentCount, &requirements) else { return nil }
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
    /// Returns false if the requirement cannot be met.
    private func addRequirement(_ matcher: Matcher, at index: Int, _ requirements: inout Requirements) -> Bool {
        guard index < elements.count else {
            guard let tail else { return false }
            requirements.matchers.append((tail + index - elements.count, matcher))
            return true
        }
        switch elements[index] {
        case .text(let text):
            return text.withUnsafeBufferPointer { matcher.matches(ByteView($0), foldsCase: requirements.folds) }
        case .unknown: requirements.isExact = false
        case .capture(let location):
            switch location.preimage(of: matcher, folds: requirements.folds) {
            case .nothing: return false
            case .unknown: requirements.isExact = false
            case .matcher(.any): break
            case .matcher(let preimage): requirements.matchers.append((location.depth, preimage))
            }
        }
        return true
    }
}

/// The requirements of a link, segment by segment.
private struct Requirements {
    var folds: Bool
    var matchers: [(depth: Int, matcher: Matcher)] = []
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
        for (depth, matcher) in matchers {
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
            var own = ProofPattern(
                route: -1, index: 0, rule: isFirst ? pattern.rule : 0,
                segments: (0..<count).map { layer[$0] ?? space.segments.any },
                tail: isFirst ? end?.tail ?? .star : .star, constraints: isFirst ? pattern.constraints : [])
            own.table = pattern.table
            return own
        }
    }
}
