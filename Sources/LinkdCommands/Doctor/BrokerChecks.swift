internal import ByteStorage
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
            if let problem = replication(declaration.name, state) { checks.append(problem) }
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

    /// Says what a registry of devices that can be read means for rights and for the order of decisions.
    static func registry(_ declarations: [TopicDeclaration], _ state: TopicState) -> [DoctorCheck] {
        declarations.filter { $0.role == .devices && state.isReadable($0.name) }.map { declaration in
            .ok(
                "devices",
                registryRisk(declaration.name) + "; events keyed by a user and events keyed by a device have no mutual "
                    + "order")
        }
    }

    /// Returns a text about the right to write to the registry.
    static func registryRisk(_ topic: String) -> String {
        "whoever may write to \(topic) may set the `claims` of devices, by which tables choose"
    }

    /// Says who can change what an archive says, and warns of other users than the workers'.
    ///
    /// - Parameters:
    ///   - rules: The access rules, or an empty array if this user may not read them.
    ///   - principal: The presumed principal of the workers.
    static func archive(
        _ declarations: [TopicDeclaration], _ state: TopicState, _ rules: [AccessBinding], as principal: String
    ) -> [DoctorCheck] {
        declarations.filter { $0.role == .archive && state.isReadable($0.name) }.map { declaration in
            let name = declaration.name
            let others = Set(
                rules.filter { rule in
                    rule.resource == .topic && !rule.isDenial && (rule.operation == .write || rule.operation == .all)
                        && RuleCheck.covers(rule, name) && rule.principal != principal
                }.map(\.principal)
            ).sorted()
            guard !others.isEmpty, principal != AccessRight.unknownPrincipal else {
                return .ok("configurations", "whoever may write to \(name) may remove configurations of old decisions")
            }
            return .warn(
                "configurations",
                "\(others.map(Escaping.visible).joined(separator: ", ")) may write to \(name), and so remove "
                    + "configurations of old decisions",
                next: "allow only the workers, and who runs `linkd tables prune`, to write to \(name)")
        }
    }

    /// Finds replicated topics in which one broker alone can confirm a record.
    ///
    /// If that broker fails, the record is lost.
    private static func minimumInSync(_ topic: String, _ state: TopicState) -> DoctorCheck? {
        let replicas = state.description(of: topic)?.partitions.map(\.replicas.count).min() ?? 0
        guard replicas > 1, state.setting("min.insync.replicas", of: topic) == "1" else { return nil }
        return .warn(
            "topics",
            "\(topic) has min.insync.replicas 1 with \(replicas) replicas, so that the failure of one broker can lose "
                + "records",
            next: "set min.insync.replicas=2 on \(topic)")
    }

    /// Finds partitions with replicas that are not in sync.
    ///
    /// `TopicChecks` finds the partitions with only one in sync.
    ///
    /// With fewer than `min.insync.replicas`, brokers refuse every record.
    private static func replication(_ topic: String, _ state: TopicState) -> DoctorCheck? {
        let partitions = state.description(of: topic)?.partitions ?? []
        let behind = partitions.filter {
            $0.inSyncReplicas.count < $0.replicas.count && $0.inSyncReplicas.count != 1
        }
        guard !behind.isEmpty else { return nil }
        let next = "start the brokers that are down, and read the logs of those that are behind"
        let count = "\(behind.count) of \(Counts.text(partitions.count, "partition"))"
        let minimum = state.setting("min.insync.replicas", of: topic).flatMap { Int($0) } ?? 1
        let refusing = behind.count { $0.inSyncReplicas.count < minimum }
        return refusing > 0
            ? .fail(
                "topics",
                "\(topic): \(refusing) of \(Counts.text(partitions.count, "partition")) have fewer replicas in sync "
                    + "than min.insync.replicas \(minimum), and refuse records", next: next)
            : .warn("topics", "\(topic): \(count) have fewer replicas in sync than they have replicas", next: next)
    }

    /// Judges the group.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - inputs: The input topics, whose partitions need an owner.
    static func group(_ group: GroupDescription, _ inputs: [TopicDescription]) -> DoctorCheck {
        if group.state == "Dead" { return .ok("group", "\(group.name) does not exist yet") }
        let text = "\(group.name) is \(group.state) with \(Counts.text(group.members.count, "member"))"
        if group.isRebalancing {
            return .warn(
                "group", "\(text), so that partitions may have no owner",
                next: "repeat this in a minute: members that were killed leave after session.timeout.ms; if it lasts, "
                    + "look for workers that start and end again and again")
        }
        let owned = Set(group.members.flatMap(\.partitions))
        let all = inputs.flatMap { topic in
            topic.partitions.map { TopicPartition(topic: topic.name, partition: $0.id) }
        }
        let unowned = all.count { !owned.contains($0) }
        guard group.state == "Stable", unowned > 0 else { return .ok("group", text) }
        return .warn(
            "group", "\(text), and \(unowned) of \(Counts.text(all.count, "partition")) have no owner",
            next: "check that all workers of the group have the same --input; new partitions are assigned within 5 "
                + "minutes")
    }

    /// Compares the time limit of transactions with the limit of the brokers.
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

/// The release of the brokers, derived from the versions of their requests.
struct BrokerRelease {
    private let versions: [Int32: RequestVersions]

    /// Creates a release from the versions of requests, or returns nil if there are none.
    init?(_ versions: [Int32: RequestVersions]) {
        if versions.isEmpty { return nil }
        self.versions = versions
    }

    /// A Boolean value that indicates whether the brokers distinguish committed offsets of open transactions from
    /// stable ones: OffsetFetch 7, since Kafka 2.5.
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

/// The check that each entry of `bootstrap` answers alone.
///
/// A client with several entries needs only one of them, so a dead one shows only when the others are gone too.
struct BootstrapCheck {
    /// The time in which all entries must answer, in seconds.
    private static let limit = 3.0
    /// The largest number of entries that are asked.
    private static let entryLimit = 16

    let connection: Connection

    /// Returns a check for each entry that does not answer.
    ///
    /// A single entry needs no check of its own, because the check of the brokers uses it.
    func check() -> [DoctorCheck] {
        guard connection.bootstrap.count > 1 else { return [] }
        // All clients connect at once in the background.
        let clients = connection.bootstrap.prefix(Self.entryLimit).compactMap { entry in
            (try? KafkaAdmin(connection.configuration(.producer, ["bootstrap.servers": entry]))).map { (entry, $0) }
        }
        let end = Platform.monotonicSeconds + Self.limit
        return clients.compactMap { entry, admin in
            defer { admin.close() }
            guard let cause = silence(admin, until: end) else { return nil }
            return .warn(
                "bootstrap", "\(entry) does not answer" + (cause.summary.isEmpty ? "" : ": \(cause.summary)"),
                next: cause.advice)
        }
    }

    /// Returns the cause if no broker answers until a time, or nil after an answer.
    private func silence(_ admin: KafkaAdmin, until end: Double) -> (summary: String, advice: String)? {
        var cause: ConnectionCause?
        repeat {
            let left = max(100, (end - Platform.monotonicSeconds) * 1_000)
            do throws(KafkaError) {
                _ = try admin.metadata(ofTopic: Self.anyTopic, timeoutMilliseconds: Int32(min(500, left)))
                return nil
            } catch {
                if error.code.rawValue > 0 { return nil }
                cause = admin.takeEvents().compactMap(admin.cause).last ?? ConnectionCause(error) ?? cause
            }
        } while Platform.monotonicSeconds < end
        return cause.map { ($0.summary, $0.advice) } ?? ("", "remove it from --bootstrap, or start its broker")
    }

    /// Any valid name of a topic, because a request without a topic would be answered with all of them.
    private static let anyTopic = "__consumer_offsets"
}

/// The comparison of the brokers' clock with the clock of this machine.
///
/// No answer of a broker contains its time, except the timestamp of a record in a topic with `LogAppendTime`. So a
/// topic is created for one record, and deleted.
struct ClockCheck {
    /// The largest difference that is not a risk, in milliseconds.
    private static let limit: Int64 = 5_000

    let connection: Connection
    let admin: KafkaAdmin

    /// Returns the check, or no check if this user may not create a topic or the record cannot be read.
    func check() -> [DoctorCheck] {
        let topic = "linkd-doctor-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let specification = TopicSpecification(
            name: topic, partitions: 1,
            settings: ["message.timestamp.type": "LogAppendTime", "retention.ms": "600000"])
        let created = try? admin.create(topics: [specification], timeoutMilliseconds: 10_000)
        guard let created, created.allSatisfy({ $0.error == nil }) else { return [] }
        let difference = difference(topic)
        let deleted = try? admin.delete(topics: [topic], timeoutMilliseconds: 10_000)
        var checks = difference.map { [Self.judge($0)] } ?? []
        if deleted?.first.map({ $0.error == nil }) != true {
            checks.append(
                .warn("clock", "the topic \(topic) of this check could not be deleted", next: "delete the topic"))
        }
        return checks
    }

    /// Judges a difference in milliseconds, which is positive if the clock of the brokers is ahead.
    static func judge(_ difference: Int64) -> DoctorCheck {
        let size = difference.magnitude
        guard size > UInt64(limit) else {
            return .ok("clock", "less than \(limit / 1_000) s of difference between this machine and the brokers")
        }
        return .warn(
            "clock",
            "the clock of the brokers is \(size / 1_000) s \(difference > 0 ? "ahead of" : "behind") the one of this "
                + "machine, so that latencies, ages, and times of records are wrong",
            next: "synchronize the clocks of this machine and of the brokers, for example with NTP")
    }

    /// Returns the difference of the clocks.
    ///
    /// It is 0 if the time of the record is between the times before and after it.
    private func difference(_ topic: String) -> Int64? {
        let before = Platform.nowMilliseconds
        guard write(topic) else { return nil }
        let after = Platform.nowMilliseconds
        guard let time = timestamp(topic) else { return nil }
        return time < before ? time - before : max(0, time - after)
    }

    /// Writes one record, and returns a Boolean value that indicates whether it was delivered.
    private func write(_ topic: String) -> Bool {
        guard let producer = try? KafkaProducer(connection.configuration(.producer, ["linger.ms": "0"])),
            let handle = try? producer.topic(topic)
        else { return false }
        defer { producer.close() }
        let value = ByteView("linkd doctor")
        guard (try? producer.produce(handle, partition: 0, key: nil, value: value)) != nil else { return false }
        producer.awaitDelivery()
        return producer.deliveries.delivered == 1
    }

    /// Returns the timestamp of the record in a topic, in milliseconds since 1970.
    private func timestamp(_ topic: String) -> Int64? {
        guard var scan = try? TopicScan(connection, topics: [topic]) else {
            return nil
        }
        var time: Int64?
        let end = Platform.monotonicSeconds + 10
        while time == nil, !scan.isDone, Platform.monotonicSeconds < end {
            let next = try? scan.next { record in
                time = record.timestamp
                return false
            }
            if next == nil { return nil }
        }
        return time
    }
}
