/// The incompatibility of SCRAM between librdkafka before 2.6.1 and brokers since Kafka 3.7.2.
///
/// The client sends its nonce twice, and the broker rejects correct passwords (librdkafka issue 4895, CVE-2024-56128).
enum Scram {
    /// Returns a Boolean value that indicates whether the configuration selects SCRAM.
    static func isSelected(_ configuration: WorkerConfiguration) -> Bool {
        configuration.clientProperties.contains { property in
            ["sasl.mechanism", "sasl.mechanisms"].contains(ClientSettings.split(property.key).key)
                && property.value.uppercased().hasPrefix("SCRAM-")
        }
    }

    /// Returns the warning that is logged at the start.
    static func warning(_ version: String) -> String {
        "SCRAM with librdkafka \(version) works only with brokers before Kafka 3.7.2: later brokers answer "
            + "\"invalid credentials\" to correct passwords; librdkafka 2.6.1 or later is required"
    }

    /// Returns the exit for an authentication that failed with SCRAM.
    static func exit(_ version: String, _ text: String) -> WorkerExit {
        WorkerExit(
            .configuration, "authentication failed: \(text); \(warning(version))",
            advice: "use librdkafka 2.6.1 or later, or authenticate with PLAIN over TLS or with a certificate")
    }
}
