internal import KafkaClient

/// `linkd produce`: sends link events from files or standard input.
enum ProduceCommand {
    static let command = Command(
        path: ["produce"],
        summary: "Send link events from files or standard input",
        discussion: [
            "A line is an event (a JSON object), or a bare link; a file whose first line names members is CSV "
                + "(RFC 4180), with `device.app` for a member of the device. Empty cells are absent members.",
            "The key of a record is `--key`, else the event's `device.id`, else the first of its `devices`, else "
                + "`--device`, else none; records of one device keep their order. A line that cannot be read is named "
                + "and not sent; the rest is.",
        ],
        flags: [
            FlagDeclaration(
                "--topic", type: .topic, default: "the setting `input` when it is one topic: link-events",
                "Where to send."),
            FlagDeclaration(
                "--format", type: .choice(InputFormat.allCases.map(\.rawValue)), default: "auto", "What the input is."),
            FlagDeclaration(
                "--device", type: .text(bytes: 1...256), placeholder: "ID", "Key of events that name no device."),
            FlagDeclaration("--key", type: .text(bytes: 1...65536), "Key of every record."),
            FlagDeclaration(
                "--header", type: .pairs(count: 0...64), repeats: true, placeholder: "NAME=VALUE",
                "Header of every record."),
            FlagDeclaration("--rate", type: .integer(1...10_000_000), "At most so many records a second."),
            FlagDeclaration("--count", type: .integer(0...(1 << 53)), "Stop after so many records."),
            FlagDeclaration(
                "--raw", type: .boolean, "Send lines as they are, unchecked; the key is `--key` or `--device`."),
            FlagDeclaration("--dry-run", type: .boolean, "Check and count only; no broker is needed."),
            FlagDeclaration("--json", type: .boolean, "Print the summary as JSON."),
        ],
        settings: .produce,
        operands: OperandDeclaration(
            name: "FILE", help: "Files to send; `-` or none is standard input.", count: 0...1000),
        examples: [
            CommandExample(
                line: "linkd produce -b localhost:9092 config/samples/shop.jsonl", words: "Sends events, one a line."),
            CommandExample(
                line: "echo 'shop:///p/new' | linkd produce -b localhost:9092 --device d-0042",
                words: "Sends one link for one device."),
            CommandExample(
                line: "linkd produce --dry-run config/samples/events.csv",
                words: "Checks a CSV file without a broker."),
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
        check = EventCheck(
            settings, fixed: call.text("key").map { Array($0.utf8) },
            otherwise: call.text("device").map { Array($0.utf8) })
        headers = call.pairs("header").map { RecordHeader(name: Array($0.key.utf8), value: Array($0.value.utf8)) }
        format = InputFormat(rawValue: call.text("format") ?? "auto") ?? .auto
        limit = call.number("count").map { Int($0) } ?? .max
        rate = call.number("rate")
        progress = ProgressLine(call.console)
    }

    mutating func run() throws(CommandFailure) -> ExitCode {
        Interruption.installHandlers()
        if !call.isOn("dry-run") { sender = try makeSender() }
        for path in call.operands.isEmpty ? ["-"] : call.operands where wantsMore {
            let source = try ByteSource(path: path)
            if source.isTerminal { call.console.note("Type events or links, one a line; end with Ctrl-D.") }
            var input = try EventInput(
                source, format: format, raw: call.isOn("raw"), passthrough: settings.list("passthrough"))
            while wantsMore, let line = input.next() { try take(line, of: source) }
            if source.hasFailed { unreadable(EventLine.Fault(text: "reading failed"), at: nil, of: source) }
        }
        return end()
    }

    /// Whether fewer than `--count` were taken, and the user did not end it.
    private var wantsMore: Bool { summary.read - summary.unreadable < limit && Interruption.signalNumber == nil }

    /// The topic exists, and a broker answers.
    private func makeSender() throws(CommandFailure) -> EventSender {
        let inputs = settings.list("input")
        guard let topic = call.text("topic") ?? (inputs.count == 1 && !inputs[0].hasPrefix("^") ? inputs[0] : nil)
        else {
            throw CommandFailure(.usage, "there are several input topics", advice: "name one with --topic")
        }
        let connection = try Connection(settings)
        let admin = try connection.admin()
        let described: [TopicDescription]
        do throws(KafkaError) {
            described = try admin.describe(topics: [topic], timeoutMilliseconds: 10_000)
        } catch {
            throw CommandFailure(error, while: "looking at topic \(topic)")
        }
        if let error = described.first?.error { throw CommandFailure(error, while: "sending to \(topic)") }
        return try EventSender(connection, topic: topic)
    }

    private mutating func take(_ line: EventLine, of source: ByteSource) throws(CommandFailure) {
        summary.read += 1
        let key: [UInt8]?
        let value: [UInt8]
        switch line.value {
        case .failure(let fault): return unreadable(fault, at: line.line, of: source)
        case .success(let bytes): value = bytes
        }
        if call.isOn("raw") {
            key = check.fixed ?? check.otherwise
        } else {
            switch check.key(of: value) {
            case .failure(let fault): return unreadable(fault, at: line.line, of: source)
            case .success(let found): key = found
            }
        }
        if key == nil { summary.withoutKey += 1 }
        guard sender != nil else { return }
        pace()
        try sender?.send(key: key, value: value, headers: headers)
        showProgress()
    }

    private mutating func unreadable(_ fault: EventLine.Fault, at line: Int?, of source: ByteSource) {
        summary.unreadable += 1
        progress.clear()
        let place = line.map { "\(source.name), line \($0)" } ?? source.name
        // A file of another kind would fill the screen.
        if summary.unreadable <= 20 { call.console.warn("\(Escaping.visible(place)): \(fault.text); not sent") }
        if summary.unreadable == 21 { call.console.warn("More lines cannot be read; they are counted only.") }
    }

    /// Waits until the next record is due.
    private func pace() {
        guard let rate, let sender else { return }
        let due = start + Double(sender.sent) / Double(rate)
        while Interruption.signalNumber == nil {
            let left = due - Platform.monotonicSeconds
            guard left > 0 else { return }
            sender.wait(milliseconds: Int32(max(1, min(100, left * 1000))))
        }
    }

    private mutating func showProgress() {
        guard let sender, sender.sent % 64 == 0 else { return }
        let elapsed = max(0.001, Platform.monotonicSeconds - start)
        let rate = Int(Double(sender.sent) / elapsed)
        progress.show("sent \(sender.sent), delivered \(sender.deliveries.delivered), \(rate) a second")
    }

    private mutating func end() -> ExitCode {
        if let sender {
            var line = progress
            sender.finish { counts in
                line.show("sent \(sender.sent), delivered \(counts.delivered), waiting for the rest")
            }
            line.clear()
            summary.sent = sender.sent
            summary.delivered = sender.deliveries.delivered
            summary.failed = sender.sent - sender.deliveries.delivered
        }
        progress.clear()
        summary.seconds = Platform.monotonicSeconds - start
        let console = call.console
        if call.json { console.out.line(summary.json) } else if !console.quiet { console.out.line(summary.words) }
        if let number = Interruption.signalNumber {
            let failure = CommandFailure(
                ExitCode(rawValue: 128 + number),
                "ended by signal \(number): \(summary.delivered) of \(summary.read) were delivered",
                advice: "send the rest again; what was delivered is in the topic")
            console.end(failure)
            return failure.code
        }
        if summary.failed > 0 {
            let failure = undelivered()
            console.end(failure)
            return failure.code
        }
        if summary.unreadable > 0 {
            console.end(
                CommandFailure(
                    .badData, "\(summary.unreadable) of \(summary.read) lines cannot be read",
                    advice: "correct the lines named above and send them again; the others were taken"))
            return .badData
        }
        return .success
    }

    /// Why records were not delivered: a finding, or a right that is missing.
    private func undelivered() -> CommandFailure {
        let failures = sender?.failures ?? []
        let why = failures.map { "\($0.code.name) \($0.count)" }.joined(separator: ", ")
        let reason = "\(summary.failed) of \(summary.sent) records were not delivered (\(why))"
        if failures.first?.code == .topicAuthorizationFailed {
            return CommandFailure(.refused, reason, advice: "grant this user Write on the topic, then send them again")
        }
        return CommandFailure(.finding, reason, advice: "see what the broker says of the topic, then send them again")
    }
}
