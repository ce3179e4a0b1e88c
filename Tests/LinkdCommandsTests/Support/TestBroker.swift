internal import Foundation
internal import TestSupport
internal import Testing

/// The brokers for tests, from the environment.
enum TestBroker {
    private static let environment = ProcessInfo.processInfo.environment

    /// A broker without encryption, or nil.
    static var plain: String? { environment["KAFKA_BOOTSTRAP_SERVERS"] }

    /// A broker with SASL, TLS, and access rules, with the properties for a user without rights, or nil.
    static var refusing: [String: String]? {
        guard let secure = environment["KAFKA_SECURE_BOOTSTRAP"], let directory = environment["KAFKA_DIR"] else {
            return nil
        }
        return [
            "KAFKA_BOOTSTRAP_SERVERS": secure, "KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "KAFKA_SASL_MECHANISMS": "PLAIN",
            "KAFKA_SSL_CA_LOCATION": directory + "/tls/ca.pem", "KAFKA_SASL_USERNAME": "mallory",
            "KAFKA_SASL_PASSWORD": "mallory-secret",
        ]
    }

    /// The broker with the properties for a user with all rights, or nil.
    static var permitting: [String: String]? {
        refusing?.merging(["KAFKA_SASL_USERNAME": "alice", "KAFKA_SASL_PASSWORD": "alice-secret"]) { $1 }
    }

    /// The broker with the properties for a client with a token, or nil.
    ///
    /// It accepts unsecured tokens.
    static var accepting: [String: String]? {
        guard var result = refusing else { return nil }
        result["KAFKA_SASL_MECHANISMS"] = "OAUTHBEARER"
        result["KAFKA_SASL_USERNAME"] = nil
        result["KAFKA_SASL_PASSWORD"] = nil
        return result
    }

    /// A broker that requires client certificates, with the properties for a client that has one, or nil.
    static var mutualTLS: [String: String]? {
        guard let broker = environment["KAFKA_TLS_BOOTSTRAP"], let directory = environment["KAFKA_DIR"] else {
            return nil
        }
        return [
            "KAFKA_BOOTSTRAP_SERVERS": broker, "KAFKA_SECURITY_PROTOCOL": "SSL",
            "KAFKA_SSL_CA_LOCATION": directory + "/tls/ca.pem",
            "KAFKA_SSL_CERTIFICATE_LOCATION": directory + "/tls/client.pem",
            "KAFKA_SSL_KEY_LOCATION": directory + "/tls/client.key",
        ]
    }

    /// The path of a script that runs one of Kafka's tools with the broker that the tests have started.
    ///
    /// It is nil if the tests use another broker.
    static var script: String? { environment["LINKD_TEST_BROKER"] }

    /// Runs `script` with the given arguments.
    static func tool(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let result = try ChildProcess.run([script ?? ""] + arguments)
        #expect(result.status == 0, "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
    }

    /// Returns a name that no other test uses.
    static func uniqueName(_ prefix: String) -> String { "\(prefix)-\(UUID().uuidString.prefix(8).lowercased())" }
}
