import Foundation
@testable import KafkaClient
import Synchronization
import TestSupport
import Testing

/// Every call into librdkafka that may wait is named and visible to other threads, including nested calls.
@Suite struct CallWatchTests {
    @Test("A nested call is the innermost entry until it returns")
    func nesting() {
        let watch = CallWatch()
        var seen: [[LibraryCall]] = []
        watch.during(.consumerClose) {
            seen.append(watch.entries.map(\.call))
            watch.during(.rebalanceCallback) {
                watch.during(.commitTransaction) { seen.append(watch.entries.map(\.call)) }
                watch.during(.incrementalUnassign) { seen.append(watch.entries.map(\.call)) }
            }
            seen.append(watch.entries.map(\.call))
        }
        #expect(
            seen == [
                [.consumerClose], [.consumerClose, .rebalanceCallback, .commitTransaction],
                [.consumerClose, .rebalanceCallback, .incrementalUnassign], [.consumerClose],
            ])
        #expect(watch.entries == [])
    }

    @Test("Two calls have two entries with different numbers")
    func numbers() {
        let watch = CallWatch()
        var numbers: Set<UInt64> = []
        for _ in 0..<3 { watch.during(.flush) { for entry in watch.entries { numbers.insert(entry.number) } } }
        #expect(numbers.count == 3)
    }

    @Test("A consumer's watch lists its close and the nested revocation until they return")
    func closeOfConsumer() async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("in", partitions: 2)
            let watch = CallWatch()
            var seen: [RebalanceCallbackView] = []
            let consumer = try KafkaConsumer(
                [
                    "bootstrap.servers": cluster.bootstrapServers, "group.id": "g", "session.timeout.ms": "6000",
                    "auto.offset.reset": "earliest",
                ], watch: watch
            ) { consumer, event in
                seen.append(RebalanceCallbackView(event: event, calls: watch.entries.map(\.call)))
                switch event {
                case .assign(let partitions):
                    try? consumer.assign(partitions.map { PartitionOffset($0, offset: LogicalOffset.beginning) })
                default: try? consumer.unassign()
                }
            }
            try consumer.subscribe(["in"])
            let isAssigned = becomesTrue(withinSeconds: 30) {
                _ = consumer.poll(max: 10, timeoutMilliseconds: 100)
                return !seen.isEmpty
            }
            try #require(isAssigned)
            try consumer.close()
            #expect(seen.first?.calls == [.consumerPoll, .rebalanceCallback])
            #expect(seen.last?.calls == [.consumerClose, .rebalanceCallback])
            #expect(watch.entries == [])
        }
    }

    @Test("An unmet need keeps its begin time and gets a new one after it was met")
    func unmetNeeds() {
        let time = Atomic<UInt64>(0)
        let watch = CallWatch { time.add(10, ordering: .relaxed).newValue }
        watch.setUnmetNeeds([.committedOffsets])
        let first = watch.unmetNeeds
        #expect(first == [CallWatch.UnmetNeed(need: .committedOffsets, number: 1, began: 10)])
        watch.setUnmetNeeds([.committedOffsets, .membership])
        #expect(watch.unmetNeeds == first + [CallWatch.UnmetNeed(need: .membership, number: 2, began: 20)])
        watch.setUnmetNeeds([.membership])
        #expect(watch.unmetNeeds.map(\.need) == [.membership])
        watch.setUnmetNeeds([.committedOffsets])
        #expect(watch.unmetNeeds == [CallWatch.UnmetNeed(need: .committedOffsets, number: 3, began: 40)])
        watch.setUnmetNeeds([])
        #expect(watch.unmetNeeds == [])
    }

    /// Observations of a rebalance handler.
    private struct RebalanceCallbackView {
        var event: RebalanceEvent
        var calls: [LibraryCall]
    }
}

/// Checks in the sources that every call that may wait goes through `ClientHandle.call` under its own name.
@Suite struct LibraryCallTests {
    /// Functions of librdkafka that wait for nothing but short locks, by the suffixes of their names.
    private static let quick = [
        // Values that no thread of the library owns.
        "conf_", "topic_partition_list_", "error_", "header", "message_", "event_", "AdminOptions_", "NewTopic_",
        "DeleteTopic_", "ConfigResource_", "ConfigEntry_", "topic_result_", "metadata_destroy", "version", "last_error",
        "consumer_group_metadata_destroy", "CreateTopics_result", "DeleteTopics_result", "DescribeConfigs_result",
        "DescribeConsumerGroups_result", "ConsumerGroupDescription_", "AclBinding", "DescribeAcls_result",
        "group_list_destroy", "mem_free", "mem_malloc",
        // Operations whose answers arrive on a queue.
        "CreateTopics", "DeleteTopics", "DescribeConfigs", "DescribeConsumerGroups", "DescribeAcls",
        "produce",
        // Values that are read from the instance, and reference counts.
        "queue_new", "queue_get_", "queue_destroy", "set_log_queue", "topic_new", "topic_destroy", "topic_name",
        "outq_len", "err2", "fatal_error", "assignment_lost", "get_watermark_offsets",
        // Changes of a token, under a lock of the instance.
        "oauthbearer_set_token",
        // Types.
        "resp_err_t", "vu_t", "message_t",
    ]

    private static func sources() throws -> [(name: String, text: String)] {
        let files = try Checkout.trackedFiles().filter { $0.path.hasPrefix("Sources/") && $0.suffix == "swift" }
        return files.compactMap { file in
            file.text.flatMap { $0.contains("rd_kafka_") ? (file.path, $0) : nil }
        }
    }

    @Test("Every function that may wait is called inside `call` under its own name, and all others are listed")
    func ownNames() throws {
        let known = Dictionary(uniqueKeysWithValues: LibraryCall.allCases.map { ($0.rawValue, "\($0)") })
        var watched: Set<String> = []
        let sources = try Self.sources()
        #expect(sources.contains { $0.name == "Sources/KafkaClient/Native/ClientHandle.swift" })
        for (name, text) in sources {
            let code = text.split(separator: "\n").filter { !$0.trimmingPrefix(" ").hasPrefix("//") }.joined(
                separator: "\n")
            for match in code.matches(of: /rd_kafka_(\w+)\(/) {
                #expect(name.hasPrefix("Sources/KafkaClient/"), "\(name) calls librdkafka")
                let function = String(match.1)
                let call = function.hasPrefix("mock_") ? "mock" : known[function]
                if let call {
                    watched.insert(call)
                    let before = code[..<match.range.lowerBound].suffix(160)
                    let isInside =
                        call == "mock"
                        ? before.contains("call {") || before.contains("check {") || before.contains("call(.mock")
                            || before.contains("cluster.map")
                        : before.contains("call(.\(call)") || before.contains("during(.\(call))")
                    #expect(isInside, "\(name): rd_kafka_\(function) is not inside call(.\(call))")
                } else {
                    let isQuick = Self.quick.contains { function.hasPrefix($0) }
                    #expect(isQuick, "\(name): rd_kafka_\(function) is neither watched nor known to be quick")
                }
            }
        }
        let unused = Set(known.values).subtracting(watched)
        #expect(unused == ["rebalanceCallback"])
    }
}
