internal import KafkaClient

/// The comparison of the rights that a worker needs with the access rules of the brokers.
///
/// Super users need no rules, so that a right without a rule is not certainly missing.
struct RuleCheck {
    /// The rules.
    let rules: [AccessBinding]
    /// The principal, such as `User:alice`.
    let principal: String

    /// Returns the rights that no rule allows, or that a rule may deny.
    func missing(_ needed: [AccessRight]) -> [AccessRight] {
        needed.compactMap { right in
            let operations = right.operations.filter { operation in
                !right.names.allSatisfy { isAllowed(operation, right, $0) }
            }
            let names = right.names.filter { name in
                !right.operations.allSatisfy { isAllowed($0, right, name) }
            }
            if names.isEmpty { return nil }
            return AccessRight(operations, on: right.resource, names, isPrefixed: right.isPrefixed)
        }
    }

    private func isAllowed(_ operation: String, _ right: AccessRight, _ name: String) -> Bool {
        let applying = rules.filter { rule in
            rule.resource == Self.resource(right.resource) && ["User:*", principal].contains(rule.principal)
                && (rule.operation == .all || rule.operation == (operation == "Read" ? .read : .write))
        }
        // A client does not know the host that the brokers see.
        let isDenied = applying.contains { rule in
            rule.isDenial && (Self.covers(rule, name) || right.isPrefixed && rule.name.hasPrefix(name))
        }
        let isGranted = applying.contains { rule in
            !rule.isDenial && rule.host == "*" && Self.covers(rule, name)
                && (rule.isPrefixed || rule.name == "*" || !right.isPrefixed)
        }
        return isGranted && !isDenied
    }

    /// Returns a Boolean value that indicates whether a rule applies to a resource of this name.
    private static func covers(_ rule: AccessBinding, _ name: String) -> Bool {
        rule.isPrefixed ? name.hasPrefix(rule.name) : rule.name == "*" || rule.name == name
    }

    private static func resource(_ resource: AccessRight.Resource) -> AccessBinding.Resource {
        switch resource {
        case .topic: .topic
        case .group: .group
        case .transactionalID: .transactionalID
        case .cluster: .cluster
        }
    }
}
