internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient
internal import RouteTools

/// The dead letters that a replay has chosen, and their treatment.
struct ReplayPlan {
    /// A chosen dead letter.
    struct Letter: Equatable {
        /// The dead letter.
        let position: DeadLetterPosition
        /// The partition of the input, or -1 for the parking topic.
        let partition: Int32
        /// A Boolean value that indicates whether the ledger has it.
        var isDone = false
        /// A Boolean value that indicates whether another replay has sent it after it was chosen.
        var isByOther = false

        /// A Boolean value that indicates whether it is parked.
        var isParked: Bool { partition < 0 }
    }

    /// The number of dead letters with one reason.
    struct ReasonCount: Equatable {
        var replay: Int64 = 0
        var park: Int64 = 0
    }

    /// The limit of different reasons, beyond which dead letters are counted together.
    static let reasonLimit = 1_000

    private let rules: ReplayRules
    private let limit: Int
    /// The chosen dead letters, ordered by partition and offset after `finish`.
    private(set) var letters: [Letter] = []
    /// The number of dead letters by reason.
    private(set) var reasons: [String: ReasonCount] = [:]
    /// The number of parked dead letters by the reason for it.
    private(set) var parked: [ParkReason: Int64] = [:]
    /// The number of matching records that are left alone, by the reason for it.
    private(set) var foreign: [ForeignReason: Int64] = [:]
    /// The position of the first record that is left alone, or nil.
    private(set) var firstForeign: String?
    /// The number of matching dead letters that the ledger had.
    private(set) var alreadyReplayed: Int64 = 0
    /// The number of matching dead letters beyond `--max`.
    private(set) var beyondLimit: Int64 = 0
    /// The least time of a failure of a dead letter to replay, in milliseconds since 1970, or nil.
    private(set) var firstFailure: Int64?

    /// Creates an empty plan for at most `limit` dead letters.
    init(_ rules: ReplayRules, limit: Int) {
        self.rules = rules
        self.limit = limit
    }

    /// Adds a matching record, and returns its treatment, or nil if it is not chosen.
    ///
    /// Records of a partition must be added in order, because a replay keeps it.
    mutating func add(_ record: ScannedRecord, _ head: DeadLetterHead?, _ ledger: ReplayLedger) -> ReplayChoice? {
        let choice = rules.choice(of: record, head)
        if case .foreign(let reason) = choice {
            foreign[reason, default: 0] += 1
            firstForeign = firstForeign ?? "\(record.topic)-\(record.partition)-\(record.offset)"
            return nil
        }
        let position = DeadLetterPosition(record, head)
        guard !ledger.contains(position) else {
            alreadyReplayed += 1
            return nil
        }
        guard letters.count < limit else {
            beyondLimit += 1
            return nil
        }
        var target: Int32 = -1
        var name = head?.reason.map { Escaping.visible($0.slice(0, min($0.count, 64)).buffer) } ?? "-"
        if reasons.count >= Self.reasonLimit, reasons[name] == nil { name = "(others)" }
        switch choice {
        case .replay(let partition):
            target = partition
            reasons[name, default: ReasonCount()].replay += 1
            firstFailure = min(firstFailure ?? .max, position.failedAt)
        case .park(let reason):
            parked[reason, default: 0] += 1
            reasons[name, default: ReasonCount()].park += 1
        case .foreign: return nil
        }
        letters.append(Letter(position: position, partition: target))
        return choice
    }

    /// Orders the dead letters, after all were added.
    mutating func finish() {
        letters.sort { a, b in
            (a.position.partition, a.position.offset) < (b.position.partition, b.position.offset)
        }
    }

    /// The number of dead letters to replay.
    var replayCount: Int { letters.count - parkCount }
    /// The number of dead letters to park.
    var parkCount: Int { Int(parked.values.reduce(0, +)) }
    /// The number of records that are left alone.
    var foreignCount: Int64 { foreign.values.reduce(0, +) }
    /// The number of dead letters that the ledger does not have.
    var leftCount: Int { letters.count { !$0.isDone } }
    /// The first dead letter that the ledger does not have, or nil.
    var firstLeft: DeadLetterPosition? { letters.first { !$0.isDone }?.position }
    /// The number of dead letters that another replay has sent after they were chosen.
    var otherCount: Int { letters.count { $0.isByOther } }

    /// Returns the index of a dead letter, or nil.
    func index(partition: Int32, offset: Int64) -> Int? {
        let index = letters.partitioningIndex {
            ($0.position.partition, $0.position.offset) >= (partition, offset)
        }
        guard let found = letters[index...].first?.position, (found.partition, found.offset) == (partition, offset)
        else { return nil }
        return index
    }

    /// Marks dead letters whose transaction is committed.
    mutating func markDone(_ indices: Set<Int>) {
        for index in indices { letters[index].isDone = true }
    }

    /// Marks the dead letters that the ledger has.
    ///
    /// - Parameter batch: The indices of the last transaction, if its end is unknown. Another replay has sent the
    ///   others.
    mutating func markDone(in ledger: ReplayLedger, batch: Set<Int>) {
        for index in letters.indices where !letters[index].isDone && ledger.contains(letters[index].position) {
            letters[index].isDone = true
            letters[index].isByOther = !batch.contains(index)
        }
    }

    /// Returns the ranges of the dead letters that are left.
    func remaining(of topic: String) -> ScanPlan {
        var plan = ScanPlan()
        for letter in letters where !letter.isDone {
            let partition = TopicPartition(topic: topic, partition: letter.position.partition)
            let from = plan.partitions[partition]?.from ?? letter.position.offset
            plan.partitions[partition] = ScanPlan.Span(from: from, to: letter.position.offset + 1)
        }
        return plan
    }
}

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
        // Without its item, the record would be decided again as a whole.
        guard let message = record.item(head.item) else { return .foreign(.noSource) }
        if head.replayCount >= cap { return .park(.cap) }
        if partition >= partitions { return .park(.noPartition) }
        if Self.bytes(of: message, head) > messageLimit { return .park(.tooLarge) }
        return .replay(partition: partition)
    }

    /// Returns the greatest size of the record of a replay.
    private static func bytes(of record: ScannedRecord, _ head: DeadLetterHead) -> Int {
        var bytes = frameBytes + (record.key?.count ?? 0) + (record.value?.count ?? 0)
        for header in head.original { bytes += header.name.count + (header.value?.count ?? 0) + 10 }
        return bytes
    }
}
