/// A topic to create.
package struct TopicSpecification: Sendable, Equatable {
    /// The topic's name.
    package var name: String
    /// The number of partitions, or -1 for the broker's default.
    package var partitions: Int32
    /// The number of replicas, or -1 for the broker's default.
    package var replication: Int32
    /// Topic settings, such as `retention.ms`.
    package var settings: [String: String]

    /// Creates a specification.
    package init(name: String, partitions: Int32, replication: Int32 = -1, settings: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replication = replication
        self.settings = settings
    }
}

/// The result of an admin call for one topic.
package struct TopicResult: Sendable, Equatable {
    /// The topic's name.
    package var name: String
    /// The error, or nil on success.
    package var error: KafkaError?
}

/// The settings of one topic or broker.
package struct ResourceSettings: Sendable, Equatable {
    /// The topic's name or the broker's number.
    package var name: String
    /// The values by name.
    ///
    /// A broker does not return the values of secret settings, so they are missing here.
    package var values: [String: String]
    /// The error, or nil on success.
    package var error: KafkaError?
}

/// The state of a consumer group.
package struct GroupDescription: Sendable, Equatable {
    /// The group's name.
    package var name: String
    /// The state as in Kafka's protocol, such as `Stable`, `Empty`, or `Dead` for a group that does not exist.
    package var state: String
    /// The members.
    ///
    /// Their partitions are up to date only while the group is `Stable`.
    package var members: [GroupMember]
    /// The number of the broker that coordinates the group, or -1 if it is not known.
    package var coordinator: Int32 = -1

    /// A Boolean value that indicates whether members join or leave, and none of them has its new partitions yet.
    package var isRebalancing: Bool { state == "PreparingRebalance" || state == "CompletingRebalance" }
}

/// A member of a consumer group.
package struct GroupMember: Sendable, Equatable {
    /// The id that the coordinator gave to the member.
    package var id: String
    /// The `client.id` of the member.
    package var clientID: String = ""
    /// The partitions of the member.
    package var partitions: [TopicPartition] = []

    /// Returns a Boolean value that indicates whether the member has this `group.instance.id`.
    ///
    /// Brokers make the id of a static member of its instance, a hyphen, and a UUID.
    package func isInstance(_ name: String) -> Bool {
        id.hasPrefix(name + "-") && id.utf8.count == name.utf8.count + 37
    }
}

/// An access rule (ACL) of the brokers.
package struct AccessBinding: Sendable, Equatable {
    /// The kind of a resource.
    package enum Resource: Sendable, Equatable {
        case topic
        case group
        case cluster
        /// A transactional id, or a kind that librdkafka does not know.
        case transactionalID
    }

    /// The operation that a rule allows or denies.
    package enum Operation: Sendable, Equatable {
        case all
        case read
        case write
        case other
    }

    /// The kind of the resource.
    package var resource: Resource
    /// The resource's name, its prefix, or `*` for all resources.
    package var name: String
    /// A Boolean value that indicates whether the name is a prefix.
    package var isPrefixed = false
    /// The principal, such as `User:alice`, or `User:*` for all.
    package var principal: String
    /// The host of the client, or `*` for all.
    package var host = "*"
    package var operation: Operation
    /// A Boolean value that indicates whether the rule denies the operation.
    package var isDenial = false
}

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
}

/// A topic in a metadata response.
package struct TopicDescription: Sendable, Equatable {
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
    package var exists: Bool { error.map { !$0.code.isOfMissingTopic } ?? true }

    /// A Boolean value that indicates whether nothing can be written to the topic before someone changes something.
    package var isUnusable: Bool {
        error.map { $0.code.isOfMissingTopic || $0.code == .topicAuthorizationFailed } ?? partitions.isEmpty
    }
}

/// A broker of the cluster.
package struct BrokerDescription: Sendable, Equatable {
    /// The node id.
    package var id: Int32
    /// The host name that the broker advertises.
    package var host: String = "*"
    package var port: Int32
}

/// The response to a metadata request.
package struct ClusterMetadata: Sendable, Equatable {
    package var brokers: [BrokerDescription]
    /// The requested topics, or all topics.
    package var topics: [TopicDescription]
}
