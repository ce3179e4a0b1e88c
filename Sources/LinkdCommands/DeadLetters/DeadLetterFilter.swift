internal import ByteStorage
internal import KafkaClient
internal import RouteTools
internal import StrictJSON

/// The choice of dead letters by the flags of `linkd dlq`.
struct DeadLetterFilter {
    /// The reason and the times, as for `linkd inspect`.
    var common = RecordFilter(isDeadLetters: true)
    /// The id of a device: the key, or a device of the event.
    var device: String?
    /// The key.
    var key: String?
    /// The ranges of offsets by partition, or empty for all.
    var ranges: [Int32: [ClosedRange<Int64>]] = [:]

    /// A Boolean value that indicates whether the filter can reject records.
    var isActive: Bool { common.isActive || device != nil || key != nil || !ranges.isEmpty }

    /// Returns a Boolean value that indicates whether a record matches.
    ///
    /// - Parameter value: The members of the record's value.
    func matches(_ record: ScannedRecord, _ value: inout DecisionTape) -> Bool {
        if !ranges.isEmpty, !(ranges[record.partition] ?? []).contains(where: { $0.contains(record.offset) }) {
            return false
        }
        guard common.matches(record, &value) else { return false }
        if let key, record.key.map({ Self.isEqual($0, key) }) != true { return false }
        guard let device else { return true }
        if let key = record.key, Self.isEqual(key, device) { return true }
        return value.devices(limit: 500).contains { Self.isEqual($0, device) }
    }

    private static func isEqual(_ bytes: ByteView, _ text: String) -> Bool {
        var text = text
        return text.withUTF8 { ByteView($0) == bytes }
    }

    /// The flags of the filter.
    static let flags: [FlagDeclaration] = [
        FlagDeclaration(
            "--topic", type: .topic, default: "the setting `input`: link-events",
            "Topic whose dead letters are read. It is the input, not the dead-letter topic."),
        FlagDeclaration("--reason", type: .text(bytes: 1...64), "Choose dead letters with this reason only."),
        FlagDeclaration("--since", type: .time, "Choose dead letters that failed at this time or later."),
        FlagDeclaration("--until", type: .time, "Choose dead letters that failed at this time or earlier."),
        FlagDeclaration(
            "--device", type: .text(bytes: 1...256), placeholder: "ID",
            "Choose dead letters of this device only: the key, `device.id`, or one of `devices`."),
        FlagDeclaration("--partition", type: .integer(0...2_147_483_647), "Read this partition only."),
    ]

    /// Creates the filter of a call.
    init(_ call: Invocation) {
        let now = Platform.nowMilliseconds
        common = RecordFilter(
            reason: call.text("reason"), since: call.text("since").flatMap { Timestamps.parse($0, now: now) },
            until: call.text("until").flatMap { Timestamps.parse($0, now: now) }, isDeadLetters: true)
        device = call.text("device")
        key = call.text("key")
    }

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

    /// Creates a filter that matches every record.
    init() {}
}

extension DecisionTape {
    /// Returns the ids of the devices of an event in native form, which end with the value.
    mutating func devices(limit: Int) -> [ByteView] {
        var ids: [ByteView] = []
        if let id = string("id", of: member("device")) { ids.append(id) }
        let list = member("devices")
        guard list >= 0 else { return ids }
        var (node, end) = range(of: list, .array)
        while node < end, ids.count < limit {
            if kind(of: node) == .object, let id = string("id", of: node) { ids.append(id) }
            node = next(after: node)
        }
        return ids
    }
}
