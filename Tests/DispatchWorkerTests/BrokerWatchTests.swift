@testable import KafkaClient
import TestSupport
import Testing

@testable import DispatchWorker

/// The contact with the brokers, from given times.
@Suite struct BrokerContactTests {
    private static let second: UInt64 = 1_000_000_000
    private static let silence = KafkaError(code: .transport)
    private static let refusal = KafkaError(
        code: .transport,
        text: "127.0.0.1:9/bootstrap: Connect to ipv4#127.0.0.1:9 failed: Connection refused "
            + "(after 0ms in state CONNECT)")

    @Test("Brokers are unreachable after 5 s and two failed requests, until the next answer")
    func outage() {
        var contact = BrokerContact()
        #expect(contact.state(now: 100 * Self.second).isReachable)
        contact.started(now: Self.second)
        contact.answered(now: 2 * Self.second)
        contact.failed(Self.silence)
        // One request proves nothing, even after an hour.
        #expect(contact.state(now: 3_600 * Self.second).isReachable)
        contact.failed(Self.silence)
        #expect(contact.state(now: 7 * Self.second - 1).isReachable)
        let state = contact.state(now: 7 * Self.second)
        #expect(!state.isReachable)
        #expect(state.since == 2 * Self.second)
        contact.answered(now: 42 * Self.second)
        let after = contact.state(now: 42 * Self.second)
        #expect(after.isReachable && after.since == nil)
        #expect(after.returnedAt == 42 * Self.second)
    }

    @Test("An outage before the first answer begins with the first request")
    func start() {
        var contact = BrokerContact()
        contact.started(now: 3 * Self.second)
        contact.failed(Self.silence)
        contact.failed(Self.silence)
        #expect(contact.state(now: 8 * Self.second).since == 3 * Self.second)
    }

    @Test("The state has the newest cause, and an answer removes it")
    func cause() {
        var contact = BrokerContact()
        contact.started(now: 1)
        let line = LogLine(
            level: 3, facility: "FAIL",
            text: "[thrd:nosuchhost:9092/bootstrap]: nosuchhost:9092/bootstrap: Failed to resolve 'nosuchhost:9092': "
                + "Name or service not known (after 2ms in state CONNECT)")
        contact.report(.log(line), now: 2)
        #expect(contact.state(now: 2).cause == .unknownHost("nosuchhost"))
        contact.report(.error(Self.refusal), now: 3)
        contact.report(.error(KafkaError(code: .allBrokersDown, text: "1/1 brokers are down")), now: 4)
        contact.failed(Self.silence)
        #expect(contact.state(now: 4).cause == .refused("127.0.0.1:9"))
        #expect(contact.state(now: 4).address == "127.0.0.1:9")
        contact.answered(now: 5)
        #expect(contact.state(now: 5).cause == nil)
    }

    @Test("A cause that names only the role of a broker does not replace one with an address")
    func role() {
        let role = KafkaError(
            code: .ssl,
            text: "TxnCoordinator: SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: "
                + "broker certificate could not be verified (after 3ms in state X)")
        var contact = BrokerContact()
        contact.started(now: 1)
        contact.report(.error(role), now: 2)
        contact.failed(Self.silence, certificate: .expired)
        #expect(contact.state(now: 3).cause == .expiredCertificate("TxnCoordinator"))
        #expect(contact.state(now: 3).address == nil)
        contact.report(.error(Self.refusal), now: 4)
        contact.report(.error(role), now: 5)
        #expect(contact.state(now: 6).cause == .refused("127.0.0.1:9"))
        contact.report(.error(KafkaError(code: .resolve, text: "h:1/2: Failed to resolve 'h:1': unknown")), now: 7)
        #expect(contact.state(now: 8).cause == .unknownHost("h"))
    }

    @Test("A broker that has answered has the right settings, so that a closed connection is no reason to change them")
    func knownBroker() {
        let line = LogLine(
            level: 3, facility: "FAIL",
            text:
                "[thrd:127.0.0.1:9/bootstrap]: 127.0.0.1:9/bootstrap: Disconnected while requesting ApiVersion: might "
                + "be caused by incorrect security.protocol configuration (connecting to a SSL listener?) or broker "
                + "version is < 0.10 (see api.version.request) (after 1ms in state APIVERSION_QUERY)")
        var contact = BrokerContact()
        contact.started(now: 1)
        contact.report(.log(line), now: 2)
        #expect(contact.state(now: 2).cause == .closedAtStart("127.0.0.1:9", .plaintext))
        contact.answered(now: 3)
        contact.report(.log(line), now: 4)
        #expect(contact.state(now: 4).cause == .closed("127.0.0.1:9"))
        #expect(
            line.text.withoutSettingsGuess
                == "[thrd:127.0.0.1:9/bootstrap]: 127.0.0.1:9/bootstrap: Disconnected while requesting ApiVersion "
                + "(after 1ms in state APIVERSION_QUERY)")
        #expect("Connection refused".withoutSettingsGuess == "Connection refused")
    }

    @Test("A topic is missing from the answer that says so until the answer that says that it exists")
    func missingTopics() {
        var contact = BrokerContact()
        contact.found("out", exists: true)
        #expect(contact.state(now: 1).missingTopics == [])
        contact.found("out", exists: false)
        contact.found("in", exists: false)
        #expect(contact.state(now: 1).missingTopics == ["in", "out"])
        contact.found("out", exists: true)
        #expect(contact.state(now: 1).missingTopics == ["in"])
    }

    @Test("A failed call is explained in an outage, and for 8 s if brokers answer")
    func explanation() {
        var contact = BrokerContact()
        // Nothing is asked, so nothing is known.
        #expect(contact.explains(.transport, now: 1) == false)
        contact.started(now: 1)
        contact.answered(now: Self.second)
        #expect(contact.explains(.timedOut, now: 2 * Self.second) == false)
        #expect(contact.explains(.topicAuthorizationFailed, now: 2 * Self.second) == false)
        #expect(contact.explains(.transport, now: 2 * Self.second) == true)
        contact.answered(now: 8 * Self.second)
        #expect(contact.explains(.transport, now: 10 * Self.second - 1) == true)
        // One of several brokers is down.
        #expect(contact.explains(.transport, now: 10 * Self.second) == false)
        #expect(contact.explains(.timedOut, now: 13 * Self.second) == true)
        #expect(contact.explains(.fenced, now: 13 * Self.second) == false)
    }
}

/// The watch with clusters in this process.
@Suite(.serialized) struct BrokerWatchTests {
    private static func becomes(_ watch: BrokerWatch, _ condition: (BrokerState) -> Bool) -> Bool {
        becomesTrue(withinSeconds: 60) {
            condition(watch.state(now: SystemClock.monotonicNanoseconds()))
        }
    }

    @Test("An outage is seen with its cause, and the answer after it")
    func outage() async {
        await #expect(processExitsWith: .success) {
            try await onThread {
                let cluster = try MockCluster()
                try cluster.createTopic("out", partitions: 1)
                let watch = BrokerWatch(["bootstrap.servers": cluster.bootstrapServers], topics: ["out"])
                watch.start()
                defer { watch.stop() }
                #expect(BrokerWatchTests.becomes(watch) { $0.answeredAt != nil })
                try cluster.setDown()
                #expect(BrokerWatchTests.becomes(watch) { !$0.isReachable })
                #expect(watch.state(now: SystemClock.monotonicNanoseconds()).cause != nil)
                try cluster.setUp()
                #expect(BrokerWatchTests.becomes(watch) { $0.isReachable && $0.returnedAt != nil })
            }
        }
    }

    @Test("An unknown host is named")
    func unknownHost() async throws {
        try await onThread {
            let watch = BrokerWatch(["bootstrap.servers": "nosuchhost.invalid:9092"], topics: ["out"])
            watch.start()
            defer { watch.stop() }
            #expect(Self.becomes(watch) { $0.cause == .unknownHost("nosuchhost.invalid") && !$0.isReachable })
        }
    }

    /// The days of a certificate, its names, whether its authority is trusted, and the expected words of the cause.
    static let certificates: [(days: String, name: String, isTrusted: Bool, words: String)] = [
        ("2", "IP:127.0.0.1", false, "from an unknown authority"),
        ("-1", "IP:127.0.0.1", true, "expired or not valid yet"),
        ("2", "DNS:broker.example", true, "for another host name"),
    ]

    @Test(
        "The reason why a certificate is refused is named, even if a lane reports the same connection without it",
        .enabled(if: TLSServer.isAvailable, "the program openssl is not installed"), arguments: certificates)
    func certificate(days: String, name: String, isTrusted: Bool, words: String) async throws {
        let server = try TLSServer(days: days, name: name)
        defer { server.stop() }
        let address = server.address
        let authority = isTrusted ? server.authority : server.otherAuthority
        let state = try await onThread {
            let watch = BrokerWatch(
                [
                    "bootstrap.servers": address, "security.protocol": "ssl", "ssl.ca.location": authority,
                    "ssl.endpoint.identification.algorithm": "https",
                ], topics: ["out"])
            watch.start()
            defer { watch.stop() }
            #expect(Self.becomes(watch) { !$0.isReachable && $0.cause != nil })
            let error = KafkaError(
                code: .ssl,
                text: "ssl://\(address)/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate "
                    + "verify failed (after 5ms in state SSL_HANDSHAKE)")
            watch.report(.error(error))
            return watch.state(now: SystemClock.monotonicNanoseconds())
        }
        let summary = try #require(state.cause?.summary)
        #expect(summary.contains("certificate of \(address) is") && summary.contains(words), "\(summary)")
        #expect(state.address == address)
    }
}
