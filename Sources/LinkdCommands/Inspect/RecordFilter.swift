internal import ByteStorage
internal import DecisionIndex
internal import KafkaClient
internal import LinkCoordinator
internal import LinkIngest
internal import RouteTools
internal import StrictJSON

/// The filter of `linkd inspect` and `linkd dlq`.
///
/// A property that is nil matches every record.
struct RecordFilter {
    /// The id of the device, which is the key of the record.
    var device: String?
    /// The id of the event of a decision or of a dead letter.
    var event: String?
    /// The id of the route.
    var route: String?
    var outcome: String?
    /// The reason of a decision or of a dead letter.
    var reason: String?
    /// The campaign of a decision.
    var campaign: String?
    /// The first time, in milliseconds since 1970.
    var since: Int64?
    /// The last time, in milliseconds since 1970.
    var until: Int64?
    /// A Boolean value that indicates whether the records are dead letters, whose times are the times of their
    /// failures.
    var isDeadLetters = false

    /// A Boolean value that indicates whether a record also matches by a device of the event in its value.
    var searchesEvents = false
    var key: String?
    /// The ranges of offsets by partition, or empty for all.
    var ranges: [Int32: [ClosedRange<Int64>]] = [:]

    /// A Boolean value that indicates whether the filter can reject records.
    var isActive: Bool {
        [device, event, route, outcome, reason, campaign, key].contains { $0 != nil } || since != nil || until != nil
            || !ranges.isEmpty
    }

    /// Returns the time of a record: its timestamp or, if it is a dead letter, the time of the failure.
    ///
    /// A dead letter has the timestamp of its source.
    func time(of record: ScannedRecord) -> Int64 {
        guard isDeadLetters, let failedAt = record.header("dlq.failed.at"), failedAt.count <= 19 else {
            return record.timestamp
        }
        return Int64(failedAt.string) ?? record.timestamp
    }

    /// Returns a Boolean value that indicates whether a record matches.
    ///
    /// - Parameter decision: The members of the record's value.
    func matches(_ record: ScannedRecord, _ decision: inout DecisionTape) -> Bool {
        if since != nil || until != nil {
            let time = time(of: record)
            if let since, time < since { return false }
            if let until, time > until { return false }
        }
        if !ranges.isEmpty, !(ranges[record.partition] ?? []).contains(where: { $0.contains(record.offset) }) {
            return false
        }
        if let key, !Self.isEqual(record.key, key) { return false }
        if let device, !Self.isEqual(record.key, device) {
            let isFound =
                searchesEvents
                ? decision.devices(limit: 500).contains { Self.isEqual($0, device) }
                : Self.isEqual(decision.string("device"), device)
            if !isFound { return false }
        }
        if let event, !Self.isEqual(record.header("dlq.event") ?? decision.string("event"), event) { return false }
        if let route, !Self.isEqual(RowField.route.value(of: record, &decision), route) { return false }
        if let outcome, !Self.isEqual(RowField.outcome.value(of: record, &decision), outcome) { return false }
        if let reason, !Self.isEqual(RowField.reason.value(of: record, &decision), reason) { return false }
        if let campaign, !Self.isEqual(RowField.campaign.value(of: record, &decision), campaign) { return false }
        return true
    }

    private static func isEqual(_ bytes: ByteView?, _ text: String) -> Bool {
        guard let bytes else { return false }
        var text = text
        return text.withUTF8 { ByteView($0) == bytes }
    }
}

extension RecordFilter {
    /// Creates the filter of a call, and warns about a reason that no record can have.
    ///
    /// An end before the start ends with exit code 64.
    init(_ call: Invocation, ofDeadLetters isDeadLetters: Bool, searchesEvents: Bool = false) throws(CommandFailure) {
        let now = Platform.nowMilliseconds
        let local = call.isOn("local") && !searchesEvents
        func time(_ flag: String) -> Int64? {
            call.text(flag).flatMap { Timestamps.parse($0, now: now, local: local) }
        }
        self.init(
            device: call.text("device"), event: call.text("event"), route: call.text("route"),
            outcome: call.text("outcome"), reason: call.text("reason"), campaign: call.text("campaign"),
            since: time("since"), until: time("until"), isDeadLetters: isDeadLetters, searchesEvents: searchesEvents,
            key: call.text("key"))
        if let since, let until, until < since {
            throw CommandFailure(
                .usage, "--until is before --since, so no record is chosen", advice: "exchange the two times")
        }
        if let reason { KnownNames.tell(reason: reason, on: call.console) }
    }
}

extension RowField {
    /// Returns the property of a record, or nil if it has none.
    func value(of record: ScannedRecord, _ decision: inout DecisionTape) -> ByteView? {
        switch self {
        case .reason: (record.headers.isEmpty ? nil : record.header("dlq.reason")) ?? decision.string("reason")
        case .route: decision.string("route")
        case .outcome: record.isDeadLetter ? nil : decision.string("outcome")
        case .application: decision.application
        case .campaign: decision.campaign
        case .table: decision.string("table")
        case .query: decision.queryText
        }
    }
}

// The choice of dead letters.
extension RecordFilter {
    /// The flags of `linkd dlq` that choose dead letters.
    static let deadLetterFlags: [Flag] = [
        Flag(
            "--topic", .topic, default: "the setting `input`: link-events",
            "Topic whose dead letters are read. It is the input, not the dead-letter topic."),
        Flag("--reason", .text(bytes: 1...64), "Choose dead letters with this reason only."),
        Flag("--since", .time, "Choose dead letters that failed at this time or later."),
        Flag("--until", .time, "Choose dead letters that failed at this time or earlier."),
        Flag(
            "--device", .text(bytes: 1...256), placeholder: "ID",
            "Choose dead letters of this device only: the key, `device.id`, or one of `devices`."),
        Flag("--partition", .integer(0...2_147_483_647), "Read this partition only."),
    ]

    /// Returns the ranges of offsets of `--offsets`, such as `0:1200-1300`.
    static func ranges(_ texts: [String]) throws(CommandFailure) -> [Int32: [ClosedRange<Int64>]] {
        var ranges: [Int32: [ClosedRange<Int64>]] = [:]
        for text in texts {
            guard let (partition, range) = range(text) else {
                throw CommandFailure(
                    .usage,
                    "--offsets: expected a partition and its first and last offset such as 0:1200-1300, found "
                        + "`\(Escaping.visible(text))`",
                    advice: "pass --offsets PARTITION:FIRST-LAST")
            }
            ranges[partition, default: []].append(range)
        }
        return ranges
    }

    private static func range(_ text: String) -> (Int32, ClosedRange<Int64>)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = number(parts[0]).flatMap({ Int32(exactly: $0) }) else { return nil }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(number)
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < .max else { return nil }
        return (partition, first...last)
    }

    private static func number(_ text: Substring) -> Int64? {
        var text = text
        return text.withUTF8 { DeadLetterHead.decimal(ByteView($0)) }
    }

    /// Returns the offsets to read.
    ///
    /// A partition that does not exist, or an offset outside its partition, ends with exit code 64.
    ///
    /// - Parameters:
    ///   - ends: The first and the stable end offsets of all partitions.
    ///   - partition: The only partition to read, or nil for all.
    func plan(
        _ topic: String, _ ends: [Int32: Watermarks], _ partition: Int32?
    ) throws(CommandFailure) -> ScanPlan {
        var plan = ScanPlan()
        let first = ranges.compactMapValues { $0.map(\.lowerBound).min() }
        try plan.add(topic, ends, ScanRange(partition: partition, offsets: first))
        for (number, list) in ranges {
            let key = TopicPartition(topic: topic, partition: number)
            guard let span = plan.partitions[key], let end = span.to, let last = list.map(\.upperBound).max() else {
                continue
            }
            plan.partitions[key]?.to = min(end, last + 1)
        }
        return plan
    }
}

extension DecisionTape {
    /// The event: the value itself, or the data of an event of CloudEvents.
    var event: Int32 {
        mutating get {
            let data = member("specversion") < 0 ? -1 : member("data")
            return data >= 0 && kind(of: data) == .object ? data : 0
        }
    }

    /// A Boolean value that indicates whether the key is the device of an event that lists none.
    ///
    /// An event of a user is for the devices of the registry, and the request of a vendor can list its own. Such a
    /// request has members that no message of FCM has.
    var isKeyed: Bool {
        mutating get {
            guard read() else { return true }
            let event = event
            if member("user", of: event) >= 0 { return false }
            let payload = member("payload", of: event)
            for name in [ByteView("link"), ByteView("path"), ByteView("route")] where member(name, of: event) >= 0 {
                return true
            }
            let message = payload < 0 ? event : payload
            if member("aps", of: message) >= 0 || member("web_push", of: message) >= 0 { return true }
            // A list has an event or a request for each item.
            guard kind(of: message) == .object else { return false }
            var (node, end) = range(of: message, .object)
            while node < end {
                guard Self.messageMembers.contains(where: { name(of: node) == ByteView($0) }) else { return false }
                node = next(after: node)
            }
            return true
        }
    }

    /// The members of a message of FCM, of the object around it, and of an event that can be beside them.
    private static var messageMembers: [StaticString] {
        [
            "message", "validate_only", "validateOnly", "name", "data", "notification", "android", "apns", "webpush",
            "fcm_options", "fcmOptions", "token", "topic", "condition", "id", "application", "expires", "payloadType",
        ]
    }

    /// Returns the ids of the devices that an event lists, which end with the value.
    mutating func devices(limit: Int) -> [ByteView] {
        var ids: [ByteView] = []
        let event = event
        if let id = string("id", of: member("device", of: event)) { ids.append(id) }
        let list = member("devices", of: event)
        guard list >= 0 else { return ids }
        var (node, end) = range(of: list, .array)
        while node < end, ids.count < limit {
            if kind(of: node) == .object, let id = string("id", of: node) { ids.append(id) }
            node = next(after: node)
        }
        return ids
    }
}

/// Words about names of filters that no record can have, or that no record had.
enum KnownNames {
    /// The reasons of decisions and dead letters.
    static let reasons =
        ReasonCode.allCases.map(\.rawValue) + Decision.Reason.beforeResolution.map(\.rawValue)
        + DeadLetterReason.allCases.map(\.rawValue)

    /// Tells that this version knows no such reason.
    ///
    /// It is not an error, because another version can have written the records.
    static func tell(reason: String, on console: Console) {
        guard !reasons.contains(reason) else { return }
        let nearest = NearestName.of(reason, among: reasons)
        console.warn(
            "--reason: no decision or dead letter of this version has the reason `\(Escaping.visible(reason))`; "
                + (nearest.map { "did you mean `\($0)`?" } ?? "the reasons are "
                    + Set(reasons).sorted().joined(separator: ", ")))
    }
}

/// The routes of the decisions that were read, to suggest routes that a misspelled id can mean.
struct SeenRoutes {
    private static let limit = 1000
    private static let limitBytes = 256
    private var routes: Set<[UInt8]> = []

    /// Adds the route of a decision.
    mutating func add(_ route: ByteView?) {
        guard let route, route.count <= Self.limitBytes, routes.count < Self.limit else { return }
        routes.insert(route.array)
    }

    /// Returns the words about a route that no decision had.
    func text(_ route: String) -> String {
        let names = routes.map { String(decoding: $0, as: UTF8.self) }.sorted()
        let start = "--route: no decision that was read has the route `\(Escaping.visible(route))`; "
        if names.contains(route) { return start.dropLast(2) + ", and matches the other flags" }
        if let nearest = NearestName.of(route, among: names) {
            return start + "did you mean `\(Escaping.visible(nearest))`?"
        }
        return start + (names.isEmpty ? "none has a route" : "the routes are " + Escaping.list(names))
    }
}

extension RecordFilter {
    /// Returns the choice of records by position and time.
    func range(_ call: Invocation) throws(CommandFailure) -> ScanRange {
        let last = call.number("last") != nil
        let offsets = try Self.offsets(call)
        for (flag, isOn) in [("--last", last), ("--since", since != nil)] where isOn && !offsets.isEmpty {
            throw CommandFailure(.usage, "--offset and \(flag) cannot be combined", advice: "pass only one of them")
        }
        let partition = call.number("partition").map { Int32($0) }
        if let partition, !offsets.isEmpty, offsets[partition] == nil {
            throw CommandFailure(
                .usage, "--partition \(partition) is not among the partitions of --offset",
                advice: "pass only one of these flags")
        }
        let follow = call.isOn("follow")
        return ScanRange(
            partition: partition, offsets: offsets, since: isDeadLetters ? nil : since, follow: follow,
            fromEnd: follow && !last && since == nil)
    }

    /// Returns the first offset of each partition that `--offset` names.
    private static func offsets(_ call: Invocation) throws(CommandFailure) -> [Int32: Int64] {
        var offsets: [Int32: Int64] = [:]
        for text in call.list("offset") {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            let isDecimal = parts.allSatisfy { part in part.utf8.allSatisfy { (0x30...0x39).contains($0) } }
            guard parts.count == 2, isDecimal, let partition = Int32(parts[0]), let offset = Int64(parts[1]),
                offsets[partition] == nil
            else {
                throw CommandFailure(
                    .usage,
                    "--offset: expected a partition and an offset such as 0:1200, each partition once, found "
                        + "`\(Escaping.visible(text))`",
                    advice: "pass --offset PARTITION:OFFSET")
            }
            offsets[partition] = offset
        }
        return offsets
    }
}
