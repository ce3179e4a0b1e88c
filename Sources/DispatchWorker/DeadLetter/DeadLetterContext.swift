package import KafkaClient
package import ByteStorage

/// What a dead letter says of its maker.
package struct DeadLetterMaker: Sendable, Equatable {
    /// The consumer group.
    package var group: String
    /// `<instance>.<lane>`.
    package var instance: String
    /// The program's version.
    package var version: String

    /// Names a maker.
    package init(group: String, instance: String, version: String) {
        self.group = group
        self.instance = instance
        self.version = version
    }
}

/// A record that becomes a dead letter: where it stood and why.
package struct DeadLetterSource {
    /// The record.
    package var record: ConsumedRecord
    /// Its topic's name.
    package var topic: ByteView
    /// Its headers.
    package var headers: [HeaderView]
    /// Why.
    package var cause: DeadLetterCause
    /// How often it was tried.
    package var attempts: Int

    /// Describes a record's failure.
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
