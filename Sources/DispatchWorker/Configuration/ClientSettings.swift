package import KafkaClient

/// A librdkafka property and its value.
package struct ClientProperty: Sendable, Equatable {
    /// The key.
    ///
    /// A key that a user sets may begin with `consumer.` or `producer.`.
    package var key: String
    /// The value in text form.
    package var value: String

    /// Creates a property.
    package init(_ key: String, _ value: String) {
        self.key = key
        self.value = value
    }
}

/// One of the two clients of a lane.
package enum ClientKind: String, Sendable, CaseIterable {
    /// The consumer.
    case consumer
    /// The producer.
    case producer
}

/// The names that identify a lane to brokers.
///
/// With a stable instance name, a restarted worker takes over its predecessor's transaction and group membership at
/// once. Without one, the name is new at every start, and membership is not static.
package struct LaneIdentity: Sendable, Equatable {
    /// The consumer group.
    package let group: String
    /// The instance's name: the configured one, or the host name and eight random digits.
    package let instance: String
    /// A Boolean value that indicates whether the instance name is configured and therefore survives restarts.
    package let isStable: Bool
    /// The lane's number, starting at 0.
    package let lane: Int

    /// `transactional.id`.
    package var transactionalID: String { "linkd.\(group).\(instance).\(lane)" }

    /// `group.instance.id`, or nil without static membership.
    package var groupInstanceID: String? { isStable ? "\(instance).\(lane)" : nil }

    /// `client.id`, at most 64 bytes.
    ///
    /// librdkafka up to 2.4 does not handle longer ones correctly (issue 4689).
    package var clientID: String {
        let suffix = "-\(lane)"
        let name = String(decoding: "linkd-\(instance)".utf8.prefix(64 - suffix.utf8.count), as: UTF8.self)
        return name + suffix
    }

    /// `<instance>.<lane>`, the name of the lane in dead letters.
    package var name: String { "\(instance).\(lane)" }
}

/// The librdkafka properties that the worker sets, and the list of the properties that cannot be overridden.
package enum ClientSettings {
    /// Keys that cannot be overridden because the worker's guarantees depend on them.
    ///
    /// `-X` with one of these keys exits with 64.
    package static let refused: Set<String> = [
        "client.id", "log.queue", "enable.auto.commit", "enable.auto.offset.store", "auto.commit.enable",
        "isolation.level", "auto.offset.reset", "topic.blacklist", "enable.partition.eof", "transactional.id",
        "partitioner", "delivery.report.only.error", "dr_cb", "dr_msg_cb", "rebalance_cb", "group.id",
        "group.instance.id", "bootstrap.servers", "metadata.broker.list", "partition.assignment.strategy",
        "enable.idempotence", "enable.gapless.guarantee",
    ]

    /// Returns the key without its client prefix, and the client that the prefix names, or nil for both clients.
    package static func split(_ key: String) -> (key: String, client: ClientKind?) {
        for client in ClientKind.allCases where key.hasPrefix(client.rawValue + ".") {
            return (String(key.dropFirst(client.rawValue.count + 1)), client)
        }
        return (key, nil)
    }

    private static let metadataRecovery = "metadata.recovery.strategy"

    /// Returns all properties of a lane's client, in the order in which they are set.
    package static func properties(
        of client: ClientKind, configuration: WorkerConfiguration, identity: LaneIdentity
    ) -> [ClientProperty] {
        var result = common(configuration, identity)
        let overrides = configuration.clientProperties.compactMap { property -> ClientProperty? in
            let (key, only) = split(property.key)
            return only == nil || only == client ? ClientProperty(key, property.value) : nil
        }
        switch client {
        case .consumer: result += consumer(configuration, identity)
        case .producer: result += producer(configuration, identity, overrides)
        }
        return result.filter { mine in !overrides.contains { $0.key == mine.key } } + overrides
    }

    /// Returns the properties that any client of this worker needs to connect, including overrides that apply to both
    /// clients.
    package static func connection(
        _ configuration: WorkerConfiguration, _ identity: LaneIdentity
    ) -> [ClientProperty] {
        common(configuration, identity) + configuration.clientProperties.filter { split($0.key).client == nil }
    }

    /// The interval of a lane's statistics, from which the lag is known.
    ///
    /// The other clients of the worker have none. An operator must know of a problem within ten seconds.
    private static let statisticsInterval = ClientProperty("statistics.interval.ms", "2000")

    private static func common(_ configuration: WorkerConfiguration, _ identity: LaneIdentity) -> [ClientProperty] {
        [
            .init("bootstrap.servers", configuration.bootstrap.joined(separator: ",")),
            .init("client.id", identity.clientID),
            // Nagle's algorithm delays small transaction requests by up to 40 ms. It is on by default before librdkafka
            // 2.10.
            .init("socket.nagle.disable", "true"),
            .init("socket.keepalive.enable", "true"),
            .init("reconnect.backoff.ms", "50"),
            .init("reconnect.backoff.max.ms", "1000"),
            .init("topic.metadata.refresh.fast.interval.ms", "100"),
            // `false` would also suppress the error event that reports a lost coordinator connection.
            .init("log.connection.close", "true"),
            // The default on producers is true, and a typo would create a topic.
            .init("allow.auto.create.topics", "false"),
        ]
    }

    private static func consumer(_ configuration: WorkerConfiguration, _ identity: LaneIdentity) -> [ClientProperty] {
        var result: [ClientProperty] = [
            .init("group.id", configuration.group),
            .init("enable.auto.commit", "false"),
            .init("enable.auto.offset.store", "false"),
            .init("isolation.level", "read_committed"),
            // Every start offset is explicit. This error can therefore only mean data loss.
            .init("auto.offset.reset", "error"),
            .init("partition.assignment.strategy", configuration.assignor.rawValue),
            .init("session.timeout.ms", "45000"),
            .init("heartbeat.interval.ms", "3000"),
            .init("max.poll.interval.ms", "300000"),
            // librdkafka 2.0.2 fetches again only a second after the queue was full, so the queue must hold more than a
            // second of records. The limit in kilobytes bounds its memory.
            .init("queued.min.messages", "1000000"),
            .init("queued.max.messages.kbytes", "65536"),
            .init("fetch.message.max.bytes", "4194304"),
            .init("fetch.max.bytes", "52428800"),
            .init("fetch.min.bytes", "1"),
            .init("fetch.wait.max.ms", "100"),
            .init("fetch.error.backoff.ms", "50"),
            .init("check.crcs", "false"),
            .init("enable.partition.eof", "true"),
            // The library's default of 60 s is longer than a call may last. An unanswered request would look like a
            // hang.
            .init("socket.timeout.ms", "\(defaultSocketTimeout)"),
            statisticsInterval,
        ]
        if let member = identity.groupInstanceID { result.append(.init("group.instance.id", member)) }
        if case .pattern = configuration.input {
            result.append(.init("topic.blacklist", LaneTopics(configuration).ownPatterns.joined(separator: ",")))
        }
        return result
    }

    private static func producer(
        _ configuration: WorkerConfiguration, _ identity: LaneIdentity, _ overrides: [ClientProperty]
    ) -> [ClientProperty] {
        let timeout = transactionTimeout(overrides)
        let linger = min(20, (configuration.commit.intervalMilliseconds ?? 200) / 10)
        var result: [ClientProperty] = [
            // The default of 1,000,000 would refuse a dead letter of 2 MB on the client. The topic's own limit is
            // checked instead.
            .init("message.max.bytes", "67108864"),
            .init("request.timeout.ms", "10000"),
            .init("retry.backoff.ms", "20"),
            .init("linger.ms", "\(linger)"),
            .init("batch.num.messages", "10000"),
            .init("batch.size", "1000000"),
            .init("compression.codec", "lz4"),
            .init("queue.buffering.max.messages", "1000000"),
            .init("queue.buffering.max.kbytes", "262144"),
            .init("partitioner", "murmur2_random"),
            .init("delivery.report.only.error", "false"),
            .init("socket.timeout.ms", "\(min(defaultSocketTimeout, timeout))"),
            statisticsInterval,
        ]
        switch configuration.guarantee {
        case .exactlyOnce:
            result.append(.init("transactional.id", identity.transactionalID))
            // librdkafka looks for a moved coordinator of the group only when a connection to any broker begins or ends
            // (`rd_kafka_coord_req_fsm`, 2.0.2 to 2.16). Until then, `send_offsets_to_transaction` does not return.
            result.append(.init("connections.max.idle.ms", "10000"))
            result.append(.init("transaction.timeout.ms", "30000"))
        case .atLeastOnce:
            result.append(.init("enable.idempotence", "true"))
        }
        return result
    }

    /// Returns a Boolean value that indicates whether a property applies to this client.
    ///
    /// librdkafka logs a warning about properties of the other client.
    private static func isFor(_ client: ClientKind, _ key: String) -> Bool {
        switch KnownProperties.named(key)?.scope {
        case .producer: client == .producer
        case .consumer: client == .consumer
        case .both, nil: true
        }
    }

    /// Returns the size of the largest message that a producer accepts, in bytes.
    ///
    /// Its queue would never have room for a larger message than the queue.
    package static func messageBytes(_ properties: [ClientProperty]) -> Int {
        let queue = number("queue.buffering.max.kbytes", properties, otherwise: 1_048_576)
        return min(number("message.max.bytes", properties, otherwise: 1_000_000), min(queue, 1 << 31) * 1024)
    }

    /// Returns the effective `transaction.timeout.ms`, in milliseconds.
    package static func transactionTimeout(_ overrides: [ClientProperty]) -> Int {
        number("transaction.timeout.ms", overrides, otherwise: 30_000)
    }

    /// Returns the effective `session.timeout.ms`, in milliseconds.
    package static func sessionTimeout(_ overrides: [ClientProperty]) -> Int {
        number("session.timeout.ms", overrides, otherwise: 45_000)
    }

    /// The default time that a request may wait for its answer, in milliseconds.
    private static let defaultSocketTimeout = 10_000

    /// Returns the time after which a call that has not returned counts as hung, in milliseconds.
    ///
    /// By then every transaction and every unanswered request has timed out. An override of `socket.timeout.ms` raises
    /// the bound.
    package static func callBound(_ overrides: [ClientProperty]) -> Int {
        let requests = overrides.filter { split($0.key).key == "socket.timeout.ms" }.compactMap { Int($0.value) }
        return max(transactionTimeout(overrides), requests.max() ?? defaultSocketTimeout) + 5_000
    }

    /// Returns the size limit of a batch, in bytes, for topics with this smallest `max.message.bytes`.
    ///
    /// Returns nil if the smallest one is not known, or if it is at least the default of brokers, which suits
    /// librdkafka's default.
    package static func batchBytes(messageLimit: Int?) -> Int? {
        guard let messageLimit, messageLimit < 1_048_588 else { return nil }
        return max(1_024, messageLimit - 1_024)
    }

    /// Returns the properties in the form that a librdkafka client accepts.
    ///
    /// `messageLimit` is the smallest `max.message.bytes` of the output topics. A broker refuses a larger batch as a
    /// whole, so batches are kept smaller.
    package static func clientConfiguration(
        of client: ClientKind, configuration: WorkerConfiguration, identity: LaneIdentity, messageLimit: Int?
    ) -> ClientConfiguration {
        var result = ClientConfiguration()
        result.tokens = configuration.tokens
        for property in properties(of: client, configuration: configuration, identity: identity) {
            if isFor(client, property.key) { result[property.key] = property.value }
        }
        let isGiven = { (key: String) in configuration.clientProperties.contains { split($0.key).key == key } }
        // After an outage of all brokers, newer libraries drop the brokers they know, and with them the coordinators.
        // Calls that wait for a coordinator may then wait forever (librdkafka issue 5511, seen with 2.16.0 in
        // `abort_transaction`, `committed`, and `assign`). With `none`, they reconnect as older libraries do.
        if LibraryInfo.hasProperty(metadataRecovery) && !isGiven(metadataRecovery) { result[metadataRecovery] = "none" }
        switch client {
        case .consumer:
            // Older libraries do not have the property, and pause the fetches of a full partition for up to a second.
            if LibraryInfo.supportsFetchQueueBackoff && !isGiven("fetch.queue.backoff.ms") {
                result["fetch.queue.backoff.ms"] = "10"
            }
            // These debug lines are parsed, not printed. They report lost connections, refused fetches, and late
            // answers, which would otherwise be reported late or not at all.
            result["debug"] = [result["debug"], "broker,topic,protocol"].compactMap { $0 }.joined(separator: ",")
        case .producer:
            if !LibraryInfo.hasLZ4 && !isGiven("compression.codec") { result["compression.codec"] = "none" }
            if let bytes = batchBytes(messageLimit: messageLimit), !isGiven("batch.size") {
                result["batch.size"] = "\(bytes)"
            }
            // These debug lines are parsed, not printed. They report the connection to the coordinator and the request
            // versions that brokers support, for which there is no other source. Parsing them once per producer is
            // cheap.
            if configuration.guarantee == .exactlyOnce {
                result["debug"] = [result["debug"], "eos,feature"].compactMap { $0 }.joined(separator: ",")
            }
        }
        return result
    }

    /// Returns the effective `max.poll.interval.ms`, in milliseconds.
    package static func pollInterval(_ overrides: [ClientProperty]) -> Int {
        number("max.poll.interval.ms", overrides, otherwise: 300_000)
    }

    /// Returns the connection settings for admin requests, without the properties that only a lane's consumer or
    /// producer may have.
    package static func adminConfiguration(_ configuration: WorkerConfiguration, _ identity: LaneIdentity)
        -> ClientConfiguration
    {
        var result = ClientConfiguration()
        result.tokens = configuration.tokens
        for property in connection(configuration, identity) {
            if KnownProperties.named(property.key)?.scope != .consumer { result[property.key] = property.value }
        }
        result["client.id"] = identity.clientID
        return result
    }

    /// Returns the settings of a consumer that fetches the group's committed offsets and never joins the group.
    package static func memberConfiguration(_ configuration: WorkerConfiguration, _ identity: LaneIdentity)
        -> ClientConfiguration
    {
        var result = clientConfiguration(
            of: .consumer, configuration: configuration, identity: identity, messageLimit: nil)
        // With `read_committed`, the answer would wait for open transactions.
        result["isolation.level"] = "read_uncommitted"
        result["statistics.interval.ms"] = "0"
        return result
    }

    /// Returns the settings of the reader of `devices.topic`, which is in no group.
    ///
    /// - Parameter partitions: The number of the topic's partitions.
    package static func registryConfiguration(
        _ configuration: WorkerConfiguration, _ identity: LaneIdentity, partitions: Int
    ) -> ClientConfiguration {
        var result = clientConfiguration(
            of: .consumer, configuration: configuration, identity: identity, messageLimit: nil)
        result["statistics.interval.ms"] = "0"
        // A regular expression as input must not match the topic, which this client reads.
        result["topic.blacklist"] = nil
        result["client.id"] = identity.clientID + "-devices"
        // Without a group, the limit applies to each partition (librdkafka's CONFIGURATION.md).
        let queue = "queued.max.messages.kbytes"
        if let kilobytes = result[queue].flatMap({ Int($0) }) {
            result[queue] = "\(min(kilobytes, max(1024, kilobytes / max(partitions, 1))))"
        }
        return result
    }

    private static func number(_ key: String, _ overrides: [ClientProperty], otherwise: Int) -> Int {
        overrides.last { split($0.key).key == key }.flatMap { Int($0.value) } ?? otherwise
    }
}
