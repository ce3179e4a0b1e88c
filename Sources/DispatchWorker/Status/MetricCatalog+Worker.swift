internal import KafkaClient

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
        Metric("process_start_time_seconds", .gauge, "Start of the process, in seconds since 1970.") {
            snapshot, text in
            text.add(seconds: snapshot.process.startSeconds)
        },
    ]

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
