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
    package var address: String? {
        switch self {
        case .refused(let address), .noAnswer(let address), .closedAtStart(let address, _), .closed(let address),
            .tlsOnPlain(let address), .unknownCA(let address), .expiredCertificate(let address),
            .wrongHostName(let address), .unverifiedCertificate(let address), .clientCertificateMissing(let address),
            .clientCertificateRefused(let address), .wrongPassword(let address), .refusedToken(let address),
            .oldSCRAM(let address), .unsupportedMechanism(let address, _), .saslOnPlain(let address),
            .httpServer(let address):
            address.isEmpty ? nil : address
        case .unknownHost, .noToken, .other: nil
        }
    }

    /// A Boolean value that indicates whether a broker refused the client's credentials.
    package var isRefusal: Bool {
        switch self {
        case .wrongPassword, .refusedToken, .noToken, .oldSCRAM, .unsupportedMechanism, .saslOnPlain: true
        default: false
        }
    }

    /// The cause as a clause, without a final period.
    ///
    /// It can contain texts of librdkafka and names of hosts, which a terminal must not interpret.
    package var summary: String {
        let broker = address ?? "the broker"
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
        case .noToken: "correct sasl.token.file or sasl.token.command, or what writes the token"
        case .oldSCRAM: "install librdkafka 2.6.1 or later, or use PLAIN over TLS or client certificates"
        case .unsupportedMechanism: "set KAFKA_SASL_MECHANISMS to a mechanism of the broker"
        case .saslOnPlain:
            "connect to the broker's SASL listener, or set KAFKA_SECURITY_PROTOCOL to PLAINTEXT or SSL"
        case .httpServer: "check the host and the port in --bootstrap, and proxies between this machine and the broker"
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
