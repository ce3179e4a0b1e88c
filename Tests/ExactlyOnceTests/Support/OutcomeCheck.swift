import KafkaClient

/// Compares the workers' output with the expected results.
///
/// All lists are empty if they are equal.
struct OutcomeCheck: Equatable {
    /// Records without an outcome.
    var lost: [String] = []
    /// Outcomes of records that already have one.
    var doubled: [String] = []
    /// Outcomes without a record, or of the wrong kind.
    var strange: [String] = []
    /// Outcomes after a later one of the same device, or for dead letters of the same partition.
    var disordered: [String] = []
    /// Outcomes with an unexpected key, value, header or partition.
    var different: [String] = []

    init() {}

    init(_ oracle: Oracle, topic: String, decisions: [ReadRecord], deadLetters: [ReadRecord]) {
        var seen: Set<SourcePlace> = []
        var last: [[UInt8]: SourcePlace] = [:]
        for record in decisions {
            let value = record.value ?? []
            guard let place = Self.source(ofDecision: value, topic: topic), let wanted = oracle.decisions[place] else {
                strange.append("decision at \(record.partition)-\(record.offset)")
                continue
            }
            if !seen.insert(place).inserted { doubled.append("\(place)") }
            // A device's records share a partition of the input, and its decisions are in the output partition with the
            // same number.
            if wanted.key != record.key ?? [] || wanted.value != value || record.partition != place.partition {
                different.append("\(place): \(String(decoding: value, as: UTF8.self))")
            }
            if let before = last[wanted.key], before >= place { disordered.append("\(place) behind \(before)") }
            last[wanted.key] = place
        }
        check(deadLetters, oracle, topic, &seen)
        let unseen =
            oracle.decisions.keys.filter { !seen.contains($0) } + oracle.deadLetters.keys.filter { !seen.contains($0) }
        lost = unseen.sorted().map(\.description)
    }

    private mutating func check(
        _ deadLetters: [ReadRecord], _ oracle: Oracle, _ topic: String, _ seen: inout Set<SourcePlace>
    ) {
        var last: [Int32: SourcePlace] = [:]
        for letter in deadLetters {
            guard let partition = letter.header("dlq.source.partition").flatMap({ Int32($0) }),
                let offset = letter.header("dlq.source.offset").flatMap({ Int64($0) }),
                let wanted = oracle.deadLetters[SourcePlace(partition: partition, offset: offset)]
            else {
                let reason = letter.header("dlq.reason") ?? "no reason"
                strange.append("dead letter at \(letter.partition)-\(letter.offset), \(reason)")
                continue
            }
            let place = SourcePlace(partition: partition, offset: offset)
            if !seen.insert(place).inserted { doubled.append("\(place)") }
            let headers = [
                "dlq.schema": "1", "dlq.reason": wanted.kind.reason, "dlq.stage": wanted.kind.stage,
                "dlq.source.topic": topic, "dlq.source.timestamp": String(wanted.record.timestamp),
                "dlq.attempts": "1", "dlq.truncated": nil,
            ]
            for (name, value) in headers where letter.header(name) != value {
                different.append("\(place) \(wanted.kind): \(name) is \(letter.header(name) ?? "absent")")
            }
            let isCopy =
                letter.key == wanted.record.key && letter.value == wanted.record.value
                && letter.partition == partition && letter.timestamp == wanted.record.timestamp
                && Array(letter.headers.prefix(wanted.record.headers.count)) == wanted.record.headers
            if !isCopy { different.append("\(place) \(wanted.kind): not the original record") }
            if let before = last[letter.partition], before >= place { disordered.append("\(place) behind \(before)") }
            last[letter.partition] = place
        }
    }

    /// Returns the position in a decision's id: `topic-partition-offset-0`.
    private static func source(ofDecision value: [UInt8], topic: String) -> SourcePlace? {
        let head = Array(#"{"decision":"\#(topic)-"#.utf8)
        guard value.starts(with: head) else { return nil }
        let rest = value[head.count...].prefix { $0 != UInt8(ascii: "\"") }
        let parts = String(decoding: rest, as: UTF8.self).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "0", let partition = Int32(parts[0]), let offset = Int64(parts[1]) else {
            return nil
        }
        return SourcePlace(partition: partition, offset: offset)
    }

    /// The number of failures of each kind, and the first ones.
    var summary: String {
        [
            ("lost", lost), ("doubled", doubled), ("strange", strange), ("disordered", disordered),
            ("different", different),
        ].map { "\($0.0) \($0.1.count) \($0.1.prefix(3))" }.joined(separator: ", ")
    }
}
