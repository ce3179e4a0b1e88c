import ByteStorage
import KafkaClient
import LinkdCommands

/// A comparison of the workers' output with the expected results.
///
/// `linkd verify` checks that each record has an outcome, once and in order. What is left is whether it is the right
/// one.
struct OutcomeCheck {
    /// The result of `linkd verify`.
    let findings: Findings
    /// Outcomes of the wrong kind.
    private(set) var unexpected: [String] = []
    /// Outcomes with an unexpected key, value, header, or partition.
    private(set) var different: [String] = []

    /// Checks all records of topics, whose workers have committed all records of the input.
    init(
        _ oracle: Oracle, _ topics: RunTopics, input: [ReadRecord], decisions: [ReadRecord], deadLetters: [ReadRecord]
    ) throws {
        findings = try Self.verify(topics, input: input, decisions: decisions, deadLetters: deadLetters)
        for record in decisions {
            let value = record.value ?? []
            guard let position = Self.source(ofDecision: value, topic: topics.input),
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
        check(deadLetters, oracle, topics.input)
    }

    private static func verify(
        _ topics: RunTopics, input: [ReadRecord], decisions: [ReadRecord], deadLetters: [ReadRecord]
    ) throws -> Findings {
        let (committed, ends) = (try topics.committed(), try topics.ends(topics.input))
        let sources = committed.indices.map {
            OutcomeVerifier.Source(topics.input, Int32($0), 0..<ends[$0], committed: committed[$0])
        }
        var verifier = OutcomeVerifier(
            sources, partitions: [topics.input: topics.partitions],
            outcomes: OutcomeVerifier.Outcomes(
                topics.output, isWhole: sources.map { _ in true }, hasAllDeadLetters: true))
        for (index, source) in sources.enumerated() {
            verifier.bounds(
                of: topics.input, source.partition, low: 0, end: ends[index], before: committed[index],
                after: committed[index])
        }
        for topic in [topics.output, topics.deadLetters] {
            let (stable, ends) = (try topics.stableEnds(topic), try topics.ends(topic))
            for index in ends.indices {
                verifier.transactions(of: topic, Int32(index), stableEnd: stable[index], end: ends[index])
            }
        }
        for record in input { verifier.input(topics.input, record.partition, record.offset) }
        for record in decisions {
            (record.value ?? []).withUnsafeBufferPointer {
                verifier.output(record.partition, record.offset, ByteView($0))
            }
        }
        for letter in deadLetters {
            Array(topics.input.utf8).withUnsafeBufferPointer { name in
                verifier.deadLetter(
                    at: TopicPlace(topics.deadLetters, letter.partition, letter.offset),
                    of: letter.header("dlq.source.topic") == topics.input ? ByteView(name) : nil,
                    letter.header("dlq.source.partition").flatMap { Int32($0) },
                    letter.header("dlq.source.offset").flatMap { Int64($0) })
            }
        }
        return verifier.finish()
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
    var isRight: Bool {
        findings.harms.isEmpty && findings.doubts.isEmpty && unexpected.isEmpty && different.isEmpty
    }

    /// The number of failures of each kind, and the first ones.
    var summary: String {
        "\(findings.harms) \(findings.doubts), "
            + [("unexpected", unexpected), ("different", different)].map { "\($0.0) \($0.1.count) \($0.1.prefix(3))" }
            .joined(separator: ", ")
    }
}
