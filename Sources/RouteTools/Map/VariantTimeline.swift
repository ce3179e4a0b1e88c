internal import ByteStorage
internal import RouteAnalysis
internal import LinkCoordinator

/// The variants of a route by app version and platform.
///
/// A platform that no condition of the route names is covered by the last row.
struct VariantTimeline {
    /// A variant that applies, with what else it depends on.
    struct Choice: Equatable {
        /// The index of the variant.
        var variant: Int
        /// The part of the condition that neither the version nor the platform decides, or nil for none.
        var condition: String?
        /// A screen of the variant that the app lacks at these versions, or nil for none.
        var lacks: String?
    }

    /// A range of versions in which the same variants apply.
    struct Cell {
        var versions: ClosedRange<Int>
        /// The variants in the order in which they are tried, up to the first one without another condition.
        var choices: [Choice]
    }

    /// A platform, or nil for every other one.
    struct Row {
        var platform: String?
        var cells: [Cell]
    }

    /// The ranges of versions.
    let spans: VersionSpans
    /// The platforms.
    private(set) var rows: [Row] = []

    private let source: TableSource
    private let names: TableNames

    /// Computes the timeline of a route.
    init(_ route: TableSource.Route, _ source: TableSource, _ names: TableNames, _ targets: TargetText) {
        self.source = source
        self.names = names
        let variants = route.variants
        let screens = variants.map { variant in
            (targets.stack(of: variant.to)?.entries ?? []).map {
                source.coordinators[$0.coordinator].screens[$0.screen]
            }
        }
        var tests = variants.flatMap { source.versionTests(of: $0.when, names) }
        tests += screens.joined().flatMap { source.versionTests(of: $0, names) }
        spans = VersionSpans(tests)
        var platforms: [String] = []
        let required = variants.flatMap { $0.when?.capabilities ?? [] } + screens.joined().flatMap(\.requires)
        let named =
            variants.flatMap { $0.when?.platforms ?? [] }
            + required.flatMap { names.capabilities[$0.value].flatMap { source.capabilities[$0].platforms } ?? [] }
        for name in named.map({ $0.lowercased() }) where !platforms.contains(name) { platforms.append(name) }
        for platform in platforms.map({ $0 as String? }) + [nil] {
            var cells: [Cell] = []
            for span in 0..<spans.count {
                let choices = choices(variants, screens, platform, span)
                if let last = cells.indices.last, cells[last].choices == choices {
                    cells[last].versions = cells[last].versions.lowerBound...span
                } else {
                    cells.append(Cell(versions: span...span, choices: choices))
                }
            }
            rows.append(Row(platform: platform, cells: cells))
        }
    }

    private func choices(
        _ variants: [TableSource.Variant], _ screens: [[TableSource.Screen]], _ platform: String?, _ span: Int
    ) -> [Choice] {
        var choices: [Choice] = []
        for (index, variant) in variants.enumerated() {
            guard let rest = remaining(variant.when, platform, span) else { continue }
            let lacks = screens[index].first { isMissing($0, platform, span) }?.name.value
            choices.append(
                Choice(variant: index, condition: rest.isEmpty ? nil : ConditionText.text(of: rest), lacks: lacks))
            if rest.isEmpty { break }
        }
        return choices
    }

    /// Returns the part of a condition that neither the version nor the platform decides, or nil if it cannot hold.
    private func remaining(
        _ condition: TableSource.Condition?, _ platform: String?, _ span: Int
    ) -> TableSource.Condition? {
        guard var rest = condition else { return TableSource.Condition(offset: 0) }
        guard let versions = spans.range(of: source.versionTests(of: condition, names)), versions.contains(span) else {
            return nil
        }
        rest.app = []
        if !Self.allows(rest.platforms, platform) { return nil }
        rest.platforms = nil
        rest.capabilities = []
        for name in condition?.capabilities ?? [] {
            guard let index = names.capabilities[name.value] else { continue }
            let capability = source.capabilities[index]
            if !Self.allows(capability.platforms, platform) { return nil }
            if capability.listed || capability.minOS != nil { rest.capabilities.append(name) }
        }
        return rest
    }

    private func isMissing(_ screen: TableSource.Screen, _ platform: String?, _ span: Int) -> Bool {
        guard let versions = spans.range(of: source.versionTests(of: screen, names)) else { return true }
        let capabilities = screen.requires.compactMap { names.capabilities[$0.value] }.map { source.capabilities[$0] }
        return !versions.contains(span) || !capabilities.allSatisfy { Self.allows($0.platforms, platform) }
    }

    private static func allows(_ platforms: [String]?, _ platform: String?) -> Bool {
        guard let platforms else { return true }
        return platform.map { name in platforms.contains { $0.lowercased() == name } } ?? false
    }
}

/// The ranges of app versions that conditions distinguish, from the lowest to the highest.
///
/// All versions of one range satisfy the same comparisons. A device whose version is unknown satisfies the comparisons
/// of the lowest range.
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
    /// The ranges must have been created from these comparisons, among others.
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
    private func index(of cut: Cut) -> Int { cuts.partitioningIndex { !$0.isBelow(cut) } }

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
    /// Returns the comparisons of a condition, and of its capabilities, with the app's version.
    func versionTests(of condition: Condition?, _ names: TableNames) -> [Condition.VersionTest] {
        guard let condition else { return [] }
        return condition.app + condition.capabilities.flatMap { versionTests(ofCapability: $0.value, names) }
    }

    /// Returns the comparisons of a screen, and of its capabilities, with the app's version.
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
