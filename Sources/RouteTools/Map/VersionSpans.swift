internal import RouteAnalysis
internal import LinkCoordinator

/// The ranges of app versions that conditions distinguish, from the lowest to the highest.
///
/// All versions of one range satisfy the same comparisons. A device whose version is unknown satisfies those of the
/// lowest range.
struct VersionSpans {
    /// A border between two ranges: directly below a version, or directly above it.
    private struct Cut {
        var version: VersionText
        var isAbove: Bool

        /// Returns a Boolean value that indicates whether the border is below another.
        func isBelow(_ other: Cut) -> Bool {
            let order = version.order(other.version)
            return order != 0 ? order < 0 : !isAbove && other.isAbove
        }
    }

    private var cuts: [Cut] = []

    /// Creates the ranges that some comparisons distinguish.
    init(_ tests: [TableSource.Condition.VersionTest]) {
        var all: [Cut] = []
        for test in tests {
            let (low, high) = Self.cuts(of: test)
            all += [low, high].compactMap { $0 }
        }
        all.sort { $0.isBelow($1) }
        for cut in all where cuts.last?.isBelow(cut) ?? true { cuts.append(cut) }
    }

    /// The number of ranges, at least one.
    var count: Int { cuts.count + 1 }

    /// Returns the versions of a range in words, such as `4.0.0 to before 6.0`.
    func label(_ index: Int) -> String {
        if cuts.isEmpty { return "every version" }
        let low = index > 0 ? cuts[index - 1] : nil
        let high = index < cuts.count ? cuts[index] : nil
        if let low, let high, !low.isAbove, high.isAbove, low.version.order(high.version) == 0 {
            return "exactly \(low.version.text)"
        }
        guard let low else { return (high?.isAbove == true ? "up to " : "before ") + (high?.version.text ?? "") }
        let from = (low.isAbove ? "after " : "") + low.version.text
        guard let high else { return low.isAbove ? from : from + " and later" }
        return from + (high.isAbove ? " to " : " to before ") + high.version.text
    }

    /// Returns the ranges in which all comparisons hold, or nil if there are none.
    ///
    /// The comparisons must be among those that the ranges were created from.
    func range(of tests: [TableSource.Condition.VersionTest]) -> ClosedRange<Int>? {
        var (first, last) = (0, count - 1)
        for test in tests {
            let (low, high) = Self.cuts(of: test)
            if let low { first = max(first, index(of: low) + 1) }
            if let high { last = min(last, index(of: high)) }
        }
        return first <= last ? first...last : nil
    }

    /// Returns the number of borders below a border.
    private func index(of cut: Cut) -> Int {
        var (low, high) = (0, cuts.count)
        while low < high {
            let middle = (low + high) / 2
            if cuts[middle].isBelow(cut) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the lower and the upper border of the versions that satisfy a comparison.
    private static func cuts(of test: TableSource.Condition.VersionTest) -> (low: Cut?, high: Cut?) {
        let below = Cut(version: test.version, isAbove: false)
        let above = Cut(version: test.version, isAbove: true)
        return switch test.relation {
        case .atLeast: (below, nil)
        case .above: (above, nil)
        case .atMost: (nil, above)
        case .below: (nil, below)
        case .equal: (below, above)
        }
    }
}

extension TableSource {
    /// Returns the comparisons of a condition with the app's version, including those of its capabilities.
    func versionTests(of condition: Condition?, _ names: TableNames) -> [Condition.VersionTest] {
        guard let condition else { return [] }
        return condition.app + condition.capabilities.flatMap { versionTests(ofCapability: $0.value, names) }
    }

    /// Returns the comparisons of a screen with the app's version, including those of its capabilities.
    func versionTests(of screen: Screen, _ names: TableNames) -> [Condition.VersionTest] {
        var tests: [Condition.VersionTest] = []
        if let since = screen.since { tests.append(Condition.VersionTest(relation: .atLeast, version: since)) }
        if let until = screen.until { tests.append(Condition.VersionTest(relation: .below, version: until)) }
        return tests + screen.requires.flatMap { versionTests(ofCapability: $0.value, names) }
    }

    private func versionTests(ofCapability name: String, _ names: TableNames) -> [Condition.VersionTest] {
        guard let index = names.capabilities[name], let version = capabilities[index].minApp else { return [] }
        return [Condition.VersionTest(relation: .atLeast, version: version)]
    }
}
