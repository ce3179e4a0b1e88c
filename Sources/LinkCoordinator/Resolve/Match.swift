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
        case .characters: return matchesCharacters(segment)
        case .coordinatorPath, .anySegment, .restPlus, .restStar: return false
        }
    }

    private func matchesCharacters(_ segment: ByteView) -> Bool {
        if segment.count < Int(self.min) || segment.count > Int(self.max) { return false }
        for index in 0..<segment.count {
            let byte = segment.start[index]
            let half = byte < 64 ? self.low : self.high
            if byte >= 128 || half &>> UInt64(byte & 63) & 1 == 0 { return false }
        }
        return true
    }
}
