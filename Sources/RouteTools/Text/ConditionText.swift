package import LinkCoordinator

/// Texts of the conditions of variants, constraints, and screens.
package enum ConditionText {
    /// Returns a condition with its parts joined by "and".
    ///
    /// Returns "always" for an empty condition, and "otherwise" for nil.
    package static func text(of condition: TableSource.Condition?) -> String {
        guard let condition else { return "otherwise" }
        var parts: [String] = []
        if !condition.app.isEmpty { parts.append("app " + versions(condition.app)) }
        if !condition.os.isEmpty { parts.append("os " + versions(condition.os)) }
        if !condition.capabilities.isEmpty { parts.append("capability " + all(condition.capabilities.map(\.value))) }
        if !condition.claims.isEmpty { parts.append("claim " + all(condition.claims.map(\.value))) }
        if let platforms = condition.platforms { parts.append("platform " + any(platforms)) }
        if let regions = condition.regions { parts.append("region " + any(regions)) }
        if let locales = condition.locales { parts.append("locale " + any(locales)) }
        for attribute in condition.attributes { parts.append("\(attribute.name.value) is " + any(attribute.values)) }
        parts += condition.query.map(text)
        return parts.isEmpty ? "always" : parts.joined(separator: " and ")
    }

    /// Returns the text of a constraint on a query parameter.
    static func text(of constraint: TableSource.QueryConstraint) -> String {
        let name = "query.\(constraint.name.value)"
        return switch constraint.test {
        case .equals(let value): "\(name) is \(value)"
        case .present: "\(name) is present"
        case .absent: "\(name) is absent"
        }
    }

    /// Returns the requirements of a screen, or nil for none.
    static func text(of screen: TableSource.Screen) -> String? {
        var parts: [String] = []
        if let since = screen.since { parts.append("app from \(since.text)") }
        if let until = screen.until { parts.append("app below \(until.text)") }
        if !screen.requires.isEmpty { parts.append("capability " + all(screen.requires.map(\.value))) }
        return parts.isEmpty ? nil : parts.joined(separator: " and ")
    }

    private static func versions(_ tests: [TableSource.Condition.VersionTest]) -> String {
        tests.map { test in
            switch test.relation {
            case .atLeast: "from \(test.version.text)"
            case .above: "above \(test.version.text)"
            case .atMost: "up to \(test.version.text)"
            case .below: "below \(test.version.text)"
            case .equal: "exactly \(test.version.text)"
            }
        }.joined(separator: " and ")
    }

    private static func all(_ names: [String]) -> String { names.joined(separator: " and ") }

    private static func any(_ names: [String]) -> String { names.joined(separator: " or ") }
}
