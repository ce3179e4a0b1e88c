/// A property of librdkafka and its value.
package struct ClientProperty: Sendable, Equatable {
    /// The key; in a user's override it may begin with `consumer.` or `producer.`.
    package var key: String
    /// The value as text.
    package var value: String

    /// Makes a property.
    package init(_ key: String, _ value: String) {
        self.key = key
        self.value = value
    }
}

/// Which of a lane's two clients.
package enum ClientKind: String, Sendable, CaseIterable {
    /// The consumer.
    case consumer
    /// The producer.
    case producer
}
