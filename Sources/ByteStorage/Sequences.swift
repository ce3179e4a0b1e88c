extension RandomAccessCollection {
    /// Returns the index of the first element that passes a test that all later elements pass too.
    package func partitioningIndex(where passes: (Element) -> Bool) -> Index {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
            if passes(self[middle]) { high = middle } else { low = index(after: middle) }
        }
        return low
    }
}

extension Sequence where Element: Hashable {
    /// The elements without repetitions, in the order of their first occurrences.
    package var unique: [Element] {
        var seen = Set<Element>()
        return filter { seen.insert($0).inserted }
    }
}

extension UnsignedInteger {
    /// Returns the number in lowercase hexadecimal with at least this many digits.
    package func hexadecimal(digits: Int) -> String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
    }
}
