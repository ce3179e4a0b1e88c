import Testing

@testable import KafkaClient

/// The causes in the texts of librdkafka 2.0.2 and 2.16.
struct ConnectionCauseTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var code = KafkaErrorCode.transport
        var text: String
        var supportsSCRAM = true
        var expected: ConnectionCause?
        var testDescription: String { text }
    }

    private static let local = "127.0.0.1:31002"

    static let network: [Row] = [
        Row(
            code: .resolve,
            text: "nosuchhost:9092/bootstrap: Failed to resolve 'nosuchhost:9092': Name or service not known "
                + "(after 18ms in state CONNECT)", expected: .unknownHost("nosuchhost")),
        Row(
            text: "127.0.0.1:31002/bootstrap: Connect to ipv4#127.0.0.1:31002 failed: Connection refused "
                + "(after 0ms in state CONNECT)", expected: .refused(local)),
        Row(
            text: "127.0.0.1:31002/bootstrap: Failed to create IPv4 socket: Too many open files (after 0ms in state "
                + "CONNECT)", expected: .noDescriptors),
        Row(
            text: "[::1]:9092/bootstrap: Connect to ipv6#[::1]:9092 failed: Connection refused (after 0ms in state "
                + "CONNECT)", expected: .refused("[::1]:9092")),
        Row(
            text: "GroupCoordinator: 127.0.0.1:31002/1: Connect to ipv4#127.0.0.1:31002 failed: Connection refused "
                + "(after 0ms in state CONNECT)", expected: .refused(local)),
        Row(
            text: "GroupCoordinator: Connect to ipv4#127.0.0.1:31002 failed: Connection refused (after 0ms in state "
                + "CONNECT)", expected: .refused(local)),
        Row(
            text: "10.1.2.3:9092/bootstrap: Connect to ipv4#10.1.2.3:9092 failed: No route to host (after 3069ms in "
                + "state CONNECT)", expected: .noAnswer("10.1.2.3:9092")),
        Row(
            text: "ssl://127.0.0.1:31002/bootstrap: Connection setup timed out in state SSL_HANDSHAKE (after 1031ms "
                + "in state SSL_HANDSHAKE)", expected: .noAnswer(local)),
        Row(
            text: "127.0.0.1:31002/bootstrap: ApiVersionRequest failed: Local: Timed out: probably due to broker "
                + "version < 0.10 (see api.version.request configuration) (after 1046ms in state APIVERSION_QUERY)",
            expected: .noAnswer(local)),
        Row(
            text: "127.0.0.1:31002/1: 2 request(s) timed out: disconnect (average rtt 0.1ms) (after 61s in state UP)",
            expected: .noAnswer(local)),
        Row(
            code: KafkaErrorCode(-199),
            text: "127.0.0.1:31002/bootstrap: Receive failed: Invalid response size 1213486160 (0..100000000): "
                + "increase receive.message.max.bytes (after 31ms in state APIVERSION_QUERY)",
            expected: .httpServer(local)),
        Row(
            text: "127.0.0.1:31002/bootstrap: Disconnected while requesting ApiVersion: might be caused by incorrect "
                + "security.protocol configuration (connecting to a SSL listener?) or broker version is < 0.10 (see "
                + "api.version.request) (after 9ms in state APIVERSION_QUERY)",
            expected: .closedAtStart(local, .plaintext)),
        Row(
            text: "sasl_plaintext://127.0.0.1:31002/bootstrap: Disconnected: connection closed by peer: receive 0 "
                + "after POLLIN (after 22ms in state APIVERSION_QUERY)",
            expected: .closedAtStart(local, .saslPlaintext)),
        Row(
            text: "ssl://127.0.0.1:31002/bootstrap: Disconnected: verify that security.protocol is correctly "
                + "configured, broker might require SASL authentication (after 302ms in state UP)",
            expected: .closedAtStart(local, .ssl)),
        Row(text: "127.0.0.1:31002/1: Disconnected (after 90210ms in state UP)", expected: .closed(local)),
    ]

    static let tls: [Row] = [
        Row(
            code: .ssl,
            text: "ssl://127.0.0.1:31002/bootstrap: SSL handshake failed: error:0A000126:SSL routines::unexpected eof "
                + "while reading (after 31ms in state SSL_HANDSHAKE)", expected: .tlsOnPlain(local)),
        Row(
            code: .ssl,
            text: "ssl://127.0.0.1:31002/bootstrap: SSL handshake failed: error:0A00010B:SSL routines::wrong version "
                + "number (after 4ms in state SSL_HANDSHAKE)", expected: .tlsOnPlain(local)),
        Row(
            text: "ssl://127.0.0.1:31002/bootstrap: error:0A00010B:SSL routines::wrong version number (after 25ms in "
                + "state SSL_HANDSHAKE)", expected: .tlsOnPlain(local)),
        Row(
            text: "ssl://127.0.0.1:31002/bootstrap: SSL handshake failed: Disconnected: SSL connection closed by peer: "
                + "connecting to a PLAINTEXT broker listener? (after 2ms in state SSL_HANDSHAKE)",
            expected: .tlsOnPlain(local)),
        Row(
            text: "ssl://127.0.0.1:31002/bootstrap: Disconnected: SSL connection closed by peer (after 4ms in state "
                + "SSL_HANDSHAKE)", expected: .tlsOnPlain(local)),
        Row(
            code: .ssl,
            text: "ssl://127.0.0.1:31002/bootstrap: SSL handshake failed: SSL transport error: Connection reset by "
                + "peer (after 2ms in state SSL_HANDSHAKE)", expected: .tlsOnPlain(local)),
        Row(
            code: .ssl,
            text: "ssl://localhost:31004/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate "
                + "verify failed: broker certificate could not be verified, verify that ssl.ca.location is correctly "
                + "configured or root CA certificates are installed (install ca-certificates package) (after 55ms in "
                + "state SSL_HANDSHAKE)", expected: .unverifiedCertificate("localhost:31004")),
        Row(
            text: "ssl://localhost:31004/bootstrap: error:0A000086:SSL routines::certificate verify failed (after "
                + "64ms in state SSL_HANDSHAKE)", expected: .unverifiedCertificate("localhost:31004")),
        Row(
            text: "ssl://localhost:31005/bootstrap: Receive failed: error:0A00045C:SSL routines::tlsv13 alert "
                + "certificate required: SSL alert number 116 (after 12ms in state APIVERSION_QUERY)",
            expected: .clientCertificateMissing("localhost:31005")),
        Row(
            text: "ssl://localhost:31005/bootstrap: Receive failed: error:0A000412:SSL routines::sslv3 alert bad "
                + "certificate: SSL alert number 42 (after 12ms in state APIVERSION_QUERY)",
            expected: .clientCertificateMissing("localhost:31005")),
        Row(
            text: "ssl://localhost:31005/bootstrap: Receive failed: error:0A000416:SSL routines::sslv3 alert "
                + "certificate unknown: SSL alert number 46 (after 12ms in state APIVERSION_QUERY)",
            expected: .clientCertificateRefused("localhost:31005")),
    ]

    private static let secure = "sasl_ssl://localhost:9094/bootstrap: "

    static let sasl: [Row] = [
        Row(
            code: .authentication,
            text: secure + "SASL authentication error: Authentication failed: Invalid username or password (after "
                + "302ms in state AUTH_REQ)", expected: .wrongPassword("localhost:9094")),
        Row(
            code: .authentication,
            text: secure + "SASL authentication error: Authentication failed during authentication due to invalid "
                + "credentials with SASL mechanism SCRAM-SHA-512 (after 302ms in state AUTH_REQ)",
            expected: .wrongPassword("localhost:9094")),
        Row(
            code: .authentication,
            text: secure + "SASL authentication error: Authentication failed during authentication due to invalid "
                + "credentials with SASL mechanism SCRAM-SHA-512 (after 302ms in state AUTH_REQ)",
            supportsSCRAM: false, expected: .oldSCRAM("localhost:9094")),
        Row(
            code: .authentication,
            text: secure + "SASL PLAIN: Authentication failed: Invalid username or password (after 2ms in state "
                + "AUTH_REQ)", supportsSCRAM: false, expected: .wrongPassword("localhost:9094")),
        Row(
            code: .authentication,
            text: secure + "SASL authentication error: {\"status\":\"invalid_token\"} (after 2ms in state AUTH_REQ)",
            expected: .refusedToken("localhost:9094")),
        Row(
            code: .authentication,
            text: secure + "SASL GSSAPI mechanism handshake failed: Broker: Unsupported SASL mechanism: broker's "
                + "supported mechanisms: SCRAM-SHA-512,PLAIN (after 5ms in state AUTH_HANDSHAKE)",
            expected: .unsupportedMechanism("localhost:9094", supported: "SCRAM-SHA-512,PLAIN")),
        Row(
            code: .authentication,
            text: "sasl_plaintext://127.0.0.1:31002/bootstrap: SASL PLAIN mechanism handshake failed: Broker: Request "
                + "not valid in current SASL state: broker's supported mechanisms:  (after 5ms in state "
                + "AUTH_HANDSHAKE)", expected: .saslOnPlain(local)),
    ]

    static let others: [Row] = [
        Row(
            text: "127.0.0.1:31002/1: something new (after 3ms in state UP)",
            expected: .other("something new (after 3ms in state UP)")),
        Row(code: .transport, text: KafkaErrorCode.transport.text, expected: nil),
        Row(code: .allBrokersDown, text: "1/1 brokers are down", expected: nil),
        Row(code: .topicAuthorizationFailed, text: "Broker: Topic authorization failed", expected: nil),
        Row(code: .timedOut, text: "Local: Timed out", expected: nil),
        Row(code: .transport, text: "", expected: nil),
    ]

    @Test("The text of an error tells the cause", arguments: network + tls + sasl + others)
    func errors(row: Row) {
        #expect(
            ConnectionCause(KafkaError(code: row.code, text: row.text), supportsSCRAM: row.supportsSCRAM)
                == row.expected)
    }

    @Test(
        "An error quotes nothing of the settings of a token, which are a secret",
        arguments: [
            "Unrecognized sasl.oauthbearer.config beginning at: hidden",
            "Invalid sasl.oauthbearer.config: value out of range of positive int 'lifeSeconds': hidden",
            "SASL/OAUTHBEARER extension keys must only consist of A-Z or a-z characters: hidden (1)",
        ])
    func tokenSettings(text: String) {
        let plain = "Invalid sasl.oauthbearer.config: empty 'principal='"
        #expect(KafkaError(code: .authentication, text: plain).text == plain)
        let url = KafkaError(code: .authentication, text: "Failed to retrieve OIDC token from \"https://a:b@c/t\"")
        #expect(url.text.hasSuffix("\"https://****@c/t\""))
        let error = KafkaError(code: .authentication, text: "Failed to acquire SASL OAUTHBEARER token: " + text)
        #expect(!error.text.contains("hidden"))
        let what = text.contains("extension") ? "an extension" : "sasl.oauthbearer.config"
        #expect(ConnectionCause(error) == .noToken("\(what) is not valid"))
    }

    @Test("A log line tells the same cause, and names the thread first", arguments: network + tls + sasl)
    func lines(row: Row) {
        let line = LogLine(level: 6, facility: "FAIL", text: "[thrd:ssl://x:1/bootstrap]: " + row.text)
        #expect(ConnectionCause(logLine: line, supportsSCRAM: row.supportsSCRAM) == row.expected)
    }

    @Test(
        "The code of OpenSSL tells why a certificate was refused",
        arguments: [
            (20, ConnectionCause.unknownCA("a:1")), (18, .unknownCA("a:1")), (19, .unknownCA("a:1")),
            (10, .expiredCertificate("a:1")), (9, .expiredCertificate("a:1")), (62, .wrongHostName("a:1")),
            (64, .wrongHostName("a:1")), (7, .unverifiedCertificate("a:1")),
        ] as [(Int32, ConnectionCause)])
    func certificates(code: Int32, expected: ConnectionCause) {
        let problem = CertificateProblem(openSSLCode: code)
        #expect(ConnectionCause.unverifiedCertificate("a:1").with(problem) == expected)
        #expect(ConnectionCause.refused("a:1").with(problem) == .refused("a:1"))
    }

    @Test("Log lines of other facilities are not about a connection")
    func facilities() {
        let line = LogLine(level: 5, facility: "REQTMOUT", text: "[thrd:a:1/1]: a:1/1: Timed out FetchRequest")
        #expect(ConnectionCause(logLine: line) == nil)
    }

    @Test("Every cause has a summary and advice, neither with a final period", arguments: network + tls + sasl)
    func texts(row: Row) throws {
        let cause = try #require(row.expected)
        for text in [cause.summary, cause.advice] {
            #expect(!text.isEmpty && !text.hasSuffix("."), "\(text)")
        }
        if cause == .noDescriptors { return }
        if case .unknownHost = cause { return }
        #expect(cause.summary.contains(cause.address ?? "?"))
    }

    @Test("A cut text never traps", arguments: (network + tls + sasl).map(\.text))
    func cut(text: String) {
        for length in 0...text.count {
            let part = String(text.prefix(length))
            _ = ConnectionCause(KafkaError(code: .transport, text: part))
            _ = ConnectionCause(logLine: LogLine(level: 3, facility: "FAIL", text: "[thrd:" + part))
        }
    }

    @Test("A long text is cut")
    func long() {
        let text = String(repeating: "x", count: 100_000)
        #expect(ConnectionCause(KafkaError(code: .transport, text: text)) == .other(String(text.prefix(1024))))
    }
}
