@testable import DispatchWorker
import LinkDecider
@testable import KafkaClient
import Testing

/// Small components: partitions, the counter of `stop.after`, identity, settings, and the report.
@Suite struct ComponentTests {
    @Test("A partition accepts new records, drops duplicates, and counts gaps")
    func admission() {
        var partitions = OwnedPartitions()
        let partition = TopicPartition(topic: "in", partition: 2)
        partitions.own(
            PartitionStart(
                assigned: AssignedPartition(partition, topic: 0), position: StartPosition(at: NextOffset(reported: 5))))
        let offsets: [(Int64, Bool)] = [(4, false), (5, true), (5, false), (6, true), (9, true), (8, false)]
        for (offset, isAdmitted) in offsets {
            #expect((partitions.admit(topic: 0, partition: 2, offset: offset) != nil) == isAdmitted)
        }
        #expect(partitions.admit(topic: 0, partition: 3, offset: 5) == nil)
        #expect(partitions.admit(topic: 1, partition: 2, offset: 50) == nil)
        #expect(partitions.duplicates == 3)
        #expect(partitions.gaps == 1)
        #expect(!partitions.hasPending)
        partitions.promote()
        #expect(partitions.pendingOffsets == [PartitionOffset(partition, offset: 10)])
        partitions.commit()
        #expect(!partitions.hasPending)
    }

    @Test("A partition with dropped records accepts none before it is repositioned")
    func stalePosition() {
        var partitions = OwnedPartitions()
        for number in 0..<2 {
            let partition = TopicPartition(topic: "in", partition: Int32(number))
            partitions.own(
                PartitionStart(
                    assigned: AssignedPartition(partition, topic: 0),
                    position: StartPosition(at: NextOffset(reported: 5))))
        }
        partitions.markStale()
        #expect(partitions.admit(topic: 0, partition: 0, offset: 6) == nil)
        partitions.slots[1].positionState = .current
        #expect(partitions.admit(topic: 0, partition: 0, offset: 6) == nil)
        #expect(partitions.admit(topic: 0, partition: 1, offset: 5) != nil)
    }

    @Test("All lanes together reserve exactly stop.after records, and released ones can be reserved again")
    func stopCounter() {
        let counter = StopCounter(target: 100)
        #expect(counter.reserve(upTo: 70) == 70)
        #expect(counter.reserve(upTo: 70) == 30)
        #expect(counter.reserve(upTo: 1) == 0 && counter.isExhausted)
        counter.release(5)
        #expect(!counter.isExhausted && counter.reserve(upTo: 70) == 5)
        #expect(!counter.commit(99))
        #expect(counter.commit(1) && counter.isReached)
        let endless = StopCounter(target: 0)
        #expect(endless.reserve(upTo: 7) == 7 && !endless.isExhausted && !endless.commit(1_000))
    }

    @Test("A lane has stable names only with a configured instance, and its client.id has at most 64 bytes")
    func identity() {
        let named = LaneIdentity(group: "g", instance: "w-1", isStable: true, lane: 3)
        #expect(named.transactionalID == "linkd.g.w-1.3")
        #expect(named.groupInstanceID == "w-1.3")
        #expect(named.clientID == "linkd-w-1-3")
        let unnamed = LaneIdentity(group: "g", instance: String(repeating: "n", count: 80), isStable: false, lane: 12)
        #expect(unnamed.groupInstanceID == nil)
        #expect(unnamed.clientID.utf8.count == 64 && unnamed.clientID.hasSuffix("n-12"))
    }

    @Test("Overrides replace settings of one client or both, and the others depend on the configuration")
    func settings() {
        var configuration = WorkerConfiguration(bootstrap: ["a:1", "b:2"])
        let identity = LaneIdentity(group: "linkd", instance: "w", isStable: true, lane: 0)
        func value(_ key: String, _ client: ClientKind) -> String? {
            ClientSettings.properties(of: client, configuration: configuration, identity: identity)
                .last { $0.key == key }?.value
        }
        #expect(value("bootstrap.servers", .consumer) == "a:1,b:2")
        #expect(value("linger.ms", .producer) == "10")
        #expect(value("transactional.id", .producer) == "linkd.linkd.w.0")
        #expect(value("enable.idempotence", .producer) == nil)
        #expect(value("topic.blacklist", .consumer) == nil)
        #expect(value("socket.timeout.ms", .consumer) == "10000")
        configuration.clientProperties = [
            ClientProperty("linger.ms", "3"), ClientProperty("consumer.socket.timeout.ms", "77"),
            ClientProperty("producer.transaction.timeout.ms", "5000"),
        ]
        configuration.guarantee = .atLeastOnce
        configuration.input = .pattern("^in-.*")
        configuration.outputs = OutputTopics("out.put")
        #expect(value("linger.ms", .producer) == "3")
        #expect(value("socket.timeout.ms", .consumer) == "77")
        #expect(value("socket.timeout.ms", .producer) == "5000")
        #expect(value("transactional.id", .producer) == nil)
        #expect(value("enable.idempotence", .producer) == "true")
        #expect(value("topic.blacklist", .consumer) == #"^out\.put(\.recalled)?$,^.*\.dlq(\.replayed|\.parked)?$"#)
    }

    @Test("A request times out before its call counts as hung, regardless of the settings")
    func callBound() {
        let cases: [([ClientProperty], Int)] = [
            ([], 35_000), ([ClientProperty("transaction.timeout.ms", "60000")], 65_000),
            ([ClientProperty("producer.transaction.timeout.ms", "3000")], 15_000),
            ([ClientProperty("consumer.socket.timeout.ms", "60000")], 65_000),
            ([ClientProperty("socket.timeout.ms", "40000"), ClientProperty("socket.timeout.ms", "2000")], 45_000),
        ]
        let identity = LaneIdentity(group: "linkd", instance: "w", isStable: true, lane: 0)
        for (properties, bound) in cases {
            var configuration = WorkerConfiguration(bootstrap: ["a:1"])
            configuration.clientProperties = properties
            #expect(ClientSettings.callBound(properties) == bound)
            for client in ClientKind.allCases {
                let timeout = ClientSettings.properties(of: client, configuration: configuration, identity: identity)
                    .last { $0.key == "socket.timeout.ms" }
                #expect(timeout.flatMap { Int($0.value) }.map { $0 < bound } == true)
            }
        }
    }

    @Test("The report has its members in the documented order")
    func report() {
        var report = RunReport()
        report.records = 1_000_000
        report.seconds = 1.2345
        report.cpuSeconds = 2.3454
        report.decisions = 999_999
        report.deadLetters = 1
        report.committed = 13
        report.lanes = 1
        report.library = "2.0.2"
        report.version = "0.1"
        #expect(
            report.text(.json)
                == #"{"records":1000000,"failed":0,"seconds":1.235,"per_s":810045,"cpu_s":2.345,"#
                + #""cpu_us_per_record":2.345,"decisions":999999,"dead_letters":1,"committed":13,"aborted":0,"#
                + #""rotations":0,"lanes":1,"guarantee":"exactly-once","librdkafka":"2.0.2","version":"0.1"}"#)
    }

    @Test("A regular expression matches topics as in librdkafka")
    func patterns() {
        #expect(PosixPattern("^in-[0-9]+$")?.matches("in-12") == true)
        #expect(PosixPattern("^in-[0-9]+$")?.matches("in-x") == false)
        #expect(PosixPattern("^in-(")?.matches("in-") == nil)
    }

    @Test(
        "A regular expression as input matches none of the worker's own topics",
        arguments: [
            ("{input}.dlq", "out", ["in", "in-a", "in.replayed", "in.dlq.other"]),
            (
                "dead-{input}", "in-a",
                ["in", "in.dlq", "in.dlq.replayed", "in.dlq.parked", "in.replayed", "in.dlq.other"]
            ),
            ("in.{input}", "in", ["in-a"]),
        ])
    func ownTopics(template: String, output: String, expected: [String]) {
        let names = [
            "in", "in-a", "in.dlq", "in.dlq.replayed", "in.dlq.parked", "in.replayed", "in.dlq.other", "dead-in",
            "dead-in.replayed", "other.dlq", "in-devices",
        ]
        let topics = LaneTopics(outputs: OutputTopics(output), deadLetterTemplate: template, others: ["in-devices"])
        guard let pattern = PosixPattern("^in") else {
            Issue.record("the regular expression is not valid")
            return
        }
        let found = topics.inputs(matching: pattern, among: names)
        #expect(found == expected)
    }
}
