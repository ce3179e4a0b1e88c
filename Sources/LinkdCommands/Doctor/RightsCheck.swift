internal import KafkaClient

/// The search for missing rights, which changes nothing and never joins the group.
///
/// librdkafka has no call that returns the user's own rights, so each operation is tried. The access rules show the
/// other rights if this user may read the rules.
struct RightsCheck {
    let connection: Connection
    let settings: Settings
    let declarations: [TopicDeclaration]
    let state: TopicState

    /// Returns the missing rights.
    ///
    /// - Parameter isGroupDenied: A Boolean value that indicates whether the group cannot be described.
    func missing(isGroupDenied: Bool, probes: Bool) throws(CommandFailure) -> [AccessRight] {
        var rights: [AccessRight] = []
        let denied = declarations.filter { state.description(of: $0.name)?.isDenied == true }
        // Read and Write include Describe, so they are missing too.
        add("Read", denied.filter(\.role.isRead).map(\.name), to: &rights)
        add("Read", try unreadableTopics(), to: &rights)
        add("Write", denied.filter(\.role.isWritten).map(\.name), to: &rights)
        let group = settings.text("group") ?? "linkd"
        if isGroupDenied { rights.append(AccessRight("Read", on: .group, group)) }
        guard probes else { return rights }
        let writable = declarations.filter { $0.role.isWritten && state.isReadable($0.name) }
        for finding in try TopicProbe(connection, group: group, user: "doctor").findings(writable.map(\.name)) {
            guard let right = finding.right else {
                throw CommandFailure(.finding, "\(finding.topic) \(finding.text)", advice: finding.advice)
            }
            // The workers' ids begin alike, so one rule for the prefix allows all of them.
            rights.append(
                right.resource == .transactionalID
                    ? AccessRight(["Write"], on: .transactionalID, ["linkd.\(group)."], isPrefixed: true) : right)
        }
        return rights
    }

    /// Returns the knowledge about the rights that `missing` does not test without a probe.
    func writing(_ admin: KafkaAdmin, probes: Bool) -> WritingRights {
        if probes { return .tested }
        // librdkafka returns no rules, and no error, if this user may not read the rules, or there are none.
        guard let rules = try? admin.accessRules(timeoutMilliseconds: 10_000), !rules.isEmpty,
            connection.principal != AccessRight.unknownPrincipal
        else { return .unknown }
        return .ruled(RuleCheck(rules: rules, principal: connection.principal).missing(needed))
    }

    /// The rights that a worker cannot do without.
    private var needed: [AccessRight] {
        let group = settings.text("group") ?? "linkd"
        var rights: [AccessRight] = []
        add("Read", declarations.filter(\.role.isRead).map(\.name), to: &rights)
        add("Write", declarations.filter(\.role.isWritten).map(\.name), to: &rights)
        rights.append(AccessRight("Read", on: .group, group))
        if settings.text("guarantee") != "at-least-once" {
            rights.append(AccessRight(["Write"], on: .transactionalID, ["linkd.\(group)."], isPrefixed: true))
        }
        return rights
    }

    private func add(_ operation: String, _ topics: [String], to rights: inout [AccessRight]) {
        if !topics.isEmpty { rights.append(AccessRight([operation], on: .topic, topics)) }
    }

    /// Returns the inputs, and the topics of the registry and the archive, that this user may describe and not read.
    private func unreadableTopics() throws(CommandFailure) -> [String] {
        var found: [String] = []
        for declaration in declarations where declaration.role.isRead && state.isReadable(declaration.name) {
            if try !isReadable(declaration.name) { found.append(declaration.name) }
        }
        return found
    }

    /// Returns a Boolean value that indicates whether this user may read a topic.
    ///
    /// A partition whose leader was just elected answers other errors for a moment.
    private func isReadable(_ topic: String) throws(CommandFailure) -> Bool {
        let end = Platform.monotonicSeconds + 10
        while true {
            do throws(CommandFailure) {
                try read(topic)
                return true
            } catch {
                if error.code == .refused { return false }
                guard Platform.monotonicSeconds < end else { throw error }
                Platform.sleep(milliseconds: 200)
            }
        }
    }

    /// Reads a topic until a record arrives, at most for a second.
    private func read(_ topic: String) throws(CommandFailure) {
        var scan = try TopicScan(connection, topics: [topic], follow: true)
        for _ in 0..<5 {
            if try !scan.next({ _ in false }) { return }
        }
    }
}

/// The comparison of the rights that a worker needs with the access rules of the brokers.
///
/// Super users need no rules, so a right without a rule is not necessarily missing.
struct RuleCheck {
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
    static func covers(_ rule: AccessBinding, _ name: String) -> Bool {
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
