internal import ByteStorage
internal import KafkaClient
internal import StrictJSON

/// The page `/status`: the state of a worker as a JSON object.
///
/// Members whose names end in `_ms` are ages and durations in milliseconds. The document contains no setting's value,
/// no credential, and no content of a record.
package enum StatusDocument {
    /// The media type.
    package static let contentType = "application/json"

    /// Returns the document in one line.
    package static func json(_ snapshot: WorkerSnapshot) -> String {
        var text = JSONText()
        text.beginObject()
        text.text("version", snapshot.version)
        text.text("librdkafka", snapshot.library)
        text.text("time", UTCDateTime.text(milliseconds: snapshot.wallMilliseconds))
        text.text("instance", snapshot.instance)
        text.text("group", snapshot.group)
        let reasons = Health.notReady(snapshot)
        text.boolean("ready", reasons.isEmpty)
        text.texts("not_ready", reasons)
        text.boolean("draining", snapshot.isDraining)
        text.boolean("paused", snapshot.isPaused)
        writeBrokers(snapshot, &text)
        writeGroup(snapshot, &text)
        writeDevices(snapshot, &text)
        writeTables(snapshot, &text)
        text.beginObject("rates")
        text.decimal("records_per_s", snapshot.recordsPerSecond)
        text.endObject()
        writeCanary(snapshot, &text)
        text.number("log_dropped", snapshot.logDropped)
        text.beginArray("lanes")
        for lane in snapshot.lanes { write(lane, snapshot, &text) }
        text.endArray()
        text.endObject()
        return text.finish()
    }

    private static func writeBrokers(_ snapshot: WorkerSnapshot, _ text: inout JSONText) {
        text.beginObject("brokers")
        text.boolean("reachable", snapshot.brokers.isReachable)
        text.number("answered_ms", age(snapshot.brokers.answeredAt, snapshot.now))
        text.number("since_ms", age(snapshot.brokers.since, snapshot.now))
        text.text("cause", snapshot.brokers.cause?.summary)
        text.text("address", snapshot.brokers.address)
        text.texts("missing_topics", snapshot.brokers.missingTopics)
        text.endObject()
    }

    private static func writeGroup(_ snapshot: WorkerSnapshot, _ text: inout JSONText) {
        guard let group = snapshot.groupLag else { return text.text("group_lag", nil) }
        text.beginObject("group_lag")
        text.text("state", group.state)
        text.number("members", Int64(group.members))
        text.number("answered_ms", age(group.answeredAt, snapshot.now))
        text.number("lag", group.partitions.reduce(Int64(0)) { $0 &+ ($1.lag ?? 0) })
        let unowned = group.unowned
        text.number("unowned_count", Int64(unowned.count))
        text.objects("unowned", of: unowned.prefix(GroupLag.listLimit)) { text, one in
            text.text("topic", one.partition.topic)
            text.number("partition", Int64(one.partition.partition))
            text.number("lag", one.lag)
            text.number("since_ms", age(one.unownedSince, snapshot.now))
        }
        text.endObject()
    }

    private static func writeTables(_ snapshot: WorkerSnapshot, _ text: inout JSONText) {
        text.objects("tables", of: snapshot.tables) { text, table in
            text.text("id", table.id)
            text.text("version", table.version)
            text.text("hash", table.hash)
            text.text("path", table.path)
            text.number("loaded_ms", max(0, snapshot.wallMilliseconds - table.loadedAtMilliseconds))
            text.boolean("fallback", table.isFallback)
        }
    }

    private static func writeDevices(_ snapshot: WorkerSnapshot, _ text: inout JSONText) {
        guard let devices = snapshot.devices else { return }
        let rate = devices.rate(now: snapshot.now)
        text.beginObject("devices")
        text.boolean("restored", devices.isRestored)
        text.number("count", Int64(devices.devices))
        text.number("bytes", Int64(devices.bytes))
        text.number("malformed", number(devices.malformed))
        text.number("current_ms", age(devices.currentAt, snapshot.now))
        if !devices.isRestored {
            text.number("remaining", devices.remaining)
            text.decimal("records_per_s", rate)
            if rate > 0 { text.number("left_ms", Int64(min(Double(devices.remaining) / rate * 1000, 1e15))) }
        }
        text.endObject()
    }

    private static func writeCanary(_ snapshot: WorkerSnapshot, _ text: inout JSONText) {
        guard let canary = snapshot.canary else { return }
        text.beginObject("canary")
        text.text("table", canary.table)
        text.text("base", canary.base)
        text.decimal("percent", Double(canary.percent) / 100)
        text.decimal("compare", Double(canary.compare) / 100)
        text.number("decided", number(canary.decided))
        text.number("compared", number(canary.compared))
        text.number("different", number(canary.different))
        text.objects("routes", of: canary.routes) { text, route in
            text.text("route", route.name)
            text.number("count", number(route.count))
            text.text("witness", route.witness)
        }
        text.endObject()
    }

    private static func write(_ lane: LaneView, _ worker: WorkerSnapshot, _ text: inout JSONText) {
        let snapshot = lane.snapshot
        text.beginObject()
        text.number("lane", Int64(snapshot.lane))
        text.text("state", snapshot.stage.rawValue)
        text.boolean("ready", snapshot.isReady)
        text.boolean("paused", snapshot.isPaused)
        text.text("waits_for", lane.calls.last?.call.rawValue ?? snapshot.waitsFor?.rawValue)
        text.number("step_ms", age(snapshot.publishedAt, worker.now))
        text.number("last_poll_ms", age(snapshot.lastPollAt, worker.now))
        text.number("rebalancing_ms", age(lane.rebalancingSince, worker.now))
        text.number("last_commit_ms", age(snapshot.lastCommit?.at, worker.now))
        text.number("commit_ms", (snapshot.lastCommit?.milliseconds).map { Int64($0) })
        if let transaction = snapshot.transaction {
            text.beginObject("transaction")
            text.number("age_ms", age(transaction.beganAt, worker.now))
            text.number("records", Int64(transaction.records))
            text.number("bytes", Int64(transaction.bytes))
            text.endObject()
        } else {
            text.text("transaction", nil)
        }
        text.number("records", Int64(snapshot.counters.records))
        text.number("decisions", Int64(snapshot.counters.decisions))
        text.number("dead_letters", Int64(snapshot.counters.deadLetters))
        text.number("committed", Int64(snapshot.counters.committed))
        text.number("aborted", Int64(snapshot.counters.aborted))
        text.number("recreations", Int64(snapshot.counters.recreations))
        text.number("tables_version", Int64(snapshot.tables))
        text.number("statistics_ms", age(lane.statisticsAt, worker.now))
        writePartitions(lane, worker, &text)
        writeErrors(snapshot, worker.now, &text)
        text.endObject()
    }

    private static func writePartitions(_ lane: LaneView, _ worker: WorkerSnapshot, _ text: inout JSONText) {
        var lags: [TopicPartition: PartitionLag] = [:]
        for lag in worker.partitions where lag.lane == lane.snapshot.lane { lags[lag.partition] = lag }
        text.objects("partitions", of: lane.snapshot.partitions) { text, view in
            let lag = lags[view.partition]
            text.text("topic", view.partition.topic)
            text.number("partition", Int64(view.partition.partition))
            text.number("next", view.next)
            text.number("committed", view.committed)
            text.number("end", lane.consumer?.partitions[view.partition]?.stable ?? view.end)
            text.number("lag", lag?.lag)
            text.number("unstable", lag?.unstable)
            text.decimal("seconds_since_progress", lag?.secondsSinceProgress ?? 0)
            text.boolean("stalled", lag?.isStalled ?? false)
            text.boolean("paused", view.isPaused)
            text.boolean("waiting", view.isWaiting)
            write(view.slowed, worker.now, &text)
        }
    }

    private static func write(_ slowed: SlowedPartition?, _ now: UInt64, _ text: inout JSONText) {
        guard let slowed else { return text.text("slowed", nil) }
        text.beginObject("slowed")
        text.number("age_ms", age(slowed.since, now))
        text.number("records", Int64(slowed.counts.records))
        text.number("dead_letters", Int64(slowed.counts.deadLetters))
        text.texts("reasons", slowed.counts.reasonList)
        text.text("example", slowed.counts.exampleText)
        text.endObject()
    }

    private static func writeErrors(_ snapshot: LaneSnapshot, _ now: UInt64, _ text: inout JSONText) {
        text.objects("last_errors", of: snapshot.lastErrors) { text, error in
            text.text("event", error.event)
            text.text("code", error.code)
            text.text("message", error.message)
            text.number("age_ms", age(error.at, now))
        }
    }

    /// Returns the milliseconds since a time of the monotonic clock, or nil for none.
    private static func age(_ time: UInt64?, _ now: UInt64) -> Int64? {
        time.map { Int64(now.saturatingSubtract($0) / 1_000_000) }
    }

    private static func number(_ value: UInt64) -> Int64 { Int64(clamping: value) }
}
