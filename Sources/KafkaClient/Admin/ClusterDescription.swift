/// A partition in a metadata response.
package struct PartitionDescription: Sendable, Equatable {
    /// The partition's number.
    package var id: Int32
    /// The leader's node id, or -1.
    package var leader: Int32
    /// The node ids of all replicas.
    package var replicas: [Int32]
    /// The node ids of the in-sync replicas.
    package var inSyncReplicas: [Int32]
    /// The partition's error, such as LEADER_NOT_AVAILABLE, or nil.
    package var error: KafkaError?

    /// Creates a description.
    package init(id: Int32, leader: Int32, replicas: [Int32], inSyncReplicas: [Int32], error: KafkaError?) {
        self.id = id
        self.leader = leader
        self.replicas = replicas
        self.inSyncReplicas = inSyncReplicas
        self.error = error
    }
}

/// A topic in a metadata response.
package struct TopicDescription: Sendable, Equatable {
    /// The name.
    package var name: String
    /// The partitions, ordered by number.
    ///
    /// Empty for a missing topic.
    package var partitions: [PartitionDescription]
    /// The topic's error, such as UNKNOWN_TOPIC_OR_PARTITION or TOPIC_AUTHORIZATION_FAILED, or nil.
    package var error: KafkaError?

    /// A Boolean value that indicates whether the topic exists.
    ///
    /// It may still have another error.
    package var exists: Bool { error?.code != .unknownTopicOrPartition && error?.code != .unknownTopic }

    /// Creates a description.
    package init(name: String, partitions: [PartitionDescription], error: KafkaError?) {
        self.name = name
        self.partitions = partitions
        self.error = error
    }
}

/// A broker of the cluster.
package struct BrokerDescription: Sendable, Equatable {
    /// The node id.
    package var id: Int32
    /// The host name that the broker advertises.
    package var host: String
    /// The port.
    package var port: Int32

    /// Creates a description.
    package init(id: Int32, host: String, port: Int32) {
        self.id = id
        self.host = host
        self.port = port
    }
}

/// The response to a metadata request.
package struct ClusterMetadata: Sendable, Equatable {
    /// The brokers.
    package var brokers: [BrokerDescription]
    /// The requested topics, or all topics.
    package var topics: [TopicDescription]

    /// Creates a response.
    package init(brokers: [BrokerDescription], topics: [TopicDescription]) {
        self.brokers = brokers
        self.topics = topics
    }
}
