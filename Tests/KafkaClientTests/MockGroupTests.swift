import ByteStorage
@testable import KafkaClient
import StrictJSON
import Testing
import TestSupport

/// A group consumer on the mock cluster: rebalances, batches, and events.
struct MockGroupTests {
    private func consumer(
        _ cluster: MockCluster, _ extra: ClientConfiguration = [:],
        handler: @escaping (KafkaConsumer, RebalanceEvent) -> Void = { $0.answer($1) }
    ) throws -> KafkaConsumer {
        var configuration: ClientConfiguration = [
            "bootstrap.servers": cluster.bootstrapServers, "group.id": "g", "session.timeout.ms": "6000",
            "enable.auto.commit": "false", "enable.auto.offset.store": "false", "auto.offset.reset": "error",
            "enable.partition.eof": "true",
        ]
        configuration.merge(extra)
        return try KafkaConsumer(configuration, rebalance: handler)
    }

    private func filled(_ texts: [String]) throws -> MockCluster {
        let cluster = try MockCluster()
        try cluster.createTopic("in", partitions: 1)
        let producer = try KafkaProducer(["bootstrap.servers": cluster.bootstrapServers])
        try producer.send(try producer.topic("in"), texts: texts)
        try producer.flush(timeoutMilliseconds: 10_000)
        return cluster
    }

    @Test(
        "A member is assigned, reads, commits, and gets a revocation when it closes",
        arguments: ["range", "cooperative-sticky"])
    func lifeOfAMember(assignor: String) async throws {
        try await onThread {
            let cluster = try filled(["a", "b", "c"])
            let log = RebalanceLog()
            let consumer = try consumer(cluster, ["partition.assignment.strategy": assignor]) { consumer, event in
                log.events.append(event)
                consumer.answer(event)
            }
            try consumer.subscribe(["in"])
            let mine = TopicPartition(topic: "in", partition: 0)

            var rebalancedPolls = 0
            let assigned = becomesTrue(withinSeconds: 15) {
                if consumer.poll(max: 10, timeoutMilliseconds: 50).rebalanced { rebalancedPolls += 1 }
                return log.events == [.assign([mine])]
            }
            #expect(assigned)
            #expect(rebalancedPolls == 1)
            #expect(consumer.isCooperative == (assignor == "cooperative-sticky"))
            #expect(try consumer.assignment() == [mine])

            // Records that arrived with the rebalance are dropped, as the worker does, and read again.
            #expect(try consumer.seek([PartitionOffset(mine, offset: 0)]) == [.init(partition: mine, offset: 0)])
            let found = consumer.collect(3)
            #expect(found.map(\.text) == ["a", "b", "c"])
            #expect(consumer.topicIndex(of: "in") == 0)
            #expect(consumer.topicNameBytes(at: 0).string == "in")
            #expect(consumer.awaitEvent(.endOfPartition)?.offset == 3)

            #expect(try consumer.committed([mine], timeoutMilliseconds: 5000) == [.init(partition: mine, offset: nil)])
            try consumer.commit([PartitionOffset(mine, offset: 2)], timeoutMilliseconds: 20_000)
            #expect(try consumer.committed([mine], timeoutMilliseconds: 5000) == [.init(partition: mine, offset: 2)])
            try consumer.commit([PartitionOffset(mine, offset: 3)], timeoutMilliseconds: 20_000)
            #expect(try consumer.committed([mine], timeoutMilliseconds: 5000) == [.init(partition: mine, offset: 3)])
            #expect(try consumer.watermarks(of: mine, timeoutMilliseconds: 5000) == Watermarks(low: 0, high: 3))
            #expect(consumer.groupMetadata() != nil)

            try consumer.close()
            #expect(log.events == [.assign([mine]), .revoke([mine])])
            #expect(!consumer.isOpen)
            try consumer.close()
        }
    }

    @Test("A commit that the broker rejects has its error, and the next one succeeds")
    func refusedCommit() async throws {
        try await onThread {
            let cluster = try filled(["a"])
            let consumer = try consumer(cluster)
            try consumer.subscribe(["in"])
            #expect(consumer.collect(1).count == 1)
            let offsets = [PartitionOffset(topic: "in", partition: 0, offset: 1)]
            let offsetCommit: Int16 = 8
            cluster.push(errors: [.groupAuthorizationFailed], forRequest: offsetCommit)
            let refusal = failure { try consumer.commit(offsets, timeoutMilliseconds: 20_000) }
            #expect(refusal?.code == .groupAuthorizationFailed)
            try consumer.commit(offsets, timeoutMilliseconds: 20_000)
            try consumer.close()
        }
    }

    @Test("An unanswered commit times out, and its late answer does not count as that of a later commit")
    func unansweredCommit() async throws {
        try await onThread {
            let cluster = try filled(["a"])
            let consumer = try consumer(cluster)
            defer { consumer.abandon() }
            try consumer.subscribe(["in"])
            #expect(consumer.collect(1).count == 1)
            let mine = TopicPartition(topic: "in", partition: 0)
            try cluster.setRoundTripTime(milliseconds: 2_000)
            let error = failure { try consumer.commit([PartitionOffset(mine, offset: 1)], timeoutMilliseconds: 300) }
            #expect(error?.code == .timedOut)
            try cluster.setRoundTripTime(milliseconds: 0)
            cluster.push(errors: [.groupAuthorizationFailed], forRequest: 8)
            let refusal = failure {
                try consumer.commit([PartitionOffset(mine, offset: 2)], timeoutMilliseconds: 20_000)
            }
            #expect(refusal?.code == .groupAuthorizationFailed)
        }
    }

    @Test("A rebalance that the handler does not answer is answered automatically")
    func unanswered() async throws {
        try await onThread {
            let cluster = try filled(["a"])
            let log = RebalanceLog()
            let consumer = try consumer(cluster, ["auto.offset.reset": "earliest"]) { _, event in
                log.events.append(event)
            }
            try consumer.subscribe(["in"])
            #expect(consumer.collect(1).map(\.text) == ["a"])
            try consumer.close()
            #expect(log.events.count == 2)
        }
    }

    /// Calls that do not answer a rebalance because they belong to another protocol or name partitions that are not
    /// owned.
    private static let ineffectiveAnswers: [(assignor: String, call: @Sendable (KafkaConsumer) throws -> Void)] = [
        ("cooperative-sticky", { try $0.incrementalUnassign([TopicPartition(topic: "in", partition: 7)]) }),
        (
            "cooperative-sticky",
            { try $0.assign([PartitionOffset(topic: "in", partition: 0, offset: LogicalOffset.beginning)]) }
        ),
        (
            "range",
            { try $0.incrementalAssign([PartitionOffset(topic: "in", partition: 0, offset: LogicalOffset.beginning)]) }
        ),
        ("range", { try $0.incrementalUnassign([TopicPartition(topic: "in", partition: 0)]) }),
    ]

    @Test("A rebalance whose answer throws is answered automatically", arguments: ineffectiveAnswers.indices)
    func thrownAnswer(row: Int) async throws {
        try await onThread {
            let cluster = try filled(["a"])
            let (assignor, call) = Self.ineffectiveAnswers[row]
            var failures = 0
            let consumer = try consumer(
                cluster, ["auto.offset.reset": "earliest", "partition.assignment.strategy": assignor]
            ) { consumer, event in
                guard case .assign = event else { return }
                if failure({ try call(consumer) }) != nil { failures += 1 }
            }
            try consumer.subscribe(["in"])
            #expect(consumer.collect(1).map(\.text) == ["a"])
            #expect(failures == 1)
            try consumer.close()
        }
    }

    @Test("Pause and resume stop and continue a partition, and a batch is limited by its maximum")
    func pauseAndBounds() async throws {
        try await onThread {
            let cluster = try filled((0..<50).map(String.init))
            let consumer = try consumer(cluster)
            try consumer.subscribe(["in"])
            var sizes: Set<Int> = []
            var texts: [String] = []
            _ = becomesTrue(withinSeconds: 15) {
                let outcome = consumer.poll(max: 7, timeoutMilliseconds: 50)
                sizes.insert(outcome.records)
                texts += consumer.copies.map(\.text)
                return texts.count >= 50
            }
            #expect(texts == (0..<50).map(String.init))
            #expect(sizes.max() == 7)
            let mine = TopicPartition(topic: "in", partition: 0)
            #expect(try consumer.pause([mine]).map(\.error) == [nil])
            #expect(try consumer.resume([mine]).map(\.error) == [nil])
            consumer.releaseBatch()
            #expect(consumer.records.isEmpty && consumer.events.isEmpty)
            try consumer.close()
        }
    }

    @Test("A partition that was paused when it left the assignment returns without a pause", arguments: [false, true])
    func pauseEnds(isIncremental: Bool) async throws {
        try await onThread {
            let cluster = try filled((0..<10).map(String.init))
            let consumer = try consumer(cluster) { _, _ in }
            let mine = TopicPartition(topic: "in", partition: 0)
            func read() -> [String] {
                var texts: [String] = []
                _ = becomesTrue(withinSeconds: 15) {
                    _ = consumer.poll(max: 20, timeoutMilliseconds: 50)
                    texts += consumer.copies.map(\.text)
                    return texts.count >= 10
                }
                return texts
            }
            let start = [PartitionOffset(mine, offset: 0)]
            try isIncremental ? consumer.incrementalAssign(start) : consumer.assign(start)
            #expect(read() == (0..<10).map(String.init))
            #expect(try consumer.pause([mine]).map(\.error) == [nil])
            try isIncremental ? consumer.incrementalUnassign([mine]) : consumer.unassign()
            try isIncremental ? consumer.incrementalAssign(start) : consumer.assign(start)
            #expect(read() == (0..<10).map(String.init))
            try consumer.close()
        }
    }

    @Test("A missing offset is an event with partition and offset, never a silent jump")
    func offsetOutOfRange() async throws {
        try await onThread {
            let cluster = try filled(["a", "b"])
            let consumer = try consumer(cluster) { consumer, event in
                guard case .assign(let partitions) = event else {
                    consumer.answer(event)
                    return
                }
                mustSucceed {
                    try consumer.assign(partitions.map { PartitionOffset($0, offset: 1000) })
                }
            }
            try consumer.subscribe(["in"])
            let event = consumer.awaitEvent(.offsetOutOfRange)
            #expect(event?.partition == 0)
            #expect(event?.offset == 1000)
            let topic = event.map { consumer.topicName(at: $0.topic) }
            #expect(topic == "in")
            #expect(event?.error?.code == .autoOffsetReset)
            try consumer.close()
        }
    }

    @Test(
        "A missing or unauthorized topic is an event that names it",
        arguments: [
            (KafkaErrorCode.unknownTopicOrPartition, ConsumerEvent.Kind.unknownTopic),
            (.topicAuthorizationFailed, .authorization),
        ])
    func topicErrors(code: KafkaErrorCode, kind: ConsumerEvent.Kind) async throws {
        try await onThread {
            let cluster = try filled(["a"])
            cluster.setError(ofTopic: "in", code)
            let consumer = try consumer(cluster)
            try consumer.subscribe(["in"])
            let event = consumer.awaitEvent(kind)
            #expect(event?.error?.code == code)
            let topic = event.map { $0.topic < 0 ? "" : consumer.topicName(at: $0.topic) }
            #expect(topic == "in")
            try consumer.close()
        }
    }

    @Test("Statistics and errors of the instance are kept until they are taken")
    func clientEvents() async throws {
        try await onThread {
            var cluster: MockCluster? = try filled([])
            let consumer = try consumer(#require(cluster), ["statistics.interval.ms": "100"])
            try consumer.subscribe(["in"])
            var seen: [ClientEvent] = []
            func has(_ expected: (ClientEvent) -> Bool) -> Bool {
                becomesTrue(withinSeconds: 15) {
                    _ = consumer.poll(max: 10, timeoutMilliseconds: 50)
                    seen += consumer.takeEvents()
                    return seen.contains(where: expected)
                }
            }
            let statistics = has { event in
                guard case .statistics(let text) = event else { return false }
                return text.first == UInt8(ascii: "{") && text.last == UInt8(ascii: "}")
            }
            #expect(statistics)
            cluster = nil
            let down = has { event in
                guard case .error(let error) = event else { return false }
                return error.code == .allBrokersDown || error.code == .transport
            }
            #expect(down)
            let logged = has { event in
                guard case .log(let line) = event else { return false }
                return line.level <= 6 && !line.facility.isEmpty && !line.text.isEmpty
            }
            #expect(logged)
            consumer.abandon()
            #expect(!consumer.isOpen)
        }
    }
}
