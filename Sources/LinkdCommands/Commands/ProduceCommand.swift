internal import RouteTools
internal import KafkaClient

/// `linkd produce`: sends link events from files or standard input.
enum ProduceCommand {
    static let command = Command(
        path: ["produce"],
        summary: "Send link events from files or standard input",
        discussion: [
            "Each line is an event (a JSON object) or a bare link. A file whose first line consists of member names is "
                + "CSV (RFC 4180), with `device.app` for a member of the device. An empty cell is an absent member.",
            "The key of a record is `--key`, the event's `device.id`, the first of its `devices`, or `--device`, "
                + "whichever is present first. Otherwise the record has no key. Records of one device keep their "
                + "order. A line that cannot be read is reported and skipped.",
        ],
        flags: [
            FlagDeclaration(
                "--topic", type: .topic, default: "the setting `input` if it is one topic: link-events",
                "Topic to send to."),
            FlagDeclaration(
                "--format", type: .choice(InputFormat.allCases.map(\.rawValue)), default: "auto",
                "Format of the input."),
            FlagDeclaration(
                "--device", type: .text(bytes: 1...256), placeholder: "ID", "Key of events without a device."),
            FlagDeclaration("--key", type: .text(bytes: 1...65536), "Key of every record."),
            FlagDeclaration(
                "--header", type: .pairs(count: 0...64), repeats: true, placeholder: "NAME=VALUE",
                "Header of every record."),
            FlagDeclaration("--rate", type: .integer(1...10_000_000), "Limit of records per second."),
            FlagDeclaration("--count", type: .integer(0...(1 << 53)), "Stop after this number of records."),
            FlagDeclaration(
                "--raw", type: .boolean, "Send lines without a check. The key is `--key` or `--device`."),
            FlagDeclaration("--dry-run", type: .boolean, "Only check and count, without a broker."),
            FlagDeclaration("--json", type: .boolean, "Print the summary as JSON."),
        ],
        settings: .produce,
        operands: OperandDeclaration(
            name: "FILE", help: "Files to send. `-` or no file means standard input.", count: 0...1000),
        examples: [
            CommandExample(
                line: "linkd produce -b localhost:9092 config/samples/shop.jsonl",
                description: "Sends events, one per line."),
            CommandExample(
                line: "echo 'shop:///p/new' | linkd produce -b localhost:9092 --device d-0042",
                description: "Sends one link for one device."),
            CommandExample(
                line: "linkd produce --dry-run config/samples/events.csv",
                description: "Checks a CSV file without a broker."),
        ],
        run: { call throws(CommandFailure) in
            var job = try ProduceJob(call)
            return try job.run()
        })
}

/// One run of `linkd produce`.
private struct ProduceJob {
    private let call: Invocation
    private let settings: Settings
    private let check: EventCheck
    private let headers: [RecordHeader]
    private let format: InputFormat
    private let limit: Int
    private let rate: Int64?
    private var sender: EventSender?
    private var summary = ProduceSummary()
    private var progress: ProgressLine
    private let start = Platform.monotonicSeconds

    init(_ call: Invocation) throws(CommandFailure) {
        self.call = call
        settings = try call.settings()
        let vendors = try LoadedVendors(settings, ShippedFiles(environment: call.environment), on: call.console)
        check = EventCheck(
            settings, vendors, fixedKey: call.text("key").map { Array($0.utf8) },
            fallbackKey: call.text("device").map { Array($0.utf8) })
        headers = call.pairs("header").map { RecordHeader(name: Array($0.key.utf8), value: Array($0.value.utf8)) }
        format = InputFormat(rawValue: call.text("format") ?? "auto") ?? .auto
        limit = call.number("count").map { Int($0) } ?? .max
        rate = call.number("rate")
        progress = ProgressLine(call.console)
    }

    mutating func run() throws(CommandFailure) -> ExitCode {
        Interruption.installHandlers()
        if !call.isOn("dry-run") { sender = try makeSender() }
        for path in call.operands.isEmpty ? ["-"] : call.operands where readsMore {
            let source = try ByteSource(path: path)
            if source.isTerminal { call.console.note("Type events or links, one per line. End with Ctrl-D.") }
            var input = try EventInput(
                source, format: format, raw: call.isOn("raw"), passthrough: settings.list("passthrough"))
            while readsMore, let line = input.next() { try send(line, of: source) }
            if source.hasFailed {
                reportUnreadable(EventLine.Fault(text: "the input cannot be read"), at: nil, of: source)
            }
        }
        return printSummary()
    }

    /// A Boolean value that indicates whether to read more lines: `--count` is not reached, and no signal was received.
    private var readsMore: Bool { summary.read - summary.unreadable < limit && Interruption.signalNumber == nil }

    /// Returns a sender, after a broker has confirmed that the topic exists.
    private func makeSender() throws(CommandFailure) -> EventSender {
        let inputs = settings.list("input")
        guard let topic = call.text("topic") ?? (inputs.count == 1 && !inputs[0].hasPrefix("^") ? inputs[0] : nil)
        else {
            throw CommandFailure(
                .usage, "the setting `input` does not name exactly one topic", advice: "select a topic with --topic")
        }
        let connection = try Connection(settings)
        let admin = try connection.makeAdmin()
        let described: [TopicDescription]
        do throws(KafkaError) {
            described = try admin.describe(topics: [topic], timeoutMilliseconds: 10_000)
        } catch {
            throw CommandFailure(error, while: "describing topic \(topic)")
        }
        if let error = described.first?.error {
            throw CommandFailure(
                error, while: "sending to \(topic)", needing: AccessRight("Write", on: .topic, topic),
                as: connection.principal)
        }
        return try EventSender(connection, topic: topic)
    }

    private mutating func send(_ line: EventLine, of source: ByteSource) throws(CommandFailure) {
        summary.read += 1
        let key: [UInt8]?
        let value: [UInt8]
        switch line.value {
        case .failure(let fault): return reportUnreadable(fault, at: line.line, of: source)
        case .success(let bytes): value = bytes
        }
        if call.isOn("raw") {
            key = check.fixedKey ?? check.fallbackKey
        } else {
            switch check.key(of: value) {
            case .failure(let fault): return reportUnreadable(fault, at: line.line, of: source)
            case .success(let found): key = found
            }
        }
        if key == nil { summary.withoutKey += 1 }
        guard sender != nil else { return }
        waitForRate()
        try sender?.send(key: key, value: value, headers: headers)
        showProgress()
    }

    private mutating func reportUnreadable(_ fault: EventLine.Fault, at line: Int?, of source: ByteSource) {
        summary.unreadable += 1
        progress.clear()
        let location = line.map { "\(source.name), line \($0)" } ?? source.name
        let consequence = line == nil ? "" : " (line not sent)"
        // Limits the output in case the file has another format.
        if summary.unreadable <= 20 {
            call.console.warn("\(Escaping.visible(location)): \(fault.text)\(consequence)")
        }
        if summary.unreadable == 21 { call.console.warn("More lines cannot be read. They are only counted.") }
    }

    /// Waits until the next record is due.
    private func waitForRate() {
        guard let rate, let sender else { return }
        let due = start + Double(sender.sent) / Double(rate)
        while Interruption.signalNumber == nil {
            let delay = due - Platform.monotonicSeconds
            guard delay > 0 else { return }
            sender.wait(milliseconds: Int32(max(1, min(100, delay * 1000))))
        }
    }

    private mutating func showProgress() {
        guard let sender, sender.sent % 64 == 0 else { return }
        let elapsed = max(0.001, Platform.monotonicSeconds - start)
        let rate = Int(Double(sender.sent) / elapsed)
        progress.show("sent \(sender.sent), delivered \(sender.deliveries.delivered), \(rate) per second")
    }

    private mutating func printSummary() -> ExitCode {
        if let sender {
            var line = progress
            sender.finish { counts in
                line.show("sent \(sender.sent), delivered \(counts.delivered), waiting for the others")
            }
            line.clear()
            summary.sent = sender.sent
            summary.delivered = sender.deliveries.delivered
            summary.failed = sender.sent - sender.deliveries.delivered
        }
        progress.clear()
        summary.seconds = Platform.monotonicSeconds - start
        let console = call.console
        if call.json { console.out.line(summary.json) } else if !console.quiet { console.out.line(summary.text) }
        if let number = Interruption.signalNumber {
            let failure = CommandFailure(
                ExitCode(rawValue: 128 + number),
                "ended by signal \(number) with \(summary.delivered) of \(Counts.text(summary.read, "record")) "
                    + "delivered",
                advice: "send the remaining records again (the delivered ones are in the topic)")
            console.printFailure(failure)
            return failure.code
        }
        if summary.failed > 0 {
            let failure = deliveryFailure()
            console.printFailure(failure)
            return failure.code
        }
        if summary.unreadable > 0 {
            console.printFailure(
                CommandFailure(
                    .badData, "\(summary.unreadable) of \(Counts.text(summary.read, "line")) cannot be read",
                    advice: "correct the lines listed above and send only those again"))
            return .badData
        }
        return .success
    }

    /// Returns the failure for undelivered records: exit code 77 if an access right is missing, otherwise 1.
    private func deliveryFailure() -> CommandFailure {
        let failures = sender?.failures ?? []
        let errorCounts = failures.map { "\($0.code.name) \($0.count)" }.joined(separator: ", ")
        let reason = "\(summary.failed) of \(Counts.text(summary.sent, "record")) not delivered (\(errorCounts))"
        if failures.first?.code == .topicAuthorizationFailed {
            return CommandFailure(
                .refused, reason,
                advice: "grant this user Write access to the topic, then send them again")
        }
        return CommandFailure(
            .finding, reason,
            advice: "check the topic with `linkd topics check`, then send them again")
    }
}
