/// The reason why a broker cannot be used, read from the text with which librdkafka reports it.
///
/// The texts of 2.0.2 and 2.16 are known. An address is `host:port`.
package enum ConnectionCause: Sendable, Equatable {
    /// The host name has no address.
    case unknownHost(String)
    /// No process listens at the address.
    case refused(String)
    /// The address does not answer, or the network does not reach it.
    case noAnswer(String)
    /// The broker closed a connection that it had accepted, before it answered the first request.
    ///
    /// A listener for TLS or with authentication does this to a client without.
    case closedAtStart(String, ConnectionProtocol)
    /// The broker closed a connection that worked.
    case closed(String)
    /// The listener does not use TLS.
    case tlsOnPlain(String)
    /// The broker's certificate is from a certificate authority that the client does not trust.
    case unknownCA(String)
    /// The broker's certificate has expired, or is not valid yet.
    case expiredCertificate(String)
    /// The broker's certificate is for another host name.
    case wrongHostName(String)
    /// The broker's certificate was refused for a reason that the text does not have.
    case unverifiedCertificate(String)
    /// The broker requires a certificate of the client.
    case clientCertificateMissing(String)
    /// The broker refuses the certificate of the client.
    case clientCertificateRefused(String)
    /// The broker refuses the user name or the password.
    case wrongPassword(String)
    /// The broker refuses the token.
    case refusedToken(String)
    /// The source of tokens has none, with the reason.
    case noToken(String)
    /// The broker refuses SCRAM, which this version of librdkafka implements incorrectly.
    case oldSCRAM(String)
    /// The broker does not have the SASL mechanism, only the listed ones.
    case unsupportedMechanism(String, supported: String)
    /// The listener does not use SASL.
    case saslOnPlain(String)
    /// An HTTP server listens at the address.
    case httpServer(String)
    /// This process may not open more files, and a connection is one.
    case noDescriptors
    /// Another reason, with librdkafka's text.
    case other(String)

    /// The cause of an error, or nil if the error is not about a connection or does not state the reason.
    package init?(_ error: KafkaError) {
        self.init(error, supportsSCRAM: LibraryInfo.supportsSCRAM)
    }

    /// The cause in a log line, or nil if the line is not about a connection.
    package init?(logLine: LogLine) {
        self.init(logLine: logLine, supportsSCRAM: LibraryInfo.supportsSCRAM)
    }

    /// The cause of an error.
    ///
    /// - Parameter supportsSCRAM: A Boolean value that indicates whether librdkafka implements SCRAM correctly.
    init?(_ error: KafkaError, supportsSCRAM: Bool) {
        if let found = Self.find(ConnectionText(error.text), supportsSCRAM: supportsSCRAM) {
            self = found
            return
        }
        let codes: [KafkaErrorCode] = [
            .transport, .resolve, .ssl, .authentication, .saslAuthenticationFailed, .unsupportedSASLMechanism,
            .illegalSASLState,
        ]
        // The text of the code itself is not a reason.
        let line = ConnectionText(error.text).line
        guard codes.contains(error.code), error.text != error.code.text, !line.isEmpty else { return nil }
        self = .other(line)
    }

    /// The cause in a log line.
    init?(logLine: LogLine, supportsSCRAM: Bool) {
        guard logLine.facility == "FAIL" else { return nil }
        let text = ConnectionText(logLine.text)
        self = Self.find(text, supportsSCRAM: supportsSCRAM) ?? .other(text.line)
    }

    private static func find(_ text: ConnectionText, supportsSCRAM: Bool) -> ConnectionCause? {
        network(text) ?? tls(text) ?? sasl(text, supportsSCRAM: supportsSCRAM) ?? closing(text)
    }

    private static func network(_ text: ConnectionText) -> ConnectionCause? {
        if let name = text.part(after: "Failed to resolve '", before: "'") {
            return .unknownHost(ConnectionText.host(of: name))
        }
        let silent = [
            "Connection timed out", "No route to host", "Network is unreachable", "Host is unreachable",
            "Connection setup timed out", "request(s) timed out", "ApiVersionRequest failed: Local: Timed out",
        ]
        if text.has("Too many open files") { return .noDescriptors }
        if text.has("Connection refused") { return .refused(text.address) }
        if silent.contains(where: text.has) { return .noAnswer(text.address) }
        // The length of a response is its first 4 bytes, here `HTTP`.
        return text.has("response size 1213486160") ? .httpServer(text.address) : nil
    }

    private static func tls(_ text: ConnectionText) -> ConnectionCause? {
        if text.has("certificate verify failed") { return .unverifiedCertificate(text.address) }
        if let alert = text.part(after: "SSL alert number ", before: " ") {
            switch alert {
            case "42", "116": return .clientCertificateMissing(text.address)
            case "43", "44", "45", "46", "48": return .clientCertificateRefused(text.address)
            default: return nil
            }
        }
        // A listener without TLS closes the connection, or resets it if there are bytes that it has not read.
        let plain = [
            "wrong version number", "unexpected eof while reading", "connecting to a PLAINTEXT broker", "Disconnected",
            "closed by peer", "Connection reset by peer",
        ]
        return text.has("SSL") && text.has("state SSL_HANDSHAKE") && plain.contains(where: text.has)
            ? .tlsOnPlain(text.address) : nil
    }

    private static func sasl(_ text: ConnectionText, supportsSCRAM: Bool) -> ConnectionCause? {
        if text.has("Unsupported SASL mechanism") {
            let supported = text.part(after: "supported mechanisms: ", before: " (after") ?? ""
            return .unsupportedMechanism(text.address, supported: supported)
        }
        if text.has("not valid in current SASL state") { return .saslOnPlain(text.address) }
        guard text.has("SASL") || text.has("Authentication failed") else { return nil }
        if let reason = text.part(after: "Failed to acquire SASL OAUTHBEARER token: ", before: "\n") {
            return .noToken(reason)
        }
        if text.has("invalid_token") { return .refusedToken(text.address) }
        if text.has("invalid credentials") || text.has("Invalid username or password") {
            return text.has("SCRAM") && !supportsSCRAM ? .oldSCRAM(text.address) : .wrongPassword(text.address)
        }
        return nil
    }

    private static func closing(_ text: ConnectionText) -> ConnectionCause? {
        guard text.has("Disconnected") || text.has("closed by peer") || text.has("Connection reset by peer") else {
            return nil
        }
        let states = ["APIVERSION_QUERY", "AUTH_HANDSHAKE", "AUTH_LEGACY"]
        let isStart = states.contains { text.has("in state " + $0) } || text.has("might require SASL")
        return isStart ? .closedAtStart(text.address, text.protocol) : .closed(text.address)
    }
}

/// A value of librdkafka's `security.protocol`.
package enum ConnectionProtocol: String, Sendable, Equatable, CaseIterable {
    case plaintext
    case ssl
    case saslPlaintext = "sasl_plaintext"
    case saslSSL = "sasl_ssl"
}

/// A text of librdkafka about a connection, such as `ssl://host:9092/1: text (after 3ms in state CONNECT)`.
struct ConnectionText {
    /// The longest text that is read, in characters.
    private static let limit = 1024

    /// The text without the name of the thread and of the broker.
    let line: String
    /// The protocol of the connection.
    let `protocol`: ConnectionProtocol
    /// The broker's `host:port`, or the name of its role if librdkafka names no other.
    let address: String

    /// Reads a text.
    init(_ text: String) {
        var rest = text.prefix(Self.limit)
        if rest.hasPrefix("[thrd:"), let end = rest.firstRange(of: "]: ") { rest = rest[end.upperBound...] }
        var names: [Substring] = []
        // The name of a role, such as `GroupCoordinator`, can come before the name of the broker.
        while names.count < 2, let end = rest.firstRange(of: ": "), Self.isName(rest[..<end.lowerBound]) {
            names.append(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        line = String(rest)
        var name = names.last ?? ""
        var found = ConnectionProtocol.plaintext
        if let scheme = name.firstRange(of: "://") {
            found = ConnectionProtocol(rawValue: String(name[..<scheme.lowerBound])) ?? found
            name = name[scheme.upperBound...]
        }
        `protocol` = found
        var place = String(name.firstIndex(of: "/").map { name[..<$0] } ?? name)
        // The name of a role is no address, but the text of a refused connection has it.
        if !place.contains(":"), let found = line.firstMatch(of: #/Connect to ipv[46]#(\S+) failed/#) {
            place = String(found.1)
        }
        address = place
    }

    /// Returns a Boolean value that indicates whether a text is the name of a broker: it has a `/` and no space.
    private static func isName(_ text: Substring) -> Bool {
        !text.contains(" ") && (text.contains("/") || text.hasSuffix("Coordinator"))
    }

    /// Returns a Boolean value that indicates whether the text contains another text.
    func has(_ text: String) -> Bool { line.contains(text) }

    /// Returns the text between two others.
    ///
    /// Without the second one, it reaches to the end.
    func part(after start: String, before end: String) -> String? {
        guard let first = line.firstRange(of: start) else { return nil }
        let rest = line[first.upperBound...]
        return String(rest.firstRange(of: end).map { rest[..<$0.lowerBound] } ?? rest)
    }

    /// Returns the host of `host:port`.
    static func host(of address: String) -> String {
        address.lastIndex(of: ":").map { String(address[..<$0]) } ?? address
    }
}

extension String {
    /// The text of a line of librdkafka without its guess that settings are wrong, for a client to which a broker has
    /// answered before.
    ///
    /// librdkafka makes this guess whenever a connection ends before its first answer, as all do while brokers stop.
    package var withoutSettingsGuess: String {
        guard let guess = firstRange(of: ": might be caused by incorrect ") else { return self }
        let rest = self[guess.upperBound...]
        let end = rest.ranges(of: " (after ").last?.lowerBound ?? endIndex
        return String(self[..<guess.lowerBound] + self[end...])
    }
}

/// The reason why a broker's certificate was refused.
package enum CertificateProblem: Sendable, Equatable {
    case unknownCA
    case expired
    case wrongHostName
    case other

    /// Creates a reason from a code of OpenSSL (`X509_V_ERR_…`).
    init(openSSLCode code: Int32) {
        self =
            switch code {
            case 2, 18...21, 24, 27: .unknownCA
            case 9, 10: .expired
            case 62, 64: .wrongHostName
            default: .other
            }
    }
}

extension ConnectionCause {
    /// Returns the cause with the reason why the certificate was refused, if the cause is a refused certificate.
    package func with(_ problem: CertificateProblem?) -> ConnectionCause {
        guard case .unverifiedCertificate(let address) = self else { return self }
        return switch problem {
        case .unknownCA: .unknownCA(address)
        case .expired: .expiredCertificate(address)
        case .wrongHostName: .wrongHostName(address)
        case .other, nil: self
        }
    }

    /// The `host:port` of the broker, or nil if the cause does not contain it.
    package var address: String? { broker.flatMap { $0.contains(":") ? $0 : nil } }

    /// A Boolean value that indicates whether the cause is about a broker without its address.
    ///
    /// librdkafka names some connections only by a role, such as `TxnCoordinator`.
    package var lacksAddress: Bool { broker != nil && address == nil }

    /// The `host:port` or the role of the broker, which can be empty, or nil if the cause is not about one broker.
    private var broker: String? {
        switch self {
        case .refused(let address), .noAnswer(let address), .closedAtStart(let address, _), .closed(let address),
            .tlsOnPlain(let address), .unknownCA(let address), .expiredCertificate(let address),
            .wrongHostName(let address), .unverifiedCertificate(let address), .clientCertificateMissing(let address),
            .clientCertificateRefused(let address), .wrongPassword(let address), .refusedToken(let address),
            .oldSCRAM(let address), .unsupportedMechanism(let address, _), .saslOnPlain(let address),
            .httpServer(let address):
            address
        case .unknownHost, .noToken, .noDescriptors, .other: nil
        }
    }

    /// A Boolean value that indicates whether a broker refused the client's credentials.
    package var isRefusal: Bool {
        switch self {
        case .wrongPassword, .refusedToken, .noToken, .oldSCRAM, .unsupportedMechanism, .saslOnPlain: true
        default: false
        }
    }

    /// The cause for a client to which a broker has answered before, whose settings are therefore correct.
    package var ofKnownBroker: ConnectionCause {
        switch self {
        case .closedAtStart(let address, _): .closed(address)
        default: self
        }
    }

    /// The cause as a clause, without a final period.
    ///
    /// It can contain texts of librdkafka and names of hosts, which a terminal must not interpret.
    package var summary: String {
        let broker = self.broker.flatMap { $0.isEmpty ? nil : $0 } ?? "the broker"
        return switch self {
        case .unknownHost(let name): "Failed to resolve '\(name)'"
        case .refused: "\(broker) refused the connection"
        case .noAnswer: "\(broker) does not answer"
        case .closedAtStart: "\(broker) closed the connection before it answered the first request"
        case .closed: "\(broker) closed the connection"
        case .tlsOnPlain: "\(broker) does not use TLS"
        case .unknownCA: "certificate verify failed: the certificate of \(broker) is from an unknown authority"
        case .expiredCertificate: "certificate verify failed: the certificate of \(broker) is expired or not valid yet"
        case .wrongHostName: "certificate verify failed: the certificate of \(broker) is for another host name"
        case .unverifiedCertificate: "certificate verify failed for \(broker)"
        case .clientCertificateMissing: "\(broker) requires a client certificate"
        case .clientCertificateRefused: "\(broker) refused the client certificate"
        case .wrongPassword: "\(broker) refused the user name or the password"
        case .refusedToken: "\(broker) refused the token"
        case .noToken(let reason): reason
        case .oldSCRAM:
            "\(broker) refused SCRAM, which librdkafka \(LibraryInfo.versionText) implements incorrectly for "
                + "Kafka 3.7.2 and later (issue 4895)"
        case .unsupportedMechanism(_, let supported):
            "\(broker) does not have this SASL mechanism" + (supported.isEmpty ? "" : ", only \(supported)")
        case .saslOnPlain: "\(broker) does not use SASL"
        case .httpServer: "\(broker) is an HTTP server, not a Kafka broker"
        case .noDescriptors: "this process has as many open files as it may have"
        case .other(let text): text
        }
    }

    /// The next step for an operator, without a final period.
    package var advice: String {
        switch self {
        case .unknownHost: "check the name in --bootstrap, and the DNS of this machine"
        case .refused: "check that the broker runs, and the port in --bootstrap"
        case .noAnswer: "check the address in --bootstrap, the firewalls, and whether the broker is overloaded"
        case .closedAtStart(_, let used): Self.protocolAdvice(used)
        case .closed: "check the broker's log"
        case .tlsOnPlain:
            "connect to the broker's TLS listener, or set KAFKA_SECURITY_PROTOCOL to PLAINTEXT or SASL_PLAINTEXT"
        case .unknownCA: "set KAFKA_SSL_CA_LOCATION to the certificate of the authority that signed the broker's"
        case .expiredCertificate: "renew the broker's certificate, and check the clocks of broker and client"
        case .wrongHostName: "use a host name that the certificate contains, in --bootstrap and advertised.listeners"
        case .unverifiedCertificate:
            "check KAFKA_SSL_CA_LOCATION, and the names and dates in the broker's certificate"
        case .clientCertificateMissing: "set KAFKA_SSL_CERTIFICATE_LOCATION and KAFKA_SSL_KEY_LOCATION"
        case .clientCertificateRefused:
            "check the dates of the client certificate, and that the broker trusts its authority"
        case .wrongPassword: "check KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD"
        case .refusedToken: "check that the token is valid, and that its audience and issuer are those of the broker"
        case .noToken:
            "correct sasl.token.file, sasl.token.command, or sasl.oauthbearer.config, or what writes the token"
        case .oldSCRAM: "install librdkafka 2.6.1 or later, or use PLAIN over TLS or client certificates"
        case .unsupportedMechanism: "set KAFKA_SASL_MECHANISMS to a mechanism of the broker"
        case .saslOnPlain:
            "connect to the broker's SASL listener, or set KAFKA_SECURITY_PROTOCOL to PLAINTEXT or SSL"
        case .httpServer: "check the host and the port in --bootstrap, and proxies between this machine and the broker"
        case .noDescriptors:
            "raise the limit on open files (LimitNOFILE= of systemd, `ulimit -n`), or use fewer lanes"
        case .other: "check --bootstrap, the network, and the broker's log"
        }
    }

    /// The advice for a connection that the broker closed at its start, which depends on the client's protocol.
    private static func protocolAdvice(_ used: ConnectionProtocol) -> String {
        switch used {
        case .plaintext:
            "set KAFKA_SECURITY_PROTOCOL to SSL or SASL_SSL if the port is for TLS, or to SASL_PLAINTEXT if it "
                + "requires authentication"
        case .saslPlaintext: "set KAFKA_SECURITY_PROTOCOL=SASL_SSL if the port is for TLS, and check the broker's log"
        case .ssl:
            "set KAFKA_SECURITY_PROTOCOL=SASL_SSL if the port requires authentication, and check the broker's log"
        case .saslSSL: "check the broker's log, which has the reason"
        }
    }
}
