internal import LinkCoordinator
internal import ByteStorage

/// The matchers without affixes of one node, indexed for a fast search for those that overlap.
///
/// With hundreds of enums or ranges of numbers at one node, comparing all pairs would be quadratic.
struct PlainMatchers {
    private struct Span {
        var min: Int64
        var max: Int64
        var matcher: Int
    }

    /// Ranges of numbers sorted by their lower bounds, each with the largest upper bound so far.
    private var spans: [Span] = []
    private var reach: [Int64] = []
    /// The enums, and those with each value.
    private var enumerations: [Int] = []
    private var byValue: [[UInt8]: [Int]] = [:]
    /// All other matchers.
    private var others: [Int] = []

    /// Adds a matcher; call `sort()` after the last one.
    mutating func add(_ number: Int, _ matcher: Matcher, folds: Bool) {
        switch matcher {
        case .int(let min, let max): spans.append(Span(min: min, max: max, matcher: number))
        case .enumeration(let values):
            enumerations.append(number)
            for value in values { byValue[folds ? value.map(lowerASCII) : value, default: []].append(number) }
        default: others.append(number)
        }
    }

    /// Sorts the ranges for searches.
    mutating func sort() {
        spans.sort { ($0.min, $0.matcher) < ($1.min, $1.matcher) }
        var last = Int64.min
        for span in spans {
            last = max(last, span.max)
            reach.append(last)
        }
    }

    /// Returns the numbers of the matchers that can match a text of another; the result can include others.
    func matchers(overlapping matcher: Matcher, folds: Bool) -> [Int] {
        switch matcher {
        case .literal(let text): return others + sharing([text], folds)
        case .enumeration(let values): return others + sharing(values, folds)
        case .int(let min, let max): return others + enumerations + overlapping(min, max)
        case .uuid, .date: return others + enumerations
        default: return others + enumerations + spans.map(\.matcher)
        }
    }

    /// Returns the enums with one of the values, and the ranges with one of the numbers.
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
        // Ranges from `end` on begin above the range; those before `start` all end below it.
        let end = spans.partitioningIndex { $0.min > max }
        let start = reach.partitioningIndex { $0 >= min }
        guard start < end else { return [] }
        return spans[start..<end].filter { $0.max >= min }.map(\.matcher)
    }
}
