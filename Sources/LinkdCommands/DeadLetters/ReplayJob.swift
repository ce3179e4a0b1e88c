internal import ByteStorage
internal import KafkaClient
internal import RouteTools

/// A run of `linkd dlq replay`: the choice, the question, and the replay.
final class ReplayJob {
    private let call: Invocation
    private let settings: Settings
    private let filter: DeadLetterFilter
    private let start = Platform.monotonicSeconds
    private var progress: ProgressLine

    /// Creates a run with the flags of a call.
    init(_ call: Invocation) throws(CommandFailure) {
        self.call = call
        settings = try call.settings()
        var filter = DeadLetterFilter(call)
        filter.ranges = try DeadLetterFilter.ranges(call.list("offsets"))
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
        Interruption.installHandlers()
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
        if let warning = result?.warning { call.console.warn(warning) }
        let targets = try site.targets(parking: plan.parkCount > 0, isDryRun: isDryRun)
        guard !isDryRun, !plan.letters.isEmpty else { return finish(&summary) }
        guard call.isOn("yes") || isConfirmed(plan) else {
            call.console.note("Nothing was sent.")
            return finish(&summary)
        }
        let run = try ReplayRun(
            connection, site.topics, targets, plan, ledger, rate: call.number("rate"), call.console)
        do throws(CommandFailure) {
            try run.run()
        } catch {
            summary.plan = run.plan
            if Interruption.signalNumber != nil { return finish(&summary) }
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
        let (all, before) = (spans.recordCount, scan.read)
        var value = DecisionTape()
        try scan.start(spans)
        while !scan.isDone {
            try checkSignal()
            progress.show("reading \(topic): \(Counts.grouped(scan.read - before)) of \(Counts.grouped(all))")
            _ = try scan.next { record in
                value.begin(record.value)
                guard filter.matches(record, &value) else { return true }
                let head = DeadLetterHead(record)
                let choice = plan.add(record, head, ledger)
                if case .replay = choice, let head, order != nil {
                    order?.add(head, (record.key.map { [$0] } ?? []) + value.devices(limit: 500))
                }
                return true
            }
        }
        plan.finish()
        return plan
    }

    /// Reads the decisions since the first failure, and returns the devices with later ones.
    private func checkOrder(
        _ order: inout OrderCheck?, _ scan: inout TopicScan
    ) throws(CommandFailure) -> OrderCheck.Result? {
        guard let first = order?.firstFailure else { return order?.result }
        let output = settings.text("output") ?? "link-decisions"
        var plan = ScanPlan()
        do throws(CommandFailure) {
            let ends = try scan.description(of: output)
            // The clocks of workers can differ by a minute.
            let since = try scan.offsets(of: output, ends.keys, atOrAfter: max(0, first - 60_000))
            try plan.add(output, ends, ScanRange(since: first), since: since)
        } catch {
            guard error.code == .refused || error.code == .configuration else { throw error }
            call.console.warn("The order was not checked: \(Escaping.visible(error.reason)).")
            return nil
        }
        let (all, before) = (plan.recordCount, scan.read)
        var decision = DecisionTape()
        try scan.start(plan)
        while !scan.isDone {
            try checkSignal()
            progress.show("checking \(output): \(Counts.grouped(scan.read - before)) of \(Counts.grouped(all))")
            _ = try scan.next { record in
                order?.see(record, &decision)
                return true
            }
        }
        return order?.result
    }

    /// Throws a failure if a signal has arrived before anything was sent.
    private func checkSignal() throws(CommandFailure) {
        guard let number = Interruption.signalNumber else { return }
        throw CommandFailure(
            ExitCode(rawValue: 128 + number), "ended by signal \(number) before anything was sent",
            advice: "run the same command again")
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
        if let number = Interruption.signalNumber, !isDryRun {
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
                advice: "look at them with `linkd inspect --dlq`; pass --topic for those of another input")
        } else {
            return .success
        }
        call.console.printFailure(failure)
        return failure.code
    }
}
