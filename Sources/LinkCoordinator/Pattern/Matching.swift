package import ByteStorage

extension Matcher {
    /// Whether the matcher takes one segment, which is not empty.
    ///
    /// Terminal matchers take tails, not segments: they answer false here.
    package func takes(_ segment: ByteView, foldsCase: Bool) -> Bool {
        switch self {
        case .literal(let own): return Self.equal(segment, own, foldsCase: foldsCase)
        case .enumeration(let values):
            return values.contains { Self.equal(segment, $0, foldsCase: foldsCase) }
        case .affix(let prefix, let inner, let suffix):
            guard segment.count > prefix.count + suffix.count else { return false }
            let end = segment.count - suffix.count
            return Self.equal(segment.slice(0, prefix.count), prefix, foldsCase: foldsCase)
                && Self.equal(segment.slice(end, segment.count), suffix, foldsCase: foldsCase)
                && inner.takes(segment.slice(prefix.count, end), foldsCase: foldsCase)
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

    /// Whether the text, folded if the table folds case, is the matcher's own.
    private static func equal(_ text: ByteView, _ own: [UInt8], foldsCase: Bool) -> Bool {
        guard text.count == own.count else { return false }
        for index in 0..<own.count {
            let byte = foldsCase ? lowerASCII(text[index]) : text[index]
            if byte != own[index] { return false }
        }
        return true
    }

    /// Whether a terminal matcher takes all segments from `index` on.
    ///
    /// - Parameter isCoordinator: Whether a segment is the name of a coordinator.
    package func takesTail(
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
    /// Whether the pattern takes a path, by its definition: segment by segment, then the tail.
    ///
    /// This says what the compiled search must find; it is not how links are matched.
    package func takes(_ segments: [[UInt8]], foldsCase: Bool, isCoordinator: ([UInt8]) -> Bool) -> Bool {
        guard segments.count >= segmentCount else { return false }
        for index in 0..<segmentCount {
            let taken = segments[index].withUnsafeBufferPointer {
                matchers[index].takes(ByteView($0), foldsCase: foldsCase)
            }
            if !taken { return false }
        }
        return matchers[segmentCount].takesTail(
            segments, from: segmentCount, foldsCase: foldsCase, isCoordinator: isCoordinator)
    }
}

extension Capture {
    /// What the capture takes of its segment.
    package func slice(_ segment: ByteView) -> ByteView {
        if case .segment(let prefix, let suffix) = extent, segment.count >= prefix + suffix {
            return segment.slice(prefix, segment.count - suffix)
        }
        return segment
    }

    /// The canonical text of what was captured (2.2): a uuid in upper case, a bool as `true` or `false`, an enum as
    /// the table spells it, otherwise as it came; nil if the text is not of the capture's type.
    package func canonicalText(_ text: [UInt8], foldsCase: Bool) -> [UInt8]? {
        text.withUnsafeBufferPointer { buffer -> [UInt8]? in
            let view = ByteView(buffer)
            if !isTail, text.isEmpty || !matcher.takes(view, foldsCase: foldsCase) { return nil }
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
