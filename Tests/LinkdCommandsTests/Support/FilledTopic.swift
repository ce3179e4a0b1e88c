internal import ByteStorage
internal import Foundation
internal import KafkaClient
internal import TestSupport
internal import Testing

/// A topic on the broker of the tests whose records a test writes in transactions.
final class FilledTopic {
    /// A record to write.
    struct Record {
        var partition: Int32 = 0
        var key = "d-1"
        var value: String
        var time: Int64
        var headers: [(name: String, value: String)] = []
    }

    let name: String
    let partitions: Int32
    private let producer: KafkaProducer
    private let topic: ProducerTopic

    /// Creates a topic.
    convenience init(_ prefix: String, partitions: Int32, suffix: String = "") throws {
        try self.init(exactly: TestBroker.uniqueName(prefix) + suffix, partitions: partitions)
    }

    /// Creates a topic with this name.
    init(exactly name: String, partitions: Int32) throws {
        (self.name, self.partitions) = (name, partitions)
        let broker = TestBroker.plain ?? ""
        let results = try KafkaAdmin(["bootstrap.servers": broker]).create(
            topics: [TopicSpecification(name: name, partitions: partitions, settings: ["retention.ms": "-1"])],
            timeoutMilliseconds: 20_000)
        try #require(results.map(\.error) == [nil])
        producer = try KafkaProducer(["bootstrap.servers": broker, "transactional.id": name])
        topic = try producer.topic(name)
        let isReady = try becomesTrue(withinSeconds: 30) {
            do throws(KafkaError) {
                try producer.initTransactions(timeoutMilliseconds: 1000)
                return true
            } catch {
                guard error.isRetriable else { throw error }
                return false
            }
        }
        try #require(isReady)
    }

    deinit { producer.close() }

    /// Writes records in a transaction, and commits or aborts it.
    func write(_ records: [Record], commit: Bool = true) throws {
        try begin(records)
        if commit {
            try producer.commitTransaction(timeoutMilliseconds: 20_000)
        } else {
            try producer.abortTransaction(timeoutMilliseconds: 20_000)
        }
    }

    /// Writes records in a transaction that stays open.
    func begin(_ records: [Record]) throws {
        try producer.beginTransaction()
        for record in records {
            try record.withViews { key, value, headers in
                try producer.produce(
                    topic, partition: record.partition, key: key, value: value, headers: headers,
                    timestamp: record.time)
            }
        }
        try producer.flush(timeoutMilliseconds: 20_000)
    }

    /// Runs `linkd inspect` for the topic.
    func inspect(_ arguments: String...) throws -> CommandResult {
        try LinkdProcess.run(
            ["inspect", "--topic", name] + arguments, environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
    }

    /// Starts `linkd inspect` for the topic.
    func follow(_ arguments: String...) throws -> RunningLinkd {
        try RunningLinkd(
            ["inspect", "--topic", name, "--follow"] + arguments,
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
    }
}

extension FilledTopic.Record {
    fileprivate func withViews(_ body: (ByteView, ByteView, [HeaderView]) throws -> Void) rethrows {
        let texts = [key, value] + headers.flatMap { [$0.name, $0.value] }
        let bytes = Array(texts.joined().utf8)
        try bytes.withUnsafeBufferPointer { buffer in
            let all = ByteView(buffer)
            var start = 0
            let views = texts.map { text in
                defer { start += text.utf8.count }
                return all.slice(start, start + text.utf8.count)
            }
            let headers = headers.indices.map { HeaderView(name: views[2 + 2 * $0], value: views[3 + 2 * $0]) }
            try body(views[0], views[1], headers)
        }
    }
}
