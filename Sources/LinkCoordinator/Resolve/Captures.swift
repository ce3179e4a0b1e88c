internal import ByteStorage

// Reads the captures of the selected pattern.
extension Resolver {
    /// Returns the canonical text that `matcher` captures from a segment that it matches.
    ///
    /// See RouteTableReference, "Canonical forms".
    mutating func captured(_ matcher: Ref<CompiledMatcher>, in segment: Segment) -> ByteView {
        guard matcher.kind == .affix, let inner = matcher.inner else {
            return canonicalCapture(matcher, segment.text, key: segment.key)
        }
        let prefix = matcher.text.count
        let suffix = matcher.suffix.count
        return canonicalCapture(
            Ref(inner), segment.text.slice(prefix, segment.text.count &- suffix),
            key: segment.key.slice(prefix, segment.key.count &- suffix))
    }

    /// Returns the canonical form of a captured text: uppercase for a UUID, `true` or `false` for a Boolean value, and
    /// the table's spelling for an enumeration.
    mutating func canonicalCapture(_ matcher: Ref<CompiledMatcher>, _ text: ByteView, key: ByteView) -> ByteView {
        switch matcher.kind {
        case .uuid: return texts.uppercased(text)
        case .bool: return TextForms.boolean(text) == true ? ByteView("true") : ByteView("false")
        case .enumeration:
            for index in 0..<matcher.values.count where matcher.values[index] == key {
                return index < matcher.spellings.count ? matcher.spellings[index] : text
            }
            return text
        default: return text
        }
    }

    /// Returns the canonical text of a capture of the selected pattern, by the number of its name, or nil.
    ///
    /// Tails are not included.
    mutating func capture(_ name: Int32) -> ByteView? {
        guard let capture = find(capture: name) else { return nil }
        let segment = path[Int(capture.segment)]
        let from = Int(capture.prefix)
        let suffix = Int(capture.suffix)
        return canonicalCapture(
            capture.ref(\.matcher), segment.text.slice(from, segment.text.count &- suffix),
            key: segment.key.slice(from, segment.key.count &- suffix))
    }

    /// Returns the original bytes of a capture whose values need no conversion, or nil if there is no such capture.
    @inline(__always)
    mutating func captureSlice(_ name: Int32) -> ByteView? {
        guard let capture = find(capture: name) else { return nil }
        let text = path[Int(capture.segment)].text
        return text.slice(Int(capture.prefix), text.count &- Int(capture.suffix))
    }

    /// Returns the capture of the selected pattern by the number of its name, or nil.
    ///
    /// Tails are not included.
    @inline(__always)
    private mutating func find(capture name: Int32) -> Ref<CompiledCapture>? {
        guard let pattern = selection.pattern, var capture = pattern.captures.baseAddress else { return nil }
        let end = capture + pattern.captures.count
        while capture < end {
            if capture.pointee.name == name && !capture.pointee.isTail { return Ref(capture) }
            capture += 1
        }
        return nil
    }

    /// Returns the index of the first segment of a tail that the selected pattern captures, or nil.
    mutating func tail(_ name: Int32) -> Int? {
        guard let pattern = selection.pattern else { return nil }
        for capture in pattern.captures where capture.name == name && capture.isTail {
            return Int(capture.segment)
        }
        return nil
    }

    /// Returns the value that a rewrite captured under this name, or nil.
    mutating func rewritten(_ name: Int32) -> ByteView? {
        for index in 0..<rewrites.count where rewrites[index].name == name { return rewrites[index].value }
        return nil
    }
}
