internal import KafkaClient
internal import ByteStorage

// The headers of each profile.
extension HeaderProfile {
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
