internal import KafkaClient
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

    /// Appends the profile's headers.
    ///
    /// `detail` is the value of `dlq.detail`.
    func append(
        of source: DeadLetterSource, detail: String, worker: WorkerIdentity, to writer: inout HeaderWriter,
        _ arena: inout OutputArena
    ) {
        let error = "linkd.\(source.cause.reason.rawValue)"
        if self == .connect || self == .all { Self.appendConnect(source, error, detail, worker, &writer, &arena) }
        if self == .spring || self == .all { Self.appendSpring(source, error, detail, worker, &writer, &arena) }
        if self == .streams || self == .all { Self.appendStreams(source, error, detail, &writer, &arena) }
    }

    private static func appendConnect(
        _ source: DeadLetterSource, _ error: String, _ detail: String, _ worker: WorkerIdentity,
        _ writer: inout HeaderWriter, _ arena: inout OutputArena
    ) {
        writer.view("__connect.errors.topic", source.topic, &arena)
        writer.number("__connect.errors.partition", Int64(source.record.partition), &arena)
        writer.number("__connect.errors.offset", source.record.offset, &arena)
        writer.text("__connect.errors.connector.name", worker.group, &arena)
        writer.number("__connect.errors.task.id", Int64(worker.lane), &arena)
        writer.text("__connect.errors.stage", connectStage(source.cause.reason), &arena)
        writer.text("__connect.errors.class.name", "linkd", &arena)
        writer.text("__connect.errors.exception.class.name", error, &arena)
        writer.text("__connect.errors.exception.message", detail, &arena)
    }

    /// Returns the name in Kafka Connect's `Stage` that is nearest to the stage of a reason.
    private static func connectStage(_ reason: DeadLetterReason) -> String {
        switch reason.stage {
        case "decode": "VALUE_CONVERTER"
        case "encode", "publish": "TASK_PUT"
        default: "TRANSFORMATION"
        }
    }

    private static func appendSpring(
        _ source: DeadLetterSource, _ error: String, _ detail: String, _ worker: WorkerIdentity,
        _ writer: inout HeaderWriter, _ arena: inout OutputArena
    ) {
        let record = source.record
        writer.view("kafka_dlt-original-topic", source.topic, &arena)
        writer.bigEndian("kafka_dlt-original-partition", record.partition, &arena)
        writer.bigEndian("kafka_dlt-original-offset", record.offset, &arena)
        writer.bigEndian("kafka_dlt-original-timestamp", record.timestamp, &arena)
        let type =
            record.timestamp < 0 ? "NoTimestampType" : source.hasBrokerTimestamp ? "LogAppendTime" : "CreateTime"
        writer.text("kafka_dlt-original-timestamp-type", type, &arena)
        writer.text("kafka_dlt-original-consumer-group", worker.group, &arena)
        writer.text("kafka_dlt-exception-fqcn", error, &arena)
        writer.text("kafka_dlt-exception-cause-fqcn", error, &arena)
        writer.text("kafka_dlt-exception-message", detail, &arena)
    }

    private static func appendStreams(
        _ source: DeadLetterSource, _ error: String, _ detail: String, _ writer: inout HeaderWriter,
        _ arena: inout OutputArena
    ) {
        // Kafka Streams writes the exception's `toString()`, which is its class and its message.
        writer.text("__streams.errors.exception", "\(error): \(detail)", &arena)
        writer.text("__streams.errors.message", detail, &arena)
        writer.view("__streams.errors.topic", source.topic, &arena)
        writer.number("__streams.errors.partition", Int64(source.record.partition), &arena)
        writer.number("__streams.errors.offset", source.record.offset, &arena)
    }
}
