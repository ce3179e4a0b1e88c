import Foundation
@testable import KafkaClient
import Testing

/// The properties and values that librdkafka accepts and rejects, with its own messages.
struct ClientConfigurationTests {
    @Test("A later value replaces an earlier one, nil removes it, and the order is kept")
    func entries() {
        var configuration = ClientConfiguration(["client.id": "a", "linger.ms": "5", "client.id": "b"])
        #expect(configuration.entries.map(\.name) == ["client.id", "linger.ms"])
        #expect(configuration["client.id"] == "b")
        configuration["client.id"] = nil
        configuration.merge(["linger.ms": "7", "debug": "eos"])
        #expect(configuration.entries.map { "\($0.name)=\($0.value)" } == ["linger.ms=7", "debug=eos"])
    }

    @Test("An unknown property and an invalid value are different errors with librdkafka's own message")
    func refusals() {
        #expect(
            throws: ConfigurationError(
                kind: .unknownProperty, property: "linger.mss", text: "No such configuration property: \"linger.mss\"")
        ) {
            try ClientConfiguration(["linger.mss": "1"]).validate()
        }
        let wrong = #expect(throws: ConfigurationError.self) {
            try ClientConfiguration(["client.id": "x", "linger.ms": "soon"]).validate()
        }
        #expect(wrong?.kind == .invalidValue)
        #expect(wrong?.property == "linger.ms")
        #expect(wrong?.text.contains("queue.buffering.max.ms") == true)
        #expect(wrong?.description.hasPrefix("linger.ms: Invalid value") == true)
    }

    @Test("A named pipe as the file of a certificate or a key is refused without waiting for its writer")
    func namedPipe() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(mkfifo(path, 0o600) == 0)
        for name in ["ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.keystore.location"] {
            let configuration = ClientConfiguration([
                "bootstrap.servers": "127.0.0.1:1", "security.protocol": "ssl", name: path,
            ])
            let error = #expect(throws: ConfigurationError.self) { try configuration.validate(as: .consumer) }
            #expect(error?.property == name)
            #expect(error?.text.contains("not a regular file") == true)
        }
    }

    @Test("Contradicting properties are detected without a broker")
    func contradiction() {
        let configuration = ClientConfiguration([
            "bootstrap.servers": "127.0.0.1:1", "transactional.id": "t", "transaction.timeout.ms": "10000",
            "message.timeout.ms": "20000",
        ])
        let error = #expect(throws: ConfigurationError.self) { try configuration.validate(as: .producer) }
        #expect(error?.kind == .refused)
        #expect(error?.property == nil)
        #expect(error?.text.contains("message.timeout.ms") == true)
    }

    /// The worker's settings.
    static let worker: [(ClientRole, ClientConfiguration)] = [
        (
            .consumer,
            [
                "group.id": "g", "client.id": "c", "socket.nagle.disable": "true", "socket.keepalive.enable": "true",
                "reconnect.backoff.ms": "50", "reconnect.backoff.max.ms": "1000",
                "topic.metadata.refresh.fast.interval.ms": "100", "log.connection.close": "true",
                "statistics.interval.ms": "5000", "allow.auto.create.topics": "false", "enable.auto.commit": "false",
                "enable.auto.offset.store": "false", "isolation.level": "read_committed", "auto.offset.reset": "error",
                "partition.assignment.strategy": "range", "session.timeout.ms": "45000",
                "heartbeat.interval.ms": "3000", "max.poll.interval.ms": "300000", "queued.min.messages": "1000000",
                "queued.max.messages.kbytes": "65536", "fetch.message.max.bytes": "4194304",
                "fetch.max.bytes": "52428800", "fetch.min.bytes": "1", "fetch.wait.max.ms": "100",
                "fetch.error.backoff.ms": "50", "check.crcs": "false", "topic.blacklist": "^out$",
                "enable.partition.eof": "true", "group.instance.id": "i.0",
            ]
        ),
        (
            .producer,
            [
                "transactional.id": "t", "transaction.timeout.ms": "30000", "message.max.bytes": "67108864",
                "socket.timeout.ms": "10000", "request.timeout.ms": "10000", "retry.backoff.ms": "20",
                "linger.ms": "10", "batch.num.messages": "10000", "batch.size": "1000000",
                "compression.codec": "lz4", "queue.buffering.max.messages": "1000000",
                "queue.buffering.max.kbytes": "262144", "partitioner": "murmur2_random",
                "delivery.report.only.error": "false", "allow.auto.create.topics": "false", "debug": "eos,feature",
            ]
        ),
    ]

    @Test("This library accepts the worker's settings", arguments: worker.indices)
    func workerSettings(index: Int) throws {
        let (role, configuration) = Self.worker[index]
        try configuration.validate(as: role)
    }

    @Test("The library reports its version and features")
    func library() {
        let parts = LibraryInfo.versionText.split(separator: ".").prefix(2).compactMap { Int($0) }
        #expect(parts.count == 2)
        #expect(LibraryInfo.versionNumber >> 16 == parts[0] << 8 | parts[1])
        #expect(LibraryInfo.isAtLeast(parts[0], parts[1], 0))
        #expect(!LibraryInfo.isAtLeast(parts[0], parts[1] + 1, 0))
        #expect(LibraryInfo.hasProperty("linger.ms") && !LibraryInfo.hasProperty("linger.mss"))
        #expect(LibraryInfo.supportsFetchQueueBackoff == LibraryInfo.isAtLeast(2, 2, 0))
        #expect(LibraryInfo.supportsSCRAM == LibraryInfo.isAtLeast(2, 6, 1))
        #expect(LibraryInfo.accepts("acks", "all") && !LibraryInfo.accepts("compression.codec", "rar"))
        #expect(LibraryInfo.hasLZ4)
    }

    @Test("The library's manual lists every property with its clients")
    func knownProperties() {
        #expect(KnownProperties.all.count > 100)
        #expect(KnownProperties.named("linger.ms")?.scope == .producer)
        #expect(KnownProperties.named("group.id")?.scope == .consumer)
        #expect(KnownProperties.named("client.id")?.scope == .both)
        #expect(KnownProperties.named("partitioner")?.scope == .producer)
        #expect(KnownProperties.named("socket.keepalive.enable")?.range == "true, false")
        #expect(KnownProperties.named("linger.ms")?.defaultValue == "5")
        #expect(KnownProperties.named("error_cb") == nil)
        #expect(KnownProperties.all.filter { !LibraryInfo.hasProperty($0.name) } == [])
    }

    @Test(
        "Secrets are recognized by name",
        arguments: [
            ("sasl.password", true), ("ssl.key.password", true), ("ssl.key.pem", true),
            ("sasl.oauthbearer.client.secret", true), ("ssl.keystore.password", true),
            ("sasl.oauthbearer.config", true),
            ("ssl.ca.pem", false), ("client.id", false), ("sasl.mechanism", false), ("ssl.key.location", false),
        ])
    func secrets(name: String, isSecret: Bool) {
        #expect(KnownProperties.isSecret(name) == isSecret)
    }
}
