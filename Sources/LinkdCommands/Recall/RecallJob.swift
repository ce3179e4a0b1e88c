internal import DispatchWorker
internal import KafkaClient
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// `linkd recall`: corrects the decisions of a wrong table.
enum RecallCommand {
    static let command = Command(
        path: ["recall"],
        summary: "Find the decisions of a wrong table, and correct them",
        discussion: [
            "Reads the decisions that a table has made, up to the end of the topic at the time of the call, and the "
                + "records of their events. It decides each event again, with the configurations of the archive that "
                + "can have made the decision, and takes the one that gives the same bytes. Then it decides with the "
                + "new table in place of the wrong one, and prints what changes and which edits of the table cause it. "
                + "Nothing is sent without --yes.",
            "With --yes, it publishes a correction for each device whose last decision changes: all members of the "
                + "new decision, the id of the wrong one with `~1` (`~2` for the correction of a correction), and "
                + "`supersedes` with the id of the wrong one. Each correction is sent in one transaction with an entry "
                + "in the ledger, the topic `<to>.recalled`. So nothing is corrected twice, and a call that was "
                + "interrupted or killed is continued by the same command.",
            "Left alone, and listed with --list, are devices with a later decision, events that have expired by "
                + "now, devices with decisions in several partitions, corrections that are too large for a topic, "
                + "events that the new table makes dead letters, and decisions that cannot be made again: another "
                + "version of linkd was in use, the record is gone, or no configuration with the table is in the "
                + "archive. If there are others than the first two, wrong decisions can remain, and the exit code is "
                + "1, also without --yes. Before each commit, the decisions are read to their end. A worker can still "
                + "decide between this and the commit, so consumers apply a decision with `supersedes: X` only if X "
                + "is the last decision of the device.",
            "With `output.applications`, the last decision of a device counts in each topic. If --to is a topic of "
                + "decisions, each correction is sent to the topic of its decision, also if the new table lists "
                + "another application, and the ledger is `<output>.recalled`.",
            "Without an archive (`tables.topic`), the wrong table is taken from --old or `state.dir`, with the "
                + "vendors, limits, and `passthrough` of this call. One recall to a topic runs at a time: a second one "
                + "ends the first one with exit code 79.",
        ],
        flags: [
            Flag(
                "--table", .text(bytes: 8...256), placeholder: "HASH",
                "Wrong table: the first 8 or more digits of its SHA-256, or its name in decisions."),
            Flag("--with", .file, "New table, with the same `id` as the wrong one."),
            Flag("--old", .file, "File of the wrong table, if no archive has it."),
            Flag("--since", .time, "Choose decisions made at this time or later."),
            Flag("--until", .time, "Choose decisions made at this time or earlier."),
            Flag("--route", .text(bytes: 1...256), placeholder: "ID", "Choose decisions of this route only."),
            Flag(
                "--application", .text(bytes: 1...256), placeholder: "ID",
                "Choose decisions of this application only."),
            Flag("--max", .integer(1...10_000_000), default: "1000000", "Maximum number of devices."),
            Flag("--to", .topic, "Topic for the corrections. Usually, it is the topic of decisions."),
            Flag("--rate", .integer(1...10_000_000), "Limit of corrections per second."),
            Flag("--list", .file, "File for the decisions that are left alone, one JSON object per line."),
            Flag("--yes", "Publish the corrections."),
            Flag("--json", "Print the summary as JSON."),
        ],
        settings: .recall,
        examples: [
            "linkd recall -b localhost:9092 --tables-topic link-tables --table d1ec0520 --with shop.json":
                "What another table would have decided, without sending anything.",
            "linkd recall -b localhost:9092 --table d1ec0520 --with shop.json --yes --to link-decisions":
                "Publishes the corrections, with the archive of the environment.",
        ],
        run: { call throws(CommandFailure) in try RecallJob(call).run() })
}

/// A run of `linkd recall`: the choice, the dry run, and the corrections.
final class RecallJob {
    private let call: Invocation
    private let settings: Settings
    private let hash: String
    private let replacement: (table: RouteTable, json: [UInt8])
    private let start = Platform.monotonicSeconds
    private var progress: ProgressLine
    private var tape = DecisionTape()

    /// Creates a run with the flags of a call.
    init(_ call: Invocation) throws(CommandFailure) {
        self.call = call
        guard let text = call.text("table"), let path = call.text("with") else {
            throw CommandFailure(
                .usage, "expected --table HASH and --with FILE", advice: "see `linkd help recall`")
        }
        guard let hash = Self.hash(text) else {
            throw CommandFailure(
                .usage, "--table: `\(Escaping.visible(text))` is neither a SHA-256 nor the name of a table",
                advice: "pass 8 to 64 hexadecimal digits, or the member `table` of a decision")
        }
        guard call.text("to") != nil || !call.isOn("yes") else {
            throw CommandFailure(
                .usage, "--yes needs the topic for the corrections", advice: "pass --to with the topic of decisions")
        }
        self.hash = hash
        settings = try call.settings()
        replacement = try CheckedTable.validFile(at: path)
        progress = ProgressLine(call.console)
        guard !replacement.table.hash.hasPrefix(hash) else {
            throw CommandFailure(
                .usage, "--with is the wrong table itself", advice: "pass the file of the table that decides right")
        }
    }

    /// Returns the digits of a hash, or of the hash in the name of a table.
    static func hash(_ text: String) -> String? {
        let digits = text.split(separator: "+").last.map(String.init) ?? text
        guard (8...64).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return digits
    }

    /// Chooses decisions, and corrects them if the call says so.
    func run() throws(CommandFailure) -> ExitCode {
        StopSignals.installEndingOnSecond()
        let connection = try Connection(settings)
        defer { progress.clear() }
        let admin = try connection.makeAdmin()
        let topics = try ClusterTopics(settings, admin)
        let targets = try targets(topics, admin)
        var scan = try TopicScan(connection, prefetch: .moderate)
        let (plan, tails) = try choose(topics, targets, connection, &scan)
        var ledger = TopicTail(targets.ledger)
        if try exists(targets.ledger, admin) {
            try RecallLedger.read(&ledger, &scan, into: plan)
        } else if call.isOn("yes") {
            throw CommandFailure(
                .configuration, "topic \(targets.ledger) does not exist",
                advice: "create it with `linkd topics create --recall`")
        }
        let configurations = try configurations(plan, connection)
        var judge = RecallJudge(
            configurations, replacement.table, now: Platform.nowMilliseconds, messageLimits: targets.messageLimits)
        var summary = RecallSummary(hash: hash, replacement: replacement.table, topics.outputs)
        summary.failures = configurations.failures
        if call.isOn("yes") { summary.target = targets.corrections.joined(separator: ", ") }
        try examine(plan, &judge, &summary, &scan)
        progress.clear()
        take(plan, &summary)
        summary.printChoice(on: call.json ? call.console.err : call.console.out)
        guard call.isOn("yes"), summary.toCorrect > 0 else { return try finish(&summary, plan) }
        try archive(configurations, summary, connection)
        let work = try RecallRun(connection, targets, plan, judge, tails, ledger)
        let run = try LedgerRun(connection, targets.subject, work, rate: call.number("rate"), call.console)
        var failure: CommandFailure?
        do throws(CommandFailure) { try run.run() } catch { failure = error }
        summary.published = work.published
        take(work.plan, &summary)
        if let failure, StopSignals.number == nil {
            print(&summary)
            throw failure
        }
        return try finish(&summary, work.plan)
    }

    private func targets(_ topics: ClusterTopics, _ admin: KafkaAdmin) throws(CommandFailure) -> RecallTargets {
        let outputs = topics.outputs
        var targets = RecallTargets(outputs, to: call.text("to") ?? outputs.main)
        let others = topics.inputs + topics.deadLetters + [topics.devices, topics.tables].compactMap(\.self)
        let ledgers =
            outputs.names.map(Settings.recalled) + topics.deadLetters.flatMap { [$0 + ".replayed", $0 + ".parked"] }
        guard !(others + ledgers).contains(targets.corrections[0]),
            !(others + outputs.names).contains(targets.ledger)
        else {
            throw CommandFailure(
                .usage, "--to: \(targets.corrections[0]) is not a topic for decisions",
                advice: "pass the topic of decisions, and not an input, dead-letter, or other topic of the worker")
        }
        for topic in targets.corrections where call.isOn("yes") {
            if try exists(topic, admin) { continue }
            throw CommandFailure(
                .configuration, "topic \(topic) does not exist", advice: "pass another topic with --to")
        }
        let limits = admin.messageLimits(of: targets.corrections + [targets.ledger])
        targets.messageLimits = targets.corrections.map { limits[$0] ?? .max }
        targets.messageLimit = limits.values.min() ?? .max
        return targets
    }

    private func exists(_ topic: String, _ admin: KafkaAdmin) throws(CommandFailure) -> Bool {
        let found = try attempt("describing \(topic)") { () throws(KafkaError) in
            try admin.describe(topics: [topic], timeoutMilliseconds: 10_000)
        }
        guard let description = found.first, let error = description.error else { return !found.isEmpty }
        if !description.exists { return false }
        throw CommandFailure(
            error, while: "describing \(topic)", needing: AccessRight(["Read", "Write"], on: .topic, [topic]))
    }

    // MARK: The choice

    /// Reads the decisions up to the stable end, and returns the plan with the decisions that follow.
    private func choose(
        _ topics: ClusterTopics, _ targets: RecallTargets, _ connection: Connection, _ scan: inout TopicScan
    ) throws(CommandFailure) -> (RecallPlan, [TopicTail]) {
        try awaitTransactions(topics.outputs.names, targets, connection, scan)
        let filter = try RecordFilter(call, ofDeadLetters: false)
        var spans = ScanPlan()
        var all = ScanPlan()
        var tails: [TopicTail] = []
        var counts: [Int32] = []
        for output in topics.outputs.names {
            let ends = try scan.description(of: output)
            var since: [TopicPartition: Int64] = [:]
            if let first = filter.since { since = try scan.offsets(of: output, ends.keys, atOrAfter: first) }
            try spans.add(output, ends, ScanRange(since: filter.since), since: since)
            try all.add(output, ends, ScanRange(), since: [:])
            tails.append(TopicTail(output, from: ends.mapValues(\.high)))
            counts.append(Int32(ends.count))
        }
        let plan = RecallPlan(
            filter, hash: String(hash.prefix(8)), replacement: String(replacement.table.hash.prefix(8)),
            application: call.text("application"), inputs: topics.inputs, outputs: topics.outputs.names,
            partitionCounts: counts, limit: Int(call.number("max") ?? 1_000_000))
        try scan.start(spans)
        let names = topics.outputs.names.joined(separator: ", ")
        try scan.forEach(before: watch("reading \(names)", spans)) { record throws(CommandFailure) in
            try plan.see(record, &tape)
        }
        while plan.mustBeginAgain {
            plan.beginAgain(spans)
            try scan.start(all)
            try scan.forEach(before: watch("reading \(names) from the first decision", all)) {
                record throws(CommandFailure) in
                try plan.see(record, &tape)
            }
        }
        plan.finish()
        guard plan.hasMoved else { return (plan, tails) }
        try scan.start(spans)
        try scan.forEach(before: watch("reading \(names) again", spans)) { record in plan.seeAgain(record, &tape) }
        return (plan, tails)
    }

    /// Waits for the transactions in the topics of decisions, or throws if one does not end.
    ///
    /// The decisions behind it are not read: wrong ones, and later ones of their devices.
    private func awaitTransactions(
        _ names: [String], _ targets: RecallTargets, _ connection: Connection, _ scan: TopicScan
    ) throws(CommandFailure) {
        var isFirst = true
        let open = try OpenTransactions(in: names, settings, connection, scan) { () throws(CommandFailure) in
            progress.show("waiting for open transactions")
            // The producer ends the transaction of an earlier recall.
            if isFirst, call.isOn("yes") { _ = try LedgerProducer(connection, targets.subject) }
            isFirst = false
        }
        guard let partition = open.unfinished.keys.min() else { return }
        throw CommandFailure(
            .temporary,
            "a transaction in \(partition.topic), partition \(partition.partition), does not end, so the decisions "
                + "after it are not known (`kafka-transactions.sh find-hanging` finds its producer)",
            advice: "end it with `kafka-transactions.sh abort`, then run the same command again")
    }

    /// Returns the configurations that can have made the decisions.
    private func configurations(
        _ plan: RecallPlan, _ connection: Connection
    ) throws(CommandFailure) -> RecallConfigurations {
        var found = RecallConfigurations()
        if var reader = try ArchiveReader(settings, connection) {
            try found.add(&reader, hash: hash, plan.identities, replacement: replacement.table)
        }
        if let old = try oldTable() {
            let shipped = ShippedFiles(environment: call.environment)
            let vendors = try LoadedVendors(settings, shipped, opensShortLinks: false, on: call.console)
            found.add(old, settings, vendors, replacement: replacement.table)
        }
        for configuration in found.all where configuration.table.id != replacement.table.id {
            throw CommandFailure(
                .badData,
                "the new table has the id \(replacement.table.id), and the wrong one \(configuration.table.id)",
                advice: "pass a table with the same `id`")
        }
        return found
    }

    /// Returns the wrong table from `--old` or the state directory, or nil.
    private func oldTable() throws(CommandFailure) -> RouteTable? {
        if let path = call.text("old") {
            let table = try CheckedTable.validTable(at: path)
            guard table.hash.hasPrefix(hash) else {
                throw CommandFailure(
                    .usage, "--old is the table \(table.hash.prefix(8)), and not \(hash)",
                    advice: "pass the file of the table that --table names")
            }
            return table
        }
        guard let directory = settings.text("state.dir") else { return nil }
        return TableArchive.tables(hashPrefix: hash, in: directory).lazy.compactMap { RouteTable.check($0.json).table }
            .first
    }

    // MARK: The dry run

    /// Decides the events of the chosen decisions again.
    private func examine(
        _ plan: RecallPlan, _ judge: inout RecallJudge, _ summary: inout RecallSummary, _ scan: inout TopicScan
    ) throws(CommandFailure) {
        var spans = plan.remaining(.chosen)
        for topic in Set(spans.partitions.keys.map(\.topic)) { try clamp(topic, &spans, scan) }
        try scan.start(spans)
        try scan.forEach(before: watch("deciding again", spans)) { record in
            for index in plan.indices(of: record) where plan.choices[index].state == .chosen {
                let choice = plan.choices[index]
                let device = plan.device(choice)
                guard let id = plan.id(choice) else { continue }
                switch judge.verdict(choice, id, device, record, plan.shortLinks(choice)) {
                case .left(let state): plan.set(state, at: index)
                case .correct(let correction):
                    plan.set(.changed, at: index)
                    summary.add(correction, record, device, in: choice.output)
                }
            }
        }
    }

    /// Limits ranges to the offsets that exist.
    private func clamp(_ topic: String, _ spans: inout ScanPlan, _ scan: TopicScan) throws(CommandFailure) {
        var ends: [Int32: Watermarks] = [:]
        do throws(CommandFailure) {
            ends = try scan.description(of: topic)
        } catch  where error.code == .configuration {
            // The topic no longer exists.
        }
        for (partition, span) in spans.partitions where partition.topic == topic {
            spans.partitions[partition] = nil
            guard let end = ends[partition.partition] else { continue }
            let range = ScanPlan.Span(from: max(span.from, end.low), to: min(span.to ?? end.high, end.high))
            if range.from < range.to ?? 0 { spans.partitions[partition] = range }
        }
    }

    private func watch(_ action: String, _ plan: ScanPlan) -> (_ read: Int64) throws(CommandFailure) -> Void {
        return { read throws(CommandFailure) in try self.progress.show(action, read, of: plan) }
    }

    private func take(_ plan: RecallPlan, _ summary: inout RecallSummary) {
        summary.matching = plan.matching
        summary.replaced = plan.replaced
        summary.beyondLimit = plan.beyondLimit
        summary.states = [:]
        for choice in plan.choices { summary.states[choice.state, default: 0] += 1 }
    }

    // MARK: The corrections

    /// Stores the configurations with the new table in the archive.
    private func archive(
        _ configurations: RecallConfigurations, _ summary: RecallSummary, _ connection: Connection
    ) throws(CommandFailure) {
        if summary.hasUnarchived {
            let cause = settings.text("tables.topic").map { "\($0) has no configuration with the wrong one" }
            call.console.warn(
                "the new table is not archived (\(cause ?? "--tables-topic")): keep its file, so that corrections can "
                    + "be explained")
        }
        guard let topic = settings.text("tables.topic") else { return }
        var reader = try ArchiveReader(connection, topic: topic)
        let writer = ArchiveWriter(connection, topic: topic)
        for configuration in configurations.all {
            guard let hash = configuration.hash, summary.configurations.contains(hash),
                let entry = reader.archive.entry(hash)
            else { continue }
            _ = try reader.load(entry)
            let tables = zip(entry.configuration.tables, configuration.corrected.tables.tables).map { archived, table in
                table.hash == archived.file.hash ? reader.contents(of: archived.file) ?? [] : replacement.json
            }
            let draft = ConfigurationDraft(
                configuration.corrected, tables: tables, vendors: configuration.vendors,
                devices: configuration.members, messageBytes: entry.configuration.messageBytes)
            _ = try writer.store(draft, by: .recall, deadline: Platform.monotonicSeconds + 30)
        }
    }

    private func print(_ summary: inout RecallSummary) {
        summary.seconds = Platform.monotonicSeconds - start
        call.console.out.line(call.json ? summary.json : summary.text)
        call.console.out.flush()
    }

    /// Writes the list, prints the summary, and returns the exit code.
    ///
    /// A dry run ends with the code of a recall that publishes everything.
    private func finish(_ summary: inout RecallSummary, _ plan: RecallPlan) throws(CommandFailure) -> ExitCode {
        try writeList(plan)
        print(&summary)
        guard let failure = failure(summary) else { return .success }
        call.console.printFailure(failure)
        return failure.code
    }

    /// Returns the reason for which wrong decisions can remain, or nil.
    private func failure(_ summary: RecallSummary) -> CommandFailure? {
        if call.isOn("yes"), let left = summary.states[.changed], left > 0 {
            let number = StopSignals.number
            return CommandFailure(
                number.map { ExitCode(rawValue: 128 + $0) } ?? .finding,
                (number.map { "ended by signal \($0) with " } ?? "") + "\(Counts.text(left, "correction")) left",
                advice: "run the same command again, which corrects nothing twice")
        }
        if summary.beyondLimit > 0 {
            return CommandFailure(
                .finding, "\(Counts.text(Int(summary.beyondLimit), "decision")) left, whose devices are beyond --max",
                advice: "run the command again with a larger --max, or for parts with --since, --route, or "
                    + "--application")
        }
        let wrong = summary.states.reduce(0) { $1.key.canRemainWrong ? $0 + $1.value : $0 }
        guard wrong > 0 else { return nil }
        return CommandFailure(
            .finding, "\(Counts.text(wrong, "decision")) of the table cannot be corrected",
            advice: "see their ids and causes with --list FILE")
    }

    private func writeList(_ plan: RecallPlan) throws(CommandFailure) {
        guard let path = call.text("list") else { return }
        var text = ""
        for choice in plan.choices where choice.state != .same && choice.state != .corrected && choice.state != .changed
        {
            text += JSONText.object { json in
                json.text("decision", plan.idText(choice))
                json.text("device", String(decoding: plan.key(choice), as: UTF8.self))
                json.text("state", choice.state.name)
            }
            text += "\n"
        }
        guard let error = Platform.writeFile(path, Array(text.utf8)) else { return }
        throw CommandFailure(
            .configuration, "\(Escaping.visible(path)) cannot be written: \(error.text)",
            advice: "pass another file with --list")
    }
}
