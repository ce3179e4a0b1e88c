internal import LinkCoordinator

// Texts of conditions and blocks.

extension TableSource.QueryConstraint {
    /// Returns the constraint as text if it holds, or its negation otherwise.
    func text(holding: Bool) -> String {
        switch test {
        case .equals(let value): "query.\(name.value) \(holding ? "=" : "!=") \(value)"
        case .present: "query.\(name.value) \(holding ? "present" : "absent")"
        case .absent: "query.\(name.value) \(holding ? "absent" : "present")"
        }
    }
}

extension TableSource.Condition.VersionTest {
    /// Returns the comparison as text if it holds, or its negation otherwise.
    ///
    /// An unknown version is lower than every version.
    func text(holding: Bool) -> String {
        let opposite: String =
            switch relation {
            case .atLeast: "<"
            case .above: "<="
            case .atMost: ">"
            case .below: ">="
            case .equal: "!="
            }
        return "\(holding ? relation.rawValue : opposite) \(version.text)"
    }
}

extension TableSource.Condition {
    /// The parts of the condition as single conditions, in the order of their evaluation.
    var tests: [TableSource.Condition] {
        var tests: [TableSource.Condition] = []
        func add(_ change: (inout TableSource.Condition) -> Void) {
            var one = TableSource.Condition(offset: offset)
            change(&one)
            tests.append(one)
        }
        for test in app { add { $0.app = [test] } }
        for test in os { add { $0.os = [test] } }
        for capability in capabilities { add { $0.capabilities = [capability] } }
        for claim in claims { add { $0.claims = [claim] } }
        if let platforms { add { $0.platforms = platforms } }
        if let regions { add { $0.regions = regions } }
        if let locales { add { $0.locales = locales } }
        for attribute in attributes { add { $0.attributes = [attribute] } }
        for constraint in query { add { $0.query = [constraint] } }
        return tests
    }
}

extension TableSource.RoutePattern {
    /// The pattern with the scheme and host that it names.
    var text: String {
        guard scheme != nil || host != nil else { return path.text }
        return "\(scheme ?? "*")://\(host?.text ?? "*")\(path.text)"
    }
}

extension TableSource.LinkBlock {
    /// The rules by which the block reads a link.
    ///
    /// Rules with their default value are omitted, except for the host, the separators, and the decoding.
    var dialectText: String {
        var parts = [hostRole == .segment ? "the host is the first segment" : "the host must be listed"]
        let separators = query.pairSeparators.map { "`\(String(UnicodeScalar($0)))`" }.joined(separator: " and ")
        parts.append("query split at \(separators)")
        switch query.decode {
        case .once: parts.append("percent-decoded once")
        case .none: parts.append("not percent-decoded")
        case .before: parts.append("percent-decoded before and after the split")
        }
        if query.names == .insensitive { parts.append("query names case-insensitive") }
        switch query.duplicates {
        case .first: break
        case .last: parts.append("the last of several equal names counts")
        case .reject: parts.append("a repeated name is invalid")
        }
        if query.plus == .space { parts.append("`+` is a space") }
        if query.nulls == .erase { parts.append("a name without `=` counts like one with a value") }
        if query.flatten { parts.append("names and values are one list") }
        switch emptySegments {
        case .collapse: break
        case .reject: parts.append("empty segments are rejected")
        case .reset: parts.append("an empty segment discards the screens before it")
        }
        if repair { parts.append("damaged query values are repaired") }
        return parts.joined(separator: ", ")
    }
}
