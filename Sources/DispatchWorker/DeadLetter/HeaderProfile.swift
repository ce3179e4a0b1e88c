package import ByteStorage

/// The headers that dead letters have for other tools, in addition to the worker's own (`dlq.headers`).
///
/// Names, encodings, and values are those that the tool itself writes, except stack traces and failures of keys, which
/// a worker does not have. `WorkerReference` describes each header.
package enum HeaderProfile: String, Sendable, CaseIterable {
    /// No headers for other tools.
    case native
    /// The headers of the dead letters of Kafka Connect's sink connectors.
    case connect
    /// The headers of Spring Kafka's `DeadLetterPublishingRecoverer`.
    case spring
    /// The headers of Kafka Streams' exception handlers (KIP-1034).
    case streams
    /// The headers of all tools.
    case all

    private static let connectNames: [StaticString] = [
        "__connect.errors.topic", "__connect.errors.partition", "__connect.errors.offset",
        "__connect.errors.connector.name", "__connect.errors.task.id", "__connect.errors.stage",
        "__connect.errors.class.name", "__connect.errors.exception.class.name", "__connect.errors.exception.message",
    ]
    private static let springNames: [StaticString] = [
        "kafka_dlt-original-topic", "kafka_dlt-original-partition", "kafka_dlt-original-offset",
        "kafka_dlt-original-timestamp", "kafka_dlt-original-timestamp-type", "kafka_dlt-original-consumer-group",
        "kafka_dlt-exception-fqcn", "kafka_dlt-exception-cause-fqcn", "kafka_dlt-exception-message",
    ]
    private static let streamsNames: [StaticString] = [
        "__streams.errors.exception", "__streams.errors.message", "__streams.errors.topic",
        "__streams.errors.partition", "__streams.errors.offset",
    ]
    private static let allNames = connectNames + springNames + streamsNames

    /// The names of the profile's headers, in the order in which they are written.
    package var names: [StaticString] {
        switch self {
        case .native: []
        case .connect: Self.connectNames
        case .spring: Self.springNames
        case .streams: Self.streamsNames
        case .all: Self.allNames
        }
    }

    /// Returns a Boolean value that indicates whether the profile has a header of this name.
    package func contains(_ name: ByteView) -> Bool { names.contains { name.equals($0) } }
}
