internal import KafkaClient

/// The conditions of the pages `/ready` and `/ping`.
package enum Health {
    /// The time without an answer of a broker after which a worker is not ready, in nanoseconds.
    package static let answerNanoseconds: UInt64 = 30_000_000_000

    /// Returns the reasons why a worker is not ready, or none if it is.
    ///
    /// A lane without partitions is ready. A refused change of the tables is no reason, because the worker continues
    /// with the tables that it serves.
    package static func notReady(_ snapshot: WorkerSnapshot) -> [String] {
        var reasons: [String] = []
        if let exit = snapshot.exit {
            reasons.append("ending with exit code \(exit.code.rawValue)")
        } else if snapshot.isDraining {
            reasons.append("draining")
        }
        for lane in snapshot.lanes where !lane.snapshot.isReady {
            reasons.append("lane \(lane.snapshot.lane): \(lane.snapshot.stage.rawValue)")
        }
        if let devices = snapshot.devices, !devices.isRestored {
            reasons.append("restoring the registry of devices: \(devices.remaining) offsets left")
        }
        if !snapshot.isReady && snapshot.lanes.allSatisfy(\.snapshot.isReady) {
            reasons.append(snapshot.lanes.isEmpty ? "starting" : "starting: not every lane has begun")
        }
        reasons += commits(snapshot)
        if let brokers = brokers(snapshot) { reasons.append(brokers) }
        return reasons
    }

    /// Returns a reason for each lane whose commit is overdue.
    private static func commits(_ snapshot: WorkerSnapshot) -> [String] {
        let missing = snapshot.brokers.missingTopics.map { "topic \($0) does not exist" }
        return snapshot.lanes.filter(\.isCommitOverdue).map { lane in
            let call = (lane.calls.last?.call.rawValue ?? lane.snapshot.waitsFor?.rawValue).map { [$0] } ?? []
            let causes = missing.isEmpty ? call : missing
            return "lane \(lane.snapshot.lane): no commit for \(Int(min(lane.unfinishedCommit ?? 0, 1e9))) s"
                + (causes.isEmpty ? "" : ": " + causes.joined(separator: ", "))
        }
    }

    private static func brokers(_ snapshot: WorkerSnapshot) -> String? {
        let silence = snapshot.brokers.answeredAt.map { snapshot.now.saturatingSubtract($0) }
        guard !snapshot.brokers.isReachable || (silence ?? 0) > answerNanoseconds else { return nil }
        let time = silence.map { " for \($0 / 1_000_000_000) s" } ?? ""
        return "brokers: no answer\(time)" + (snapshot.brokers.cause.map { ": \($0.summary)" } ?? "")
    }

    /// Returns the reasons why a worker should be restarted, or none.
    ///
    /// They are a lane that takes no step, and a partition with lag and without progress. Neither counts while no
    /// broker answers, nor a partition that waits for its dead-letter topic, because a restart does not help then.
    ///
    /// - Parameters:
    ///   - snapshot: The state of the worker.
    ///   - maxLoopAge: The longest time since a lane's last step, in nanoseconds.
    package static func notLive(_ snapshot: WorkerSnapshot, maxLoopAge: UInt64) -> [String] {
        guard snapshot.brokers.isReachable else { return [] }
        var reasons: [String] = []
        for lane in snapshot.lanes.map(\.snapshot) where lane.stage != .ended {
            // The time without a broker does not count, so it begins again after an outage.
            let begin = max(lane.publishedAt, snapshot.brokers.returnedAt ?? 0)
            let age = snapshot.now.saturatingSubtract(begin)
            if age > maxLoopAge { reasons.append("lane \(lane.lane): no step for \(age / 1_000_000_000) s") }
        }
        for partition in snapshot.partitions where partition.isStalled && !partition.isWaiting {
            let lag = partition.lag.map { " with a lag of \($0)" } ?? ""
            let seconds = Int64(min(max(0, partition.secondsSinceProgress), 1e9))
            reasons.append("\(partition.partition): no progress for \(seconds) s\(lag)")
        }
        return reasons
    }
}
