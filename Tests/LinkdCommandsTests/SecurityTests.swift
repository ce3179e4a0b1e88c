internal import Foundation
internal import KafkaClient
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// A worker whose connections are encrypted and authenticated, with a real broker.
@Suite(
    .enabled(
        if: TestBroker.refusing != nil && TestBroker.plain != nil && TestBroker.mutualTLS != nil,
        "no broker with TLS and users: KAFKA_SECURE_BOOTSTRAP or KAFKA_TLS_BOOTSTRAP is not set"))
struct SecurityTests {
    struct Access: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var variables: [String: String]
    }

    /// The ways to connect that this version of librdkafka supports.
    static var accesses: [Access] {
        var user = TestBroker.refusing ?? [:]
        user["KAFKA_SASL_USERNAME"] = "alice"
        user["KAFKA_SASL_PASSWORD"] = "alice-secret"
        var result = [
            Access(testDescription: "PLAIN", variables: user),
            Access(testDescription: "client certificate", variables: TestBroker.mutualTLS ?? [:]),
        ]
        if LibraryInfo.supportsSCRAM {
            user["KAFKA_SASL_MECHANISMS"] = "SCRAM-SHA-512"
            result.append(Access(testDescription: "SCRAM-SHA-512", variables: user))
        }
        return result
    }

    @Test("A worker processes records, and no output contains a secret", arguments: accesses)
    func worker(access: Access) throws {
        let name = TestBroker.uniqueName("commands-secure")
        let topics = ["--input", name, "--output", name + ".out"]
        let plain = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
        #expect(try LinkdProcess.run(["topics", "create"] + topics, environment: plain).code == 0)
        try TestBroker.tool([
            "acls", "--add", "--allow-principal", "User:CN=client", "--operation", "All", "--topic", name,
            "--group", name, "--transactional-id", "linkd.\(name).", "--resource-pattern-type", "prefixed",
        ])
        let event = #"{"id":"e1","link":"shop:///p/new","device":{"id":"d-1"}}"#
        let produced = try LinkdProcess.run(
            ["produce", "--topic", name], input: event, environment: access.variables)
        #expect(produced.code == 0, "\(produced.err)")
        let table = Checkout.root.appending(path: "config/routes/shop.json").path
        let worker = try LinkdProcess.run(
            [
                "worker", "--group", name, "--table", table, "--stop-after", "1", "--lanes", "1", "--log-level",
                "debug",
            ] + topics, environment: access.variables)
        #expect(worker.code == 0, "\(worker.err)")
        let doctor = try LinkdProcess.run(["doctor", "--group", name] + topics, environment: access.variables)
        let config = try LinkdProcess.run(["config"], environment: access.variables)
        for (variable, secret) in access.variables where variable.hasSuffix("PASSWORD") {
            for result in [produced, worker, doctor, config] {
                #expect(!result.out.contains(secret) && !result.err.contains(secret), "\(variable)")
            }
        }
    }

    @Test("A TLS listener and a plain client, and the reverse, have a cause")
    func wrongProtocol() throws {
        let plain = try LinkdProcess.run(
            ["topics", "check", "--start-timeout", "2s"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.mutualTLS?["KAFKA_BOOTSTRAP_SERVERS"] ?? ""])
        #expect(plain.code == 69)
        #expect(plain.err.contains("set KAFKA_SECURITY_PROTOCOL to SSL or SASL_SSL"), "\(plain.err)")
        let tls = try LinkdProcess.run(
            ["topics", "check", "--start-timeout", "2s"],
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "", "KAFKA_SECURITY_PROTOCOL": "SSL",
            ])
        #expect(tls.code == 69)
        #expect(tls.err.contains("does not use TLS"), "\(tls.err)")
    }

    @Test("A missing client certificate has a cause")
    func noCertificate() throws {
        var variables = TestBroker.mutualTLS ?? [:]
        variables["KAFKA_SSL_CERTIFICATE_LOCATION"] = nil
        variables["KAFKA_SSL_KEY_LOCATION"] = nil
        let result = try LinkdProcess.run(["topics", "check", "--start-timeout", "2s"], environment: variables)
        #expect(result.code == 69)
        #expect(result.err.contains("requires a client certificate"), "\(result.err)")
    }
}
