// Validation of a configuration by the loaded library.
extension ClientConfiguration {
    /// Sets every property on a new librdkafka configuration and throws the first error.
    package func validate() throws(ConfigurationError) {
        _ = try NativeConfiguration(self)
    }

    /// Sets every property and creates an instance that never connects.
    ///
    /// Only `rd_kafka_new` detects contradictions between properties. It needs no broker.
    package func validate(as role: ClientRole) throws(ConfigurationError) {
        let handle = try ClientHandle(role, configuration: try NativeConfiguration(withoutBrokers), watch: CallWatch())
        handle.destroy()
    }

    private var withoutBrokers: ClientConfiguration {
        var copy = self
        copy["bootstrap.servers"] = nil
        copy["metadata.broker.list"] = nil
        return copy
    }
}
