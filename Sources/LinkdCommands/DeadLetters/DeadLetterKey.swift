internal import ByteStorage

/// The property of dead letters by which `linkd dlq list` counts them.
enum DeadLetterKey: String, CaseIterable {
    case reason, application, producer, stage, day

    /// The headers that can name the producer, the first one first.
    ///
    /// A record of Kafka does not have its producer.
    private static let producerHeaders: [StaticString] = ["ce_source", "source", "producer", "client.id"]

    /// Returns the property of a dead letter, or nil if it has none.
    ///
    /// - Parameters:
    ///   - value: The members of the record's value.
    ///   - local: A Boolean value that indicates whether a day is one of the local time zone.
    func bytes(
        of record: ScannedRecord, _ head: DeadLetterHead?, _ value: inout DecisionTape, local: Bool
    ) -> [UInt8]? {
        switch self {
        case .reason: head?.reason?.array
        case .stage: record.header("dlq.stage")?.array
        case .application: value.string("application")?.array
        case .producer: Self.producerHeaders.lazy.compactMap { record.header($0) }.first?.array
        case .day:
            head.flatMap { head in
                head.failedAt > 0 && head.failedAt < 253_402_300_800_000 ? Self.day(head.failedAt, local) : nil
            }
        }
    }

    /// Returns the day of a time before the year 10000.
    private static func day(_ time: Int64, _ local: Bool) -> [UInt8] {
        Array(OutputArena.text { Timestamps.append(time, local: local, to: &$0) }.utf8.prefix(10))
    }
}
