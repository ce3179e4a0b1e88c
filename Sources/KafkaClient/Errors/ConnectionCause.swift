/// The reason why a broker cannot be used, which librdkafka reports only as text.
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
    /// Another reason, with librdkafka's text.
    case other(String)

    /// The cause of an error, or nil if the error is not about a connection or does not tell the reason.
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
        address = String(name.firstIndex(of: "/").map { name[..<$0] } ?? name)
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
