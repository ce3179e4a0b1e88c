internal import KafkaClient
internal import LinkIngest
internal import Synchronization

// The log lines of a lane.
extension Lane where Processing: ~Copyable {
    /// Counts and logs the machine's notes, and logs the dead letters of the last run.
    func report(_ now: UInt64) {
        for note in machine.takeNotes() {
            var entry = entry(note)
            metrics.count(note)
            keepError(of: entry, now)
            if case .failed(let call, let error) = note { limit(&entry, call, error, now) }
            shared.log.log(entry)
            hasNews = true
        }
        guard work.notes?.isEmpty == false, let letters = work.notes else { return }
        work.notes = []
        for letter in letters {
            shared.log.log(
                .debug, "dead_letter", lane: number, "dead letter",
                [
                    "topic": .text(letter.topic), "partition": .number(Int64(letter.partition)),
                    "offset": .number(letter.offset), "reason": .text(letter.reason.rawValue),
                ])
        }
    }

    /// Lowers the line of a failed call to the level `debug` if an outage has a line of its own, or if the call has
    /// failed in the same way lately in any lane.
    private func limit(_ line: inout LogEntry, _ call: LaneCall, _ error: KafkaError, _ now: UInt64) {
        let count =
            isExplained(error.code)
            ? nil
            : shared.failedCalls.withLock { $0.admit(facility: call.rawValue, text: error.description, now: now) }
        guard let count else {
            line.level = .debug
            return
        }
        if count > 1 { line.fields.append("count", .count(count)) }
    }

    private func entry(_ note: LaneNote) -> LogEntry {
        switch note {
        case .ready(let milliseconds): line(.info, "ready", "ready", ["ms": .count(milliseconds)])
        case .assigned(let partitions):
            line(.info, "assigned", "partitions assigned", ["partitions": list(partitions)])
        case .revoked(let partitions): line(.info, "revoked", "partitions revoked", ["partitions": list(partitions)])
        case .lost(let partitions): line(.warning, "lost", "partitions lost", ["partitions": list(partitions)])
        case .committed(let content, let milliseconds): committed(content, milliseconds)
        case .aborted(let cause, let code):
            line(
                .warning, "aborted", "transaction aborted",
                ["cause": .text(cause.rawValue), "code": .text(code?.name ?? "none")])
        case .rewound(let partitions):
            line(.info, "rewound", "rewound to the committed offsets", ["partitions": .count(partitions)])
        case .paused(let partitions):
            line(.info, "paused", "consumption is paused", ["partitions": .count(partitions)])
        case .resumed: line(.info, "resumed", "consumption is resumed")
        case .rotated(let cause):
            // A metric counts them. Brokers that are slow or leave cause hundreds.
            line(.debug, "rotated", "producer replaced after an unknown outcome", ["cause": .text(cause.rawValue)])
        case .recreated(let cause, let code):
            // The line `fenced` is before it.
            line(
                cause == "fenced" ? .debug : .warning, "recreated", "producer replaced after a failure",
                ["cause": .text(cause), "code": .text(code.name)])
        case .fenced(let client):
            line(.warning, "fenced", "\(client.rawValue) fenced", ["client": .text(client.rawValue)])
        case .dataLost(let partition, let expected, let actual, let contradiction):
            line(
                .error, "data.lost",
                contradiction.map { "the topic was deleted and created again: \($0.description)" }
                    ?? "records at the next offset no longer exist",
                fields(of: partition) + ["wanted": .number(expected), "got": .number(actual)])
        case .witnessUnknown(let partition, let offset):
            line(
                .warning, "witness.unknown",
                "the last decided record no longer exists, so a topic that was created again would not be noticed",
                fields(of: partition) + ["offset": .number(offset)])
        case .commitVanished(let partition, let had):
            line(
                .warning, "commit.vanished",
                "the group's committed offset no longer exists; `from` determines where to continue",
                fields(of: partition) + ["had": .number(had)])
        case .refused(let partition, let offset, let isDeadLetter, let code):
            line(
                isDeadLetter ? .error : .warning, "refused",
                isDeadLetter
                    ? "a broker refuses the dead letter of a record" : "a broker refuses the outputs of a record",
                fields(of: partition) + ["offset": .number(offset), "code": .text(code.name)])
        case .deadLetterLimit(let excess): line(.error, "dlq.limit", excess.limit, fields(of: excess.counts))
        case .slowed(let partition, let counts, let ratio, let rate):
            line(
                .warning, "dlq.slowed",
                "the share of dead letters exceeds dlq.max.ratio, which is \(ratio): the partition continues with at "
                    + "most \(rate) dead letters per second",
                fields(of: partition) + fields(of: counts))
        case .recovered(let partition, let milliseconds):
            line(
                .info, "dlq.recovered", "the dead letters of the partition are no longer slowed",
                fields(of: partition) + ["ms": .count(milliseconds)])
        case .failed(let call, let error):
            line(
                .warning, "failed", "\(call.rawValue): \(error.description)",
                ["code": .text(error.name), "advice": note.advice.map(LogValue.text)])
        }
    }

    private func committed(_ content: TransactionContent, _ milliseconds: Int) -> LogEntry {
        line(
            .debug, "committed", "transaction committed",
            [
                "records": .count(content.records), "decisions": .count(content.decisions),
                "dead_letters": .count(content.deadLetters), "ms": .count(milliseconds),
            ])
    }

    private func fields(of counts: DeadLetterCounts) -> LogFields {
        [
            "reasons": .list(counts.reasonList), "records": .count(counts.records),
            "dead_letters": .count(counts.deadLetters), "example": .text(counts.exampleText),
        ]
    }

    private func fields(of partition: TopicPartition) -> LogFields {
        ["topic": .text(partition.topic), "partition": .number(Int64(partition.partition))]
    }

    private func list(_ partitions: [TopicPartition]) -> LogValue {
        .list(partitions.sorted().map { "\($0.topic)-\($0.partition)" })
    }

    private func line(
        _ level: LogLevel, _ event: String, _ message: String, _ fields: LogFields = [:]
    ) -> LogEntry { LogEntry(level, event, lane: number, message, fields) }

    /// Logs the events of a client, and passes errors that concern the lane to its machine.
    func handle(_ events: [ClientEvent], _ client: ClientKind) {
        for event in events {
            switch event {
            case .statistics(let document): status.park(document, of: client, at: environment.now())
            case .log(let line): handle(line, client)
            case .error(let error): handle(error, client)
            }
        }
    }

    /// Returns a Boolean value that indicates whether an error follows from an outage that the log names once.
    private func isExplained(_ code: KafkaErrorCode) -> Bool {
        shared.brokers?.explains(code, now: environment.now()) ?? false
    }

    private var areBrokersAnswering: Bool {
        let now = environment.now()
        return shared.brokers?.state(now: now).isAnswering(now: now) ?? false
    }

    private func handle(_ line: KafkaClient.LogLine, _ client: ClientKind) {
        shared.brokers?.report(.log(line))
        // Closed connections are normal, so their lines are not logged.
        if line.facility == "FAIL" && line.level > 4 { return }
        let level: LogLevel =
            switch line.level {
            case ...3: .error
            case 4: .warning
            case 5, 6: .info
            default: .debug
            }
        let isKnown = line.isAboutConnection && isExplained(.transport)
        let text = shared.brokers?.hasAnswered ?? false ? line.text.withoutSettingsGuess : line.text
        report(text, facility: line.facility, client, isKnown ? .debug : level)
    }

    private func handle(_ error: KafkaError, _ client: ClientKind) {
        // A producer ends connections that are idle.
        let isIdle = client == .producer && error.code == .allBrokersDown && areBrokersAnswering
        if !isIdle { shared.brokers?.report(.error(error)) }
        switch KafkaErrorClass(error) {
        case .authorization:
            machine.failed(client == .producer ? .produce : .consume, error, now: environment.now())
        case .authentication, .fencedInstance:
            machine.failed(.consume, error, now: environment.now())
        default:
            let text = shared.brokers?.hasAnswered ?? false ? error.text.withoutSettingsGuess : error.text
            report(text, facility: error.name, client, isIdle || isExplained(error.code) ? .debug : .warning)
        }
    }

    /// Logs a line or an error of the library, unless the log has the same line of any lane.
    private func report(_ text: String, facility: String, _ client: ClientKind, _ level: LogLevel) {
        guard shared.log.isEnabled(level) else { return }
        var fields: LogFields = ["client": .text(client.rawValue), "facility": .text(facility)]
        if level < .debug {
            let now = environment.now()
            let count = shared.library.withLock { $0.admit(facility: facility, text: text, now: now) }
            guard let count else { return }
            if count > 1 { fields.append("count", .count(count)) }
        }
        shared.log.log(level, "librdkafka", lane: number, text, fields)
    }

    /// Logs the times of the sampled records of a committed transaction.
    func report(_ traces: TraceSamples, committedAt: Int64) {
        for (index, sample) in traces.samples.enumerated() {
            let more = index == traces.samples.count - 1 && traces.more > 0
            shared.log.log(
                .info, LogEntry.trace, lane: number, "a sampled record is committed",
                [
                    "trace_id": .text(sample.traceID), "topic": .text(sample.topic),
                    "partition": .number(Int64(sample.partition)), "offset": .number(sample.offset),
                    "received_ms": .number(sample.received), "resolved_ms": sample.resolved.map(LogValue.number),
                    "produced_ms": sample.produced.map(LogValue.number), "committed_ms": .number(committedAt),
                    "more": more ? .count(traces.more) : nil,
                ])
        }
    }
}
