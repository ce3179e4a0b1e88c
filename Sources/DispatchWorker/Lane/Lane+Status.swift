internal import KafkaClient

// The publication of the lane's state.
extension Lane where Processing: ~Copyable {
    /// The longest time between two published states while the lane performs steps.
    private static var publishNanoseconds: UInt64 { 1_000_000_000 }

    /// Publishes the state after an event, after a change of the stage, and once a second.
    ///
    /// If a reader holds the lock, the lane publishes at its next step.
    func publishIfDue(_ now: UInt64) {
        let stage = machine.stage
        if !hasNews, let published, published.stage == stage,
            now.saturatingSubtract(published.at) < Self.publishNanoseconds
        {
            return
        }
        publish(stage, now)
    }

    /// Publishes the state of a lane that has ended.
    func publishLast(_ now: UInt64) {
        while !publish(machine.stage, now) {}
    }

    @discardableResult
    private func publish(_ stage: LaneStage, _ now: UInt64) -> Bool {
        metrics[.duplicates] = UInt64(machine.partitions.duplicates)
        metrics[.offsetGaps] = UInt64(machine.partitions.gaps)
        let snapshot = LaneSnapshot(
            lane: number, machine: machine, at: now, lastCommit: lastCommit, metrics: metrics, lastErrors: lastErrors,
            tables: tables, canary: canary)
        guard status.publish(snapshot) else { return false }
        hasNews = false
        published = (stage, now)
        return true
    }

    /// Keeps the error of a log entry for the published state.
    func keepError(of entry: LogEntry, _ now: UInt64) {
        guard let error = LaneError(entry, at: now) else { return }
        if lastErrors.count >= LaneError.limit { lastErrors.removeFirst() }
        lastErrors.append(error)
    }
}
