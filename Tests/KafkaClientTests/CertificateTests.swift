import Foundation
import TestSupport
import Testing

@testable import KafkaClient

/// The reason why a broker's certificate is refused, with a TLS server of OpenSSL in place of a broker.
@Suite(.enabled(if: TLSServer.isAvailable, "the program openssl is not installed"))
struct CertificateTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var days = "2"
        var name = "DNS:localhost,IP:127.0.0.1"
        var trustsAuthority = true
        var expected: @Sendable (String) -> ConnectionCause
    }

    static let rows = [
        Row(testDescription: "unknown authority", trustsAuthority: false, expected: { .unknownCA($0) }),
        Row(testDescription: "expired", days: "-1", expected: { .expiredCertificate($0) }),
        Row(testDescription: "wrong host name", name: "DNS:broker.example", expected: { .wrongHostName($0) }),
    ]

    @Test("An admin client tells why a certificate is refused", arguments: rows)
    func reason(row: Row) async throws {
        let server = try TLSServer(days: row.days, name: row.name)
        defer { server.stop() }
        let authority = row.trustsAuthority ? server.authority : server.otherAuthority
        let address = server.address
        let cause = try await onThread {
            let admin = try KafkaAdmin([
                "bootstrap.servers": address, "security.protocol": "ssl", "ssl.ca.location": authority,
                "ssl.endpoint.identification.algorithm": "https", "reconnect.backoff.ms": "50",
            ])
            defer { admin.close() }
            var found: ConnectionCause?
            _ = becomesTrue(withinSeconds: 15) {
                _ = try? admin.metadata(timeoutMilliseconds: 200)
                found = admin.takeEvents().compactMap(admin.cause).first ?? found
                return found != nil
            }
            return found
        }
        #expect(cause == row.expected(address))
    }
}
