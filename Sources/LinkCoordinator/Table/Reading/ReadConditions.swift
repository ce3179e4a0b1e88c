internal import StrictJSON

extension TableReader {
    /// Reads query constraints.
    ///
    /// The value is a text, `*` for a name that must be present, or null for one that must be absent.
    mutating func constraints(_ value: JSONValue) -> [TableSource.QueryConstraint] {
        var seen = Set<String>()
        return (members(value, "query") ?? []).compactMap { member in
            let name = nfc(member.name)
            let offset = member.nameOffset - 1
            if name.isEmpty { problems.error(.badName, at: offset, "a query name must not be empty") }
            if !seen.insert(name).inserted {
                problems.error(.duplicate, at: offset, "the query name `\(name)` occurs twice")
            }
            let locatedName = Located(name, at: offset)
            if member.value.isNull { return TableSource.QueryConstraint(name: locatedName, test: .absent) }
            guard case .string = member.value.kind, let text = text(member.value, "a query constraint") else {
                wrongType(member.value, "a query constraint", "a string, \"*\", or null")
                return nil
            }
            return TableSource.QueryConstraint(
                name: locatedName, test: text.value == "*" ? .present : .equals(text.value))
        }
    }

    /// Reads `when`.
    mutating func condition(_ value: JSONValue) -> TableSource.Condition? {
        guard let members = object(value, "when", .condition) else { return nil }
        var condition = TableSource.Condition(offset: value.offset)
        condition.app = members["app"].map { versionTests($0, "app") } ?? []
        condition.os = members["os"].map { versionTests($0, "os") } ?? []
        condition.capabilities = members["capability"].map { textOrTexts($0, "capability") } ?? []
        condition.claims = members["claim"].map { textOrTexts($0, "claim") } ?? []
        condition.platforms = members["platform"].map { textOrTexts($0, "platform").map(\.value) }
        condition.regions = members["region"].map { textOrTexts($0, "region").map(\.value) }
        condition.locales = members["locale"].map { textOrTexts($0, "locale").map(\.value) }
        condition.query = members["query"].map { constraints($0) } ?? []
        if let attributes = members["attributes"] {
            condition.attributes = (self.members(attributes, "attributes") ?? []).map { member in
                TableSource.Condition.Attribute(
                    name: Located(nfc(member.name), at: member.nameOffset - 1),
                    values: textOrTexts(member.value, "the attribute `\(member.name)`").map(\.value))
            }
        }
        return condition
    }

    /// Reads comparisons such as `>=4.0.0 <6`.
    private mutating func versionTests(_ value: JSONValue, _ what: String) -> [TableSource.Condition.VersionTest] {
        guard let text = nonemptyText(value, what) else { return [] }
        var tests: [TableSource.Condition.VersionTest] = []
        for part in text.value.split(separator: " ", omittingEmptySubsequences: false) {
            let relation = TableSource.Condition.VersionTest.Relation.allCases.first { part.hasPrefix($0.rawValue) }
            if let relation, let version = VersionText(String(part.dropFirst(relation.rawValue.count))) {
                tests.append(TableSource.Condition.VersionTest(relation: relation, version: version))
                continue
            }
            problems.error(
                .badValue, at: text.offset, "\(what) must be comparisons with versions, separated by single spaces",
                suggestion: LikelyVersion.comparisons(text.value).map { "write `\($0)`" }
                    ?? "write a comparison such as `>=4.0.0` or `>=4.0.0 <6`")
            return []
        }
        return tests
    }
}
