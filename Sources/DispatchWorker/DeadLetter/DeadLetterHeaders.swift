package import KafkaClient
package import ByteStorage

/// The headers of dead letters: the record's own headers first and unchanged, then those of the worker in a fixed
/// order, then those of the configured profile.
///
/// `WorkerReference` describes each of them.
package enum DeadLetterHeaders {
    /// The names of the worker's headers, in the order in which they are written.
    package static let names: [StaticString] = [
        "dlq.schema", "dlq.reason", "dlq.detail", "dlq.stage", "dlq.pointer", "dlq.event", "dlq.source.topic",
        "dlq.source.partition", "dlq.source.offset", "dlq.source.timestamp", "dlq.group", "dlq.instance",
        "dlq.app.version", "dlq.failed.at", "dlq.attempts", "dlq.replay.count", "dlq.origin", "dlq.truncated",
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
