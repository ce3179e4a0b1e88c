internal import ByteStorage
internal import KafkaClient
internal import LinkDecider
internal import LinkIngest
internal import RouteTools

/// A run of `linkd verify`: what to read, in which order, and the report.
final class VerifyJob {
    /// The limit of records of the inputs, whose bits need 750 MB.
    private static let recordLimit: Int64 = 2_000_000_000
    /// The records of the output that are read before the next ones of any partition, so that the partitions keep step.
    private static let roundRecords: Int64 = 1_000_000
    /// The time by which a producer's clock can be ahead of a worker's, in milliseconds.
    ///
    /// With a greater lead, the output is read from its first record on.
    private static let leadMilliseconds: Int64 = 600_000

    private let call: Invocation
    private let settings: Settings
    private let start = Platform.monotonicSeconds
    private var progress: ProgressLine
    /// The records that were read before the current scan, and those to read.
    private var done: Int64 = 0
    private var total: Int64 = 0
    private var readingSince = 0.0

    /// Creates a run with the flags of a call.
    init(_ call: Invocation) throws(CommandFailure) {
        self.call = call
        settings = try call.settings()
        progress = ProgressLine(call.console)
    }

    /// Reads the topics, prints the result, and returns the exit code.
    func run() throws(CommandFailure) -> ExitCode {
        let connection = try Connection(settings)
        var scan = try TopicScan(connection, prefetch: .rounds)
        let site = try VerifySite(settings, connection, scan) { progress.show("waiting for open transactions") }
        let sources = try sources(site, scan)
        let records = sources.reduce(Int64(0)) { $0 + Int64($1.range.count) }
        guard records <= Self.recordLimit else {
            throw CommandFailure(
                .usage, "\(Counts.grouped(records)) records are more than \(Counts.grouped(Self.recordLimit))",
                advice: "check a part of them with --since and --until")
        }
        readingSince = Platform.monotonicSeconds
        var starts = try starts(site, scan)
        var findings = try check(site, sources, starts, &scan)
        var isPart = starts.contains { $0.value > site.bounds[$0.key.topic]?[$0.key.partition]?.low ?? 0 }
        if isPart, findings.doubts[.removed] != nil {
            call.console.note("Records without an outcome were found, so the output is read from its first record on.")
            starts = firstOffsets(site)
            isPart = false
            findings = try check(site, sources, starts, &scan)
        }
        progress.clear()
        let report = VerifyReport(
            findings: findings, site: site, decisionsSince: isPart ? try decisionsSince : nil, canRepeat: canRepeat,
            seconds: Platform.monotonicSeconds - start)
        if call.json { call.console.out.line(report.json) } else { report.print(on: call.console.out) }
        call.console.out.flush()
        guard let failure = report.failure else { return .success }
        throw failure
    }

    private var canRepeat: Bool { settings.text("guarantee") == "at-least-once" }

    // MARK: - Ranges

    /// Returns the partitions of the inputs with the offsets to check.
    private func sources(
        _ site: VerifySite, _ scan: TopicScan
    ) throws(CommandFailure) -> [OutcomeVerifier.Source] {
        let chosen = try RecordFilter.ranges(call.list("offsets"))
        let filter = try RecordFilter(call, ofDeadLetters: false)
        guard chosen.isEmpty || filter.since == nil && filter.until == nil else {
            throw CommandFailure(
                .usage, "--offsets cannot be combined with --since and --until", advice: "pass only one of them")
        }
        guard chosen.isEmpty || site.topics.inputs.count == 1 else {
            throw CommandFailure(
                .usage, "--offsets needs one input, and there are \(site.topics.inputs.count)",
                advice: "pass it with --input")
        }
        var sources: [OutcomeVerifier.Source] = []
        for topic in site.topics.inputs {
            let bounds = site.bounds[topic, default: [:]]
            for number in chosen.keys.sorted() where bounds[number] == nil {
                throw CommandFailure.noPartition(number, of: topic, among: bounds.keys.sorted())
            }
            let first = try filter.since.map { time throws(CommandFailure) in
                try scan.offsets(of: topic, bounds.keys, atOrAfter: time)
            }
            let end = try filter.until.map { time throws(CommandFailure) in
                try scan.offsets(of: topic, bounds.keys, atOrAfter: time + 1)
            }
            for (number, limits) in bounds.sorted(by: { $0.key < $1.key }) {
                guard chosen.isEmpty || chosen[number] != nil else { continue }
                let partition = TopicPartition(topic: topic, partition: number)
                var from = limits.low
                var to = min(limits.high, site.before[partition] ?? limits.low)
                if let first { from = max(from, first[partition] ?? limits.high) }
                if let last = end?[partition] { to = min(to, last) }
                if let ranges = chosen[number], let low = ranges.map(\.lowerBound).min(),
                    let high = ranges.map(\.upperBound).max()
                {
                    (from, to) = (max(from, low), min(to, high + 1))
                }
                let hasEnd = filter.until != nil || !chosen.isEmpty
                to = max(from, to)
                sources.append(
                    OutcomeVerifier.Source(
                        topic, number, from..<to, committed: site.after[partition],
                        isCompacted: site.compacted.contains(topic),
                        chosen: (first == nil && chosen.isEmpty ? .min : from)..<(hasEnd ? to : .max)))
            }
        }
        return sources
    }

    /// The time from which on the outputs are read, in milliseconds since 1970, or nil.
    private var decisionsSince: Int64? {
        get throws(CommandFailure) {
            try RecordFilter(call, ofDeadLetters: false).since.map { $0 - Self.leadMilliseconds }
        }
    }

    /// Returns the offset of each partition of the outputs from which on it is read.
    private func starts(_ site: VerifySite, _ scan: TopicScan) throws(CommandFailure) -> [TopicPartition: Int64] {
        var starts = firstOffsets(site)
        guard let since = try decisionsSince else { return starts }
        for output in site.topics.outputs.names {
            let bounds = site.bounds[output, default: [:]]
            let found = try scan.offsets(of: output, bounds.keys, atOrAfter: since)
            for (number, limits) in bounds {
                let partition = TopicPartition(topic: output, partition: number)
                starts[partition] = max(limits.low, found[partition] ?? limits.high)
            }
        }
        return starts
    }

    /// Returns the first offset of each partition of the outputs.
    private func firstOffsets(_ site: VerifySite) -> [TopicPartition: Int64] {
        var starts: [TopicPartition: Int64] = [:]
        for output in site.topics.outputs.names {
            for (number, limits) in site.bounds[output, default: [:]] {
                starts[TopicPartition(topic: output, partition: number)] = limits.low
            }
        }
        return starts
    }

    // MARK: - Reading

    private func check(
        _ site: VerifySite, _ sources: [OutcomeVerifier.Source], _ starts: [TopicPartition: Int64],
        _ scan: inout TopicScan
    ) throws(CommandFailure) -> Findings {
        let letters = Set(site.topics.deadLetters).sorted()
        let outputs = site.topics.outputs
        let outcomes = outputs.names + letters
        var verifier = OutcomeVerifier(
            sources,
            partitions: Dictionary(
                uniqueKeysWithValues: site.topics.inputs.map {
                    ($0, Int32(clamping: site.bounds[$0]?.count ?? 0))
                }),
            outcomes: OutcomeTopics(
                outputs,
                isWhole: outputs.names.map { name in
                    (0..<Int32(clamping: site.bounds[name]?.count ?? 0)).map {
                        starts[TopicPartition(topic: name, partition: $0)] == 0
                    }
                },
                hasAllDeadLetters: letters.allSatisfy { site.bounds[$0]?.values.allSatisfy { $0.low == 0 } ?? false },
                isCompacted: outcomes.contains { site.compacted.contains($0) }, canRepeat: canRepeat))
        compareOffsets(site, sources, &verifier)
        let plans = try plans(site, sources, starts, letters)
        (done, total) = (0, plans.letters.recordCount + plans.output.recordCount + plans.input.recordCount)
        let group = Array(site.group.utf8)
        try read(plans.letters, &scan) { record in
            let head = DeadLetterHead(record)
            let isOfGroup = head?.group.map { name in group.withUnsafeBufferPointer { ByteView($0) == name } } ?? true
            let home = Int(head?.sourcePartition ?? 0) % max(1, site.bounds[record.topic]?.count ?? 1)
            verifier.deadLetter(
                at: TopicPlace(record.topic, record.partition, record.offset), of: head?.sourceTopic,
                head?.sourcePartition, head?.sourceOffset, item: head?.item, isOfGroup: isOfGroup,
                isHome: home == Int(record.partition))
        }
        for round in plans.output.rounds(of: Self.roundRecords) {
            try read(round, &scan) { record in
                let topic = outputs.names.count == 1 ? 0 : outputs.names.firstIndex(of: record.topic)
                guard let topic else { return }
                verifier.output(record.partition, record.offset, key: record.key, record.value, topic: topic)
            }
            verifier.advance()
        }
        try read(plans.input, &scan) { record in
            verifier.input(
                record.topic, record.partition, record.offset,
                items: record.value.flatMap { RecordBatch($0)?.count } ?? 0)
        }
        try noticeRemoval(site, starts, outcomes, scan, &verifier)
        return verifier.finish()
    }

    private func compareOffsets(
        _ site: VerifySite, _ sources: [OutcomeVerifier.Source], _ verifier: inout OutcomeVerifier
    ) {
        for source in sources {
            let partition = TopicPartition(topic: source.topic, partition: source.partition)
            guard let limits = site.bounds[source.topic]?[source.partition] else { continue }
            verifier.bounds(
                of: source.topic, source.partition, low: limits.low, end: limits.high, before: site.before[partition],
                after: site.after[partition])
        }
        for (partition, end) in site.unfinished.sorted(by: { $0.key < $1.key }) {
            verifier.transactions(
                of: partition.topic, partition.partition,
                stableEnd: site.bounds[partition.topic]?[partition.partition]?.high ?? end, end: end)
        }
    }

    private func plans(
        _ site: VerifySite, _ sources: [OutcomeVerifier.Source], _ starts: [TopicPartition: Int64],
        _ names: [String]
    ) throws(CommandFailure) -> (letters: ScanPlan, output: ScanPlan, input: ScanPlan) {
        var (letters, output, input) = (ScanPlan(), ScanPlan(), ScanPlan())
        for name in names { try letters.add(name, site.bounds[name, default: [:]], ScanRange()) }
        for (partition, start) in starts {
            guard let end = site.bounds[partition.topic]?[partition.partition]?.high, start < end else { continue }
            output.partitions[partition] = ScanPlan.Span(from: start, to: end)
        }
        // Records that are not committed are only counted, unless a part of the input was chosen.
        let isWhole = call.text("until") == nil && call.list("offsets").isEmpty
        for source in sources {
            let end = isWhole ? site.bounds[source.topic]?[source.partition]?.high : nil
            input.partitions[TopicPartition(topic: source.topic, partition: source.partition)] =
                ScanPlan.Span(from: source.range.lowerBound, to: max(source.range.upperBound, end ?? 0))
        }
        return (letters, output, input)
    }

    private func read(
        _ plan: ScanPlan, _ scan: inout TopicScan, _ body: (ScannedRecord) -> Void
    ) throws(CommandFailure) {
        try scan.start(plan)
        try scan.forEach { read in
            progress.show(progressText(done + read))
        } _: { record in
            body(record)
        }
        done += plan.recordCount
    }

    private func progressText(_ read: Int64) -> String {
        let seconds = Platform.monotonicSeconds - readingSince
        let left = read > 0 && seconds > 1 ? seconds / Double(read) * Double(total - read) : nil
        return "read \(Counts.grouped(read)) of at most \(Counts.grouped(total))"
            + (left.map { ", about \(Durations.text(Int64($0) * 1_000)) left" } ?? "")
    }

    /// Asks again for the first offsets, because retention removes records while they are read.
    private func noticeRemoval(
        _ site: VerifySite, _ starts: [TopicPartition: Int64], _ outcomes: [String], _ scan: TopicScan,
        _ verifier: inout OutcomeVerifier
    ) throws(CommandFailure) {
        for topic in site.topics.inputs {
            for (number, limits) in try scan.description(of: topic) {
                verifier.remove(of: topic, number, below: limits.low)
            }
        }
        for topic in outcomes {
            let isMoved = try scan.description(of: topic).contains { number, limits in
                let partition = TopicPartition(topic: topic, partition: number)
                let first = starts[partition] ?? site.bounds[topic]?[number]?.low
                return limits.low > first ?? 0
            }
            if isMoved { verifier.loseOutcomes() }
        }
    }
}

extension ScanPlan {
    /// Returns the ranges in rounds of a number of records, in which all partitions advance by the same share.
    func rounds(of records: Int64) -> [ScanPlan] {
        let count = max(1, (recordCount + records - 1) / records)
        return (0..<count).map { round in
            var plan = self
            plan.partitions = partitions.mapValues { span in
                let length = (span.to ?? span.from) - span.from
                func part(_ number: Int64) -> Int64 {
                    // The product of the number of a round and the rest of a division cannot overflow.
                    span.from + length / count * number + length % count * number / count
                }
                return Span(from: part(round), to: part(round + 1))
            }
            return plan
        }
    }
}
