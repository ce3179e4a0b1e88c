internal import LinkDecider
internal import ByteStorage
internal import DecisionIndex
internal import HTTPServer
internal import KafkaClient
internal import LinkIngest
internal import StrictJSON
internal import Synchronization

/// The endpoint `/api/replay`: a dry run, and then the replay of what the dry run has shown.
struct ReplayRoute {
    /// A dry run that a person has seen.
    private struct Ticket {
        var choices: [ReplayFlags]
        /// The choices of the dry run, with fixed times.
        var fixed: [ReplayFlags]
        var text = AccessToken().text
        var time = Platform.monotonicSeconds
    }

    /// The time in which the replay must follow its dry run, in seconds.
    private static let ticketSeconds = 600.0

    private let program: ReplayProgram
    private let masks: Bool

    /// Adds the endpoint if the console allows replays.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite, _ call: Invocation) {
        let route = ReplayRoute(program: ReplayProgram(call), masks: site.masks)
        let ticket = TicketBox()
        router.post("/api/replay") { request throws(ConsoleProblem) in
            guard site.allowsReplay, site.connection != nil else {
                throw ConsoleProblem(
                    status: 403, code: "replay", message: "this console does not replay dead letters",
                    next: "start it with --bootstrap and --allow-replay")
            }
            return try route.answer(request, ticket)
        }
    }

    /// The last dry run, which one replay can use.
    private final class TicketBox: Sendable {
        private let last = Mutex<Ticket?>(nil)

        /// Keeps a dry run, and returns its ticket.
        func keep(_ choices: [ReplayFlags], _ fixed: [ReplayFlags]) -> String {
            let ticket = Ticket(choices: choices, fixed: fixed)
            last.withLock { $0 = ticket }
            return ticket.text
        }

        /// Takes the ticket of a choice, and returns what its dry run has chosen, or nil if it has none.
        func take(_ text: String, for choices: [ReplayFlags]) -> [ReplayFlags]? {
            last.withLock { last in
                guard let ticket = last, ticket.text == text, ticket.choices == choices,
                    Platform.monotonicSeconds - ticket.time < ReplayRoute.ticketSeconds
                else { return nil }
                last = nil
                return ticket.fixed
            }
        }
    }

    /// Returns a summary, with `--mask` without the example of a device.
    static func shown(_ summary: JSONValue, masks: Bool) -> JSONValue {
        guard masks, summary.object != nil else { return summary }
        return summary.mapMembers { member in
            guard member.name == "order" else { return member.value }
            return member.value.mapMembers { ["devices", "later"].contains($0.name) ? $0.value : nil }
        }
    }

    private func answer(_ request: HTTPRequest, _ tickets: TicketBox) throws(ConsoleProblem) -> HTTPResponse {
        let body = try RequestBody(request, members: ReplayFlags.members)
        let choices = try ReplayFlags.choices(body)
        let ticket = try body.text("ticket", maxBytes: 64)
        let now = Platform.nowMilliseconds
        var fixed = choices.map { $0.fixed(now: now) }
        if let ticket {
            guard let shown = tickets.take(ticket, for: choices) else {
                throw ConsoleProblem(
                    status: 409, code: "ticket",
                    message: "this replay does not follow a dry run of the same dead letters",
                    next: "send the request without `ticket` first, and look at its answer")
            }
            fixed = shown
        }
        guard let results = program.run(fixed, isDryRun: ticket == nil), let first = results.first else {
            throw ConsoleProblem(
                status: 429, code: "busy", message: "another replay is running", next: "wait for its end")
        }
        return .json(
            JSONText.object { json in
                json.boolean("dryRun", ticket == nil)
                if body.value["reasons"]?.array == nil {
                    write(first, to: &json)
                } else {
                    json.objects("results", of: zip(choices, results)) { json, result in
                        json.text("reason", result.0.reason)
                        write(result.1, to: &json)
                    }
                }
                let isReady =
                    ticket == nil && results.allSatisfy { $0.summary != nil && ($0.code == 0 || $0.code == 1) }
                json.text("ticket", isReady ? tickets.keep(choices, fixed) : nil)
            })
    }

    private func write(_ result: ReplayProgram.Result, to json: inout JSONText) {
        json.number("code", result.code.map { Int64($0) })
        if let summary = result.summary {
            json.value("summary", Self.shown(summary, masks: masks))
        } else {
            json.text("summary", nil)
        }
        // Warnings name devices as examples.
        json.texts("messages", masks ? [] : result.messages)
    }
}

/// The endpoint `/api/replay/reasons`: the reasons of dead letters, and what would fail again with the console's
/// tables.
///
/// A sample of each reason is read and decided as a worker would decide it now. A header that only a worker knows is
/// ignored.
struct ReplayReasons {
    /// The greatest number of reasons.
    private static let reasonLimit = 20
    /// The greatest number of dead letters of one reason that are decided.
    private static let sampleLimit = 20

    /// The dead letters with one reason.
    private struct Reason {
        var name: String
        var total: Int
        var rows: [DecisionIndex.Row]
        var checked = 0
        var fails = 0
        /// The reason for which the newest of them would fail now.
        var cause: String?
    }

    private let resolver: TryResolver
    private let feed: DecisionFeed

    /// Adds the endpoint.
    ///
    /// - Parameter feed: The reader, or nil without a broker.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite, _ feed: DecisionFeed?) {
        let resolver = TryResolver(site.decider, hasRegistry: site.settings.text("devices.topic") != nil)
        router.get("/api/replay/reasons") { request throws(ConsoleProblem) in
            try ReplayReasons(resolver: resolver, feed: try DecisionFeed.present(feed)).answer(request)
        }
    }

    private func answer(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let query = try RequestQuery(request, names: ["from", "to"])
        var filter = RowFilter()
        filter.kind = .deadLetter
        filter.from = try query.time("from")
        filter.to = try query.time("to")
        let (all, topics) = feed.read { state in (Self.reasons(state.index, filter), state.topics) }
        var reasons = all
        try check(&reasons, topics)
        return .json(
            JSONText.object { json in
                json.objects("reasons", of: reasons) { json, reason in
                    json.text("reason", reason.name)
                    json.number("total", Int64(reason.total))
                    json.number("checked", Int64(reason.checked))
                    json.number("fails", Int64(reason.fails))
                    json.text("cause", reason.cause)
                }
            })
    }

    /// Returns the most frequent reasons with their newest dead letters.
    private static func reasons(_ index: DecisionIndex, _ filter: RowFilter) -> [Reason] {
        let span = max(1, (index.newest?.time ?? 0) + 1)
        let buckets = index.buckets(filter, by: .reason, from: 0, step: span, spans: 1, top: reasonLimit)
        return zip(buckets.groups, buckets.totals).compactMap { group, total in
            guard case .value(let name) = group, total > 0 else { return nil }
            var own = filter
            own.values[.reason] = name
            return Reason(name: name, total: total, rows: index.page(own, count: sampleLimit).rows)
        }
    }

    /// Decides the sample of each reason.
    private func check(_ reasons: inout [Reason], _ topics: FeedTopics) throws(ConsoleProblem) {
        var offsets: [TopicPartition: [Int64]] = [:]
        var places: [TopicPartition: [Int64: Int]] = [:]
        for (number, reason) in reasons.enumerated() {
            for row in reason.rows {
                guard let partition = topics.partition(row.key.source) else { continue }
                offsets[partition, default: []].append(row.key.offset)
                places[partition, default: [:]][row.key.offset] = number
            }
        }
        guard !offsets.isEmpty else { return }
        var found = reasons
        try feed.records.read(offsets) { record in
            let partition = TopicPartition(topic: record.topic, partition: record.partition)
            guard let number = places[partition]?[record.offset] else { return }
            found[number].checked += 1
            guard let cause = cause(of: record) else { return }
            found[number].fails += 1
            found[number].cause = cause
        }
        reasons = found
    }

    /// Returns the reason for which a dead letter would be one again, or nil if it would be decided.
    private func cause(of record: ScannedRecord) -> String? {
        guard let value = record.message else { return DeadLetterReason.nullValue.rawValue }
        return resolver.resolve(value.array, key: record.key, table: nil, explains: false).cause?.reason.rawValue
    }
}

/// The dead letters of a request to `/api/replay`, as flags of `linkd dlq replay`.
struct ReplayFlags: Equatable {
    /// The members of a request.
    static let members = ["topic", "reason", "reasons", "since", "until", "offsets", "ticket"]
    /// The maximum number of reasons.
    static let maxReasons = 20
    /// The maximum number of ranges of offsets.
    static let maxRanges = 1000

    /// The flags that are not times, with their values.
    private var others: [String] = []
    /// The times by the names of their flags.
    private var times: [String: String] = [:]

    /// The reason, or nil for all.
    private(set) var reason: String?

    /// Reads the choices of a request: one, or one for each of the `reasons`.
    static func choices(_ body: RequestBody) throws(ConsoleProblem) -> [ReplayFlags] {
        let common = try ReplayFlags(body)
        guard let member = body.value["reasons"], !member.isNull else { return [common] }
        let reasons = member.array?.compactMap(\.string) ?? []
        guard common.reason == nil, (1...maxReasons).contains(reasons.count), reasons.count == member.array?.count,
            Set(reasons).count == reasons.count, reasons.allSatisfy(isReason)
        else {
            throw ConsoleProblem(
                code: "member",
                message: "`reasons` is not a list of 1 to \(maxReasons) different reasons, or `reason` is given too",
                next: "send reasons such as [\"bad_json\", \"application_unknown\"]")
        }
        return reasons.map { reason in
            var choice = common
            choice.reason = reason
            choice.others += ["--reason", reason]
            return choice
        }
    }

    private static func isReason(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    }

    /// Reads the choice of a request.
    ///
    /// Each value is checked here, so that none can be read as another flag.
    init(_ body: RequestBody) throws(ConsoleProblem) {
        try add("topic", body, expected: "the name of an input topic") { text in
            text.utf8.count <= 249 && text.utf8.allSatisfy { $0.isASCIIWord(or: "._-") } && !text.hasPrefix("-")
        }
        try add("reason", body, expected: "a reason such as bad_json", Self.isReason)
        reason = try body.text("reason", maxBytes: 64)
        for name in ["since", "until"] { try addTime(name, body) }
        guard let member = body.value["offsets"], !member.isNull else { return }
        // Without a range, the request would choose all dead letters.
        let ranges = member.array ?? []
        guard !ranges.isEmpty, ranges.count <= Self.maxRanges else { throw Self.badRanges }
        for range in ranges {
            guard range.object?.count == 3, let partition = range["partition"]?.integer,
                let first = range["first"]?.integer, let last = range["last"]?.integer,
                (0...Int64(Int32.max)).contains(partition), first >= 0, last >= first
            else { throw Self.badRanges }
            others += ["--offsets", "\(partition):\(first)-\(last)"]
        }
    }

    private static let badRanges = ConsoleProblem(
        code: "member", message: "`offsets` is not a list of 1 to \(maxRanges) ranges",
        next: "send objects such as {\"partition\":3,\"first\":1200,\"last\":1200}")

    /// Returns the choice with times that do not depend on the time of the call, and that ends now.
    ///
    /// So the replay does not choose dead letters that its dry run could not show.
    func fixed(now: Int64) -> ReplayFlags {
        var result = self
        result.times = times.mapValues { Timestamps.parse($0, now: now).map(UTCDateTime.text(milliseconds:)) ?? $0 }
        if result.times["until"] == nil { result.times["until"] = UTCDateTime.text(milliseconds: now) }
        return result
    }

    /// The words of the command line.
    var words: [String] {
        others + times.sorted { $0.key < $1.key }.flatMap { ["--\($0.key)", $0.value] }
    }

    private mutating func addTime(_ name: String, _ body: RequestBody) throws(ConsoleProblem) {
        guard let text = try body.text(name, maxBytes: 64) else { return }
        guard !text.hasPrefix("-"), Timestamps.parse(text, now: Platform.nowMilliseconds) != nil else {
            throw ConsoleProblem(
                code: "member", message: "`\(name)` is not a time such as 2026-11-20T10:00:00Z",
                next: "correct the value")
        }
        times[name] = text
    }

    private mutating func add(
        _ name: String, _ body: RequestBody, expected: String, _ isValid: (String) -> Bool
    ) throws(ConsoleProblem) {
        guard let text = try body.text(name, maxBytes: 256) else { return }
        guard !text.isEmpty, isValid(text) else {
            throw ConsoleProblem(code: "member", message: "`\(name)` is not \(expected)", next: "correct the value")
        }
        others += ["--\(name)", text]
    }
}

/// Runs of `linkd dlq replay` as a child process, with the settings of the console.
///
/// A child process keeps the guarantees of the command, even if the console ends. One runs at a time, because a second
/// replay would end the first one.
final class ReplayProgram: Sendable {
    /// The result of a run.
    struct Result {
        /// The summary of the command, or nil if there is none.
        var summary: JSONValue?
        /// The warnings and the failure of the command, line by line.
        var messages: [String]
        /// The exit code, or nil if the process ended in another way.
        var code: Int32?
    }

    /// The time after which a run is ended, in seconds.
    ///
    /// The same request continues an ended run.
    static let maxSeconds = 50.0
    /// The maximum size of the output in bytes.
    private static let maxBytes = 1 << 20

    private let words: [String]
    private let environment: [String: String]
    private let running = Mutex(())

    /// Creates the runs with the settings of a call.
    init(_ call: Invocation) {
        var words: [String] = []
        for row in SettingsTable.rows where row.commands.contains(.deadLetters) {
            for text in call.arguments.settings[row.name]?.texts ?? [] { words.append("\(row.flags[0])=\(text)") }
        }
        if let path = call.text("config") { words.append("--config=\(path)") }
        self.words = words
        environment = call.environment
    }

    /// Runs the command for one choice after another, or returns nil if another run has not ended.
    ///
    /// All of them together have the time of a run. A choice that is ended, or whose time is over, has no exit code.
    func run(_ choices: [ReplayFlags], isDryRun: Bool) -> [Result]? {
        running.withLockIfAvailable { _ in
            let deadline = Platform.monotonicSeconds + Self.maxSeconds
            return choices.map { choice in
                guard Platform.monotonicSeconds < deadline else {
                    return Result(summary: nil, messages: ["linkd: the time for this replay is over"], code: nil)
                }
                return start(
                    choice.words + ["--json", "--color=never", isDryRun ? "--dry-run" : "--yes"], until: deadline)
            }
        }
    }

    private func start(_ choice: [String], until deadline: Double) -> Result {
        guard let program = Platform.executablePath, let output = ChildProgram.makePipe() else {
            return Result(summary: nil, messages: ["linkd: the program cannot be started"], code: nil)
        }
        defer { Platform.close(output.read) }
        let started = ChildProgram.start(
            [program, "dlq", "replay"] + words + choice, environment: environment, output: output.write,
            joinsErrors: true)
        Platform.close(output.write)
        switch started {
        case .failure(let error): return Result(summary: nil, messages: ["linkd: \(error.text)"], code: nil)
        case .success(let child):
            let bytes = Self.read(output.read, until: deadline)
            guard let end = child.wait(until: deadline) else {
                child.end()
                return Self.result(bytes, code: nil)
            }
            if case .exit(let code) = end { return Self.result(bytes, code: code) }
            return Self.result(bytes, code: nil)
        }
    }

    private static func read(_ descriptor: Int32, until deadline: Double) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let left = deadline - Platform.monotonicSeconds
            guard left > 0, Platform.canRead(descriptor, milliseconds: Int32(left * 1000) + 1) else { break }
            let count = buffer.withUnsafeMutableBytes { Platform.read(descriptor, into: $0) }
            guard count > 0 else { break }
            // The rest is read too, because the program waits for it.
            bytes += buffer[..<min(count, maxBytes - bytes.count)]
        }
        return bytes
    }

    /// Returns the summary, which is the line of JSON, and the other lines.
    private static func result(_ bytes: [UInt8], code: Int32?) -> Result {
        var result = Result(summary: nil, messages: [], code: code)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "{"), let summary = try? JSONValue.parse(Array(line), maxDepth: 16) {
                result.summary = summary
            } else {
                result.messages.append(String(decoding: line, as: UTF8.self))
            }
        }
        return result
    }
}
