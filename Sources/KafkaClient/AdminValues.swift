/// A topic to create.
package struct TopicSpecification: Sendable, Equatable {
    /// The name.
    package var name: String
    /// Number of partitions, or -1 for the broker's default.
    package var partitions: Int32
    /// Number of replicas, or -1 for the broker's default.
    package var replication: Int32
    /// Topic settings, such as `retention.ms`.
    package var settings: [String: String]

    /// Makes a specification.
    package init(name: String, partitions: Int32, replication: Int32 = -1, settings: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replication = replication
        self.settings = settings
    }
}

/// What became of one topic of an admin call.
package struct TopicResult: Sendable, Equatable {
    /// The topic's name.
    package var name: String
    /// Why not, or nil where it was done.
    package var error: KafkaError?

    /// Makes a result.
    package init(name: String, error: KafkaError?) {
        self.name = name
        self.error = error
    }
}

/// The settings of one topic or broker, or why they cannot be read.
package struct ResourceSettings: Sendable, Equatable {
    /// The topic's name or the broker's number.
    package var name: String
    /// Values by name; a broker keeps the values of secret ones back (they are missing here).
    package var values: [String: String]
    /// Why not, or nil.
    package var error: KafkaError?

    /// Makes settings.
    package init(name: String, values: [String: String], error: KafkaError?) {
        self.name = name
        self.values = values
        self.error = error
    }
}
