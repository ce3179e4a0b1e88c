internal import CRdKafka
@testable import DispatchWorker
import Foundation
@testable import KafkaClient
import TestSupport
import Testing

// Retention removes everything that a partition has, which ends with control records.
extension ProxyTests.RecreatedTopicTests {
    /// Writes events and an aborted transaction to each partition in transactions.
    ///
    /// Returns the number of events.
    static func produceInTransactions(_ name: String, _ run: BrokerRun) throws -> Int {
        let offsets = (0..<partitions).map {
            PartitionResult(partition: TopicPartition(topic: run.input, partition: $0), offset: 2)
        }
        let count = try produceAround(offsets, name, run)
        let producer = try KafkaProducer([
            "bootstrap.servers": run.bootstrap, "transactional.id": run.group + ".aborted",
        ])
        defer { producer.close() }
        try producer.initTransactions(timeoutMilliseconds: 20_000)
        let topic = try producer.topic(run.input)
        try producer.beginTransaction()
        for partition in 0..<partitions {
            try producer.produce(topic, partition: partition, key: nil, value: nil)
        }
        try producer.flush(timeoutMilliseconds: 20_000)
        try producer.abortTransaction(timeoutMilliseconds: 20_000)
        return count
    }

    /// Removes all records of the input.
    static func empty(_ run: BrokerRun) throws {
        let admin = try KafkaAdmin(["bootstrap.servers": run.bootstrap])
        defer { admin.close() }
        let ends = PartitionList(
            (0..<partitions).map { PartitionOffset(topic: run.input, partition: $0, offset: LogicalOffset.end) })
        var requests = [rd_kafka_DeleteRecords_new(ends.pointer)]
        defer { rd_kafka_DeleteRecords_destroy(requests[0]) }
        let call = AdminCall(admin.handle, .describeTopics, timeoutMilliseconds: 20_000)
        admin.handle.callWithoutWaiting { rd_kafka_DeleteRecords($0, &requests, 1, call.options, call.queue) }
        _ = try call.answer()
    }

    @Test(
        "A partition that retention has emptied is no loss after control records, and is one after an event",
        arguments: [false, true], [false, true])
    func emptied(isLost: Bool, hasIDs: Bool) async throws {
        // Older libraries do not know the ids of topics.
        if hasIDs && !LibraryInfo.hasTopicIDs { return }
        try await onThread { [self] in
            let run = try BrokerRun("emptied", bootstrap: bootstrap, partitions: Self.partitions)
            var worker = try WorkerUnderTest(run, bootstrap: bootstrap, dataLoss: "stop")
            if hasIDs { try Self.waitForOutcomes(try Self.learnIDs(run), "more", run) }
            try Self.waitForOutcomes(try Self.produceInTransactions("old", run), "old", run)
            var unsettled: [String] = []
            let isSettled = try becomesTrue(withinSeconds: 30) {
                SystemClock.sleep(milliseconds: 100)
                unsettled = try run.unsettled(partitions: Self.partitions)
                return unsettled.isEmpty
            }
            #expect(isSettled, "\(unsettled)")
            worker.signal(SIGTERM)
            #expect(worker.waitForEnd(seconds: 60) == 0, "\(worker.text)")
            if isLost { _ = try Self.produceInTransactions("lost", run) }
            try Self.empty(run)
            worker = try WorkerUnderTest(run, bootstrap: bootstrap, dataLoss: "stop")
            if isLost {
                #expect(worker.waitForEnd(seconds: 60) == 65, "\(worker.text)")
                return
            }
            try Self.waitForOutcomes(try Self.produceInTransactions("new", run), "new", run)
            worker.signal(SIGTERM)
            #expect(worker.waitForEnd(seconds: 60) == 0, "\(worker.text)")
            #expect(!worker.text.contains("data.lost"), "\(worker.text)")
        }
    }
}
