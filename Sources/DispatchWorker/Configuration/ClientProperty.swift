/// A librdkafka property and its value.
package struct ClientProperty: Sendable, Equatable {
    /// The key.
    ///
    /// A key that a user sets may begin with `consumer.` or `producer.`.
    package var key: String
    /// The value in text form.
    package var value: String

    /// Creates a property.
    package init(_ key: String, _ value: String) {
        self.key = key
        self.value = value
    }
}

/// One of the two clients of a lane.
package enum ClientKind: String, Sendable, CaseIterable {
    /// The consumer.
    case consumer
    /// The producer.
    case producer
}
