import KafkaClient

/// A comparison of the workers' output with the expected results.
///
/// `linkd verify` checks that each record has an outcome, once and in order. What is left is whether it is the right
/// one.
struct OutcomeCheck {
    /// Outcomes of the wrong kind.
    private(set) var unexpected: [String] = []
    /// Outcomes with an unexpected key, value, header, or partition.
    private(set) var different: [String] = []

    /// Compares the outcomes of records of a topic.
    init(_ oracle: Oracle, topic: String, decisions: [ReadRecord], deadLetters: [ReadRecord]) {
        for record in decisions {
            let value = record.value ?? []
            guard let position = Self.source(ofDecision: value, topic: topic),
                let expected = oracle.decisions[position]
            else {
                unexpected.append("decision at \(record.partition)-\(record.offset)")
                continue
            }
            // A device's records share a partition of the input, and its decisions are in the output partition with the
            // same number.
            if expected.key != record.key ?? [] || !expected.values.contains(value)
                || record.partition != position.partition
            {
                different.append("\(position): \(String(decoding: value, as: UTF8.self))")
            }
        }
        check(deadLetters, oracle, topic)
    }

    private mutating func check(_ deadLetters: [ReadRecord], _ oracle: Oracle, _ topic: String) {
        for letter in deadLetters {
            guard let partition = letter.header("dlq.source.partition").flatMap({ Int32($0) }),
                let offset = letter.header("dlq.source.offset").flatMap({ Int64($0) }),
                let expected = oracle.deadLetters[SourcePosition(partition: partition, offset: offset)]
            else {
                let reason = letter.header("dlq.reason") ?? "no reason"
                unexpected.append("dead letter at \(letter.partition)-\(letter.offset), \(reason)")
                continue
            }
            let position = SourcePosition(partition: partition, offset: offset)
            let headers = [
                "dlq.schema": "1", "dlq.reason": expected.kind.reason, "dlq.stage": expected.kind.stage,
                "dlq.source.topic": topic, "dlq.source.timestamp": String(expected.record.timestamp),
                "dlq.attempts": "1", "dlq.truncated": nil,
            ]
            for (name, value) in headers where letter.header(name) != value {
                different.append("\(position) \(expected.kind): \(name) is \(letter.header(name) ?? "absent")")
            }
            let isCopy =
                letter.key == expected.record.key && letter.value == expected.record.value
                && letter.partition == partition && letter.timestamp == expected.record.timestamp
                && Array(letter.headers.prefix(expected.record.headers.count)) == expected.record.headers
            if !isCopy { different.append("\(position) \(expected.kind): not the original record") }
        }
    }

    /// Returns the position in a decision's id: `topic-partition-offset-0`.
    private static func source(ofDecision value: [UInt8], topic: String) -> SourcePosition? {
        let head = Array(#"{"decision":"\#(topic)-"#.utf8)
        guard value.starts(with: head) else { return nil }
        let rest = value[head.count...].prefix { $0 != UInt8(ascii: "\"") }
        let parts = String(decoding: rest, as: UTF8.self).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "0", let partition = Int32(parts[0]), let offset = Int64(parts[1]) else {
            return nil
        }
        return SourcePosition(partition: partition, offset: offset)
    }

    /// A Boolean value that indicates that the output is as expected.
    ///
    /// An expectation of it does not print all records.
    var isRight: Bool { unexpected.isEmpty && different.isEmpty }

    /// The number of failures of each kind, and the first ones.
    var summary: String {
        [("unexpected", unexpected), ("different", different)].map { "\($0.0) \($0.1.count) \($0.1.prefix(3))" }
            .joined(separator: ", ")
    }
}
