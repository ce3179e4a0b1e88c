internal import ByteStorage
internal import KafkaClient
internal import LinkDecider
internal import StrictJSON

/// A run that publishes corrections, in transactions with a ledger.
///
/// The ledger has one record for each correction. Its key is the id of the decision that is corrected. Its value has
/// `decided_at`, the time of that decision, without which a topic of events that was created again would look
/// corrected.
final class RecallRun: LedgerWork {
    /// A correction that waits for the next transaction.
    private struct Pending {
        var key: [UInt8]
        var value: [UInt8]
        /// The index of the topic in the targets.
        var topic: Int
        var partition: Int32
        var entry: String
        var id: DecisionID
    }

    private let targets: RecallTargets
    private var judge: RecallJudge
    /// The decisions after those that were read for the choice.
    private var tails: [TopicTail]
    private var tailScan: TopicScan
    private var tape = DecisionTape()
    private var pending: [Int: Pending] = [:]
    private var ledger: TopicTail
    /// The number of corrections that this run has published.
    private(set) var published = 0
    /// The chosen decisions.
    let plan: RecallPlan
    let count: Int

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - tails: The decisions after those that were read for the plan.
    ///   - ledger: The entries after those that the plan has.
    init(
        _ connection: Connection, _ targets: RecallTargets, _ plan: RecallPlan, _ judge: RecallJudge,
        _ tails: [TopicTail], _ ledger: TopicTail
    ) throws(CommandFailure) {
        self.targets = targets
        self.plan = plan
        self.judge = judge
        self.tails = tails
        self.ledger = ledger
        count = plan.count(.changed)
        tailScan = try TopicScan(connection, prefetch: .moderate)
    }

    var leftCount: Int { plan.count(.changed) }
    var remaining: ScanPlan { plan.remaining(.changed) }

    func readLedger(_ scan: inout TopicScan, batch: Set<Int>) throws(CommandFailure) {
        pending = [:]
        try RecallLedger.read(&ledger, &scan, into: plan)
        published += batch.count { plan.choices[$0].state == .corrected }
    }

    func units(of record: ScannedRecord) -> [Int] {
        plan.indices(of: record).filter { plan.choices[$0].state == .changed }
    }

    func add(_ index: Int, of record: ScannedRecord, _ producer: LedgerProducer) -> Int {
        let choice = plan.choices[index]
        guard let id = plan.id(choice) else { return 0 }
        // With --rate, a run can take hours, in which events expire.
        judge.now = Platform.nowMilliseconds
        switch judge.verdict(choice, id, plan.device(choice), record, plan.shortLinks(choice)) {
        case .left(let state):
            plan.set(state, at: index)
            return 0
        case .correct(let correction):
            let key = plan.key(choice)
            let topic = targets.areDecisions ? Int(choice.output) : 0
            let partition =
                targets.areDecisions
                ? choice.outputPartition
                : key.withUnsafeBufferPointer { Murmur2.partition(of: ByteView($0), among: producer.partitionCount(0)) }
            pending[index] = Pending(
                key: key, value: correction.new, topic: topic, partition: partition,
                entry: RecallLedger.value(
                    correction, to: "\(targets.corrections[topic])-\(partition)", decidedAt: choice.time),
                id: correction.superseded)
            return 512 + key.count + correction.new.count
        }
    }

    func finish(_ batch: Set<Int>, _ producer: LedgerProducer) throws(LedgerStop) -> Set<Int> {
        // The open transaction would hide what was committed after its first record, so it begins after the look.
        do throws(CommandFailure) {
            for index in tails.indices {
                try tails[index].read(&tailScan) { record throws(CommandFailure) in try plan.see(record, &tape) }
            }
        } catch {
            throw .failure(error)
        }
        let left = batch.filter { plan.choices[$0].state == .changed && pending[$0] != nil }
        defer { pending = [:] }
        guard !left.isEmpty else { return [] }
        do throws(KafkaError) {
            try producer.begin()
            for index in left.sorted() {
                guard let correction = pending[index] else { continue }
                try correction.key.withUnsafeBufferPointer { key throws(KafkaError) in
                    try correction.value.withUnsafeBufferPointer { value throws(KafkaError) in
                        try producer.send(
                            correction.topic, correction.partition, ByteView(key), ByteView(value), [], timestamp: nil)
                    }
                }
                let ledger = targets.corrections.count
                try producer.send(
                    ledger, correction.id.partition % producer.partitionCount(ledger), key: correction.id.text,
                    value: correction.entry)
            }
        } catch {
            throw .error(error)
        }
        return left
    }

    func markDone(_ batch: Set<Int>) {
        for index in batch { plan.set(.corrected, at: index) }
        published += batch.count
    }
}

/// The topics of a recall.
struct RecallTargets {
    /// The topics of decisions.
    let outputs: OutputTopics
    /// A Boolean value that indicates whether each correction is published to the topic of the decision.
    let areDecisions: Bool
    /// The topics to which corrections are published: all topics of decisions, or another one.
    let corrections: [String]
    /// `max.message.bytes` of each topic in `corrections`.
    var messageLimits = [Int.max]
    /// The smallest `max.message.bytes` of these topics and the ledger.
    var messageLimit = Int.max

    /// Creates the topics of a recall to a topic of decisions, which stands for all of them, or to another topic.
    init(_ outputs: OutputTopics, to topic: String) {
        self.outputs = outputs
        areDecisions = outputs.names.contains(topic)
        corrections = areDecisions ? outputs.names : [topic]
    }

    /// The topic that lists the decisions that were corrected.
    var ledger: String { Settings.recalled(of: corrections[0]) }

    /// The names and words of a recall.
    var subject: LedgerSubject {
        LedgerSubject(
            action: "recalling decisions of \(outputs.names.joined(separator: ", "))", done: "corrected",
            promise: "which corrects nothing twice",
            other: "another recall to \(corrections[0]) has started", transactionalID: "linkd-recall." + corrections[0],
            topics: corrections + [ledger], ledger: ledger, messageLimit: messageLimit)
    }
}

/// The entries of the ledger of a recall.
enum RecallLedger {
    /// Returns the value of an entry.
    ///
    /// - Parameter place: The topic and the partition of the correction.
    static func value(_ correction: Correction, to place: String, decidedAt time: Int64) -> String {
        JSONText.object { json in
            json.text("decision", correction.id.text)
            json.text("supersedes", correction.superseded.text)
            json.number("decided_at", time)
            json.text("to", place)
            json.number("recalled_at", Platform.nowMilliseconds)
        }
    }

    /// Reads the entries that were added, and marks their decisions.
    ///
    /// A record that is not an entry is ignored.
    static func read(
        _ tail: inout TopicTail, _ scan: inout TopicScan, into plan: RecallPlan,
        progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
    ) throws(CommandFailure) {
        var members = DecisionTape()
        try tail.read(&scan, progress: progress) { record throws(CommandFailure) in
            members.begin(record.value)
            guard let key = record.key, key.count <= 320, let id = DecisionID(key.string) else { return }
            let node = members.member("decided_at")
            guard node >= 0 else { return }
            var time: Int64?
            members.withText(of: node) { time = Int64($0.string) }
            if let time { plan.markCorrected(id, decidedAt: time) }
        }
    }
}
