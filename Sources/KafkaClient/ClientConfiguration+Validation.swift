// What the library that runs says to a configuration.
extension ClientConfiguration {
    /// Sets every property on a fresh librdkafka configuration and reports the first one that is refused.
    package func validate() throws(ConfigurationError) {
        _ = try NativeConfiguration(self)
    }

    /// Sets every property and makes an instance, which never connects; so contradictions between properties, which
    /// only `rd_kafka_new` sees, are found without a broker.
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
