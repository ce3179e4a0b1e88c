internal import KafkaClient
internal import RouteTools

/// A run of `linkd dlq list`.
final class DeadLetterList {
    private let call: Invocation
    private let filter: DeadLetterFilter
    private let key: DeadLetterKey
    private var groups: DeadLetterGroups
    private var progress: ProgressLine
    private var matched: Int64 = 0
    private var read: Int64 = 0

    /// Creates a run with the flags of a call.
    init(_ call: Invocation) {
        self.call = call
        filter = DeadLetterFilter(call)
        key = call.text("by").flatMap(DeadLetterKey.init) ?? .reason
        groups = DeadLetterGroups(by: key)
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
                ledger = ReplayLedger()
                try ledger?.read(topic.ledger, &scan) { done, all in
                    progress.show("reading \(topic.ledger): \(Counts.grouped(done)) of \(Counts.grouped(all))")
                }
                ledger?.warn(call.console)
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
        while !scan.isDone {
            progress.show("reading \(topic): \(Counts.grouped(scan.read - before)) of \(Counts.grouped(all))")
            _ = try scan.next { record in
                value.begin(record.value)
                guard filter.matches(record, &value) else { return true }
                let head = DeadLetterHead(record)
                groups.add(
                    key.bytes(of: record, head, &value, local: call.isOn("local")), record,
                    failedAt: head?.failedAt ?? 0,
                    isReplayed: ledger?.contains(DeadLetterPosition(record, head)))
                matched += 1
                return true
            }
        }
        read += scan.read - before
    }

    private func print() {
        let out = call.console.out
        if call.json {
            groups.printJSON(on: out)
        } else if call.isOn("csv") {
            groups.printCSV(on: out, local: call.isOn("local"))
        } else if matched > 0 {
            let bars = out.isTerminal && InspectJob.isUTF8(call.environment)
            groups.printTable(on: out, bars: bars, local: call.isOn("local"))
        }
        out.flush()
        if filter.isActive || read == 0 {
            call.console.note("\(Counts.grouped(matched)) of \(Counts.grouped(read)) matched")
        }
    }
}

extension ScanPlan {
    /// The number of offsets of the ranges that have an end.
    var recordCount: Int64 { partitions.values.reduce(0) { $0 + max(0, ($1.to ?? $1.from) - $1.from) } }
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
