import ByteStorage
@testable import DispatchWorker
@testable import KafkaClient
import SystemThreads
import TestSupport
import Testing

/// The state of a worker on a real broker.
@Suite(.enabled(if: BrokerEnvironment.hasBroker), .serialized)
struct WorkerStatusTests {
    let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    /// Returns the worker's state with the newest statistics, after a pause for its lanes.
    private static func snapshot(_ worker: Worker) -> WorkerSnapshot {
        SystemClock.sleep(milliseconds: 20)
        worker.status.readStatistics()
        return worker.status.snapshot(now: SystemClock.monotonicNanoseconds())
    }

    /// Begins a transaction, produces records to all partitions, and waits until the brokers have them.
    private static func openTransaction(_ producer: KafkaProducer, _ run: BrokerRun, count: Int) throws {
        let topic = try producer.topic(run.input)
        let value = Array("value".utf8)
        try producer.beginTransaction()
        for index in 0..<count {
            try value.withUnsafeBufferPointer { value throws(KafkaError) in
                try producer.produce(
                    topic, partition: Int32(index % 6), key: ByteView("d-1"), value: ByteView(value), headers: [])
            }
        }
        try producer.flush(timeoutMilliseconds: 60_000)
    }

    @Test("The lag is 0 after transactions, records of an open one are unstable, and the totals are the report's")
    func lag() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("status", bootstrap: bootstrap)
            try run.produce(count: 1_200, BrokerTests.event)
            let producer = try KafkaProducer(["bootstrap.servers": bootstrap, "transactional.id": run.input])
            defer { producer.close() }
            try producer.initTransactions(timeoutMilliseconds: 60_000)
            try Self.openTransaction(producer, run, count: 60)
            try producer.commitTransaction(timeoutMilliseconds: 60_000)

            let log = Log(level: .warning, format: .text)
            defer { log.close() }
            let worker = Worker(run.configuration(lanes: 2), log: log)
            let outcome = Monitor<WorkerOutcome?>(nil)
            SystemThread.start("test") {
                let result = worker.run { _ in EchoProcessing() }
                outcome.signal { $0 = result }
            }
            let isConsumed = becomesTrue(withinSeconds: 60) {
                let snapshot = Self.snapshot(worker)
                return snapshot.isReady && snapshot.partitions.count == 6
                    && snapshot.partitions.allSatisfy { $0.lag == 0 && $0.unstable == 0 }
            }
            #expect(isConsumed, "\(Self.snapshot(worker).partitions)")

            try Self.openTransaction(producer, run, count: 18)
            let isUnstable = becomesTrue(withinSeconds: 60) {
                Self.snapshot(worker).partitions.allSatisfy { $0.lag == 0 && $0.unstable == 3 }
            }
            #expect(isUnstable, "\(Self.snapshot(worker).partitions)")
            try producer.abortTransaction(timeoutMilliseconds: 60_000)
            let isStable = becomesTrue(withinSeconds: 60) {
                Self.snapshot(worker).partitions.allSatisfy { $0.lag == 0 && $0.unstable == 0 }
            }
            #expect(isStable, "\(Self.snapshot(worker).partitions)")

            worker.stop()
            let report = try #require(outcome.wait(milliseconds: 60_000) { $0 }?.report)
            let snapshot = Self.snapshot(worker)
            #expect(report.records == 1_260)
            #expect(snapshot.isDraining)
            #expect(snapshot.partitions == [])
            #expect(snapshot.statisticsRefused == 0)
            #expect(snapshot.lanes.map(\.snapshot.stage) == [.ended, .ended])
            let metrics = snapshot.lanes.map(\.snapshot.metrics)
            #expect(metrics.flatMap(\.topics).reduce(0) { $0 + $1.records } == UInt64(report.records))
            #expect(metrics.reduce(0) { $0 + $1.outcomes.reduce(0, +) } == UInt64(report.decisions))
            #expect(metrics.reduce(0) { $0 + $1[.transactionsCommitted] } == UInt64(report.committed))
            #expect(metrics.reduce(0) { $0 + $1.values(of: .commitSeconds).count } >= UInt64(report.committed))
        }
    }
}
