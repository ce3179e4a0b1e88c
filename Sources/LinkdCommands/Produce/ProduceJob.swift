internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient
internal import LinkIngest
internal import RouteTools

/// One run of `linkd produce`.
struct ProduceJob {
    /// The number of undelivered records after which no more are sent.
    private static let undeliveredLimit = 100_000
    /// The number of entries between two looks at the delivery reports and the progress.
    private static let stride = 256
    /// The number of faulty lines that are reported one by one.
    private static let reportedFaults = 20
    /// The longest delay, in seconds, that is made up for by sending faster than the limit of records per second.
    private static let rateTolerance = 0.05

    private let call: Invocation
    private let settings: Settings
    private let check: EventKeys
    /// The check of devices for the registry, or nil for events.
    private let devices: DeviceRecords?
    private let headers: HeaderCopies
    private let linkCheck: LinkCheck?
    private let format: InputFormat
    private let separator: ColumnSeparator?
    private let columns: ColumnMap
    private let isRaw: Bool
    private let limit: Int
    private let skip: Int
    private let timeLeft: TimeLeft
    private let rejects: RejectFile?
    /// The entries that are bad.
    private var faulty = EntryRanges()
    private var sender: EventSender?
    private var topic = ""
    private var summary = ProduceSummary()
    private var map = LineMap()
    private var progress: ProgressLine
    /// The failure that ended the run before the end of the inputs, or nil.
    private var failure: CommandFailure?
    private var start = Platform.monotonicSeconds
    /// The time at which the first record was passed to the client, or nil.
    private var firstSent: Double?
    /// The time at which the next record is due, with a limit of records per second.
    private var due = 0.0
    /// The bytes of the inputs that were read to their end, and the bytes that were skipped.
    private var finished: Int64 = 0
    private var skippedBytes: Int64 = 0

    init(_ call: Invocation) throws(CommandFailure) {
        self.call = call
        settings = try call.settings()
        separator = try Self.separator(call.text("separator"))
        let isOfDevices = try Self.isOfDevices(call)
        devices = isOfDevices ? DeviceRecords(try settings.deviceMembers) : nil
        let tables = call.list("check")
        // Bytes that are sent as they are, and devices, are not read with the rules of vendors.
        let vendors =
            isOfDevices || call.isOn("raw") && tables.isEmpty
            ? LoadedVendors()
            : try LoadedVendors(settings, ShippedFiles(environment: call.environment), on: call.console)
        check = EventKeys(
            settings, vendors, fixedKey: call.text("key").map { Array($0.utf8) },
            fallbackKey: call.text("device").map { Array($0.utf8) })
        headers = HeaderCopies(call.pairs("header"))
        if call.operands.isEmpty { try call.reserveStandardInput(for: "the events", tables) }
        linkCheck =
            tables.isEmpty
            ? nil
            : try LinkCheck(tables, settings, vendors, headers: call.pairs("header"), on: call.console)
        format = InputFormat(rawValue: call.text("format") ?? "auto") ?? .auto
        columns = try ColumnMap(
            call.pairs("map"), passthrough: settings.passthrough.names, of: isOfDevices ? .devices : .events)
        isRaw = call.isOn("raw")
        for (flag, isOn) in [("--separator", separator != nil), ("--map", columns.isGiven)]
        where isOn && (isRaw || (format != .auto && format != .csv)) {
            throw CommandFailure(
                .usage, "\(flag) is for CSV, not for \(isRaw ? "--raw" : "--format " + format.rawValue)",
                advice: "remove one of the flags")
        }
        let files = call.operands.isEmpty ? ["-"] : call.operands
        timeLeft = TimeLeft(
            size: try InputFiles.size(of: files), limit: call.number("count").map { Int($0) },
            rate: call.number("rate"))
        limit = timeLeft.limit ?? .max
        skip = call.number("skip").map { Int($0) } ?? 0
        progress = ProgressLine(call.console)
        summary.isDryRun = call.isOn("dry-run")
        summary.deleted = isOfDevices ? 0 : nil
        rejects = try call.text("rejects").map { (path) throws(CommandFailure) in try RejectFile(path) }
    }

    /// Returns a Boolean value that indicates whether the call writes devices, after a check of its flags.
    private static func isOfDevices(_ call: Invocation) throws(CommandFailure) -> Bool {
        guard call.isOn("devices") else { return false }
        let isGiven =
            call.isOn("raw") || !call.list("check").isEmpty
            || ["topic", "key", "device"].contains { call.text($0) != nil } || call.text("format") == "url"
        guard isGiven else { return true }
        throw CommandFailure(
            .usage,
            "--devices excludes --topic, --key, --device, --check, --raw, and --format url",
            advice: "remove them: the topic is the setting `devices.topic`, and the key is the id of a device")
    }

    private static func separator(_ text: String?) throws(CommandFailure) -> ColumnSeparator? {
        guard let text else { return nil }
        if let separator = ColumnSeparator(text) { return separator }
        throw CommandFailure(
            .usage, "`\(Escaping.visible(text))` is not a valid value for flag --separator",
            advice: "pass comma, semicolon, tab, pipe, or a character of ASCII that is no letter, digit, or quote")
    }

    /// Sends all inputs and prints the summary.
    mutating func run() throws(CommandFailure) -> ExitCode {
        StopSignals.installEndingOnSecond()
        if !summary.isDryRun {
            do throws(CommandFailure) {
                sender = try EventSender(call, settings)
                topic = sender?.name ?? ""
            } catch {
                try rejects?.finish()
                throw error
            }
        }
        start = Platform.monotonicSeconds
        for path in call.operands.isEmpty ? ["-"] : call.operands where readsMore {
            do throws(CommandFailure) {
                // A later file can have vanished since the check of all files.
                let source = try ByteSource(path: path)
                map.begin(source.name)
                if source.isTerminal { noteTerminal() }
                defer { finished += source.consumed }
                try sendAll(of: source)
            } catch {
                failure = error
            }
        }
        if readsMore, map.count < skip {
            failure = CommandFailure(
                .badData, "the input has fewer entries than --skip \(skip): \(map.count)",
                advice: "pass the inputs of the run that printed the flag")
        }
        return finish()
    }

    /// A Boolean value that indicates whether to read more entries.
    private var readsMore: Bool {
        summary.sent < limit && failure == nil && StopSignals.number == nil
    }

    private func noteTerminal() {
        call.console.note("Type \(devices == nil ? "events or links" : "devices"), one per line. End with Ctrl-D.")
    }

    private mutating func sendAll(of source: ByteSource) throws(CommandFailure) {
        let input = try EventInput(
            source, format: format, raw: isRaw, separator: separator, map: columns)
        if !input.ignoredNames.isEmpty {
            let noun = input.ignoredNames.count == 1 ? "column" : "columns"
            call.console.note(
                "\(Escaping.visible(source.name)): ignored \(noun) \(Escaping.list(input.ignoredNames)); "
                    + "--map NAME=COLUMN reads one")
        }
        while map.count < skip, readsMore, let line = input.skip() {
            map.add(line: line)
            summary.skipped += 1
            skippedBytes = finished + source.consumed
        }
        while readsMore, let line = input.next() {
            map.add(line: line.line)
            summary.read += 1
            do throws(CommandFailure) {
                // Otherwise a signal came before the record was passed to the client.
                guard try send(line, of: input, source) else { return withdrawLast() }
            } catch {
                withdrawLast()
                throw error
            }
            if summary.read % Self.stride == 0 || timeLeft.rate != nil { try look(source) }
        }
        if source.hasFailed { throw source.failure }
    }

    /// Removes the last entry, which was read but not passed to the client.
    private mutating func withdrawLast() {
        map.removeLast()
        linkCheck?.withdrawLast()
        summary.read -= 1
    }

    /// Sends the record of an entry or reports its fault, and returns false if the client did not take it.
    private mutating func send(
        _ line: EventLine, of input: EventInput, _ source: ByteSource
    ) throws(CommandFailure) -> Bool {
        let key: ByteView?
        let value: ByteView?
        switch record(of: line.value) {
        case .failure(let fault): return try reportUnreadable(fault, line, of: input, source)
        case .success(let found): (key, value) = found
        }
        if let linkCheck, let value, let fault = linkCheck.fault(of: value, key: key) {
            try rejects?.write(line.raw, preamble: input.preamble)
            summary.rejected += 1
            report(fault, at: line.line, of: source, count: summary.rejected, "are rejected")
            return true
        }
        if sender != nil {
            waitForRate()
            guard try sender?.send(key: key, value: value, headers: headers.views, entry: map.count) == true else {
                return false
            }
        }
        if key == nil { summary.withoutKey += 1 }
        if value == nil { summary.deleted? += 1 }
        summary.sent += 1
        if firstSent == nil { firstSent = Platform.monotonicSeconds }
        return true
    }

    /// Returns the key and the value of the record of an entry, or its fault.
    private func record(
        of entry: Result<ByteView, EventLine.Fault>
    ) -> Result<(key: ByteView?, value: ByteView?), EventLine.Fault> {
        // `flatMap` with a method would copy this job, with all its references, for each entry.
        let bytes: ByteView
        switch entry {
        case .success(let value): bytes = value
        case .failure(let fault): return .failure(fault)
        }
        if let devices { return devices.record(of: bytes).map { ($0.key, $0.value) } }
        if isRaw { return .success((check.fixedKey ?? check.fallbackKey, bytes)) }
        return check.key(of: bytes).map { ($0, bytes) }
    }

    private mutating func reportUnreadable(
        _ fault: EventLine.Fault, _ line: EventLine, of input: EventInput, _ source: ByteSource
    ) throws(CommandFailure) -> Bool {
        try rejects?.write(line.raw, preamble: input.preamble)
        summary.unreadable += 1
        report(fault, at: line.line, of: source, count: summary.unreadable, "cannot be read")
        return true
    }

    private mutating func report(
        _ fault: EventLine.Fault, at line: Int, of source: ByteSource, count: Int, _ verb: String
    ) {
        progress.clear()
        faulty.add(map.count)
        // Limits the output in case the file has another format.
        if count <= Self.reportedFaults {
            call.console.warn("\(Escaping.visible(source.name)), line \(line): \(fault.text) (line not sent)")
        }
        if count == Self.reportedFaults + 1 { call.console.warn("More lines \(verb). They are listed at the end.") }
    }

    /// Waits until the next record is due.
    private mutating func waitForRate() {
        guard let rate = timeLeft.rate, let sender else { return }
        // A longer pause, for example of a pipe, is not made up for.
        due = max(due, Platform.monotonicSeconds - Self.rateTolerance)
        while StopSignals.number == nil {
            let delay = due - Platform.monotonicSeconds
            guard delay > 0 else { break }
            sender.wait(milliseconds: Int32(max(1, min(100, delay * 1000))))
        }
        due += 1 / Double(rate)
    }

    /// Handles delivery reports and shows the progress.
    ///
    /// A run in which many records are not delivered ends.
    private mutating func look(_ source: ByteSource) throws(CommandFailure) {
        if let sender {
            sender.wait(milliseconds: 0)
            let counts = sender.deliveries
            if counts.failed >= Self.undeliveredLimit {
                throw CommandFailure(
                    .finding, "\(counts.failed) records were not delivered, and no more are sent",
                    advice: "check the topic with `linkd topics check`")
            }
        }
        let sent = summary.sent
        let (timeLeft, skipped, consumed) = (timeLeft, skippedBytes, finished + source.consumed)
        let seconds = Platform.monotonicSeconds - (firstSent ?? start)
        progress.show(timeLeft.text(sent: sent, skipped: skipped, consumed: consumed, seconds: seconds))
    }
}

// The end of a run.
extension ProduceJob {
    /// Waits for the deliveries, prints the summary, and returns the exit code.
    private mutating func finish() -> ExitCode {
        if let sender {
            var line = progress
            let sent = sender.sent
            sender.finish { counts in
                let hint = StopSignals.number == nil ? "" : " (a second signal ends at once)"
                line.show("sent \(sent), delivered \(counts.delivered), waiting for the others\(hint)")
            }
            line.clear()
        }
        progress.clear()
        let outcome = ProduceOutcome(
            read: map.count, skip: skip, lastDelivered: sender?.lastDelivered ?? 0,
            undelivered: sender?.undelivered ?? [])
        complete(outcome)
        let console = call.console
        if call.json {
            console.out.line(summary.json)
        } else if !console.quiet {
            console.out.line(summary.text)
            for line in linkCheck?.lines(style: console.out.style) ?? [] { console.out.line(line) }
        }
        // With `--check`, such events are reported one by one. A header can name the device.
        if check.withoutDevice > 0, linkCheck == nil, headers.views.isEmpty {
            console.note(
                "\(Counts.text(check.withoutDevice, "event")) without a device and a key: a worker makes a dead letter "
                    + "(missing_device) of each, unless its registry has the user; --device ID is a key for them")
        }
        printEntries(outcome)
        do throws(CommandFailure) {
            try rejects?.finish()
        } catch {
            failure = failure ?? error
        }
        guard let failure = finalFailure(outcome) else { return .success }
        console.printFailure(failure)
        return failure.code
    }

    private mutating func complete(_ outcome: ProduceOutcome) {
        summary.seconds = Platform.monotonicSeconds - start
        summary.next = outcome.skip + 1
        summary.outcomes = linkCheck?.outcomes
        guard let sender else { return }
        summary.sent = sender.sent
        summary.delivered = sender.deliveries.delivered
        summary.failed = outcome.notStoredCount
        summary.possiblyStored = outcome.possiblyStoredCount + max(0, sender.unreported)
        summary.notStoredEntries = outcome.notStored
        summary.possiblyStoredEntries = outcome.possiblyStored
    }

    /// Prints the lines that are not stored, or possibly stored.
    private func printEntries(_ outcome: ProduceOutcome) {
        if summary.unreadable > Self.reportedFaults || summary.rejected > Self.reportedFaults {
            let rest = faulty.uncounted > 0 ? ", and \(Counts.text(faulty.uncounted, "line")) more" : ""
            let lines = Counts.text(faulty.count, "line")
            call.console.warn("Not sent: \(map.text(of: faulty.ranges))\(rest) (\(lines)).")
        }
        let listed = outcome.notStored.reduce(0) { $0 + $1.count }
        if listed > 0 {
            call.console.warn("Not stored: \(map.text(of: outcome.notStored)) (\(Counts.text(listed, "record"))).")
        }
        if summary.possiblyStored > 0 {
            let records = Counts.text(summary.possiblyStored, "record")
            let lines = outcome.possiblyStored.isEmpty ? "unknown lines" : map.text(of: outcome.possiblyStored)
            call.console.warn(
                "Possibly stored: \(lines) (\(records)). No broker has confirmed or refused them. Look for them with "
                    + "`linkd inspect --topic \(topic)` before you send them again.")
        }
    }

    /// Returns the failure for which the run ends, or nil.
    private func finalFailure(_ outcome: ProduceOutcome) -> CommandFailure? {
        let faulty = summary.unreadable + summary.rejected
        if let number = StopSignals.number {
            let result =
                summary.isDryRun
                ? "after \(Counts.text(map.count, "line"))"
                : "with \(summary.delivered) of \(Counts.text(summary.sent, "record")) delivered"
            return CommandFailure(
                ExitCode(rawValue: 128 + number), "ended by signal \(number) \(result)",
                advice: resumption(outcome))
        }
        if var failure {
            guard !summary.isDryRun, summary.sent > 0 else { return failure }
            failure.reason += "; \(summary.delivered) of \(Counts.text(summary.sent, "record")) delivered"
            failure.advice += ", then " + resumption(outcome)
            return failure
        }
        if summary.failed + summary.possiblyStored > 0 { return deliveryFailure(outcome) }
        guard faulty > 0 else { return nil }
        var parts: [String] = []
        if summary.unreadable > 0 { parts.append("\(summary.unreadable) cannot be read") }
        if summary.rejected > 0 { parts.append("\(summary.rejected) would be rejected") }
        return CommandFailure(
            .badData, "of \(Counts.text(summary.read, "line")), \(parts.joined(separator: " and "))",
            advice: correction)
    }

    /// The words that say how to send the bad lines.
    private var correction: String {
        if let rejects, !rejects.files.isEmpty {
            let omitted = rejects.omitted > 0 ? " (\(Counts.text(rejects.omitted, "line")) too long for it)" : ""
            let files = Escaping.visible(rejects.files.joined(separator: ", "))
            return "correct the lines in \(files)\(omitted), and send only this with the same flags"
        }
        let advice = "correct the lines listed above and send only those again"
        guard faulty.count > Self.reportedFaults else { return advice }
        return advice + "; the same command with --dry-run --rejects FILE writes them to a file"
    }

    /// Returns the words that say how to send the rest without a double.
    private func resumption(_ outcome: ProduceOutcome) -> String {
        let position = outcome.skip == 0 ? nil : map.lines(of: outcome.skip...outcome.skip)?.first
        let place =
            position.map { " (it goes on after \(Escaping.visible($0.file)), line \($0.lines.lowerBound))" } ?? ""
        let file = rejects?.files.isEmpty == false ? ", and another file for --rejects" : ""
        let listed = file + (summary.notStoredEntries.isEmpty ? "" : ", and send the lines listed above again")
        guard call.operands.allSatisfy({ $0 != "-" }), !call.operands.isEmpty else {
            return "send the input from entry \(outcome.skip + 1) on" + place + listed
        }
        guard limit != .max, !summary.isDryRun else {
            return "run the same command with --skip \(outcome.skip)" + place + listed
        }
        let rest = outcome.rest(of: limit, sent: summary.sent)
        guard rest > 0 else {
            return listed.isEmpty ? "nothing is left to send" : "send the lines listed above again"
        }
        return "run the same command with --skip \(outcome.skip) --count \(rest)" + place + listed
    }

    /// Returns the failure for undelivered records: exit code 77 if an access right is missing, otherwise 1.
    private func deliveryFailure(_ outcome: ProduceOutcome) -> CommandFailure {
        let failures = sender?.failures ?? []
        let errorCounts = failures.map { "\($0.code.name) \($0.count)" }.joined(separator: ", ")
        let reason =
            "\(summary.failed + summary.possiblyStored) of \(Counts.text(summary.sent, "record")) not delivered"
            + (errorCounts.isEmpty ? "" : " (\(errorCounts))")
        if failures.first?.code == .topicAuthorizationFailed {
            return CommandFailure(
                .refused, reason,
                advice: "grant this user Write access to the topic, then " + resumption(outcome))
        }
        return CommandFailure(
            .finding, reason,
            advice: "check the topic with `linkd topics check`, then " + resumption(outcome))
    }
}

/// An estimate of the records and the time that are left, from the sizes of the files.
struct TimeLeft {
    /// The time after which an estimate is shown, in seconds.
    private static let delay = 2.0

    /// The size of all files in bytes, or nil if it is not known.
    let size: Int64?
    /// The limit of records, or nil.
    var limit: Int?
    /// The limit of records per second, or nil.
    var rate: Int64?

    /// Returns a text such as `sent 1,200,000 of about 4,900,000, 310,000 per second, 12 s left`.
    ///
    /// Before two seconds have passed, and for inputs of unknown size, nothing is estimated.
    ///
    /// - Parameters:
    ///   - sent: The number of sent records.
    ///   - skipped: The number of bytes that were skipped before the first sent record.
    ///   - consumed: The number of bytes that were read.
    ///   - seconds: The time since the first sent record.
    func text(sent: Int, skipped: Int64, consumed: Int64, seconds: Double) -> String {
        let speed = Double(sent) / max(0.001, seconds)
        let current = Counts.grouped(Int64(speed)) + " per second"
        guard let size, seconds >= Self.delay, sent > 0, consumed > skipped else {
            return "sent \(Counts.grouped(Int64(sent))), \(current)"
        }
        let total = Double(sent) * Double(max(size, consumed) - skipped) / Double(consumed - skipped)
        let records = min(Int64(total), limit.map(Int64.init) ?? .max)
        let left = Double(max(0, records - Int64(sent))) / (rate.map { min(speed, Double($0)) } ?? speed)
        let about = limit.map { Int64($0) <= Int64(total) } == true ? "" : "about "
        return "sent \(Counts.grouped(Int64(sent))) of \(about)\(Counts.grouped(records)), \(current), "
            + Self.text(seconds: Int64(left.rounded(.up))) + " left"
    }

    private static func text(seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        default: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }
}
