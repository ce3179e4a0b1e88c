internal import DispatchWorker
internal import KafkaClient
internal import LinkDecider
internal import RouteTools
internal import StrictJSON

/// `linkd dlq replay`: sends dead letters to their input again.
enum DeadLettersReplayCommand {
    static let command = Command(
        path: ["dlq", "replay"],
        summary: "Send dead letters to their input again, each once",
        discussion: [
            "Chooses dead letters of one input up to the end of the topic at the time of the call, prints the choice, "
                + "and sends them to the partitions of their sources with their keys, values, and headers, and with "
                + "the current time, so an event that has expired stays expired. Correct the cause first.",
            "Each dead letter is sent in one transaction with an entry in the ledger, the topic `<dlq>.replayed`. So "
                + "nothing is replayed twice, whatever the filters of later calls are, and a call that was interrupted "
                + "or killed is continued by the same command. This holds as long as the ledger keeps its entries: it "
                + "must retain them longer than the dead letters are retained. `linkd topics create --replay` creates "
                + "the topics.",
            "A dead letter is copied to the parking topic instead if its value was truncated, it was replayed as often "
                + "as --cap allows, the input has no such partition any more, or it is larger than the input accepts. "
                + "Records that are not dead letters of the input are left alone, with exit code 1.",
            "Before it sends anything, it reads the decisions since the first failure, and warns of devices that have "
                + "later decisions than their dead letters, because replayed decisions come after them. One replay of "
                + "a topic runs at a time: a second one ends the first one with exit code 79.",
        ],
        flags: RecordFilter.deadLetterFlags + [
            Flag("--key", .text(bytes: 1...65536), "Choose dead letters with this key only."),
            Flag(
                "--offsets", .texts(count: 1...1000, bytes: 0...256), repeats: true, placeholder: "P:FIRST-LAST",
                "Choose dead letters at these offsets only, both ends included."),
            Flag("--max", .integer(1...10_000_000), default: "1000000", "Maximum number of chosen dead letters."),
            Flag("--rate", .integer(1...10_000_000), "Limit of dead letters per second."),
            Flag("--cap", .integer(0...1_000_000), default: "3", "Number of replays at which a dead letter is parked."),
            Flag("--parking", .topic, default: "<dlq>.parked", "Topic for dead letters to park."),
            Flag("--no-order-check", "Do not look for later decisions."),
            Flag("--dry-run", "Print the choice and send nothing."),
            Flag("--yes", "Do not ask. Without a terminal, it is required."),
            Flag("--json", "Print the summary as JSON."),
        ],
        settings: .deadLetters,
        examples: [
            "linkd dlq replay -b localhost:9092 --reason application_unknown --dry-run":
                "The choice for one reason, without sending anything.",
            "linkd dlq replay -b localhost:9092 --until 2026-11-23T10:00:00Z --yes":
                "Replays what failed before a correction.",
            "linkd dlq replay -b localhost:9092 --offsets 3:1200-1200 --rate 100":
                "Replays one dead letter, after a question.",
        ],
        run: { call throws(CommandFailure) in try ReplayJob(call).run() })
}

/// A run of `linkd dlq replay`: the choice, the question, and the replay.
final class ReplayJob {
    private let call: Invocation
    private let settings: Settings
    private let filter: RecordFilter
    private let start = Platform.monotonicSeconds
    private var progress: ProgressLine

    /// Creates a run with the flags of a call.
    init(_ call: Invocation) throws(CommandFailure) {
        self.call = call
        settings = try call.settings()
        var filter = try RecordFilter(call, ofDeadLetters: true, searchesEvents: true)
        filter.ranges = try RecordFilter.ranges(call.list("offsets"))
        self.filter = filter
        progress = ProgressLine(call.console)
    }

    private var isDryRun: Bool { call.isOn("dry-run") }

    /// Chooses dead letters and replays them.
    func run() throws(CommandFailure) -> ExitCode {
        guard isDryRun || call.isOn("yes") || Platform.isTerminal(0) else {
            throw CommandFailure(
                .usage, "the standard input is not a terminal, so the question cannot be asked",
                advice: "pass --yes, or --dry-run to see the choice")
        }
        StopSignals.installEndingOnSecond()
        let connection = try Connection(settings)
        defer { progress.clear() }
        let site = try ReplaySite(call, settings, connection, try connection.makeAdmin())
        if isDryRun, !site.hasLedger {
            call.console.warn("\(site.topics.ledger) does not exist. `linkd topics create --replay` creates it.")
        }
        var scan = try TopicScan(connection)
        var ledger = ReplayLedger()
        if site.hasLedger {
            try ledger.read(site.topics.ledger, &scan) { done, all in
                progress.show("reading \(site.topics.ledger): \(Counts.grouped(done)) of \(Counts.grouped(all))")
            }
            ledger.warn(call.console)
        }
        var order = call.isOn("no-order-check") ? nil : OrderCheck(input: site.topics.input)
        let plan = try choose(site, ledger, &order, &scan)
        let result = try checkOrder(&order, &scan)
        progress.clear()
        var summary = ReplaySummary(
            topics: site.topics, parking: site.parking, plan: plan, order: result, isDryRun: isDryRun)
        summary.printChoice(on: call.json ? call.console.err : call.console.out)
        for warning in [result?.warning, result?.doubt].compactMap(\.self) { call.console.warn(warning) }
        let targets = try site.targets(parking: plan.parkCount > 0, isDryRun: isDryRun)
        guard !isDryRun, !plan.letters.isEmpty else { return finish(&summary) }
        guard call.isOn("yes") || isConfirmed(plan) else {
            call.console.note("Nothing was sent.")
            return finish(&summary)
        }
        let run = ReplayRun(
            connection, site.topics, targets, plan, ledger, rate: call.number("rate"), call.console)
        do throws(CommandFailure) {
            try run.send()
        } catch {
            summary.plan = run.plan
            if StopSignals.number != nil { return finish(&summary) }
            print(&summary)
            throw error
        }
        summary.plan = run.plan
        return finish(&summary, isComplete: true)
    }

    /// Reads the dead letters up to the stable end, and returns the plan.
    private func choose(
        _ site: ReplaySite, _ ledger: ReplayLedger, _ order: inout OrderCheck?, _ scan: inout TopicScan
    ) throws(CommandFailure) -> ReplayPlan {
        let topic = site.topics.deadLetters
        var plan = ReplayPlan(site.rules, limit: Int(call.number("max") ?? 1_000_000))
        let spans = try filter.plan(topic, try scan.description(of: topic), call.number("partition").map { Int32($0) })
        var value = DecisionTape()
        try scan.start(spans)
        try scan.forEach(before: watch("reading \(topic)", spans)) { record in
            value.begin(record.message)
            guard filter.matches(record, &value) else { return }
            let head = DeadLetterHead(record)
            let choice = plan.add(record, head, ledger)
            if case .replay = choice, let head { order?.add(head, record.key, &value) }
        }
        plan.finish()
        return plan
    }

    /// Reads the decisions since the first failure, and returns the devices with later ones.
    private func checkOrder(
        _ order: inout OrderCheck?, _ scan: inout TopicScan
    ) throws(CommandFailure) -> OrderCheck.Result? {
        guard let first = order?.firstFailure else { return order?.result }
        let outputs = settings.outputs.names
        var plan = ScanPlan()
        do throws(CommandFailure) {
            for output in outputs {
                let ends = try scan.description(of: output)
                // The clocks of workers can differ by a minute.
                let since = try scan.offsets(of: output, ends.keys, atOrAfter: first - 60_000)
                try plan.add(output, ends, ScanRange(since: first), since: since)
            }
        } catch {
            guard error.code == .refused || error.code == .configuration else { throw error }
            call.console.warn("The order was not checked: \(Escaping.visible(error.reason)).")
            return nil
        }
        var decision = DecisionTape()
        try scan.start(plan)
        let names = outputs.joined(separator: ", ")
        try scan.forEach(before: watch("checking \(names)", plan)) { order?.see($0, &decision) }
        return order?.result
    }

    /// Returns a function that shows how many records of a plan were read.
    private func watch(_ action: String, _ plan: ScanPlan) -> (_ read: Int64) throws(CommandFailure) -> Void {
        return { read throws(CommandFailure) in try self.progress.show(action, read, of: plan) }
    }

    /// Asks on the terminal whether to replay.
    private func isConfirmed(_ plan: ReplayPlan) -> Bool {
        let console = call.console
        console.out.flush()
        console.err.write(
            "Replay \(Counts.grouped(Int64(plan.replayCount))), park \(Counts.grouped(Int64(plan.parkCount)))? [y/N] ")
        console.err.flush()
        var answer = [UInt8](repeating: 0, count: 64)
        let count = answer.withUnsafeMutableBytes { Platform.read(0, into: $0) }
        return Self.isYes(answer.prefix(max(0, count)))
    }

    /// Returns a Boolean value that indicates whether an answer is `y` or `yes`.
    static func isYes(_ answer: some Collection<UInt8>) -> Bool {
        let text = String(decoding: answer, as: UTF8.self).lowercased()
        return ["y", "yes"].contains(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }

    private func print(_ summary: inout ReplaySummary) {
        summary.seconds = Platform.monotonicSeconds - start
        call.console.out.line(call.json ? summary.json : summary.text)
        call.console.out.flush()
    }

    /// Prints the summary and returns the exit code.
    ///
    /// - Parameter isComplete: A Boolean value that indicates whether all chosen dead letters were looked for.
    private func finish(_ summary: inout ReplaySummary, isComplete: Bool = false) -> ExitCode {
        print(&summary)
        let plan = summary.plan
        let failure: CommandFailure
        if let number = StopSignals.number, !isDryRun {
            failure = CommandFailure(
                ExitCode(rawValue: 128 + number),
                "ended by signal \(number) with \(Counts.text(plan.leftCount, "dead letter")) left",
                advice: "run the same command again, which replays nothing twice")
        } else if !isDryRun, isComplete, let first = plan.firstLeft {
            let topic = summary.topics.deadLetters
            failure = CommandFailure(
                .finding,
                "\(Counts.text(plan.leftCount, "chosen dead letter")) of \(topic) "
                    + "\(plan.leftCount == 1 ? "was" : "were") not found again, for example "
                    + "\(topic)-\(first.partition)-\(first.offset)",
                advice: "compare `retention.ms` of \(topic) with the age of the dead letters: what was deleted after "
                    + "the choice cannot be replayed")
        } else if plan.foreignCount > 0 {
            failure = CommandFailure(
                .finding,
                "\(Counts.text(Int(plan.foreignCount), "record")) of \(summary.topics.deadLetters) "
                    + "\(plan.foreignCount == 1 ? "is" : "are") not dead letters of \(summary.topics.input), for "
                    + "example " + (plan.firstForeign ?? "-"),
                advice: "look at them with `linkd inspect --dlq`; pass --topic for the dead letters of another input")
        } else {
            return .success
        }
        call.console.printFailure(failure)
        return failure.code
    }
}

/// The topics of a replay, as they are in the cluster.
struct ReplaySite {
    /// The input, the dead-letter topic, and the ledger.
    let topics: DeadLetterTopics
    /// The topic for dead letters that are not replayed.
    let parking: String
    /// A Boolean value that indicates whether the ledger exists.
    let hasLedger: Bool
    /// The rules for the dead letters.
    let rules: ReplayRules
    /// The failure if dead letters must be parked, or nil if the parking topic can be used.
    private let parkingFailure: CommandFailure?
    private let messageLimit: Int

    /// Finds the topics.
    ///
    /// A missing input, or a missing ledger unless for a dry run, ends with exit code 78.
    init(
        _ call: Invocation, _ settings: Settings, _ connection: Connection, _ admin: KafkaAdmin
    ) throws(CommandFailure) {
        let all = try DeadLetterTopics.all(call, settings, admin)
        guard all.count == 1, let topics = all.first else {
            let names = all.prefix(5).map(\.input).joined(separator: ", ") + (all.count > 5 ? ", …" : "")
            throw CommandFailure(
                .usage, "a replay needs one input, and there are \(all.count)" + (all.isEmpty ? "" : ": \(names)"),
                advice: "select the input with --topic")
        }
        self.topics = topics
        parking = call.text("parking") ?? Settings.parked(of: topics.deadLetters)
        guard !([topics.input, topics.deadLetters, topics.ledger] + settings.outputs.names).contains(parking),
            !Self.isInput(parking, settings)
        else {
            throw CommandFailure(
                .usage, "--parking \(parking) is a topic with another purpose", advice: "select another topic")
        }
        let names = [topics.input, topics.ledger, parking]
        let found = try DeadLetterTopics.describe(names + [topics.deadLetters], admin)
        for name in [topics.input, topics.deadLetters] {
            guard let error = found[name]?.error else { continue }
            throw CommandFailure(
                error, while: "replaying \(topics.deadLetters)",
                needing: AccessRight(name == topics.input ? "Write" : "Read", on: .topic, name),
                as: connection.principal)
        }
        hasLedger = try Self.exists(topics.ledger, found, connection)
        parkingFailure = Self.failure(
            ofParking: parking, isOwn: call.text("parking") == nil, found[parking], connection)
        guard hasLedger || call.isOn("dry-run") else { throw Self.missing(topics.ledger) }
        let limits = admin.messageLimits(of: names.filter { found[$0]?.error == nil })
        messageLimit = limits.values.min() ?? .max
        rules = ReplayRules(
            input: topics.input, partitions: Int32(clamping: found[topics.input]?.partitions.count ?? 0),
            messageLimit: limits[topics.input] ?? .max, cap: call.number("cap") ?? 3)
    }

    /// Returns a Boolean value that indicates whether workers with these settings read a topic.
    private static func isInput(_ name: String, _ settings: Settings) -> Bool {
        let inputs = settings.list("input")
        guard let first = inputs.first, first.hasPrefix("^"), let pattern = PosixPattern(first) else {
            return inputs.contains(name)
        }
        let topics = LaneTopics(
            outputs: settings.outputs, deadLetterTemplate: settings.text("dlq.topic") ?? "{input}.dlq",
            others: settings.otherTopics)
        return !topics.inputs(matching: pattern, among: [name]).isEmpty
    }

    private static func exists(
        _ name: String, _ found: [String: TopicDescription], _ connection: Connection
    ) throws(CommandFailure) -> Bool {
        guard let error = found[name]?.error else { return true }
        if found[name]?.exists == false { return false }
        throw CommandFailure(
            error, while: "describing \(name)", needing: AccessRight(["Read", "Write"], on: .topic, [name]),
            as: connection.principal)
    }

    private static func failure(
        ofParking name: String, isOwn: Bool, _ description: TopicDescription?, _ connection: Connection
    ) -> CommandFailure? {
        guard let description, let error = description.error else { return nil }
        guard description.exists else {
            guard isOwn else {
                return CommandFailure(
                    .configuration, "topic \(name) does not exist",
                    advice: "create it, or leave out --parking and use `linkd topics create --replay`")
            }
            return missing(name)
        }
        return CommandFailure(
            error, while: "describing \(name)", needing: AccessRight("Write", on: .topic, name),
            as: connection.principal)
    }

    private static func missing(_ name: String) -> CommandFailure {
        CommandFailure(
            .configuration, "topic \(name) does not exist",
            advice: "create the topics for replays with `linkd topics create --replay`")
    }

    /// Returns the topics to write to.
    ///
    /// If the parking topic is missing, or if this user must not write to it, the replay ends only if there are dead
    /// letters to park. A dry run never ends for this reason.
    func targets(parking isNeeded: Bool, isDryRun: Bool) throws(CommandFailure) -> ReplayTargets {
        if isNeeded, !isDryRun, let parkingFailure { throw parkingFailure }
        return ReplayTargets(
            input: topics.input, ledger: topics.ledger, parking: isNeeded ? parking : nil, messageLimit: messageLimit)
    }
}

/// The result of a replay, or of a dry run.
struct ReplaySummary {
    var topics: DeadLetterTopics
    /// The topic for dead letters that are not replayed.
    var parking: String
    /// The chosen dead letters.
    var plan: ReplayPlan
    /// The result of the order check, or nil if the order was not checked.
    var order: OrderCheck.Result?
    /// A Boolean value that indicates whether nothing is sent.
    var isDryRun = false
    /// The duration in seconds.
    var seconds = 0.0

    /// The number of dead letters that were sent to the input.
    private var replayed: Int64 { Int64(plan.letters.count { $0.isDone && !$0.isByOther && !$0.isParked }) }
    /// The number of dead letters that were parked.
    private var parked: Int64 { Int64(plan.letters.count { $0.isDone && !$0.isByOther && $0.isParked }) }

    /// Prints the choice.
    func printChoice(on out: Channel) {
        if !plan.reasons.isEmpty {
            var table = TextTable([("REASON", .left), ("REPLAY", .right), ("PARK", .right)])
            let rows = plan.reasons.sorted { a, b in
                let (first, second) = (a.value.replay + a.value.park, b.value.replay + b.value.park)
                return first == second ? a.key < b.key : first > second
            }
            for (reason, count) in rows {
                table.add([reason, Counts.grouped(count.replay), Counts.grouped(count.park)])
            }
            out.table(table)
        }
        for line in notes { out.line(line) }
    }

    /// The lines about dead letters that are not replayed.
    private var notes: [String] {
        var lines: [String] = []
        for reason in ParkReason.allCases {
            guard let count = plan.parked[reason] else { continue }
            lines.append("to park: \(Counts.grouped(count)) \(reason.text)")
        }
        if plan.alreadyReplayed > 0 {
            lines.append("already replayed or parked: \(Counts.grouped(plan.alreadyReplayed)) by \(topics.ledger)")
        }
        for reason in ForeignReason.allCases {
            guard let count = plan.foreign[reason], let first = plan.firstForeign else { continue }
            lines.append("left alone: \(Counts.grouped(count)) \(reason.text); the first one left alone is \(first)")
        }
        if plan.beyondLimit > 0 {
            lines.append("not chosen: \(Counts.grouped(plan.beyondLimit)) more match, beyond --max")
        }
        return lines
    }

    /// The line about the result.
    var text: String {
        let chosen = Counts.grouped(Int64(plan.letters.count))
        if isDryRun {
            return "would replay \(Counts.grouped(Int64(plan.replayCount))) and park "
                + "\(Counts.grouped(Int64(plan.parkCount))) of \(chosen) chosen; nothing was sent"
        }
        return "replayed \(Counts.grouped(replayed)) and parked \(Counts.grouped(parked)) of \(chosen) chosen, "
            + (plan.otherCount > 0 ? "\(Counts.grouped(Int64(plan.otherCount))) by another replay, " : "")
            + "\(Counts.grouped(Int64(plan.leftCount))) left, in \(Decimals.text(seconds)) s"
    }

    /// The result as a JSON object.
    var json: String {
        return JSONText.object { json in
            json.text("topic", topics.deadLetters)
            json.boolean("dry_run", isDryRun)
            json.number("chosen", Int64(plan.letters.count))
            json.number("to_replay", Int64(plan.replayCount))
            json.number("to_park", Int64(plan.parkCount))
            json.number("replayed", replayed)
            json.number("parked", parked)
            json.number("already_replayed", plan.alreadyReplayed + Int64(plan.otherCount))
            json.number("foreign", plan.foreignCount)
            json.number("beyond_max", plan.beyondLimit)
            json.number("left", Int64(plan.leftCount))
            json.beginObject("by_reason")
            for (reason, count) in plan.reasons.sorted(by: { $0.key < $1.key }) {
                json.number(reason, count.replay + count.park)
            }
            json.endObject()
            json.beginObject("parked_by")
            for reason in ParkReason.allCases where plan.parked[reason] != nil {
                json.number(reason.rawValue, plan.parked[reason])
            }
            json.endObject()
            json.beginObject("order")
            json.number("devices", order.map { Int64($0.devices) })
            json.number("later", order.map { Int64($0.later) })
            json.number("unknown", order.map { Int64($0.unknown) })
            json.text("example", order?.example?.text)
            json.endObject()
            json.decimal("seconds", seconds)
        }
    }
}
