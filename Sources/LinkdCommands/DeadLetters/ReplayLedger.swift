internal import ByteStorage
internal import RouteTools
internal import StrictJSON

/// The dead letters of a topic that were replayed, from its ledger.
///
/// A replay writes one record to the ledger for each dead letter, in the transaction that replays it. The key is the
/// partition and the offset of the dead letter, such as `3-1200`. The value is JSON. Its member `failed_at` is the time
/// of the failure, without which a topic that was created again would look replayed.
struct ReplayLedger {
    /// The limit of entries, which need 16 bytes each.
    static let limit = 10_000_000

    private struct Entry: Comparable {
        var offset: Int64
        var failedAt: Int64

        static func < (a: Entry, b: Entry) -> Bool { (a.offset, a.failedAt) < (b.offset, b.failedAt) }
    }

    /// The entries by the partition of the dead letters.
    ///
    /// They are sorted after each `finish`.
    private var entries: [Int32: [Entry]] = [:]
    private var unsorted: Set<Int32> = []
    /// The offset after the last one that was read, by the partition of the ledger.
    private(set) var next: [Int32: Int64] = [:]
    /// The number of entries.
    private(set) var count = 0
    /// The number of records that are not entries.
    private(set) var unreadable = 0
    /// The position of the first record that is not an entry, or nil.
    private(set) var firstUnreadable: String?

    /// Creates an empty ledger.
    init() {}

    /// Returns a Boolean value that indicates whether a dead letter was replayed.
    func contains(_ position: DeadLetterPosition) -> Bool {
        guard let list = entries[position.partition] else { return false }
        let entry = Entry(offset: position.offset, failedAt: position.failedAt)
        return list[list.partitioningIndex { $0 >= entry }...].first == entry
    }

    /// Adds a record of the ledger.
    ///
    /// A record that is not an entry is counted. More entries than the limit end with exit code 78.
    mutating func add(_ record: ScannedRecord, _ members: inout DecisionTape) throws(CommandFailure) {
        members.begin(record.value)
        guard let position = Self.position(record, &members) else {
            unreadable += 1
            firstUnreadable = firstUnreadable ?? "\(record.topic)-\(record.partition)-\(record.offset)"
            return
        }
        guard count < Self.limit else {
            throw CommandFailure(
                .configuration, "\(record.topic) has more than \(Counts.grouped(Int64(Self.limit))) entries",
                advice: "lower the retention of the dead letters and of \(record.topic)")
        }
        entries[position.partition, default: []].append(Entry(offset: position.offset, failedAt: position.failedAt))
        unsorted.insert(position.partition)
        count += 1
    }

    /// Sorts the entries that were added.
    mutating func finish() {
        for partition in unsorted { entries[partition]?.sort() }
        unsorted = []
    }

    private static func position(_ record: ScannedRecord, _ members: inout DecisionTape) -> DeadLetterPosition? {
        guard let key = record.key, let hyphen = key.firstIndex(of: UInt8(ascii: "-")),
            let partition = DeadLetterHead.decimal(key.slice(0, hyphen)).flatMap({ Int32(exactly: $0) }),
            let offset = DeadLetterHead.decimal(key.dropFirst(hyphen + 1))
        else { return nil }
        let node = members.member("failed_at")
        guard node >= 0 else { return nil }
        var failedAt: Int64?
        members.withText(of: node) { failedAt = DeadLetterHead.decimal($0) }
        return failedAt.map { DeadLetterPosition(partition: partition, offset: offset, failedAt: $0) }
    }

    /// Reads the committed records that were added since the last call.
    ///
    /// - Parameters:
    ///   - topic: The ledger.
    ///   - scan: A scan, which is started again.
    mutating func read(
        _ topic: String, _ scan: inout TopicScan, progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
    ) throws(CommandFailure) {
        var tail = TopicTail(topic, from: next)
        var members = DecisionTape()
        try tail.read(&scan, progress: progress) { record throws(CommandFailure) in try add(record, &members) }
        next = tail.next
        finish()
    }

    /// Returns the value of an entry.
    ///
    /// - Parameters:
    ///   - topic: The topic of the dead letter.
    ///   - target: The topic to which it was sent.
    ///   - targetPartition: The partition of `target`.
    ///   - replayCount: The number of replays, with this one.
    static func value(
        of position: DeadLetterPosition, in topic: String, to target: String, _ targetPartition: Int32,
        replayCount: Int64, now: Int64
    ) -> String {
        return JSONText.object { json in
            json.text("dead_letter", "\(topic)-\(position.partition)-\(position.offset)")
            json.number("failed_at", position.failedAt)
            json.text("to", "\(target)-\(targetPartition)")
            json.number("replay_count", replayCount)
            json.number("replayed_at", now)
        }
    }
}
