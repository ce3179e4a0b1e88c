@testable import KafkaClient

/// A comparison of outcomes with commits during a run.
///
/// Committed records must be decided exactly once, and others must have no outcome.
struct SimulatedLedger {
    /// The number of outcomes of each device of each offset, by input partition.
    private var outcomes: [Int32: [Int64: Int]] = [:]
    private var lastDecided: [Int32: Int64] = [:]
    private var checked: [Int32: Int64] = [:]
    private var excused: [Int32: Set<Int64>] = [:]
    /// The partitions that were created again and in which nothing was committed since.
    private var recreated: Set<Int32> = []
    /// The partitions that were created again at least once.
    private(set) var renewed: Set<Int32> = []
    private var excusedBelow: [Int32: Int64] = [:]
    /// Partitions whose committed offsets were deleted.
    ///
    /// Their records may be decided again.
    private(set) var repeated: Set<Int32> = []
    /// Records that were decided more than once.
    private(set) var duplicated: [String] = []
    /// A Boolean value that indicates whether records may be decided more than once.
    var isAtLeastOnce = false
    /// The first failure, or nil.
    private(set) var broken: String?

    mutating func fail(_ text: @autoclosure () -> String) { if broken == nil { broken = text() } }

    /// Records that an outcome became visible.
    mutating func decided(_ source: OutcomeSource) {
        let key = source.offset * 8 + source.part
        let count = outcomes[source.partition, default: [:]][key, default: 0] + 1
        outcomes[source.partition, default: [:]][key] = count
        lastDecided[source.partition] = max(lastDecided[source.partition] ?? -1, source.offset)
        guard count > 1, !repeated.contains(source.partition) else { return }
        duplicated.append("in-\(source.partition)-\(source.offset)/\(source.part)")
        if !isAtLeastOnce { fail("I2: in-\(source.partition)-\(source.offset) was decided \(count) times") }
    }

    private func isDecided(_ partition: Int32, _ offset: Int64) -> Bool {
        outcomes[partition]?[offset * 8] != nil
    }

    /// Records that offsets were committed, and checks I1 and I5.
    mutating func committed(_ partition: Int32, _ offset: Int64, before: Int64?, _ log: SimulatedLog) {
        let isNew = recreated.remove(partition) != nil
        if let before, offset < before, !isNew, !isAtLeastOnce, !repeated.contains(partition) {
            fail("I2: in-\(partition) was committed up to \(before), and now up to \(offset)")
        }
        let below = excusedBelow[partition] ?? 0
        if offset > log.end { fail("I1: \(offset) of in-\(partition) is committed, which ends at \(log.end)") }
        for candidate in (checked[partition] ?? 0)..<max(min(offset, log.end), checked[partition] ?? 0)
        where log.entries[Int(candidate)].state == .committed && candidate >= below && !isDecided(partition, candidate)
        {
            if excused[partition]?.contains(candidate) ?? false { continue }
            fail("I1: in-\(partition)-\(candidate) is lost, because \(offset) is committed")
        }
        checked[partition] = max(checked[partition] ?? 0, offset)
        if let last = lastDecided[partition], last >= offset, !isAtLeastOnce, !repeated.contains(partition) {
            fail("I5: in-\(partition)-\(last) is decided, but only \(offset) is committed")
        }
    }

    /// Records that retention removes records, whether they are decided or not.
    mutating func removed(_ partition: Int32, below offset: Int64) {
        for candidate in 0..<offset where !isDecided(partition, candidate) {
            excused[partition, default: []].insert(candidate)
        }
    }

    /// Records that a lane without a committed offset starts at the end of a partition.
    mutating func startedAtEnd(_ partition: Int32, _ end: Int64) {
        excusedBelow[partition] = max(excusedBelow[partition] ?? 0, end)
    }

    /// Records that a partition was deleted and created again, so that all outcomes are those of other records.
    mutating func recreated(_ partition: Int32) {
        outcomes[partition] = nil
        lastDecided[partition] = nil
        checked[partition] = nil
        excused[partition] = nil
        recreated.insert(partition)
        renewed.insert(partition)
    }

    /// Records that a committed offset was deleted.
    mutating func vanished(_ partition: Int32) { repeated.insert(partition) }

    /// Checks I1 at the end of a run.
    mutating func finish(_ partition: Int32, _ log: SimulatedLog) {
        if let candidate = open(partition, log) { fail("I1: in-\(partition)-\(candidate) has no outcome at the end") }
    }

    /// Returns a Boolean value that indicates whether every record of a partition has an outcome or is excused.
    func isDone(_ partition: Int32, _ log: SimulatedLog) -> Bool { open(partition, log) == nil }

    private func open(_ partition: Int32, _ log: SimulatedLog) -> Int64? {
        (log.start..<max(log.start, log.end)).first { candidate in
            log.entries[Int(candidate)].state == .committed && candidate >= excusedBelow[partition] ?? 0
                && !isDecided(partition, candidate) && !(excused[partition]?.contains(candidate) ?? false)
        }
    }
}
