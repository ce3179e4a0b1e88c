import KafkaClient
import StrictJSON
import ByteStorage

/// A check of a replay against the dead letters that a test has read itself.
///
/// It shares no code with the program.
struct ReplayOracle {
    /// The chosen dead letters to send to the input, in the order of their topic.
    let replayed: [ReadRecord]
    /// The chosen dead letters to park.
    let parked: [ReadRecord]
    private let topics: RunTopics

    /// Chooses the dead letters that failed up to a time.
    ///
    /// - Parameter reason: The only reason, or nil for all.
    init(_ letters: [ReadRecord], _ topics: RunTopics, until: Int64, reason: String?) {
        self.topics = topics
        let chosen = letters.filter { letter in
            guard let time = letter.header("dlq.failed.at").flatMap({ Int64($0) }), time <= until else { return false }
            return reason == nil || letter.header("dlq.reason") == reason
        }
        func isParked(_ letter: ReadRecord) -> Bool {
            letter.header("dlq.truncated") != nil || (letter.header("dlq.replay.count").flatMap { Int($0) } ?? 0) >= 3
        }
        replayed = chosen.filter { !isParked($0) }
        parked = chosen.filter(isParked)
    }

    /// A text that two records share if one is the replay of the other.
    private static func identity(_ record: ReadRecord, count: Int, origin: String, headers: [RecordHeader]) -> String {
        let headers = headers.map { "\($0.name)=\($0.value.map { "\($0)" } ?? "null")" }
        return "\(origin) \(count) \(record.key.map { "\($0)" } ?? "null") \(record.value.map { "\($0)" } ?? "null") "
            + headers.joined(separator: ",")
    }

    /// Returns the identity and the partition of the record to which a dead letter leads.
    private func expected(_ letter: ReadRecord) -> (partition: Int32, identity: String) {
        let source = ["topic", "partition", "offset"].map { letter.header("dlq.source.\($0)") ?? "?" }
        let own = letter.headers.firstIndex { $0.name.elementsEqual("dlq.schema".utf8) } ?? 0
        let count = (letter.header("dlq.replay.count").flatMap { Int($0) } ?? 0) + 1
        let original = letter.headers[..<own].filter { !Self.isOwn($0) }
        return (
            Int32(source[1]) ?? -1,
            Self.identity(
                letter, count: count, origin: letter.header("dlq.origin") ?? source.joined(separator: "-"),
                headers: original)
        )
    }

    private static func isOwn(_ header: RecordHeader) -> Bool {
        header.name.elementsEqual("dlq.replay.count".utf8) || header.name.elementsEqual("dlq.origin".utf8)
    }

    /// Returns the contradictions between the topics and the choice.
    ///
    /// - Parameters:
    ///   - ends: The ends of the input before the replay.
    ///   - times: The times between which the records were sent.
    func contradictions(inputAfter ends: [Int64], times: ClosedRange<Int64>) throws -> [String] {
        var found: [String] = []
        let input = try topics.read(topics.input).filter { $0.offset >= ends[Int($0.partition)] }
        for partition in 0..<topics.partitions {
            let expected = replayed.map(expected).filter { $0.partition == partition }.map(\.identity)
            let actual = input.filter { $0.partition == partition }.map { record in
                Self.identity(
                    record, count: record.header("dlq.replay.count").flatMap { Int($0) } ?? -1,
                    origin: record.header("dlq.origin") ?? "?", headers: record.headers.filter { !Self.isOwn($0) })
            }
            if actual != expected { found.append(Self.difference(actual, expected, "input partition \(partition)")) }
        }
        let late = input.count { !times.contains($0.timestamp) }
        if late > 0 { found.append("\(late) records do not have the time of the replay") }
        found += try parkedContradictions() + ledgerContradictions()
        for topic in [topics.input, topics.ledger, topics.parked] {
            if try topics.stableEnds(topic) != topics.ends(topic) { found.append("open transaction in \(topic)") }
        }
        return found
    }

    private static func difference(_ actual: [String], _ expected: [String], _ name: String) -> String {
        var counts: [String: Int] = [:]
        for text in actual { counts[text, default: 0] += 1 }
        for text in expected { counts[text, default: 0] -= 1 }
        let twice = counts.values.reduce(0) { $0 + max(0, $1) }
        let lost = counts.values.reduce(0) { $0 + max(0, -$1) }
        return "\(name): \(actual.count) instead of \(expected.count), \(twice) too many, \(lost) missing"
            + (twice + lost == 0 ? ", in another order" : "")
    }

    private func parkedContradictions() throws -> [String] {
        func text(_ record: ReadRecord) -> String {
            let key = record.key.map { "\($0)" } ?? "null"
            let value = record.value.map { "\($0)" } ?? "null"
            return "\(record.partition) \(record.timestamp) \(key) \(value) \(record.headers)"
        }
        let actual = try topics.read(topics.parked).map(text).sorted()
        let expected = parked.map(text).sorted()
        return actual == expected ? [] : [Self.difference(actual, expected, "parked")]
    }

    private func ledgerContradictions() throws -> [String] {
        let actual = try topics.read(topics.ledger).map { record in
            let value = try JSONValue.parse(record.value ?? [])
            return "\(String(decoding: record.key ?? [], as: UTF8.self)) \(value["failed_at"]?.integer ?? -1)"
        }
        let expected = (replayed + parked).map { letter in
            "\(letter.partition)-\(letter.offset) \(letter.header("dlq.failed.at") ?? "?")"
        }
        if actual.sorted() == expected.sorted() { return [] }
        return [Self.difference(actual, expected, "ledger")]
    }
}
