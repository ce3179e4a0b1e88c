package import KafkaClient
package import ByteStorage

/// The worker that writes dead letters: its names in their headers, and the headers that it adds for other tools.
package struct WorkerIdentity: Sendable, Equatable {
    /// The consumer group.
    package var group: String
    /// `<instance>.<lane>`.
    package var instance: String
    /// The lane's number.
    package var lane: Int
    /// The program's version.
    package var version: String
    /// `dlq.headers`: the headers that are added for other tools.
    package var profile: HeaderProfile

    /// Creates a description of a worker.
    package init(
        group: String, instance: String, lane: Int = 0, version: String, profile: HeaderProfile = .native
    ) {
        self.group = group
        self.instance = instance
        self.lane = lane
        self.version = version
        self.profile = profile
    }
}

/// A record that becomes a dead letter, with the cause.
package struct DeadLetterSource {
    /// The record.
    package var record: ConsumedRecord
    /// The name of the record's topic.
    package var topic: ByteView
    /// The record's headers.
    package var headers: [HeaderView]
    /// The cause of the failure.
    package var cause: DeadLetterCause
    /// The number of attempts.
    package var attempts: Int
    /// A Boolean value that indicates whether a broker has set the record's timestamp.
    package var hasBrokerTimestamp: Bool

    /// Creates a description of a failed record.
    package init(
        record: ConsumedRecord, topic: ByteView, headers: [HeaderView], cause: DeadLetterCause, attempts: Int = 1,
        hasBrokerTimestamp: Bool = false
    ) {
        self.record = record
        self.topic = topic
        self.headers = headers
        self.cause = cause
        self.attempts = attempts
        self.hasBrokerTimestamp = hasBrokerTimestamp
    }
}
