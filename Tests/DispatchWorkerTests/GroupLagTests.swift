@testable import KafkaClient
import TestSupport
import Testing

@testable import DispatchWorker

/// The lag of the group, from given answers.
@Suite struct GroupLagTests {
    private static let second: UInt64 = 1_000_000_000
    private static let partition = TopicPartition(topic: "in", partition: 0)
    private static let other = TopicPartition(topic: "in", partition: 1)

    private static func group(_ state: String, _ members: [[TopicPartition]]) -> GroupDescription {
        GroupDescription(
            name: "g", state: state,
            members: members.enumerated().map { GroupMember(id: "m-\($0.offset)", partitions: $0.element) })
    }

    private static func offsets(_ partition: TopicPartition, _ committed: Int64?, low: Int64 = 0, _ stable: Int64)
        -> GroupLagHistory.Offsets
    {
        GroupLagHistory.Offsets(partition: partition, committed: committed, low: low, stable: stable)
    }

    @Test("A partition with lag that no described member owns for 30 s is told, and its owner ends that")
    func unowned() {
        var history = GroupLagHistory(from: .earliest)
        let offsets = [Self.offsets(Self.other, 5, 5), Self.offsets(Self.partition, 2, 9)]
        let nobody = Self.group("Stable", [[Self.other], []])
        let first = history.add(offsets, nobody, now: 100 * Self.second)
        #expect(first.partitions.map(\.partition) == [Self.partition, Self.other])
        #expect(first.partitions.map(\.lag) == [7, 0])
        #expect(first.members == 2 && first.isUneasy && first.unowned == [])
        // The first answer has nothing to compare the committed offset with.
        let second = history.add(offsets, nobody, now: 110 * Self.second)
        #expect(second.unowned == [])
        let third = history.add(offsets, nobody, now: 130 * Self.second)
        #expect(third.unowned.map(\.partition) == [Self.partition])
        let owned = history.add(offsets, Self.group("Stable", [[Self.partition]]), now: 140 * Self.second)
        #expect(owned.unowned == [] && !owned.isUneasy)
    }

    @Test("In a rebalance, the partitions of members are old, and a partition whose offset advances has an owner")
    func rebalance() {
        var history = GroupLagHistory(from: .earliest)
        let group = Self.group("PreparingRebalance", [[Self.other], []])
        var last = GroupLag(answeredAt: 0)
        for step in UInt64(0)...10 {
            last = history.add(
                [Self.offsets(Self.partition, Int64(step), 100), Self.offsets(Self.other, 3, 100)], group,
                now: (100 + 10 * step) * Self.second)
        }
        #expect(last.isRebalancing && last.isUneasy)
        #expect(last.unowned.map(\.partition) == [Self.other])
    }

    @Test(
        "The lag counts from the committed offset or the first record that exists",
        arguments: [
            (3, 0, .earliest, 7), (3, 8, .earliest, 2), (11, 0, .earliest, 0), (nil, 4, .earliest, 6),
            (nil, 4, .latest, nil), (nil, 4, .fail, nil),
        ] as [(Int64?, Int64, StartPolicy, Int64?)])
    func lag(committed: Int64?, low: Int64, from: StartPolicy, expected: Int64?) {
        var history = GroupLagHistory(from: from)
        let answer = history.add(
            [Self.offsets(Self.partition, committed, low: low, 10)], Self.group("Empty", []), now: 1)
        #expect(answer.partitions.map(\.lag) == [expected])
        #expect(answer.isUneasy == (expected ?? 0 > 0))
    }

    @Test("Without a description of the group, no partition counts as one without an owner")
    func undescribed() {
        var history = GroupLagHistory(from: .earliest)
        for time in UInt64(1)...100 {
            let answer = history.add([Self.offsets(Self.partition, 0, 9)], nil, now: time * Self.second)
            #expect(answer.unowned == [] && answer.state == nil && answer.partitions.first?.lag == 9)
        }
    }
}

/// The watch of the group on a real broker.
@Suite(.enabled(if: BrokerEnvironment.hasBroker, "needs a broker: set KAFKA_BOOTSTRAP_SERVERS"))
struct GroupWatchTests {
    private static let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    /// Returns a dynamic member, which leaves the group when it has not polled for 30 s.
    private static func member(_ run: BrokerRun) throws -> KafkaConsumer {
        let member = try KafkaConsumer([
            "bootstrap.servers": bootstrap, "group.id": run.group, "enable.auto.commit": "false",
            "session.timeout.ms": "10000", "max.poll.interval.ms": "30000", "heartbeat.interval.ms": "500",
        ]) { consumer, event in
            if case .assign(let partitions) = event {
                try? consumer.assign(partitions.map { PartitionOffset($0, offset: LogicalOffset.end) })
            } else {
                try? consumer.unassign()
            }
        }
        try member.subscribe([run.input])
        return member
    }

    private static func describe(_ run: BrokerRun, _ admin: KafkaAdmin) throws -> GroupDescription {
        try admin.describe(group: run.group, timeoutMilliseconds: 10_000)
    }

    @Test("Members are described with their partitions, and the ends of all partitions are asked for at once")
    func description() async throws {
        try await onThread {
            let run = try BrokerRun("group-members", bootstrap: Self.bootstrap, partitions: 3)
            try run.produce(count: 6, partitions: 3) { _ in (nil, [1], []) }
            let admin = try KafkaAdmin(["bootstrap.servers": Self.bootstrap])
            let member = try Self.member(run)
            let all = (0..<3).map { TopicPartition(topic: run.input, partition: Int32($0)) }
            #expect(
                becomesTrue(withinSeconds: 60) {
                    _ = member.poll(max: 10, timeoutMilliseconds: 200)
                    return (try? Self.describe(run, admin))?.members.flatMap(\.partitions).sorted() == all
                })
            let group = try Self.describe(run, admin)
            #expect(group.state == "Stable" && !group.isRebalancing)
            #expect(group.members.first?.id.isEmpty == false && group.members.first?.isInstance("watch") == false)
            let ends = try admin.offsets(of: all, at: LogicalOffset.end, timeoutMilliseconds: 10_000)
            #expect(ends.map(\.offset) == [2, 2, 2])
            let begins = try admin.offsets(of: all, at: LogicalOffset.beginning, timeoutMilliseconds: 10_000)
            #expect(begins.map(\.offset) == [0, 0, 0])
            try member.close()
        }
    }

    @Test("While a member keeps the others waiting, the watch tells the lag of partitions without an owner")
    func rebalance() async throws {
        try await onThread {
            let run = try BrokerRun("group-silent", bootstrap: Self.bootstrap, partitions: 3)
            try run.produce(count: 9, partitions: 3) { _ in (nil, [1], []) }
            let admin = try KafkaAdmin(["bootstrap.servers": Self.bootstrap])
            let silent = try Self.member(run)
            #expect(
                becomesTrue(withinSeconds: 60) {
                    _ = silent.poll(max: 10, timeoutMilliseconds: 200)
                    // The coordinator of a new broker may still be loading.
                    return (try? Self.describe(run, admin))?.members.contains { !$0.partitions.isEmpty } == true
                })
            // It polls no more, so that it does not answer the rebalance that the next member causes.
            defer { silent.abandon() }
            let configuration = run.configuration()
            let watch = GroupWatch(
                configuration, LaneIdentity(group: run.group, instance: "watch", isStable: false, lane: 0))
            let next = try Self.member(run)
            watch.setUneasy(true)
            watch.start()
            defer { watch.stop() }
            var waiting: GroupLag?
            #expect(
                becomesTrue(withinSeconds: 40) {
                    _ = next.poll(max: 10, timeoutMilliseconds: 200)
                    waiting = watch.lag(now: SystemClock.monotonicNanoseconds())
                    return waiting?.partitions.contains { $0.unownedSince != nil } == true
                })
            #expect(waiting?.isRebalancing == true && waiting?.isUneasy == true, "\(waiting.debugDescription)")
            #expect(waiting?.partitions.map(\.lag) == [3, 3, 3])
            #expect(waiting?.partitions.allSatisfy { $0.unownedSince != nil } == true)
            #expect(
                becomesTrue(withinSeconds: 90) {
                    _ = next.poll(max: 10, timeoutMilliseconds: 200)
                    let lag = watch.lag(now: SystemClock.monotonicNanoseconds())
                    return lag?.state == "Stable" && lag?.partitions.allSatisfy { $0.unownedSince == nil } == true
                })
            try next.close()
        }
    }
}
