internal import ByteStorage

extension Ref<CompiledMatcher> {
    /// Returns a Boolean value that indicates whether this matcher matches a segment.
    @inline(__always)
    func matches(_ segment: Ref<Segment>) -> Bool {
        switch self.kind {
        case .literal: segment.key == self.text
        case .any: true
        case .enumeration: self.low &>> UInt64(min(segment.key.count, 63)) & 1 != 0 && isValue(segment.key)
        default: matchesTyped(text: segment.text, key: segment.key)
        }
    }

    private func isValue(_ key: ByteView) -> Bool {
        for value in self.values where value == key { return true }
        return false
    }

    @inline(never)
    func matchesTyped(text segment: ByteView, key: ByteView) -> Bool {
        switch self.kind {
        case .literal: return key == self.text
        case .any: return !segment.isEmpty
        case .enumeration: return isValue(key)
        case .affix:
            guard key.count > self.text.count &+ self.suffix.count, key.hasPrefix(self.text),
                key.hasSuffix(self.suffix),
                let inner = self.inner
            else { return false }
            return Ref(inner).matchesTyped(
                text: segment.slice(self.text.count, segment.count &- self.suffix.count),
                key: key.slice(self.text.count, key.count &- self.suffix.count))
        case .int:
            guard let value = TextForms.integer(segment) else { return false }
            return value >= self.min && value <= self.max
        case .bool: return TextForms.boolean(segment) != nil
        case .date: return TextForms.isDate(segment)
        case .uuid: return TextForms.isUUID(segment)
        case .characters: return takesCharacters(segment)
        case .coordinatorPath, .anySegment, .restPlus, .restStar: return false
        }
    }

    private func takesCharacters(_ segment: ByteView) -> Bool {
        if segment.count < Int(self.min) || segment.count > Int(self.max) { return false }
        for index in 0..<segment.count {
            let byte = segment.start[index]
            let half = byte < 64 ? self.low : self.high
            if byte >= 128 || half &>> UInt64(byte & 63) & 1 == 0 { return false }
        }
        return true
    }
}

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
