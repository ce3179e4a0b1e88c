internal import LinkCoordinator
internal import ByteStorage

/// The matchers without affixes of one node, by number: those are found fast that may share a text with another.
///
/// Where hundreds of enums or ranges of numbers stand at one place, asking each about each takes their square.
struct PlainMatchers {
    private struct Span {
        var min: Int64
        var max: Int64
        var matcher: Int
    }

    /// Ranges of numbers by their lower ends, and for each the largest upper end so far.
    private var spans: [Span] = []
    private var reach: [Int64] = []
    /// Enums, and those of each value.
    private var enums: [Int] = []
    private var byValue: [[UInt8]: [Int]] = [:]
    /// All others.
    private var others: [Int] = []

    /// Adds a matcher; `sort()` ends the adding.
    mutating func add(_ number: Int, _ matcher: Matcher, folds: Bool) {
        switch matcher {
        case .int(let min, let max): spans.append(Span(min: min, max: max, matcher: number))
        case .enumeration(let values):
            enums.append(number)
            for value in values { byValue[folds ? value.map(lowerASCII) : value, default: []].append(number) }
        default: others.append(number)
        }
    }

    /// Makes the ranges ready to be searched.
    mutating func sort() {
        spans.sort { ($0.min, $0.matcher) < ($1.min, $1.matcher) }
        var last = Int64.min
        for span in spans {
            last = max(last, span.max)
            reach.append(last)
        }
    }

    /// Numbers of the matchers that may share a text with another; more than really do.
    func meeting(_ matcher: Matcher, folds: Bool) -> [Int] {
        switch matcher {
        case .literal(let text): return others + sharing([text], folds)
        case .enumeration(let values): return others + sharing(values, folds)
        case .int(let min, let max): return others + enums + overlapping(min, max)
        case .uuid, .date: return others + enums
        default: return others + enums + spans.map(\.matcher)
        }
    }

    /// Enums with one of the values, and ranges with one of the numbers.
    private func sharing(_ values: [[UInt8]], _ folds: Bool) -> [Int] {
        var found: [Int] = []
        for value in values {
            found += byValue[folds ? value.map(lowerASCII) : value] ?? []
            if let number = value.withUnsafeBufferPointer({ TextForms.integer(ByteView($0)) }) {
                found += overlapping(number, number)
            }
        }
        return values.count == 1 ? found : Array(Set(found)).sorted()
    }

    private func overlapping(_ min: Int64, _ max: Int64) -> [Int] {
        // Ranges from `end` on begin too far up; those before `start` all end too far down.
        let end = spans.partitioningIndex { $0.min > max }
        let start = reach.partitioningIndex { $0 >= min }
        guard start < end else { return [] }
        return spans[start..<end].filter { $0.max >= min }.map(\.matcher)
    }
}

extension Array {
    /// The index of the first element that passes a test which all after it pass too.
    fileprivate func partitioningIndex(where passes: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if passes(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
