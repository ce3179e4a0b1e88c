/// What a broker says of a partition.
package struct PartitionDescription: Sendable, Equatable {
    /// The partition's number.
    package var id: Int32
    /// The leader's node id, or -1.
    package var leader: Int32
    /// Node ids of all replicas.
    package var replicas: [Int32]
    /// Node ids of the replicas that are in sync.
    package var inSyncReplicas: [Int32]
    /// The partition's error, such as LEADER_NOT_AVAILABLE, or nil.
    package var error: KafkaError?

    /// Makes a description.
    package init(id: Int32, leader: Int32, replicas: [Int32], inSyncReplicas: [Int32], error: KafkaError?) {
        self.id = id
        self.leader = leader
        self.replicas = replicas
        self.inSyncReplicas = inSyncReplicas
        self.error = error
    }
}

/// What a broker says of a topic.
package struct TopicDescription: Sendable, Equatable {
    /// The name.
    package var name: String
    /// The partitions by number; none where the topic is missing.
    package var partitions: [PartitionDescription]
    /// The topic's error, such as UNKNOWN_TOPIC_OR_PARTITION or TOPIC_AUTHORIZATION_FAILED, or nil.
    package var error: KafkaError?

    /// Whether the topic is there (it may still have another error).
    package var exists: Bool { error?.code != .unknownTopicOrPartition && error?.code != .unknownTopic }

    /// Makes a description.
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
    /// Host and port that it tells clients.
    package var host: String
    /// The port.
    package var port: Int32

    /// Makes a description.
    package init(id: Int32, host: String, port: Int32) {
        self.id = id
        self.host = host
        self.port = port
    }
}

/// The answer to a metadata request.
package struct ClusterMetadata: Sendable, Equatable {
    /// The brokers.
    package var brokers: [BrokerDescription]
    /// The topics that were asked for, or all.
    package var topics: [TopicDescription]

    /// Makes an answer.
    package init(brokers: [BrokerDescription], topics: [TopicDescription]) {
        self.brokers = brokers
        self.topics = topics
    }
}
