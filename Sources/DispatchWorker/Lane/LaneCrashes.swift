internal import KafkaClient
internal import ByteStorage

/// The isolation of records that end the process, as a lane uses it.
struct LaneCrashes {
    /// The journal, or nil if it cannot be written.
    let journal: CrashJournal?
    /// The records that are resolved in a child process first.
    let suspects: CrashSuspects
    /// Resolves a record in a child process.
    let trial: @Sendable (TriedRecord) -> CrashTrial

    /// Creates the isolation of a lane.
    init(_ isolation: CrashIsolation, lane: Int) {
        journal = isolation.journal(lane)
        suspects = isolation.suspects
        trial = isolation.trial
    }

    /// Returns the cause and the number of attempts if a record ends a child process, and nil if it is resolved as
    /// usual.
    @inline(never)
    func crashLoop<Consumer: LaneConsumer>(
        _ record: ConsumedRecord, _ consumer: Consumer, _ topic: ByteView, _ suspects: [CrashSuspects.Entry]
    ) -> (cause: DeadLetterCause, attempts: Int)? {
        let entry = suspects.first { entry in
            let mark = entry.suspect.mark
            return mark.offset == record.offset && mark.partition == record.partition
                && Array(mark.topic.utf8) == topic.array
        }
        guard let entry else { return nil }
        let trial = entry.trial ?? tried(record, consumer, entry.suspect.mark)
        guard case .crashed(let signal) = trial else { return nil }
        let deaths = entry.suspect.deaths
        let cause = DeadLetterCause(
            reason: .crashLoop,
            detail: "resolving this record has ended the process \(deaths) times, and a child process with signal "
                + "\(signal): report this defect with the record")
        return (cause, deaths + 1)
    }

    /// Resolves a record in a child process and records the result.
    private func tried<Consumer: LaneConsumer>(
        _ record: ConsumedRecord, _ consumer: Consumer, _ mark: CrashMark
    ) -> CrashTrial {
        var headers: [HeaderView] = []
        if record.hasHeaders { consumer.headerViews(of: record.index, into: &headers) }
        let result = trial(
            TriedRecord(
                mark: mark, timestamp: record.timestamp, key: record.key?.array, value: record.value?.array,
                headers: headers.map(\.copied)))
        suspects.record(result, of: mark)
        return result
    }
}
