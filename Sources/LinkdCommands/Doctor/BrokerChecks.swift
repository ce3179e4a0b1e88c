internal import KafkaClient
internal import RouteTools

/// The checks of `linkd doctor` that judge the answers of brokers.
enum BrokerChecks {
    /// Describes the brokers.
    ///
    /// - Parameter versions: The versions of requests that every broker supports.
    static func brokers(_ metadata: ClusterMetadata, _ versions: [Int32: RequestVersions]) -> DoctorCheck {
        let shown = metadata.brokers.prefix(5).map { "\($0.host):\($0.port)" }
        let more = metadata.brokers.count > 5 ? ", …" : ""
        let text = "\(Counts.text(metadata.brokers.count, "broker")): \(shown.joined(separator: ", "))\(more)"
        guard let release = BrokerRelease(versions) else { return .ok("brokers", text) }
        guard release.hasStableOffsets else {
            return .fail(
                "brokers", "\(text), of a release before Kafka 2.5, which has no stable offsets of groups",
                next: "update the brokers to Kafka 2.5 or later")
        }
        return .ok("brokers", "\(text), Kafka \(release.text)")
    }

    /// Judges the topics.
    ///
    /// Missing rights are left to the check of rights.
    static func topics(
        _ declarations: [TopicDeclaration], _ state: TopicState, _ expected: TopicExpectations
    ) -> [DoctorCheck] {
        var checks: [DoctorCheck] = []
        for declaration in declarations where state.description(of: declaration.name)?.isDenied != true {
            let found = TopicChecks.findings(declaration, state, expected)
            checks += found.map { .fail("topics", "\($0.topic) \($0.text)", next: $0.advice) }
            if let risk = minimumInSync(declaration.name, state) { checks.append(risk) }
        }
        if !checks.isEmpty { return checks }
        let seen = declarations.filter { state.isReadable($0.name) }
        guard !seen.isEmpty else { return [] }
        let texts = seen.map { declaration in
            let count = state.description(of: declaration.name)?.partitions.count ?? 0
            return "\(declaration.name) (\(Counts.text(count, "partition")))"
        }
        return [.ok("topics", texts.joined(separator: ", "))]
    }

    /// Finds replicated topics of which one broker alone can confirm a record, which is lost if that broker fails.
    private static func minimumInSync(_ topic: String, _ state: TopicState) -> DoctorCheck? {
        let replicas = state.description(of: topic)?.partitions.map(\.replicas.count).min() ?? 0
        guard replicas > 1, state.setting("min.insync.replicas", of: topic) == "1" else { return nil }
        return .warn(
            "topics",
            "\(topic) has min.insync.replicas 1 with \(replicas) replicas, so that the failure of one broker can lose "
                + "records",
            next: "set min.insync.replicas=2 on \(topic)")
    }

    /// Describes the group.
    static func group(_ group: GroupDescription) -> DoctorCheck {
        let name = group.name
        if group.state == "Dead" { return .ok("group", "\(name) does not exist yet") }
        return .ok("group", "\(name) is \(group.state) with \(Counts.text(group.members, "member"))")
    }

    /// Compares the time limit of transactions with that of the brokers.
    static func transactions(milliseconds: Int64, brokerLimit: Int64) -> DoctorCheck {
        guard milliseconds > brokerLimit else {
            return .ok("transactions", "transaction.timeout.ms \(milliseconds), at most \(brokerLimit) at the brokers")
        }
        return .fail(
            "transactions",
            "transaction.timeout.ms \(milliseconds) is more than the brokers' transaction.max.timeout.ms "
                + "\(brokerLimit)",
            next: "set -X transaction.timeout.ms=\(brokerLimit) or less, or raise the limit of the brokers")
    }

    /// Summarizes the rights.
    ///
    /// - Parameters:
    ///   - missing: The rights that are certainly missing.
    ///   - principal: The presumed principal.
    ///   - writing: The knowledge about the other rights.
    static func rights(_ missing: [AccessRight], as principal: String, _ writing: WritingRights) -> DoctorCheck {
        if !missing.isEmpty {
            let untested = writing == .unknown ? "; not all rights were tested, which --probe does" : ""
            return .fail(
                "rights", "\(principal) lacks \(text(missing))\(untested)",
                next: AccessRight.advice(missing, principal), code: .refused)
        }
        let reading = "\(principal) may read the inputs"
        switch writing {
        case .tested: return .ok("rights", "\(reading), and write in transactions")
        case .ruled([]): return .ok("rights", "\(reading), and access rules allow all other rights")
        case .ruled(let rights):
            return .warn(
                "rights", "\(reading); no access rule allows \(text(rights)), which only a super user does not need",
                next: "add --probe, or \(AccessRight.advice(rights, principal))")
        case .unknown:
            return .warn(
                "rights", "\(reading); writing and the transactional id were not tested", next: "add --probe")
        }
    }

    private static func text(_ rights: [AccessRight]) -> String { rights.map(\.description).joined(separator: "; ") }
}

/// The knowledge about the rights that only writing can test.
enum WritingRights: Equatable {
    /// They were tested.
    case tested
    /// The brokers have access rules, which do not allow these rights.
    case ruled([AccessRight])
    /// The access rules or the principal are unknown.
    case unknown
}

/// The release of the brokers, which only the versions of their requests tell.
struct BrokerRelease {
    private let versions: [Int32: RequestVersions]

    /// Creates a release from the versions of requests, or returns nil if there are none.
    init?(_ versions: [Int32: RequestVersions]) {
        if versions.isEmpty { return nil }
        self.versions = versions
    }

    /// A Boolean value that indicates whether committed offsets of open transactions can be told from stable ones:
    /// OffsetFetch 7, since Kafka 2.5.
    var hasStableOffsets: Bool { (versions[9]?.max ?? 0) >= 7 }

    /// The oldest release with these requests, such as `3.7 or later`.
    var text: String {
        // Fetch lost its first versions in 4.0. The other rows are requests that a release added.
        if let fetch = versions[1], fetch.min >= 4 { return "4.0 or later" }
        let added: [(key: Int32, release: String)] = [
            (75, "3.8"), (71, "3.7"), (65, "3.0"), (60, "2.8"), (50, "2.7"), (48, "2.6"),
        ]
        return (added.first { versions[$0.key] != nil }?.release ?? "2.5") + " or later"
    }
}
