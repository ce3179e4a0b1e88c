/// SCRAM does not work between librdkafka before 2.6.1 and brokers from 3.7.2 on.
///
/// The client sends its nonce twice, and the broker reports correct passwords as invalid (librdkafka issue 4895,
/// CVE-2024-56128).
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
        "SCRAM with librdkafka \(version) works only with brokers before 3.7.2: newer brokers answer "
            + "\"invalid credentials\" to correct passwords; librdkafka 2.6.1 or newer is needed"
    }

    /// Returns the exit for an authentication that failed with SCRAM.
    static func exit(_ version: String, _ text: String) -> WorkerExit {
        WorkerExit(
            .configuration, "authentication failed: \(text); \(warning(version))",
            advice: "use librdkafka 2.6.1 or newer, or authenticate with PLAIN over TLS or with a certificate")
    }
}
