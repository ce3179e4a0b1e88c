internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient

/// The reason for which a dead letter is parked instead of replayed.
enum ParkReason: String, CaseIterable {
    /// The worker has truncated the value.
    case truncated
    /// The number of replays has reached the cap.
    case cap
    /// The record is larger than the input accepts.
    case tooLarge = "too_large"
    /// The input no longer has the partition.
    case noPartition = "no_partition"

    /// A description for people.
    var text: String {
        switch self {
        case .truncated: "truncated by the worker"
        case .cap: "replayed as often as --cap allows"
        case .tooLarge: "larger than the input accepts"
        case .noPartition: "from a partition that the input no longer has"
        }
    }
}

/// The reason for which a record of a dead-letter topic is left alone.
enum ForeignReason: String, CaseIterable {
    /// The record has no readable headers `dlq.source.*` of a worker.
    case noSource = "no_source"
    /// The record comes from another topic.
    case otherTopic = "other_topic"

    /// A description for people.
    var text: String {
        switch self {
        case .noSource: "without the headers of a worker"
        case .otherTopic: "from another topic"
        }
    }
}

/// The treatment of a dead letter.
enum ReplayChoice: Equatable {
    /// Send it to a partition of the input.
    case replay(partition: Int32)
    /// Copy it to the parking topic.
    case park(ParkReason)
    /// Leave it alone.
    case foreign(ForeignReason)
}

/// The rules by which a replay treats dead letters.
///
/// Whoever can write to the dead-letter topic must not be able to write to any topic, so only the input is a target.
struct ReplayRules {
    /// The reserve for the framing of a record and its batch, and for the headers of a replay, in bytes.
    static let frameBytes = DeadLetterOutput.frameBytes + ReplayHeaders.limit

    /// The input.
    var input: String
    /// The number of partitions of the input.
    var partitions: Int32
    /// The largest batch that the input accepts, in bytes.
    var messageLimit: Int
    /// The number of replays at which a dead letter is parked.
    var cap: Int64

    /// Returns the treatment of a dead letter.
    func choice(of record: ScannedRecord, _ head: DeadLetterHead?) -> ReplayChoice {
        guard let head, let topic = head.sourceTopic, let partition = head.sourcePartition, head.sourceOffset != nil
        else { return .foreign(.noSource) }
        var input = input
        guard input.withUTF8({ ByteView($0) == topic }) else { return .foreign(.otherTopic) }
        if head.isTruncated { return .park(.truncated) }
        if head.replayCount >= cap { return .park(.cap) }
        if partition >= partitions { return .park(.noPartition) }
        if Self.bytes(of: record, head) > messageLimit { return .park(.tooLarge) }
        return .replay(partition: partition)
    }

    /// Returns the greatest size of the record of a replay.
    private static func bytes(of record: ScannedRecord, _ head: DeadLetterHead) -> Int {
        var bytes = frameBytes + (record.key?.count ?? 0) + (record.value?.count ?? 0)
        for header in head.original { bytes += header.name.count + (header.value?.count ?? 0) + 10 }
        return bytes
    }
}
