internal import KafkaClient
internal import RouteTools

/// `linkd dlq list`: counts dead letters by a property.
enum DeadLettersListCommand {
    static let command = Command(
        path: ["dlq", "list"],
        summary: "Count dead letters by reason, day, or another property",
        discussion: [
            "Reads the dead letters of the inputs, from their start to their end at the time of the call, without a "
                + "consumer group. REPLAYED is the number of those that `linkd dlq replay` has sent again or parked, "
                + "or `-` if no ledger exists or this user is not allowed to read it. LAST is the time of the last "
                + "failure, and EXAMPLE that dead letter.",
            "A record of Kafka does not name its producer. `--by producer` counts by the first of the headers "
                + "`ce_source`, `source`, `producer`, and `client.id` that is present.",
        ],
        flags: RecordFilter.deadLetterFlags + [
            Flag(
                "--offset", .texts(count: 1...1000, bytes: 0...256), repeats: true, placeholder: "P:N",
                "Read only this partition, from this offset on."),
            Flag(
                "--by", .choice(DeadLetterKey.allCases.map(\.rawValue)), default: "reason",
                "Property by which dead letters are counted. `-` stands for none."),
            Flag("--local", "Print local times and count by local days."),
            Flag("--json", "Print one JSON object per line."),
            Flag("--csv", "Print comma-separated values (RFC 4180)."),
        ],
        settings: .deadLetters,
        examples: [
            "linkd dlq list -b localhost:9092": "The number of dead letters for each reason.",
            "linkd dlq list -b localhost:9092 --by day --reason missing_device":
                "The number of dead letters with a reason for each day.",
            "linkd dlq list -b localhost:9092 --by application --since 1h --json":
                "The failures of the last hour for each application, as JSON.",
        ],
        run: { call throws(CommandFailure) in
            if call.json, call.isOn("csv") {
                throw CommandFailure(.usage, "--json and --csv cannot be combined", advice: "pass only one of them")
            }
            let settings = try call.settings()
            let range = try RecordFilter(isDeadLetters: true).range(call)
            let list = try DeadLetterList(call)
            let connection = try Connection(settings)
            let admin = try connection.makeAdmin()
            let topics = try DeadLetterTopics.all(call, settings, admin)
            guard range.offsets.isEmpty || topics.count == 1 else {
                throw CommandFailure(
                    .usage, "--offset needs one topic, and there are \(topics.count)",
                    advice: "pass its input with --topic")
            }
            try list.run(connection, topics, range, admin)
            return .success
        })
}

/// A run of `linkd dlq list`.
final class DeadLetterList {
    private let call: Invocation
    private let filter: RecordFilter
    private let key: DeadLetterKey
    private var groups: GroupCounts
    private var progress: ProgressLine
    private var matched: Int64 = 0
    private var read: Int64 = 0

    /// Creates a run with the flags of a call.
    init(_ call: Invocation) throws(CommandFailure) {
        self.call = call
        filter = try RecordFilter(call, ofDeadLetters: true, searchesEvents: true)
        key = call.text("by").flatMap(DeadLetterKey.init) ?? .reason
        groups = GroupCounts(by: key)
        progress = ProgressLine(call.console)
    }

    /// Counts the dead letters of topics, and prints the counts.
    func run(
        _ connection: Connection, _ topics: [DeadLetterTopics], _ range: ScanRange, _ admin: KafkaAdmin
    ) throws(CommandFailure) {
        let descriptions = try DeadLetterTopics.describe(topics.map(\.ledger), admin)
        var scan = try TopicScan(connection)
        for topic in topics {
            var ledger: ReplayLedger?
            if descriptions[topic.ledger]?.error == nil {
                var found = ReplayLedger()
                do throws(CommandFailure) {
                    try found.read(topic.ledger, &scan) { done, all in
                        progress.show("reading \(topic.ledger): \(Counts.grouped(done)) of \(Counts.grouped(all))")
                    }
                    found.warn(call.console)
                    ledger = found
                } catch  where error.code == .refused {
                    scan = try TopicScan(connection)
                }
            }
            try count(topic.deadLetters, ledger, range, &scan)
        }
        progress.clear()
        print()
    }

    private func count(
        _ topic: String, _ ledger: ReplayLedger?, _ range: ScanRange, _ scan: inout TopicScan
    ) throws(CommandFailure) {
        var plan = ScanPlan()
        try plan.add(topic, try scan.description(of: topic), range)
        let all = plan.recordCount
        var value = DecisionTape()
        let before = scan.read
        try scan.start(plan)
        try scan.forEach { read in
            progress.show("reading \(topic): \(Counts.grouped(read)) of \(Counts.grouped(all))")
        } _: { record in
            value.begin(record.message)
            guard filter.matches(record, &value) else { return }
            let head = DeadLetterHead(record)
            groups.add(
                key.bytes(of: record, head, &value, local: call.isOn("local")), record, failedAt: head?.failedAt ?? 0,
                isReplayed: ledger?.contains(DeadLetterPosition(record, head)))
            matched += 1
        }
        read += scan.read - before
    }

    private func print() {
        groups.print(call)
        call.console.out.flush()
        if filter.isActive || read == 0 {
            call.console.note("\(Counts.grouped(matched)) of \(Counts.grouped(read)) matched")
        }
    }
}

extension ReplayLedger {
    /// Prints a warning if the ledger has records that are not entries.
    func warn(_ console: Console) {
        guard unreadable > 0, let firstUnreadable else { return }
        console.warn(
            "\(Counts.text(unreadable, "record")) of the ledger cannot be read and "
                + "\(unreadable == 1 ? "is" : "are") ignored, for example "
                + "\(firstUnreadable)")
    }
}

/// The topics of the dead letters of one input.
struct DeadLetterTopics: Equatable {
    let input: String
    /// The dead-letter topic.
    let deadLetters: String
    /// The topic that lists the dead letters that were replayed.
    var ledger: String { Settings.replayed(of: deadLetters) }

    /// Returns the topics of each input, or of the input that `--topic` names.
    static func all(
        _ call: Invocation, _ settings: Settings, _ admin: KafkaAdmin
    ) throws(CommandFailure) -> [DeadLetterTopics] {
        let inputs = if let topic = call.text("topic") { [topic] } else { try ClusterTopics(settings, admin).inputs }
        return inputs.map { DeadLetterTopics(input: $0, deadLetters: settings.deadLetterTopic(of: $0)) }
    }

    /// Returns the descriptions of topics by name.
    static func describe(
        _ names: [String], _ admin: KafkaAdmin
    ) throws(CommandFailure) -> [String: TopicDescription] {
        let descriptions = try attempt("describing the topics of dead letters") { () throws(KafkaError) in
            try admin.describe(topics: names, timeoutMilliseconds: 10_000)
        }
        return Dictionary(descriptions.map { ($0.name, $0) }) { first, _ in first }
    }
}
