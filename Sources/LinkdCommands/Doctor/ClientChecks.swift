internal import KafkaClient

/// The checks of `linkd doctor` that need no broker.
enum ClientChecks {
    /// Checks the version of librdkafka.
    ///
    /// - Parameter isFixed: A Boolean value that indicates whether the version is 2.6.1 or later.
    static func library(_ version: String, isFixed: Bool, mechanism: String?) -> DoctorCheck {
        if isFixed { return .ok("library", "librdkafka \(version)") }
        if let mechanism, mechanism.hasPrefix("SCRAM") {
            return .warn(
                "library",
                "librdkafka \(version) implements \(mechanism) incorrectly for Kafka 3.7.2 and later (issue 4895)",
                next: "install librdkafka 2.6.1 or later, or use PLAIN over TLS or client certificates")
        }
        // The watchdog ends such a worker, and a supervisor restarts it.
        return .ok(
            "library",
            "librdkafka \(version), without SCRAM for Kafka 3.7.2 and later (since 2.6.1), and with known "
                + "hangs when a consumer closes")
    }

    /// Checks the security settings.
    static func security(_ settings: Settings) -> DoctorCheck {
        let used = settings.property("security.protocol", client: "consumer")?.value.lowercased() ?? "plaintext"
        let name = used.uppercased()
        guard used.hasPrefix("sasl") else {
            let given = settings.properties.contains { LibrdkafkaKeys.bare($0.key).hasPrefix("sasl.") }
            if given {
                return .warn(
                    "security", "\(name), so that the SASL settings have no effect",
                    next: "set KAFKA_SECURITY_PROTOCOL to SASL_SSL, or remove the SASL settings")
            }
            return used == "ssl"
                ? .ok("security", "\(name), encrypted")
                : .ok("security", "\(name), not encrypted, as \(settings.principal ?? "User:ANONYMOUS")")
        }
        let chosen = mechanism(settings) ?? "GSSAPI"
        let who = settings.principal.map { ", presumably as \($0)" } ?? ""
        if used == "sasl_plaintext", chosen == "PLAIN" {
            return .warn(
                "security", "\(name) sends the password of PLAIN unencrypted\(who)",
                next: "use SASL_SSL, or SCRAM-SHA-512")
        }
        return .ok("security", "\(name) with \(chosen)\(who)")
    }

    /// Returns the SASL mechanism of the settings, or nil.
    static func mechanism(_ settings: Settings) -> String? {
        let keys = ["sasl.mechanisms", "sasl.mechanism"]
        return keys.compactMap { settings.property($0, client: "consumer")?.value }.first
    }
}
