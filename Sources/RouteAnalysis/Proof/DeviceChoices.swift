package import LinkCoordinator

/// The facts about devices that the conditions of a table distinguish, for people who choose a device.
package struct DeviceChoices {
    /// A range of versions of the app that conditions do not distinguish further.
    package struct VersionRange: Equatable {
        /// The first version of the range, or nil for the lowest one.
        package var from: String?
        /// The version after the range, or nil for the highest one.
        package var below: String?
        /// A version in the range.
        package var version: String
    }

    /// The maximum number of ranges.
    package static let maxRanges = 128

    /// The ranges of the app's versions, ascending.
    package let versions: [VersionRange]
    /// A Boolean value that indicates whether the table distinguishes more ranges.
    package let isTruncated: Bool
    /// The names of the platforms in conditions, sorted.
    package let platforms: [String]
    /// The names of the claims that guards and conditions require, sorted.
    package let claims: [String]
    /// The regions in conditions, sorted.
    package let regions: [String]
    /// The locales in conditions, sorted.
    package let locales: [String]
    /// The capabilities that a device must list, sorted.
    package let capabilities: [String]
    /// The names of attributes in conditions, with their values.
    package let attributes: [(name: String, values: [String])]

    /// Collects the facts that a table distinguishes.
    package init(_ table: RouteTable) {
        let questions = DeviceQuestions([table.source])
        let texts = questions.texts
        func named(_ fact: DeviceFact) -> [String] { Array(Set(texts[fact] ?? [])).sorted() }
        (platforms, regions, locales) = (named(.platform), named(.region), named(.locale))
        claims = questions.claims
        capabilities = texts.keys.compactMap { if case .listed(let name) = $0 { name } else { nil } }.sorted()
        attributes = texts.keys.compactMap { fact in
            if case .attribute(let name) = fact { (name, named(fact)) } else { nil }
        }.sorted { $0.name < $1.name }
        let values = DeviceSpace(table.source).values[.app] ?? [nil]
        isTruncated = values.count > Self.maxRanges
        versions = Self.ranges(values.prefix(Self.maxRanges).compactMap { $0 })
    }

    /// Returns the ranges that begin at some ascending versions, after the range below all of them.
    private static func ranges(_ starts: [String]) -> [VersionRange] {
        guard let first = starts.first else { return [] }
        var ranges: [VersionRange] = []
        if let below = below(first) { ranges.append(VersionRange(from: nil, below: first, version: below)) }
        for (index, start) in starts.enumerated() {
            let next = index + 1 < starts.count ? starts[index + 1] : nil
            ranges.append(VersionRange(from: start, below: next, version: start))
        }
        return ranges
    }

    /// Returns a readable version below another one, such as 3.9.9 below 4.0.0, or nil if there is none.
    private static func below(_ text: String) -> String? {
        var numbers = text.prefix { $0 != "-" && $0 != "+" }.split(separator: ".").map { Int($0) ?? 0 }
        guard let last = numbers.lastIndex(where: { $0 > 0 }), let version = VersionText(text) else { return nil }
        numbers[last] -= 1
        for index in numbers.indices where index > last { numbers[index] = 9 }
        let found = numbers.map(String.init).joined(separator: ".")
        return VersionText(found).flatMap { $0.order(version) < 0 ? found : nil }
    }
}
