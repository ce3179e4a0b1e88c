internal import LinkCoordinator

/// A sorted list of texts with values, so that texts with a common prefix are adjacent.
struct TextRange<Value> {
    private var texts: [[UInt8]] = []
    private var values: [Value] = []

    /// Sorts texts; a text can have several values.
    init(_ entries: [(text: [UInt8], value: Value)]) {
        let sorted = entries.sorted { compareBytes($0.text, $1.text) < 0 }
        texts = sorted.map(\.text)
        values = sorted.map(\.value)
    }

    /// Returns the values of the texts in a range of indices.
    func values(in indices: Range<Int>) -> ArraySlice<Value> { values[indices] }

    /// Returns the indices of the texts that begin with a prefix, including the prefix itself.
    func beginning(with prefix: [UInt8]) -> Range<Int> {
        let low = texts.partitioningIndex { compareBytes($0, prefix) >= 0 }
        let end = texts.partitioningIndex { compareBytes($0, prefix) >= 0 && !$0.starts(with: prefix) }
        return low..<max(low, end)
    }

    /// Returns the indices of the texts that are prefixes of a text, including itself, with one range for each length.
    func prefixes(of text: [UInt8]) -> [Range<Int>] {
        if texts.isEmpty { return [] }
        return (0...text.count).compactMap { count in
            let prefix = Array(text.prefix(count))
            let low = texts.partitioningIndex { compareBytes($0, prefix) >= 0 }
            guard low < texts.count, texts[low] == prefix else { return nil }
            return low..<texts.partitioningIndex { compareBytes($0, prefix) > 0 }
        }
    }
}

/// Literal prefixes and suffixes of segments, with values for each pair.
struct AffixRange<Value> {
    private let prefixes: TextRange<Value>
    private let suffixes: TextRange<Value>

    /// Sorts pairs by their prefixes, and by their reversed suffixes.
    init(_ entries: [(prefix: [UInt8], suffix: [UInt8], value: Value)]) {
        prefixes = TextRange(entries.map { ($0.prefix, $0.value) })
        suffixes = TextRange(entries.map { (Array($0.suffix.reversed()), $0.value) })
    }

    /// Creates a list of whole texts, each of which is its own prefix and suffix.
    init(texts: [(text: [UInt8], value: Value)]) { self.init(texts.map { ($0.text, $0.text, $0.value) }) }

    /// Returns the values whose prefix, or whose suffix, is compatible with another; it uses the shorter of the two
    /// lists.
    ///
    /// - Parameter isWhole: A Boolean value that indicates whether prefix and suffix are a whole text, so that longer
    ///   ones are not compatible.
    func values(prefix: [UInt8], suffix: [UInt8], isWhole: Bool = false) -> [Value] {
        let byPrefix = Self.ranges(prefixes, prefix, isWhole)
        let bySuffix = Self.ranges(suffixes, Array(suffix.reversed()), isWhole)
        let usesPrefix = byPrefix.reduce(0) { $0 + $1.count } <= bySuffix.reduce(0) { $0 + $1.count }
        return (usesPrefix ? byPrefix : bySuffix).flatMap { (usesPrefix ? prefixes : suffixes).values(in: $0) }
    }

    private static func ranges(_ range: TextRange<Value>, _ text: [UInt8], _ isWhole: Bool) -> [Range<Int>] {
        let shorter = range.prefixes(of: text)
        return isWhole ? shorter : shorter + [longer(range, text, shorter)]
    }

    /// Returns the texts that begin with another one and are longer; the equal ones are among its prefixes.
    private static func longer(
        _ range: TextRange<Value>, _ text: [UInt8], _ shorter: [Range<Int>]
    ) -> Range<Int> {
        let all = range.beginning(with: text)
        guard let last = shorter.last, last.lowerBound == all.lowerBound else { return all }
        return last.upperBound..<all.upperBound
    }
}
