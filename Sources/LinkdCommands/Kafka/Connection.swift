internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient
internal import LinkDecider
internal import RouteTools

/// A connection to a cluster, with the brokers and properties of the settings.
struct Connection: Sendable {
    /// The brokers for the first connection.
    let bootstrap: [String]
    /// The time to wait for the first response, in milliseconds.
    let startTimeout: Int64
    /// The presumed principal, such as `User:alice`, which only the brokers know.
    let principal: String
    private let properties: [LibrdkafkaPair]
    private let tokens: TokenSource?

    /// Creates a connection from the settings.
    ///
    /// Settings without a broker end with exit code 64.
    init(_ settings: Settings) throws(CommandFailure) {
        bootstrap = try settings.requireBootstrap()
        startTimeout = settings.number("start.timeout")
        properties = settings.properties
        principal = settings.principal ?? AccessRight.unknownPrincipal
        tokens = TokenProvider(settings)?.source()
    }

    /// Creates a connection to the cluster inside this process, which needs no settings.
    init(bootstrap: [String]) {
        self.bootstrap = bootstrap
        startTimeout = 10_000
        properties = []
        principal = AccessRight.unknownPrincipal
        tokens = nil
    }

    /// Returns the configuration of a client: the properties of the command, overridden by the user's properties.
    func configuration(
        _ role: ClientRole, _ ownProperties: KeyValuePairs<String, String> = [:]
    ) -> ClientConfiguration {
        var result = ClientConfiguration([
            "bootstrap.servers": bootstrap.joined(separator: ","), "client.id": "linkd",
            "socket.nagle.disable": "true", "reconnect.backoff.ms": "50", "reconnect.backoff.max.ms": "1000",
            "allow.auto.create.topics": "false",
        ])
        result.merge(ClientConfiguration(ownProperties))
        result.tokens = tokens
        for pair in properties where applies(pair.key, role) { result[LibrdkafkaKeys.bare(pair.key)] = pair.value }
        return result
    }

    /// Returns a Boolean value that indicates whether a property applies to a client.
    ///
    /// A property without a prefix applies to both clients, unless librdkafka has it for only one of them.
    private func applies(_ key: String, _ role: ClientRole) -> Bool {
        let bare = LibrdkafkaKeys.bare(key)
        if bare != key { return key.hasPrefix(role.rawValue + ".") }
        return switch KnownProperties.named(bare)?.scope {
        case .producer: role == .producer
        case .consumer: role == .consumer
        case .both, nil: true
        }
    }

    /// Returns an admin client, after a broker has answered it.
    ///
    /// - Parameters:
    ///   - limit: The time to wait for the first response in milliseconds, or nil for `start.timeout`.
    ///   - total: The time in the message of a failure, if this is one of several attempts, or nil for the limit.
    func makeAdmin(within limit: Int64? = nil, of total: Int64? = nil) throws(CommandFailure) -> KafkaAdmin {
        let limit = limit ?? startTimeout
        let admin = try make(configuration(.producer)) { config throws(ConfigurationError) in try KafkaAdmin(config) }
        let start = Platform.monotonicSeconds
        var last: ConnectionCause?
        while true {
            do throws(KafkaError) {
                _ = try admin.metadata(timeoutMilliseconds: Int32(min(1000, limit)))
                return admin
            } catch {
                last = ConnectionCause(error) ?? last
            }
            for event in admin.takeEvents() {
                guard let cause = admin.cause(of: event) else { continue }
                if cause.isRefusal || Self.isRefusal(event) { throw Self.refusal(cause) }
                last = cause
            }
            if (Platform.monotonicSeconds - start) * 1000 >= Double(limit) {
                throw timeoutFailure(last, total ?? limit)
            }
        }
    }

    private static func isRefusal(_ event: ClientEvent) -> Bool {
        guard case .error(let error) = event else { return false }
        return KafkaErrorClass(error) == .authentication
    }

    /// Returns the failure for a cluster that did not answer in time (exit code 69).
    private func timeoutFailure(_ cause: ConnectionCause?, _ limit: Int64) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "no broker of \(bootstrap.joined(separator: ",")) answered within \(Durations.text(limit))"
                + (cause.map { ": " + Escaping.visible($0.summary) } ?? ""),
            advice: cause?.advice
                ?? "check --bootstrap and the network, or raise --start-timeout; `linkd demo` needs no broker")
    }

    /// Returns the failure for refused credentials: exit code 77, or 78 if this version of librdkafka is the cause.
    static func refusal(_ cause: ConnectionCause) -> CommandFailure {
        let isOldLibrary = if case .oldSCRAM = cause { true } else { false }
        return CommandFailure(
            isOldLibrary ? .configuration : .refused, Escaping.visible(cause.summary), advice: cause.advice)
    }

    /// Returns a client.
    ///
    /// A configuration that librdkafka refuses ends with exit code 78.
    func make<Client>(
        _ configuration: ClientConfiguration,
        _ client: (ClientConfiguration) throws(ConfigurationError) -> Client
    ) throws(CommandFailure) -> Client {
        do {
            return try client(configuration)
        } catch {
            throw configurationFailure(error)
        }
    }

    private func configurationFailure(_ error: ConfigurationError) -> CommandFailure {
        let pair = properties.first { LibrdkafkaKeys.bare($0.key) == error.property }
        return CommandFailure(
            pair?.source.code ?? .configuration,
            "librdkafka refuses its configuration" + (pair.map { " from \($0.source.description)" } ?? "")
                + ": " + Escaping.visible(error.text),
            advice: "correct the property (`linkd config` prints the source of each)")
    }
}

/// Returns the result of an operation, whose error of librdkafka becomes a failure of the command.
func attempt<Value>(
    _ operation: String, needing right: AccessRight? = nil, as principal: String = AccessRight.unknownPrincipal,
    _ body: () throws(KafkaError) -> Value
) throws(CommandFailure) -> Value {
    do throws(KafkaError) {
        return try body()
    } catch {
        throw CommandFailure(error, while: operation, needing: right, as: principal)
    }
}

extension CommandFailure {
    /// Creates the failure for an error of librdkafka.
    ///
    /// - Parameters:
    ///   - operation: The operation, such as `reading link-events`.
    ///   - right: The right that the operation needs, or nil if the error's resource is all that is known.
    ///   - principal: The presumed principal.
    init(
        _ error: KafkaError, while operation: String, needing right: AccessRight? = nil,
        as principal: String = AccessRight.unknownPrincipal
    ) {
        switch KafkaErrorClass(error) {
        case .authorization(let resource):
            let lacking = right.map(\.description) ?? "a right on the \(resource.rawValue)"
            self.init(
                .refused, "\(operation): \(principal) lacks \(lacking) (\(error.name))",
                advice: right.map { AccessRight.advice([$0], principal) } ?? AccessRight.generalAdvice)
        case .authentication:
            let cause = ConnectionCause(error)
            self.init(
                .refused,
                operation + ": " + Escaping.visible(cause?.summary ?? "the broker refused the client's credentials"),
                advice: cause?.advice ?? "check user, password, and certificates")
        default:
            if let cause = ConnectionCause(error) {
                self.init(.unavailable, "\(operation): \(Escaping.visible(cause.summary))", advice: cause.advice)
                return
            }
            switch error.code {
            case .unknownPartition:
                self.init(
                    .configuration, "\(operation): a partition does not exist",
                    advice: "specify a partition that the topic has")
            case .unknownTopic, .unknownTopicOrPartition:
                self.init(
                    .configuration, "\(operation): the topic does not exist",
                    advice: "create it with `linkd topics create`, or specify another topic")
            case .transport, .timedOut, .allBrokersDown, .resolve, .requestTimedOut, .leaderNotAvailable:
                self.init(
                    .unavailable, "\(operation): no response in time (\(error.name))",
                    advice: "check that all brokers can be reached and try again")
            case .coordinatorLoadInProgress, .coordinatorNotAvailable, .notCoordinator:
                self.init(
                    .unavailable, "\(operation): brokers answer, but the coordinator is not ready (\(error.name))",
                    advice: "try again in a minute, and check that all brokers run")
            default:
                self.init(
                    .internalError, "\(operation): \(Escaping.visible(error.description))",
                    advice: "look the code up in Kafka's protocol guide and check the broker's log")
            }
        }
    }
}

/// The topics that a worker with these settings reads and writes.
struct ClusterTopics {
    /// The input topics.
    ///
    /// For a regular expression, the matching topics of the cluster.
    let inputs: [String]
    /// The topics for decisions.
    let outputs: OutputTopics
    /// The topics for dead letters, one for each input.
    let deadLetters: [String]
    /// The topic of the registry of devices, or nil without one.
    let devices: String?
    /// The topic of the archive of configurations, or nil without one.
    let tables: String?
    /// A Boolean value that indicates whether the setting `input` is a regular expression.
    let isPattern: Bool

    /// Determines the topics.
    ///
    /// A regular expression requires a request to the cluster.
    init(_ settings: Settings, _ admin: KafkaAdmin) throws(CommandFailure) {
        outputs = settings.outputs
        devices = settings.text("devices.topic")
        tables = settings.text("tables.topic")
        let named = settings.list("input")
        isPattern = named.first?.hasPrefix("^") == true
        inputs = isPattern ? try Self.matching(named[0], settings, admin) : named
        deadLetters = inputs.map(settings.deadLetterTopic)
    }

    private static func matching(
        _ expression: String, _ settings: Settings, _ admin: KafkaAdmin
    ) throws(CommandFailure) -> [String] {
        guard let pattern = PosixPattern(expression) else {
            let source = settings.entry("input").source
            throw CommandFailure(
                source.code,
                "\(source.description): `\(Escaping.visible(expression))` is not a valid regular expression",
                advice: "write a POSIX extended regular expression that begins with ^")
        }
        let metadata = try attempt("listing topics") { () throws(KafkaError) in
            try admin.metadata(timeoutMilliseconds: 10_000)
        }
        // Excludes the worker's own topics, which the expression can also match.
        return LaneTopics(
            outputs: settings.outputs, deadLetterTemplate: settings.text("dlq.topic") ?? "{input}.dlq",
            others: settings.otherTopics
        )
        .inputs(matching: pattern, among: metadata.topics.map(\.name)).sorted()
    }
}

extension Settings {
    /// The topics of the registry of devices and of the archive of configurations, if they are set.
    var otherTopics: [String] { ["devices.topic", "tables.topic"].compactMap { text($0) } }
}

extension KafkaAdmin {
    /// Returns the values of `max.message.bytes` of topics that this user is allowed to read.
    ///
    /// Without the right, a record or batch that is too large is refused by the broker.
    func messageLimits(of names: [String]) -> [String: Int] {
        let results = (try? settings(ofTopics: names, timeoutMilliseconds: 5_000)) ?? []
        var limits: [String: Int] = [:]
        for result in results where result.error == nil {
            limits[result.name] = result.values["max.message.bytes"].flatMap { Int($0) }
        }
        return limits
    }
}

extension KafkaProducer {
    /// Waits up to 10 s until a delivery is reported.
    func awaitDelivery() {
        let end = Platform.monotonicSeconds + 10
        while deliveries.reported == 0, Platform.monotonicSeconds < end { poll(timeoutMilliseconds: 100) }
    }
}
