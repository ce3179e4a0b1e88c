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
