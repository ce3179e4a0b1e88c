internal import KafkaClient
internal import LinkCoordinator
internal import LinkIngest

/// A metric: its description, and the function that adds its samples.
package struct Metric: Sendable {
    /// The name, the kind, the labels, and the text for people.
    package let description: MetricDescription
    /// The function that adds the samples.
    private let addSamples: @Sendable (WorkerSnapshot, inout PrometheusText) -> Void

    /// Creates a metric of the process.
    init(
        _ name: String, _ kind: MetricDescription.Kind, labels: [String] = [], _ help: String,
        _ write: @escaping @Sendable (WorkerSnapshot, inout PrometheusText) -> Void
    ) {
        description = MetricDescription(name: name, kind: kind, labels: labels, help: help)
        addSamples = write
    }

    /// Writes the metric to a page.
    ///
    /// A metric without samples is omitted.
    package func write(_ snapshot: WorkerSnapshot, to text: inout PrometheusText) {
        text.begin(description)
        addSamples(snapshot, &text)
    }

    /// Returns a metric with one or more samples for each lane.
    ///
    /// The function gets the lane and the value of its label.
    static func lanes(
        _ name: String, _ kind: MetricDescription.Kind, labels: [String] = [], _ help: String,
        _ write: @escaping @Sendable (LaneView, String, inout PrometheusText) -> Void
    ) -> Metric {
        Metric(name, kind, labels: ["lane"] + labels, help) { snapshot, text in
            for lane in snapshot.lanes { write(lane, String(lane.snapshot.lane), &text) }
        }
    }

    /// Returns a metric of a lane's counter.
    static func counter(_ name: String, _ counter: LaneCounter, _ help: String) -> Metric {
        lanes(name, .counter, help) { lane, label, text in text.add([label], lane.snapshot.metrics[counter]) }
    }

    /// Returns a metric of several counters of a lane, which a label separates.
    static func counters(
        _ name: String, _ separating: String, _ counters: [(value: String, counters: [LaneCounter])], _ help: String
    ) -> Metric {
        lanes(name, .counter, labels: [separating], help) { lane, label, text in
            for (value, counters) in counters {
                text.add([label, value], counters.reduce(0) { $0 &+ lane.snapshot.metrics[$1] })
            }
        }
    }

    /// Returns a metric of a lane's histogram.
    static func histogram(_ name: String, _ histogram: LaneHistogram, _ help: String) -> Metric {
        lanes(name, .histogram, help) { lane, label, text in
            text.add([label], lane.snapshot.metrics.values(of: histogram), isTime: histogram.isTime)
        }
    }

    /// Returns a metric with at most one sample for each owned partition.
    ///
    /// The function gets the partition and the values of its labels.
    static func partitions(
        _ name: String, _ help: String,
        _ write: @escaping @Sendable (PartitionLag, [String], inout PrometheusText) -> Void
    ) -> Metric {
        Metric(name, .gauge, labels: ["topic", "partition"], help) { snapshot, text in
            // During a rebalance, a partition can be in the states of its old and its new lane.
            var written: Set<TopicPartition> = []
            for partition in snapshot.partitions where written.insert(partition.partition).inserted {
                let name = partition.partition
                write(partition, [name.topic, String(name.partition)], &text)
            }
        }
    }
}

/// The metrics of a worker.
///
/// `WorkerReference` has the same names, kinds, labels, and descriptions. No label contains a device, a link, or an id
/// of an event.
package enum MetricCatalog {
    /// All metrics in the order of the page.
    package static let all: [Metric] = [records, durations, partitions, transactions, lanes, worker, library]
        .flatMap { $0 }

    /// The metrics of committed records.
    private static let records: [Metric] = [
        .lanes("linkd_records_in_total", .counter, labels: ["topic"], "Committed input records.") { lane, label, text in
            for topic in lane.inputs { text.add([label, topic.name], topic.records) }
        },
        .lanes("linkd_bytes_in_total", .counter, labels: ["topic"], "Bytes of the values of committed input records.") {
            lane, label, text in
            for topic in lane.inputs { text.add([label, topic.name], topic.bytes) }
        },
        Metric(
            "linkd_records_out_total", .counter, labels: ["lane", "topic", "outcome"], "Committed decisions by outcome."
        ) { snapshot, text in
            for lane in snapshot.lanes {
                let label = String(lane.snapshot.lane)
                for (topic, totals) in zip(snapshot.outputs, lane.snapshot.metrics.outputs) {
                    for (outcome, count) in zip(DecisionSummary.Outcome.allCases, totals.outcomes) {
                        text.add([label, topic, "\(outcome)"], count)
                    }
                }
            }
        },
        Metric("linkd_bytes_out_total", .counter, labels: ["lane", "topic"], "Bytes of committed decisions.") {
            snapshot, text in
            for lane in snapshot.lanes {
                for (topic, totals) in zip(snapshot.outputs, lane.snapshot.metrics.outputs) {
                    text.add([String(lane.snapshot.lane), topic], totals.bytes)
                }
            }
        },
        .lanes(
            "linkd_dlq_total", .counter, labels: ["topic", "reason"],
            "Committed dead letters by input topic and reason."
        ) { lane, label, text in
            for topic in lane.inputs {
                for (reason, count) in zip(DeadLetterReason.allCases, topic.deadLetters) {
                    text.add([label, topic.name, reason.rawValue], count)
                }
            }
        },
        .counter(
            "linkd_duplicates_dropped_total", .duplicates,
            "Records that the client returned again and the lane ignored."),
        .counter(
            "linkd_offset_gaps_total", .offsetGaps,
            "Gaps between offsets, such as those of control records and of compaction."),
        Metric(
            "linkd_data_loss_total", .counter, labels: ["topic", "partition"],
            "Offsets that were skipped because their records no longer existed, at least 1 each time."
        ) { snapshot, text in
            for (partition, count) in snapshot.dataLosses {
                text.add([partition.topic, String(partition.partition)], count)
            }
        },
    ]

    /// The histograms of processing.
    private static let durations: [Metric] = [
        .histogram("linkd_batch_records", .batchRecords, "Records that were processed at once."),
        .histogram("linkd_resolve_seconds", .resolveSeconds, "Duration of processing the records of a batch."),
        .histogram(
            "linkd_end_to_end_seconds", .endToEndSeconds,
            "Time from the timestamp of a record until its commit returned, of 1 in 64 records."),
    ]

    /// The gauges of owned partitions.
    private static let partitions: [Metric] = [
        .partitions(
            "linkd_consumer_lag",
            "Records after the last committed one up to the last stable offset, of owned partitions."
        ) { partition, labels, text in
            if let lag = partition.lag { text.add(labels, lag) }
        },
        .partitions(
            "linkd_unstable_records", "Records after the last stable offset, which belong to open transactions."
        ) { partition, labels, text in
            if let unstable = partition.unstable { text.add(labels, unstable) }
        },
        Metric(
            "linkd_group_lag", .gauge, labels: ["topic", "partition"],
            "Records after the group's committed offset up to the last stable one, of all partitions, once a minute."
        ) { snapshot, text in
            for one in snapshot.groupLag?.partitions ?? [] {
                if let lag = one.lag { text.add([one.partition.topic, String(one.partition.partition)], lag) }
            }
        },
        .partitions("linkd_seconds_since_progress", "Seconds with lag and without progress.") {
            partition, labels, text in
            text.add(labels, seconds: partition.secondsSinceProgress)
        },
        .partitions("linkd_partition_slowed", "1 if the dead letters of the partition are slowed, otherwise 0.") {
            partition, labels, text in
            text.add(labels, partition.isSlowed)
        },
    ]

    /// The metrics of transactions and of the group.
    private static let transactions: [Metric] = [
        .counters(
            "linkd_txn_total", "result",
            [
                ("committed", [.transactionsCommitted]),
                ("aborted", AbortCause.allCases.map(LaneCounter.aborted)),
            ], "Transactions by result."),
        .counters(
            "linkd_txn_abort_total", "cause", AbortCause.allCases.map { ($0.rawValue, [.aborted($0)]) },
            "Aborted transactions by cause."),
        .histogram("linkd_txn_records", .transactionRecords, "Input records of a committed transaction."),
        .histogram(
            "linkd_txn_duration_seconds", .transactionSeconds,
            "Time from the begin of a committed transaction until its commit returned."),
        .histogram("linkd_txn_commit_seconds", .commitSeconds, "Duration of a commit call."),
        .histogram(
            "linkd_txn_send_offsets_seconds", .sendOffsetsSeconds,
            "Duration of a call that adds offsets to a transaction."),
        .counter(
            "linkd_producer_rotations_total", .rotations,
            "Producers that were replaced after an uncertain result."),
        .counters(
            "linkd_producer_recreations_total", "cause",
            [
                ("fenced", [.recreatedFenced]), ("sequence", [.recreatedSequence]), ("state", [.recreatedState]),
                ("fatal", [.recreatedFatal]),
            ], "Producers that were replaced after a failure."),
        .counter(
            "linkd_fenced_total", .fenced, "Times that another client had the lane's instance name."),
        .counter("linkd_rewinds_total", .rewinds, "Times that a lane returned to committed offsets."),
        .counters(
            "linkd_rebalances_total", "type",
            [("assign", [.assigned]), ("revoke", [.revoked]), ("lost", [.lost])], "Changes of the assignment."),
        .histogram("linkd_rebalance_seconds", .rebalanceSeconds, "Duration of the answer to a rebalance."),
    ]

    /// The gauges and counters of lanes.
    private static let lanes: [Metric] = [
        .lanes("linkd_assigned_partitions", .gauge, "Owned partitions.") { lane, label, text in
            text.add([label], Int64(lane.snapshot.partitions.count))
        },
        Metric(
            "linkd_last_poll_seconds", .gauge, labels: ["lane"], "Seconds since the last poll of a member of the group."
        ) { snapshot, text in
            for lane in snapshot.lanes {
                guard let polled = lane.snapshot.lastPollAt else { continue }
                text.add([String(lane.snapshot.lane)], nanoseconds: snapshot.now.saturatingSubtract(polled))
            }
        },
        .counter("linkd_queue_full_total", .queueFull, "Times that the producer's queue was full."),
        Metric("linkd_stalled_partitions", .gauge, labels: ["lane"], "Partitions with lag and without progress.") {
            snapshot, text in
            for lane in snapshot.lanes {
                let number = lane.snapshot.lane
                let stalled = snapshot.partitions.count { $0.lane == number && $0.isStalled }
                text.add([String(number)], Int64(stalled))
            }
        },
        .lanes("linkd_paused", .gauge, "1 if consumption is paused, otherwise 0.") { lane, label, text in
            text.add([label], lane.snapshot.isPaused)
        },
        Metric(
            "linkd_ready", .gauge, labels: ["lane"],
            "1 if the lane has joined the group, commits, and does not stop, otherwise 0."
        ) { snapshot, text in
            for lane in snapshot.lanes {
                let isReady = lane.snapshot.isReady && !snapshot.isDraining && !lane.isCommitOverdue
                text.add([String(lane.snapshot.lane)], isReady)
            }
        },
        Metric(
            "linkd_rebalancing_seconds", .gauge, labels: ["lane"],
            "Seconds for which the lane has waited for an assignment of the group, otherwise 0."
        ) { snapshot, text in
            for lane in snapshot.lanes where lane.consumer != nil {
                let passed = lane.rebalancingSince.map { snapshot.now.saturatingSubtract($0) } ?? 0
                text.add([String(lane.snapshot.lane)], nanoseconds: passed)
            }
        },
    ]
}

extension LaneView {
    /// The input topics with committed records, then the other topics of owned partitions.
    ///
    /// The series of a topic therefore begin at 0 before its first record is committed.
    fileprivate var inputs: [TopicTotals] {
        var result = snapshot.metrics.topics
        var names = Set(result.map(\.name))
        for partition in snapshot.partitions where names.insert(partition.partition.topic).inserted {
            result.append(TopicTotals(name: partition.partition.topic))
        }
        return result
    }
}

extension WorkerSnapshot {
    /// The losses of each partition, of all lanes that have owned it.
    fileprivate var dataLosses: [(TopicPartition, UInt64)] {
        var losses: [TopicPartition: UInt64] = [:]
        for lane in lanes {
            for loss in lane.snapshot.metrics.dataLosses { losses[loss.partition, default: 0] &+= loss.count }
        }
        return losses.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

// The metrics of the process and of its tables.
extension MetricCatalog {
    /// The metrics without a lane.
    static let worker: [Metric] = [
        Metric(
            "linkd_build_info", .gauge, labels: ["version", "librdkafka", "table"],
            "1, with the versions and one series for each served table."
        ) { snapshot, text in
            for table in snapshot.tables.isEmpty ? [""] : snapshot.tables.map(label) {
                text.add([snapshot.version, snapshot.library, table], true)
            }
        },
        Metric("linkd_brokers_reachable", .gauge, "1 if a broker answers, otherwise 0.") { snapshot, text in
            text.add([], snapshot.brokers.isReachable)
        },
        devices("linkd_devices", .gauge, "Devices in the registry.") { devices, _ in Double(devices.devices) },
        devices("linkd_devices_bytes", .gauge, "Bytes of the local copy of the registry.") { devices, _ in
            Double(devices.bytes)
        },
        devices("linkd_devices_restored", .gauge, "1 if the registry is restored, otherwise 0.") { devices, _ in
            devices.isRestored ? 1 : 0
        },
        devices("linkd_devices_malformed_total", .counter, "Records of the registry that are no valid device.") {
            devices, _ in Double(devices.malformed)
        },
        devices(
            "linkd_devices_age_seconds", .gauge, "Seconds since everything in the registry's topic was last read."
        ) { devices, snapshot in
            devices.currentAt.map { Double(snapshot.now.saturatingSubtract($0)) / 1e9 }
        },
        Metric("linkd_table_age_seconds", .gauge, labels: ["table"], "Seconds since a served table was loaded.") {
            snapshot, text in
            for table in snapshot.tables {
                let age = max(0, snapshot.wallMilliseconds - table.loadedAtMilliseconds)
                text.add([label(table)], seconds: Double(age) / 1_000)
            }
        },
        Metric(
            "linkd_table_fallback", .gauge, "1 if an earlier table is served because its file is refused, otherwise 0."
        ) { snapshot, text in
            text.add([], snapshot.tables.contains(where: \.isFallback))
        },
        Metric("linkd_table_reloads_total", .counter, labels: ["result"], "Changes of the tables by result.") {
            snapshot, text in
            text.add(["ok"], snapshot.tableCounters.reloads)
            text.add(["refused"], snapshot.tableCounters.refusals)
        },
        Metric("linkd_canary_decisions_total", .counter, "Committed decisions of the canary.") { snapshot, text in
            if let canary = snapshot.canary { text.add([], canary.decided) }
        },
        Metric(
            "linkd_canary_compared_total", .counter, labels: ["result"],
            "Committed decisions that were compared with the canary's, by result."
        ) { snapshot, text in
            guard let canary = snapshot.canary else { return }
            text.add(["same"], canary.compared &- min(canary.different, canary.compared))
            text.add(["different"], canary.different)
        },
        Metric(
            "linkd_canary_differences_total", .counter, labels: ["route"],
            "Compared decisions that differ, by route, at most 100 routes and `other`."
        ) { snapshot, text in
            for route in snapshot.canary?.routes ?? [] { text.add([route.name], route.count) }
        },
        Metric(
            "linkd_log_dropped_total", .counter, "Log lines that were dropped because the output is too slow."
        ) { snapshot, text in
            text.add([], snapshot.logDropped)
        },
        Metric(
            "linkd_statistics_refused_total", .counter, "Statistics documents of librdkafka that were refused."
        ) { snapshot, text in
            text.add([], snapshot.statisticsRefused)
        },
        Metric("process_cpu_seconds_total", .counter, "CPU seconds of the process, user and system.") {
            snapshot, text in
            text.add(seconds: snapshot.process.cpuSeconds)
        },
        Metric("process_resident_memory_bytes", .gauge, "Resident memory of the process.") { snapshot, text in
            if snapshot.process.residentBytes > 0 { text.add([], snapshot.process.residentBytes) }
        },
        Metric("process_open_fds", .gauge, "Open file descriptors of the process.") { snapshot, text in
            if snapshot.process.openFiles > 0 { text.add([], Int64(snapshot.process.openFiles)) }
        },
        Metric("process_max_fds", .gauge, "Largest number of open file descriptors of the process.") {
            snapshot, text in
            if snapshot.process.maxFiles > 0 { text.add([], Int64(snapshot.process.maxFiles)) }
        },
        Metric("linkd_state_free_bytes", .gauge, "Bytes that the worker can still write in `state.dir`.") {
            snapshot, text in
            if let free = snapshot.stateFreeBytes() { text.add([], free) }
        },
        Metric("process_start_time_seconds", .gauge, "Start of the process, in seconds since 1970.") {
            snapshot, text in
            text.add(seconds: snapshot.process.startSeconds)
        },
    ]

    /// Returns a metric of the registry of devices, which has no sample without one.
    private static func devices(
        _ name: String, _ kind: MetricDescription.Kind, _ help: String,
        _ value: @escaping @Sendable (RegistryView, WorkerSnapshot) -> Double?
    ) -> Metric {
        Metric(name, kind, help) { snapshot, text in
            if let value = snapshot.devices.flatMap({ value($0, snapshot) }) { text.add([], seconds: value) }
        }
    }

    /// Returns a table as in decisions.
    private static func label(_ table: ServedTable) -> String { "\(table.id)@\(table.version)+\(table.hash)" }
}

// The statistics of librdkafka.
extension MetricCatalog {
    /// The statistics of the clients, with librdkafka's names.
    static let library: [Metric] = [
        client("msg_cnt", "Records in the queue of the client.") { $0.messages },
        client("msg_size", "Bytes in the queue of the client.") { $0.messageBytes },
        Metric(
            "linkd_librdkafka_fetchq_cnt", .gauge, labels: ["topic", "partition"],
            "Records that were fetched and not consumed, of owned partitions."
        ) { snapshot, text in
            for lane in snapshot.lanes {
                for view in lane.snapshot.partitions {
                    guard let statistics = lane.consumer?.partitions[view.partition] else { continue }
                    text.add([view.partition.topic, String(view.partition.partition)], statistics.fetched)
                }
            }
        },
        broker("rtt_seconds", "Time from a request to its response, by quantile.") { $0.roundTrip },
        broker("int_latency_seconds", "Time of records in the queue of the producer, by quantile.") {
            $0.internalLatency
        },
        broker("outbuf_latency_seconds", "Time of requests in the queue of the connection, by quantile.") {
            $0.outputLatency
        },
        state("txn_state", "1, with the state of the transaction.") { $0.transactionState },
        state("idemp_state", "1, with the state of the idempotent producer.") { $0.idempotenceState },
        client("producer_epoch", "Epoch of the producer.") { $0.producerEpoch },
        client("epoch_cnt", "Number of epochs of the producer.") { $0.epochs },
        client("rebalance_cnt", "Number of rebalances of the consumer.") { $0.rebalances },
    ]

    /// The clients of a lane, with the values of the label `client`.
    private static func clients(_ lane: LaneView) -> [(name: String, statistics: LibraryStatistics)] {
        [(ClientKind.consumer.rawValue, lane.consumer), (ClientKind.producer.rawValue, lane.producer)]
            .compactMap { name, statistics in statistics.map { (name, $0) } }
    }

    private static func client(
        _ name: String, _ help: String, _ value: @escaping @Sendable (LibraryStatistics) -> Int64?
    ) -> Metric {
        .lanes("linkd_librdkafka_\(name)", .gauge, labels: ["client"], help) { lane, label, text in
            for (client, statistics) in clients(lane) {
                if let value = value(statistics) { text.add([label, client], value) }
            }
        }
    }

    /// Returns a metric of the durations of each broker, without brokers that have none.
    private static func broker(
        _ name: String, _ help: String,
        _ value: @escaping @Sendable (LibraryStatistics.Broker) -> LibraryStatistics.Durations
    ) -> Metric {
        .lanes("linkd_librdkafka_\(name)", .summary, labels: ["client", "broker", "quantile"], help) {
            lane, label, text in
            for (client, statistics) in clients(lane) {
                for broker in statistics.brokers {
                    let durations = value(broker)
                    guard durations.count > 0 else { continue }
                    for (quantile, microseconds) in durations.quantiles {
                        let nanoseconds = UInt64(min(max(0, microseconds), 1 << 50)) * 1_000
                        text.add([label, client, broker.name, quantile], nanoseconds: nanoseconds)
                    }
                }
            }
        }
    }

    private static func state(
        _ name: String, _ help: String, _ value: @escaping @Sendable (LibraryStatistics) -> String?
    ) -> Metric {
        .lanes("linkd_librdkafka_\(name)", .gauge, labels: ["client", "state"], help) { lane, label, text in
            for (client, statistics) in clients(lane) {
                if let state = value(statistics) { text.add([label, client, state], true) }
            }
        }
    }
}

extension LibraryStatistics.Durations {
    /// The values of the label `quantile` with their durations in microseconds.
    fileprivate var quantiles: [(String, Int64)] { [("0.5", p50), ("0.95", p95), ("0.99", p99)] }
}
