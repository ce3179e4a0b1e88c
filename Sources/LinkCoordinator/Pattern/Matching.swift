package import ByteStorage

extension Matcher {
    /// Returns a Boolean value that indicates whether the matcher matches a nonempty segment.
    ///
    /// Terminal matchers match tails instead of segments, so the result is `false` for them.
    package func matches(_ segment: ByteView, foldsCase: Bool) -> Bool {
        switch self {
        case .literal(let own): return Self.equal(segment, own, foldsCase: foldsCase)
        case .enumeration(let values):
            return values.contains { Self.equal(segment, $0, foldsCase: foldsCase) }
        case .affix(let prefix, let inner, let suffix):
            guard segment.count > prefix.count + suffix.count else { return false }
            let end = segment.count - suffix.count
            return Self.equal(segment.slice(0, prefix.count), prefix, foldsCase: foldsCase)
                && Self.equal(segment.slice(end, segment.count), suffix, foldsCase: foldsCase)
                && inner.matches(segment.slice(prefix.count, end), foldsCase: foldsCase)
        case .int(let min, let max):
            guard let value = TextForms.integer(segment) else { return false }
            return value >= min && value <= max
        case .bool: return TextForms.boolean(segment) != nil
        case .date: return TextForms.isDate(segment)
        case .uuid: return TextForms.isUUID(segment)
        case .characters(let allowed, let min, let max):
            return segment.count >= min && segment.count <= max && segment.buffer.allSatisfy(allowed.contains)
        case .any: return true
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: return false
        }
    }

    /// Returns a Boolean value that indicates whether the text equals the matcher's text, ignoring case if the table
    /// folds case.
    private static func equal(_ text: ByteView, _ own: [UInt8], foldsCase: Bool) -> Bool {
        guard text.count == own.count else { return false }
        for index in 0..<own.count {
            let byte = foldsCase ? lowerASCII(text[index]) : text[index]
            if byte != own[index] { return false }
        }
        return true
    }

    /// Returns a Boolean value that indicates whether a terminal matcher matches all segments from `index` on.
    ///
    /// - Parameters:
    ///   - segments: The segments of the path.
    ///   - index: The index of the first segment of the tail.
    ///   - foldsCase: A Boolean value that indicates whether the table folds the case of paths.
    ///   - isCoordinator: A closure that returns whether a segment is the name of a coordinator.
    package func matchesTail(
        _ segments: [[UInt8]], from index: Int, foldsCase: Bool, isCoordinator: ([UInt8]) -> Bool
    ) -> Bool {
        switch self {
        case .end: return index == segments.count
        case .restStar: return true
        case .restPlus: return index < segments.count
        case .coordinatorPath: return index < segments.count && isCoordinator(segments[index])
        case .anySegment(let own):
            return segments[index...].contains { segment in
                segment.withUnsafeBufferPointer { Self.equal(ByteView($0), own, foldsCase: foldsCase) }
            }
        default: return false
        }
    }
}

extension Pattern {
    /// Returns a Boolean value that indicates whether the pattern matches a path, segment by segment and then the tail.
    ///
    /// This is the definition that the compiled search must agree with. Links are matched by that search.
    package func matches(_ segments: [[UInt8]], foldsCase: Bool, isCoordinator: ([UInt8]) -> Bool) -> Bool {
        guard segments.count >= segmentCount else { return false }
        for index in 0..<segmentCount {
            let isMatch = segments[index].withUnsafeBufferPointer {
                matchers[index].matches(ByteView($0), foldsCase: foldsCase)
            }
            if !isMatch { return false }
        }
        return matchers[segmentCount].matchesTail(
            segments, from: segmentCount, foldsCase: foldsCase, isCoordinator: isCoordinator)
    }
}

extension Capture {
    /// Returns the part of a segment that is captured.
    package func slice(_ segment: ByteView) -> ByteView {
        if case .segment(let prefix, let suffix) = extent, segment.count >= prefix + suffix {
            return segment.slice(prefix, segment.count - suffix)
        }
        return segment
    }

    /// Returns the canonical form of a captured text, or nil if the text is not of the capture's type.
    ///
    /// A UUID is uppercase, a Boolean value is `true` or `false`, an enumeration value has the table's spelling, and
    /// other texts are unchanged.
    ///
    /// See RouteTableReference, "Canonical forms".
    package func canonicalText(_ text: [UInt8], foldsCase: Bool) -> [UInt8]? {
        text.withUnsafeBufferPointer { buffer -> [UInt8]? in
            let view = ByteView(buffer)
            if !isTail, text.isEmpty || !matcher.matches(view, foldsCase: foldsCase) { return nil }
            switch matcher {
            case .uuid: return text.map { $0 &- UInt8(ascii: "a") < 26 ? $0 & 0xDF : $0 }
            case .bool: return TextForms.boolean(view).map { [UInt8](($0 ? "true" : "false").utf8) }
            case .enumeration(let values):
                let folded = foldsCase ? text.map(lowerASCII) : text
                return values.firstIndex(of: folded).map { spellings[$0] }
            default: return text
            }
        }
    }
}
