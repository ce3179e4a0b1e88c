internal import LinkCoordinator
internal import ByteStorage

/// The location of a captured text in the received link: a segment, with the steps from the text to the segment.
struct CaptureLocation {
    /// A step from the captured text to the segment.
    enum Step {
        /// Adds text before and after the text so far.
        case add(prefix: [UInt8], suffix: [UInt8])
        /// Removes text from the start and the end of the text so far, which must have both.
        case strip(prefix: [UInt8], suffix: [UInt8])
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

    /// The index of the segment in the link; for a tail, of its first segment.
    var depth: Int
    /// The steps from the captured text to the segment.
    var steps: [Step]
    /// A Boolean value that indicates whether the capture is all segments from `depth` on.
    var isTail = false
    /// The capture of the pattern, which determines its canonical text; nil for a tail.
    var capture: Capture?

    /// Returns the segment for a captured text, or nil if no segment leads to it.
    func segment(for text: [UInt8]) -> [UInt8]? {
        var text = text
        for step in steps {
            switch step {
            case .add(let prefix, let suffix): text = prefix + text + suffix
            case .strip(let prefix, let suffix):
                guard text.count > prefix.count + suffix.count, text.starts(with: prefix),
                    text.reversed().starts(with: suffix.reversed())
                else { return nil }
                text = Array(text[prefix.count..<(text.count - suffix.count)])
            }
        }
        return text
    }

    /// Returns the preimage of a matcher: the segments for which it matches the captured text after the steps.
    func preimage(of matcher: Matcher, folds: Bool) -> Preimage {
        if let capture, let texts = capture.matcher.finiteTexts { return preimage(of: matcher, capture, texts, folds) }
        if case .uuid? = capture?.matcher {
            // The canonical text of a UUID is in uppercase, which only these matchers ignore.
            switch matcher {
            case .any, .uuid: break
            default: return .unknown
            }
        }
        return steps.reduce(.matcher(matcher)) { preimage, step in
            guard case .matcher(let matcher) = preimage else { return preimage }
            return switch step {
            case .add(let prefix, let suffix): .matcher(matcher.wrapped(prefix, suffix))
            case .strip(let prefix, let suffix): matcher.between(prefix, suffix)
            }
        }
    }

    /// Returns the preimage for a capture with few texts by testing each of them.
    ///
    /// The first step that removes text corresponds to the text that a template put around the capture.
    private func preimage(of matcher: Matcher, _ capture: Capture, _ texts: [[UInt8]], _ folds: Bool) -> Preimage {
        var around: (prefix: [UInt8], suffix: [UInt8]) = ([], [])
        var rest = steps[...]
        if case .strip(let prefix, let suffix)? = rest.first {
            around = (prefix, suffix)
            rest = rest.dropFirst()
        }
        guard rest.allSatisfy({ if case .add = $0 { true } else { false } }) else { return .unknown }
        let matchingTexts = texts.filter { text in
            guard let canonical = capture.canonicalText(text, foldsCase: folds) else { return false }
            let whole = around.prefix + canonical + around.suffix
            return whole.withUnsafeBufferPointer { matcher.matches(ByteView($0), foldsCase: folds) }
        }
        if matchingTexts.isEmpty { return .nothing }
        return .matcher(
            rest.reduce(.enumeration(matchingTexts.sorted { compareBytes($0, $1) < 0 })) { matcher, step in
                if case .add(let prefix, let suffix) = step { matcher.wrapped(prefix, suffix) } else { matcher }
            })
    }
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

    /// Returns the preimage of this matcher: the texts that it matches after a prefix and a suffix are added.
    fileprivate func between(_ prefix: [UInt8], _ suffix: [UInt8]) -> CaptureLocation.Preimage {
        if prefix.isEmpty && suffix.isEmpty { return .matcher(self) }
        switch self {
        case .any: return .matcher(.any)
        case .literal(let text):
            return Self.inner(text, prefix, suffix).map { .matcher(.literal($0)) } ?? .nothing
        case .enumeration(let values):
            let inner = values.compactMap { Self.inner($0, prefix, suffix) }
            return inner.isEmpty ? .nothing : .matcher(.enumeration(inner.sorted { compareBytes($0, $1) < 0 }))
        case .characters(let set, let min, let max):
            let around = prefix.count + suffix.count
            guard (prefix + suffix).allSatisfy(set.contains), max > around else { return .nothing }
            return .matcher(.characters(set, min: Swift.max(1, min - around), max: max - around))
        case .bool:
            return Matcher.enumeration(Self.boolTexts.sorted { compareBytes($0, $1) < 0 }).between(prefix, suffix)
        case .affix(let own, let inner, let end):
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

    private static func inner(_ text: [UInt8], _ prefix: [UInt8], _ suffix: [UInt8]) -> [UInt8]? {
        guard text.count > prefix.count + suffix.count, text.starts(with: prefix),
            text.reversed().starts(with: suffix.reversed())
        else { return nil }
        return Array(text[prefix.count..<(text.count - suffix.count)])
    }
}

extension Capture {
    /// Returns the step that adds the text around the capture in its segment.
    func affixes(in path: Pattern) -> CaptureLocation.Step {
        guard !isTail, case .affix(let prefix, _, let suffix) = path.matchers[segment] else {
            return .add(prefix: [], suffix: [])
        }
        return .add(prefix: prefix, suffix: suffix)
    }
}
