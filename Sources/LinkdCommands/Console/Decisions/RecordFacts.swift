internal import ByteStorage
internal import DecisionIndex
internal import KafkaClient

extension RowFacts {
    /// The limit of the time by which a record can be later than the clock of this machine, in milliseconds.
    ///
    /// A later record is put at the time of the clock, so that no record stays in front of all others.
    private static let lead: Int64 = 60_000

    /// Creates the row of a decision or a dead letter.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - tape: The members of the record's value.
    ///   - source: The topic and the partition.
    ///   - now: The time in milliseconds since 1970.
    init(_ record: ScannedRecord, _ tape: inout DecisionTape, _ source: RowSource, now: Int64) {
        var time = RecordFilter(isDeadLetters: source.kind == .deadLetter).time(of: record)
        if time > now + Self.lead { time = now }
        self.init(RowKey(time: time, source: source, offset: record.offset))
        device = tape.string("device") ?? record.key
        campaign = tape.campaign
        application = tape.application
        reason = RecordFilter.reason(of: record, &tape)
        switch source.kind {
        case .decision:
            event = tape.string("event")
            outcome = tape.string("outcome")
            route = tape.string("route")
            table = tape.string("table")
        case .deadLetter:
            device = record.key
            event = record.header("dlq.event")
        }
    }
}
