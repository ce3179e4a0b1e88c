import ByteStorage
@testable import KafkaClient
import TestSupport
import Testing

@testable import DispatchWorker

/// Errors of a transaction with the flags that librdkafka sets, and the machine's reaction to each of them.
@Suite struct LibraryErrorTests {
    /// An error of a request.
    struct Cell: Sendable, CustomTestStringConvertible {
        var request: LibraryErrors.Request
        var row: LibraryErrors
        var flag: LibraryErrors.Flag
        var testDescription: String { "\(request) \(row.code.name)" }
    }

    static let cells: [Cell] = LibraryErrors.all.flatMap { row in
        LibraryErrors.Request.allCases.compactMap { request in
            row.flags[request].map { Cell(request: request, row: row, flag: $0) }
        }
    }

    @Test(
        "The library returns these errors with these flags, and repeats those of a failed transaction",
        arguments: cells)
    func flags(cell: Cell) async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("out", partitions: 1)
            let configuration: ClientConfiguration = [
                "bootstrap.servers": cluster.bootstrapServers, "transactional.id": "t",
                "transaction.timeout.ms": "10000", "retry.backoff.ms": "20",
            ]
            let producer = try KafkaLaneProducer(configuration, watch: CallWatch())
            let consumer = try KafkaConsumer(
                ["bootstrap.servers": cluster.bootstrapServers, "group.id": "g"], rebalance: { _, _ in })
            try producer.initTransactions(timeoutMilliseconds: 20_000)
            let topic = try producer.open("out", timeoutMilliseconds: 10_000)
            try producer.begin()
            cluster.push(errors: [cell.row.code], forRequest: cell.request.rawValue)
            // A call that adds offsets may never return if a record fails at the same time.
            let isOfOffsets = cell.request == .addOffsets || cell.request == .commitOffsets
            if !isOfOffsets {
                try producer.produce(
                    topic: topic.handle, partition: 0, key: nil, value: ByteView("value"), headers: [], timestamp: nil)
            }
            guard let group = consumer.groupMetadata() else {
                Issue.record("a consumer has no group metadata")
                return
            }
            let offsets = [PartitionOffset(TopicPartition(topic: "in", partition: 0), offset: 1)]
            let end = { () throws(KafkaError) in
                if isOfOffsets {
                    try producer.sendOffsets(offsets, group, timeoutMilliseconds: 15_000)
                } else {
                    try producer.commit(timeoutMilliseconds: 15_000)
                }
            }
            let first = try #require(Self.failure(end))
            let expected = cell.row.error(cell.flag)
            #expect(first.code == expected.code, "\(first)")
            #expect(first.isFatal == expected.isFatal && first.isAbortable == expected.isAbortable, "\(first)")
            #expect(!first.isRetriable, "\(first)")
            // The same error again, although no request fails any more. Only an abort ends the transaction.
            let again = try #require(Self.failure(end))
            #expect(again.code == first.code && again.isAbortable == first.isAbortable, "\(again)")
            if cell.flag == .abortable && cell.row.returned == nil {
                try producer.abort()
                try producer.begin()
            }
            producer.close()
            consumer.abandon()
        }
    }

    private static func failure(_ body: () throws(KafkaError) -> Void) -> KafkaError? {
        do throws(KafkaError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    /// Returns a machine that adds the offsets of a transaction, and the time.
    private static func sending() -> (LaneMachine, UInt64) {
        var machine = MachineTests.ready { $0.isStable = true }
        MachineTests.consume(&machine, 2, now: 1)
        let now = 200 * MachineTests.ms
        #expect(machine.next(now: now) == .sendOffsets(MachineTests.offsets(2), isRepeat: false, milliseconds: nil))
        return (machine, now)
    }

    @Test("No call of a failed transaction is repeated: it is aborted, or the producer is replaced", arguments: cells)
    func reaction(cell: Cell) {
        var (machine, now) = Self.sending()
        let isOfOffsets = LibraryErrors.offsetRequests.contains(cell.request)
        if !isOfOffsets {
            machine.offsetsSent(milliseconds: 1, now: now)
            #expect(machine.next(now: now) == .commit(milliseconds: nil))
        }
        machine.failed(isOfOffsets ? .sendOffsets : .commit, cell.row.error(cell.flag), now: now)
        if cell.row.needsOperator {
            #expect(machine.exit?.code == .denied)
            leave(&machine, isFatal: cell.flag == .fatal, cell.row.error(cell.flag), now: now)
            return
        }
        #expect(machine.exit == nil)
        // The class "fenced" needs a new producer in any case.
        let isAborted = cell.flag == .abortable && cell.row.returned != .fenced
        #expect(machine.next(now: now) == (isAborted ? .abort : .dropProducer))
        if isAborted { machine.aborted(refusal: nil, coordinatorDrops: 0, now: now) }
        MachineTests.recover(&machine, now: &now)
        #expect(machine.exit == nil && machine.transaction == .none)
    }

    /// Checks that a lane without a right leaves the group, without an abort if it cannot succeed.
    private func leave(_ machine: inout LaneMachine, isFatal: Bool, _ error: KafkaError, now: UInt64) {
        guard case .announce = machine.next(now: now) else {
            Issue.record("the exit is not announced")
            return
        }
        machine.announced()
        if !isFatal {
            #expect(machine.next(now: now) == .abort)
            machine.failed(.abort, error, now: now)
        }
        #expect(machine.next(now: now) == .dropProducer)
        machine.producerDropped(now: now)
        #expect(machine.next(now: now) == .close)
        machine.closed()
        #expect(machine.next(now: now) == .end && machine.violation == nil)
    }

    @Test("Credentials that are refused for a moment abort the transaction, and the lane goes on with good ones")
    func refusedForAMoment() {
        let refused = KafkaError(code: .authentication, isAbortable: true)
        var (machine, now) = Self.sending()
        for _ in 0..<5 {
            machine.failed(.sendOffsets, refused, now: now)
            #expect(machine.next(now: now) == .abort)
            machine.aborted(refusal: nil, coordinatorDrops: 0, now: now)
            MachineTests.recover(&machine, now: &now)
            MachineTests.consume(&machine, 2, now: now)
            now += 200 * MachineTests.ms
            guard case .sendOffsets = machine.next(now: now) else {
                Issue.record("the offsets are not sent")
                return
            }
        }
        machine.offsetsSent(milliseconds: 1, now: now)
        machine.committed(coordinatorDrops: 0, now: now)
        #expect(machine.exit == nil && machine.counters.records == 2)
    }

    @Test("Credentials that stay refused end the lane after start.timeout")
    func refusedForGood() {
        var (machine, now) = Self.sending()
        let began = now
        for _ in 0..<10_000 where machine.exit == nil {
            machine.failed(.sendOffsets, KafkaError(code: .authentication, isAbortable: true), now: now)
            if machine.exit != nil { break }
            machine.aborted(refusal: nil, coordinatorDrops: 0, now: now)
            MachineTests.recover(&machine, now: &now)
            MachineTests.consume(&machine, 2, now: now)
            now += 200 * MachineTests.ms
            _ = machine.next(now: now)
        }
        #expect(machine.exit?.code == .denied)
        #expect(now - began >= 30_000 * MachineTests.ms)
    }

    @Test("An abort that fails because of the credentials replaces the producer, which ends the transaction")
    func abortRefused() {
        var (machine, now) = Self.sending()
        machine.failed(.sendOffsets, KafkaError(code: .authentication, isAbortable: true), now: now)
        #expect(machine.next(now: now) == .abort)
        machine.failed(.abort, KafkaError(code: .authentication, isAbortable: true), now: now)
        #expect(machine.next(now: now) == .dropProducer)
        MachineTests.recover(&machine, now: &now)
        #expect(machine.exit == nil)
    }
}
