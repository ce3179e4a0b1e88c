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

    /// Creates a result.
    package init(name: String, error: KafkaError?) {
        self.name = name
        self.error = error
    }
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

    /// Creates settings.
    package init(name: String, values: [String: String], error: KafkaError?) {
        self.name = name
        self.values = values
        self.error = error
    }
}

/// The state of a consumer group.
package struct GroupDescription: Sendable, Equatable {
    /// The group's name.
    package var name: String
    /// The state as in Kafka's protocol, such as `Stable`, `Empty`, or `Dead` for a group that does not exist.
    package var state: String
    /// The number of members.
    package var members: Int

    /// Creates a description.
    package init(name: String, state: String, members: Int) {
        self.name = name
        self.state = state
        self.members = members
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
    /// The operation.
    package var operation: Operation
    /// A Boolean value that indicates whether the rule denies the operation.
    package var isDenial = false

    /// Creates a rule.
    package init(
        resource: Resource, name: String, isPrefixed: Bool = false, principal: String, host: String = "*",
        operation: Operation, isDenial: Bool = false
    ) {
        self.resource = resource
        self.name = name
        self.isPrefixed = isPrefixed
        self.principal = principal
        self.host = host
        self.operation = operation
        self.isDenial = isDenial
    }
}
