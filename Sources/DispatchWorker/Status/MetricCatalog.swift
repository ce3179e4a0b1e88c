internal import KafkaClient

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
                for (outcome, count) in zip(DecisionOutcome.allCases, lane.snapshot.metrics.outcomes) {
                    text.add([label, snapshot.output, outcome.name], count)
                }
            }
        },
        Metric("linkd_bytes_out_total", .counter, labels: ["lane", "topic"], "Bytes of committed decisions.") {
            snapshot, text in
            for lane in snapshot.lanes {
                text.add([String(lane.snapshot.lane), snapshot.output], lane.snapshot.metrics.outputBytes)
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
            "linkd_consumer_lag", "Records from the next offset to the last stable offset."
        ) { partition, labels, text in
            if let lag = partition.lag { text.add(labels, lag) }
        },
        .partitions(
            "linkd_unstable_records", "Records after the last stable offset, which belong to open transactions."
        ) { partition, labels, text in
            if let unstable = partition.unstable { text.add(labels, unstable) }
        },
        .partitions("linkd_seconds_since_progress", "Seconds with lag and without progress.") {
            partition, labels, text in
            text.add(labels, seconds: partition.secondsSinceProgress)
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
            "linkd_fenced_total", .fenced, "Times that another producer had the lane's transactional id."),
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
            "1 if the lane has joined the group and does not stop, otherwise 0."
        ) { snapshot, text in
            for lane in snapshot.lanes {
                text.add([String(lane.snapshot.lane)], lane.snapshot.isReady && !snapshot.isDraining)
            }
        },
    ]
}

extension DecisionOutcome {
    /// The outcome as in decisions.
    package var name: String {
        switch self {
        case .navigate: "navigate"
        case .external: "external"
        case .deferred: "deferred"
        case .none: "none"
        case .reject: "reject"
        }
    }
}

extension LaneView {
    /// The input topics with committed records, then those of the owned partitions without committed records.
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
