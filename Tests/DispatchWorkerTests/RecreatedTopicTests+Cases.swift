import ByteStorage
@testable import DispatchWorker
import Foundation
@testable import KafkaClient
import TestSupport
import Testing

// Cases in which the records alone do not tell, and transactions that are open when their topics are deleted.
extension ProxyTests.RecreatedTopicTests {
    /// Returns the committed offsets with their metadata.
    static func committed(_ run: BrokerRun) throws -> [PartitionResult] {
        let consumer = try KafkaConsumer(["bootstrap.servers": run.bootstrap, "group.id": run.group]) { _, _ in }
        defer { consumer.abandon() }
        let names = (0..<partitions).map { TopicPartition(topic: run.input, partition: $0) }
        return try consumer.committed(names, timeoutMilliseconds: 20_000)
    }

    /// Waits until the witness of every partition has the id of its topic, while records arrive.
    ///
    /// Returns the number of records.
    static func learnIDs(_ run: BrokerRun) throws -> Int {
        var count = 0
        let isLearned = try becomesTrue(withinSeconds: 60) {
            try run.produce(count: 12, partitions: partitions) { event(count + $0, "more") }
            count += 12
            SystemClock.sleep(milliseconds: 500)
            return try committed(run).allSatisfy { $0.metadata.hasPrefix("linkd2 ") }
        }
        #expect(isLearned)
        return count
    }

    /// Produces records so that each partition has a control record at the offset before the committed one, as if
    /// compaction had removed a record there.
    ///
    /// Returns their number.
    static func produceAround(_ offsets: [PartitionResult], _ name: String, _ run: BrokerRun) throws -> Int {
        let producer = try KafkaProducer([
            "bootstrap.servers": run.bootstrap, "transactional.id": run.group + ".around",
        ])
        defer { producer.close() }
        try producer.initTransactions(timeoutMilliseconds: 20_000)
        let topic = try producer.topic(run.input)
        var count = 0
        func produce(_ records: Int64, _ partition: Int32) throws {
            for _ in 0..<records {
                let (key, value, _) = event(count, name)
                try Array((key ?? "").utf8).withUnsafeBufferPointer { key in
                    try (value ?? []).withUnsafeBufferPointer { value in
                        try producer.produce(topic, partition: partition, key: ByteView(key), value: ByteView(value))
                    }
                }
                count += 1
            }
        }
        for isAfter in [false, true] {
            try producer.beginTransaction()
            for result in offsets {
                let next = try #require(result.offset)
                try #require(next > 1)
                try produce(isAfter ? 10 : next - 1, result.partition.partition)
            }
            try producer.commitTransaction(timeoutMilliseconds: 20_000)
        }
        return count
    }

    @Test("A compacted input without the witness: the id tells that it was created again, where the library has ids")
    func compacted() async throws {
        try await onThread { [self] in
            for attempt in 1...3 where try compacted(isLast: attempt == 3) { return }
        }
    }

    /// Returns false if the broker has not ended a transaction that the test has committed, so that no worker can read
    /// its records.
    private func compacted(isLast: Bool) throws -> Bool {
        let compacted = ["cleanup.policy": "compact"]
        let run = try BrokerRun(
            "compacted", bootstrap: bootstrap, partitions: Self.partitions, settings: ["in": compacted])
        try Self.produce(Self.old, "old", run)
        var worker = try WorkerUnderTest(run, bootstrap: bootstrap, dataLoss: "earliest")
        try Self.waitForOutcomes(Self.old, "old", run)
        if LibraryInfo.hasTopicIDs { try Self.waitForOutcomes(try Self.learnIDs(run), "more", run) }
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd(seconds: 60) == 0, "\(worker.text)")
        let before = try Self.committed(run)
        var count = 0
        try Self.copyOffsets(run) {
            try Self.recreate([run.input], run, settings: compacted)
            count = try Self.produceAround(before, "new", run)
        }
        let isReadable = try becomesTrue(withinSeconds: 30) {
            SystemClock.sleep(milliseconds: 100)
            return try run.read(run.input).count == run.read(run.input, isolation: "read_uncommitted").count
        }
        guard isReadable || isLast else {
            print("the broker has not ended a committed transaction in \(run.input), so another topic is tried")
            return false
        }
        worker = try WorkerUnderTest(run, bootstrap: bootstrap, dataLoss: "earliest")
        let expected = LibraryInfo.hasTopicIDs ? count : 10 * Int(Self.partitions)
        let isDone = try becomesTrue(withinSeconds: 60) {
            SystemClock.sleep(milliseconds: 100)
            return try Self.outcomes(run, "new").count >= expected
        }
        let state = isDone ? "" : try Self.state(run)
        #expect(isDone, "\(state)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd(seconds: 60) == 0, "\(worker.text)")
        let outcomes = try Self.outcomes(run, "new")
        #expect(outcomes.count == expected && Set(outcomes).count == expected)
        #expect(worker.text.contains("found the topic id") == LibraryInfo.hasTopicIDs, "\(worker.text)")
        #expect(worker.text.contains("witness.unknown") == !LibraryInfo.hasTopicIDs, "\(worker.text)")
        return true
    }

    @Test(
        "A compacted input without the witness that is still the same topic: nothing is told, where the library has ids"
    )
    func stillCompacted() async throws {
        try await onThread { [self] in
            let run = try BrokerRun(
                "retained", bootstrap: bootstrap, partitions: Self.partitions,
                settings: ["in": ["cleanup.policy": "compact"]])
            try Self.produce(Self.old, "old", run)
            var worker = try WorkerUnderTest(run, bootstrap: bootstrap, dataLoss: "stop")
            try Self.waitForOutcomes(Self.old, "old", run)
            if LibraryInfo.hasTopicIDs { try Self.waitForOutcomes(try Self.learnIDs(run), "more", run) }
            worker.signal(SIGTERM)
            #expect(worker.waitForEnd(seconds: 60) == 0, "\(worker.text)")
            // A transaction without a record for the worker ends with a control record. The witness is missing there.
            let before = try Self.committed(run)
            let count = try Self.produceAround(
                before.map { result in
                    PartitionResult(partition: result.partition, offset: 2, metadata: "")
                }, "new", run)
            let moved = before.map { result in
                // The control record is the second one after the old end.
                let end = result.offset ?? 0
                let words = result.metadata.split(separator: " ").map(String.init)
                let text = ([words[0], String(end + 1)] + words[2...]).joined(separator: " ")
                return PartitionOffset(result.partition, offset: end + 2, metadata: text)
            }
            let consumer = try KafkaConsumer(["bootstrap.servers": run.bootstrap, "group.id": run.group]) { _, _ in }
            defer { consumer.abandon() }
            try consumer.commit(moved, timeoutMilliseconds: 20_000)
            worker = try WorkerUnderTest(run, bootstrap: bootstrap, dataLoss: "stop")
            let expected = count - Int(Self.partitions)
            let isDone = try becomesTrue(withinSeconds: 60) {
                SystemClock.sleep(milliseconds: 100)
                return try Self.outcomes(run, "new").count >= expected
            }
            #expect(isDone, "\(worker.text)")
            worker.signal(SIGTERM)
            #expect(worker.waitForEnd(seconds: 60) == 0, "\(worker.text)")
            #expect(try Self.outcomes(run, "new").count == expected)
            #expect(worker.text.contains("witness.unknown") == !LibraryInfo.hasTopicIDs, "\(worker.text)")
        }
    }

    @Test(
        "Brokers commit a transaction whose topic was deleted: what it wrote there is gone, and nothing else is",
        arguments: [["out"], ["dlq"], ["out", "dlq"]])
    func openTransaction(roles: [String]) async throws {
        try await onThread { [self] in
            for attempt in 1...3 where try openTransaction(roles, isLast: attempt == 3) { return }
        }
    }

    /// Returns false if the broker has ended a transaction of the worker without its markers, so that no one can read
    /// the results.
    private func openTransaction(_ roles: [String], isLast: Bool) throws -> Bool {
        let run = try BrokerRun("open", bootstrap: bootstrap, partitions: Self.partitions)
        try Self.produce(Self.old, "old", run)
        let worker = try WorkerUnderTest(
            run, bootstrap: bootstrap, dataLoss: "stop",
            arguments: ["--commit-interval", "1s", "--commit-idle", "1s"])
        try Self.waitForOutcomes(Self.old, "old", run)
        var open = ""
        // A busy machine can stop the process after the commit, which takes a second from the last record.
        for attempt in 1...20 {
            open = "open\(attempt)"
            try Self.produce(Self.old, open, run)
            let isWritten = try becomesTrue(withinSeconds: 30) {
                let all = try [run.output, run.deadLetters].flatMap {
                    try run.read($0, isolation: "read_uncommitted")
                }
                return all.count { ($0.keyText ?? "").hasPrefix(open) || ($0.valueText ?? "").hasPrefix(open) }
                    >= Self.old
            }
            worker.signal(SIGSTOP)
            #expect(isWritten)
            if try Self.outcomes(run, open) == [] { break }
            worker.signal(SIGCONT)
            try Self.waitForOutcomes(Self.old, open, run)
        }
        #expect(try Self.outcomes(run, open) == [])
        let names = ["out": run.output, "dlq": run.deadLetters]
        try Self.recreate(roles.compactMap { names[$0] }, run)
        worker.signal(SIGCONT)
        try Self.produce(Self.old, "new", run)
        let isDone = try becomesTrue(withinSeconds: 60) {
            SystemClock.sleep(milliseconds: 100)
            return try Self.outcomes(run, "new").count >= Self.old
        }
        let isHidden = try !isDone && !isLast && Self.isWithoutMarkers(run, "new")
        guard !isHidden else {
            print("the broker has ended a transaction in \(run.output) without a marker, so other topics are tried")
            return false
        }
        let state = try Self.state(run)
        #expect(isDone, "\(state)\n\(worker.text)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd(seconds: 60) == 0, "\(worker.text)")
        let found = try Self.outcomes(run, open)
        // Those with an even number are decisions.
        let kept = Self.expected(Self.old, open).filter { name in
            let isDecision = (name.utf8.last ?? 0) % 2 == 0
            return !roles.contains(isDecision ? "out" : "dlq")
        }
        #expect(found == kept)
        let new = try Self.outcomes(run, "new")
        #expect(new == Self.expected(Self.old, "new"), "\(new) of roles \(roles)\n\(state)\n\(worker.text)")
        return true
    }

    /// Returns true if the worker has committed all offsets and an outcome of each record, and the broker has left
    /// some of these outcomes in an open transaction.
    private static func isWithoutMarkers(_ run: BrokerRun, _ name: String) throws -> Bool {
        let client = try KafkaConsumer(["bootstrap.servers": run.bootstrap, "group.id": run.group]) { _, _ in }
        defer { client.abandon() }
        for result in try committed(run) {
            let end = try client.watermarks(of: result.partition, timeoutMilliseconds: 10_000).high
            guard result.offset == end else { return false }
        }
        return try outcomes(run, name, isolation: "read_uncommitted") == expected(old, name)
    }

    /// Returns the offsets of the input that are committed, the ends of its stable and of all records, and the records
    /// of the outcomes.
    ///
    /// If the ends differ, the broker has not ended a transaction in the input, which no worker can read.
    private static func state(_ run: BrokerRun) throws -> String {
        let offsets = try committed(run).map { "\($0.partition) \($0.offset ?? -1) \($0.metadata)" }
        let records = try [run.output, run.deadLetters].flatMap { topic in
            try run.read(topic, isolation: "read_uncommitted").map {
                "\(topic) \($0.partition) \($0.offset) \($0.keyText ?? "") \($0.valueText?.prefix(60) ?? "")"
            }
        }
        let ends = try ["read_committed", "read_uncommitted"].map { isolation in
            let last = Dictionary(grouping: try run.read(run.input, isolation: isolation), by: \.partition)
            return "\(isolation): \(last.mapValues { $0.map(\.offset).max() ?? -1 }.sorted { $0.key < $1.key })"
        }
        return (offsets + ends + records).joined(separator: "\n")
    }
}
