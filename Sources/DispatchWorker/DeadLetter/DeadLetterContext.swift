package import KafkaClient
package import ByteStorage

/// The worker that writes a dead letter, as its headers name it.
package struct WorkerIdentity: Sendable, Equatable {
    /// The consumer group.
    package var group: String
    /// `<instance>.<lane>`.
    package var instance: String
    /// The program's version.
    package var version: String

    /// Creates a description of a worker.
    package init(group: String, instance: String, version: String) {
        self.group = group
        self.instance = instance
        self.version = version
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

    /// Creates a description of a failed record.
    package init(
        record: ConsumedRecord, topic: ByteView, headers: [HeaderView], cause: DeadLetterCause, attempts: Int = 1
    ) {
        self.record = record
        self.topic = topic
        self.headers = headers
        self.cause = cause
        self.attempts = attempts
    }
}
