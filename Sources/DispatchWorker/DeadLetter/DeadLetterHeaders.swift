internal import LinkDecider
package import ByteStorage
internal import LinkIngest

/// The headers of dead letters: the record's own headers first and unchanged, then the worker's headers in a fixed
/// order, then the headers of the configured profile.
///
/// `WorkerReference` describes each of them.
package enum DeadLetterHeaders {
    /// The names of the worker's headers, in the order in which they are written.
    package static let names: [StaticString] = [
        "dlq.schema", "dlq.reason", "dlq.detail", "dlq.stage", "dlq.pointer", "dlq.event", "dlq.source.topic",
        "dlq.source.partition", "dlq.source.offset", "dlq.source.timestamp", "dlq.group", "dlq.instance",
        "dlq.app.version", "dlq.failed.at", "dlq.attempts", "dlq.replay.count", "dlq.origin", "dlq.item",
        "dlq.truncated",
    ]

    /// The maximum size of `dlq.detail`, in bytes.
    package static let detailLimit = 512

    /// Returns a Boolean value that indicates whether a header was added by an earlier dead letter.
    ///
    /// Such headers are replaced and never accumulate.
    package static func isWorkerHeader(_ name: ByteView) -> Bool {
        name.hasPrefix(ByteView("dlq.")) && names.contains { name.equals($0) }
    }

    /// Returns a Boolean value that indicates whether a record with these headers was written by a replay.
    package static func isReplay(_ headers: [HeaderView]) -> Bool {
        headers.contains { $0.name.equals("dlq.replay.count") }
    }

    /// Appends all headers except `dlq.truncated`.
    ///
    /// The bytes of the new headers are written to `arena`.
    package static func append(
        of source: DeadLetterSource, worker: WorkerIdentity, failedAt: Int64, into headers: inout [HeaderView],
        arena: inout OutputArena
    ) {
        for header in source.headers where !isWorkerHeader(header.name) && !worker.profile.contains(header.name) {
            headers.append(header)
        }
        var writer = HeaderWriter(headers: headers)
        let cause = source.cause
        let record = source.record
        writer.text("dlq.schema", "1", &arena)
        writer.text("dlq.reason", cause.reason.rawValue, &arena)
        let detail = cut(cause.detail)
        writer.text("dlq.detail", detail, &arena)
        writer.text("dlq.stage", cause.reason.stage, &arena)
        if let pointer = cause.pointer { writer.text("dlq.pointer", pointer, &arena) }
        if let event = cause.event { writer.bytes("dlq.event", event, &arena) }
        writer.view("dlq.source.topic", source.topic, &arena)
        writer.number("dlq.source.partition", Int64(record.partition), &arena)
        writer.number("dlq.source.offset", record.offset, &arena)
        if record.timestamp >= 0 { writer.number("dlq.source.timestamp", record.timestamp, &arena) }
        writer.text("dlq.group", worker.group, &arena)
        writer.text("dlq.instance", worker.instance, &arena)
        writer.text("dlq.app.version", worker.version, &arena)
        writer.number("dlq.failed.at", failedAt, &arena)
        writer.number("dlq.attempts", Int64(source.attempts), &arena)
        writer.number("dlq.replay.count", replayCount(source.headers), &arena)
        if let origin = origin(source.headers) { writer.bytes("dlq.origin", origin, &arena) }
        if let item = cause.item { writer.number("dlq.item", Int64(item), &arena) }
        worker.profile.append(of: source, detail: detail, worker: worker, to: &writer, &arena)
        headers = writer.headers
    }

    /// Inserts `dlq.truncated`, the value's length before truncation, after the worker's other headers.
    package static func insertTruncated(
        originalLength: Int, into headers: inout [HeaderView], arena: inout OutputArena
    ) {
        var writer = HeaderWriter(headers: [])
        writer.number("dlq.truncated", Int64(originalLength), &arena)
        let index = headers.lastIndex { isWorkerHeader($0.name) }.map { $0 + 1 } ?? headers.endIndex
        headers.insert(contentsOf: writer.headers, at: index)
    }

    /// Returns the number of earlier replays, which a replay writes into `dlq.replay.count`.
    private static func replayCount(_ headers: [HeaderView]) -> Int64 {
        guard let value = headers.last(where: { $0.name.equals("dlq.replay.count") })?.value, value.count <= 9 else {
            return 0
        }
        return Int64(value.string).map { max(0, $0) } ?? 0
    }

    /// Returns the position at which the record first became a dead letter, or nil if this is the first time.
    ///
    /// A replay writes it into `dlq.origin`. A dead letter that was produced again with all its headers has it in the
    /// headers `dlq.source.topic`, `dlq.source.partition`, and `dlq.source.offset`.
    private static func origin(_ headers: [HeaderView]) -> [UInt8]? {
        func value(_ name: StaticString) -> ByteView? { headers.last { $0.name.equals(name) }?.value }
        if let origin = value("dlq.origin") { return Array(origin.array.prefix(512)) }
        guard let topic = value("dlq.source.topic"), let partition = value("dlq.source.partition"),
            let offset = value("dlq.source.offset"), topic.count + partition.count + offset.count <= 512
        else { return nil }
        return topic.array + [UInt8(ascii: "-")] + partition.array + [UInt8(ascii: "-")] + offset.array
    }

    /// Returns at most the first 512 bytes of the text, cut at a character boundary.
    private static func cut(_ text: String) -> String {
        guard text.utf8.count > detailLimit else { return text }
        var result = ""
        var bytes = 0
        for character in text {
            bytes += character.utf8.count
            if bytes > detailLimit { break }
            result.append(character)
        }
        return result
    }
}

/// A writer that appends headers and stores their bytes in an arena.
struct HeaderWriter {
    var headers: [HeaderView]

    mutating func view(_ name: StaticString, _ value: ByteView, _ arena: inout OutputArena) {
        arena.begin()
        arena.append(value)
        headers.append(HeaderView(name: ByteView(name), value: arena.finish()))
    }

    mutating func bytes(_ name: StaticString, _ value: [UInt8], _ arena: inout OutputArena) {
        value.withUnsafeBufferPointer { view(name, ByteView($0), &arena) }
    }

    mutating func text(_ name: StaticString, _ value: String, _ arena: inout OutputArena) {
        bytes(name, Array(value.utf8), &arena)
    }

    mutating func number(_ name: StaticString, _ value: Int64, _ arena: inout OutputArena) {
        arena.begin()
        arena.append(decimal: value)
        headers.append(HeaderView(name: ByteView(name), value: arena.finish()))
    }

    /// Appends a number as the bytes of its type, the most significant one first, as Java's `ByteBuffer` writes it.
    mutating func bigEndian(_ name: StaticString, _ value: some FixedWidthInteger, _ arena: inout OutputArena) {
        withUnsafeBytes(of: value.bigEndian) { bytes(name, Array($0), &arena) }
    }
}

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
