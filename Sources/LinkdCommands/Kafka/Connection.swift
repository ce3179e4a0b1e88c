internal import RouteTools
internal import KafkaClient

/// A connection to a cluster, with the brokers and properties of the settings.
struct Connection {
    /// The brokers for the first connection.
    let bootstrap: [String]
    /// The time to wait for the first response, in milliseconds.
    let startTimeout: Int64
    private let properties: [LibrdkafkaPair]

    /// Creates a connection from the settings.
    ///
    /// Settings without a broker end with exit code 64.
    init(_ settings: Settings) throws(CommandFailure) {
        bootstrap = try settings.requireBootstrap()
        startTimeout = settings.number("start.timeout")
        properties = settings.properties
    }

    /// Creates a connection to the cluster inside this process, which needs no settings.
    init(bootstrap: [String]) {
        self.bootstrap = bootstrap
        startTimeout = 10_000
        properties = []
    }

    /// Returns the configuration of a client: the properties of the command, overridden by those of the user.
    func configuration(
        _ role: ClientRole, _ ownProperties: KeyValuePairs<String, String> = [:]
    ) -> ClientConfiguration {
        var result = ClientConfiguration([
            "bootstrap.servers": bootstrap.joined(separator: ","), "client.id": "linkd",
            "socket.nagle.disable": "true", "reconnect.backoff.ms": "50", "reconnect.backoff.max.ms": "1000",
            "allow.auto.create.topics": "false",
        ])
        result.merge(ClientConfiguration(ownProperties))
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
    func makeAdmin() throws(CommandFailure) -> KafkaAdmin {
        let admin: KafkaAdmin
        do {
            admin = try KafkaAdmin(configuration(.producer))
        } catch {
            throw configurationFailure(error)
        }
        let start = Platform.monotonicSeconds
        var last: KafkaError?
        while true {
            do throws(KafkaError) {
                _ = try admin.metadata(timeoutMilliseconds: Int32(min(1000, startTimeout)))
                return admin
            } catch {
                last = error
            }
            for case .error(let error) in admin.takeEvents() {
                if KafkaErrorClass(error) == .authentication { throw authenticationFailure(error) }
                last = error
            }
            if (Platform.monotonicSeconds - start) * 1000 >= Double(startTimeout) { throw timeoutFailure(last) }
        }
    }

    /// Returns the failure for a cluster that did not answer in time (exit code 69).
    private func timeoutFailure(_ error: KafkaError?) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "no broker of \(bootstrap.joined(separator: ",")) answered within \(Durations.text(startTimeout))"
                + (error.map { " (\(Escaping.visible($0.name)))" } ?? ""),
            advice: "check --bootstrap and the network, or raise --start-timeout; `linkd demo` needs no broker")
    }

    /// Returns the failure for refused credentials: exit code 77, or 78 if this version of librdkafka is the cause.
    private func authenticationFailure(_ error: KafkaError) -> CommandFailure {
        let mechanism = properties.first { LibrdkafkaKeys.bare($0.key).hasPrefix("sasl.mechanism") }?.value ?? ""
        if mechanism.hasPrefix("SCRAM"), !LibraryInfo.supportsSCRAM {
            return CommandFailure(
                .configuration,
                "the broker refused SCRAM, which librdkafka \(LibraryInfo.versionText) implements incorrectly for "
                    + "Kafka 3.7.2 and later (issue 4895)",
                advice: "install librdkafka 2.6.1 or later, or use PLAIN over TLS or client certificates")
        }
        return CommandFailure(
            .refused, "the broker refused to authenticate this client (\(error.name))",
            advice: "check KAFKA_SECURITY_PROTOCOL, KAFKA_SASL_MECHANISMS, user, password, and certificates")
    }

    /// Returns the failure for a configuration that librdkafka refused (exit code 78).
    func configurationFailure(_ error: ConfigurationError) -> CommandFailure {
        let pair = properties.first { LibrdkafkaKeys.bare($0.key) == error.property }
        return CommandFailure(
            pair?.source.code ?? .configuration,
            "librdkafka refuses its configuration" + (pair.map { " from \($0.source.description)" } ?? "")
                + ": " + Escaping.visible(error.text),
            advice: "correct the property (`linkd config` prints the source of each)")
    }
}

extension CommandFailure {
    /// Creates the failure for an error of librdkafka.
    ///
    /// - Parameter operation: The operation, such as `reading link-events`.
    init(_ error: KafkaError, while operation: String) {
        switch KafkaErrorClass(error) {
        case .authorization(let resource):
            self.init(
                .refused, "\(operation): not allowed (\(error.name))",
                advice: "grant this user access to the \(resource.rawValue)")
        case .authentication:
            self.init(
                .refused, "\(operation): the broker refused to authenticate this client",
                advice: "check user, password, and certificates")
        default:
            switch error.code {
            case .unknownTopic, .unknownTopicOrPartition, .unknownPartition:
                self.init(
                    .configuration, "\(operation): the topic does not exist",
                    advice: "create it with `linkd topics create`, or specify another topic")
            case .transport, .timedOut, .allBrokersDown, .resolve, .requestTimedOut, .leaderNotAvailable:
                self.init(
                    .unavailable, "\(operation): no response in time (\(error.name))",
                    advice: "check that all brokers can be reached and try again")
            default:
                self.init(
                    .internalError, "\(operation): \(Escaping.visible(error.description))",
                    advice: "look the code up in Kafka's protocol guide and check the broker's log")
            }
        }
    }
}
