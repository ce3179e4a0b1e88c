/// The figures of a run with `stop.after`.
///
/// `WorkerReference` describes each of them.
package struct RunReport: Sendable, Equatable {
    /// Committed input records.
    package var records = 0
    /// Seconds from the first record until the last commit returned.
    package var seconds = 0.0
    /// CPU seconds of the process in that time, user and system.
    package var cpuSeconds = 0.0
    /// Committed decisions.
    package var decisions = 0
    /// Committed dead letters.
    package var deadLetters = 0
    /// Committed transactions.
    package var committed = 0
    /// Aborted transactions.
    package var aborted = 0
    /// Producers that were replaced after an unknown outcome.
    package var rotations = 0
    package var lanes = 0
    package var guarantee = Guarantee.exactlyOnce
    /// The version of librdkafka that ran.
    package var library = ""
    /// The program's version.
    package var version = ""

    /// Adds the counters of a lane.
    package mutating func add(_ counters: LaneCounters) {
        records += counters.records
        decisions += counters.decisions
        deadLetters += counters.deadLetters
        committed += counters.committed
        aborted += counters.aborted
        rotations += counters.rotations
    }

    /// Input records per second.
    package var recordsPerSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }

    /// Microseconds of CPU per input record.
    package var cpuMicrosecondsPerRecord: Double { records > 0 ? cpuSeconds * 1e6 / Double(records) : 0 }

    /// Returns the report as one line.
    package func text(_ format: ReportFormat) -> String {
        switch format {
        case .json: json
        case .text:
            "\(counted(records, "record")) in \(Self.decimal(seconds)) s (\(Int(recordsPerSecond.rounded())) per "
                + "second, \(Self.decimal(cpuMicrosecondsPerRecord)) µs of CPU each): "
                + "\(counted(decisions, "decision")), \(counted(deadLetters, "dead letter")), "
                + "\(counted(committed, "transaction")) committed, \(aborted) aborted, "
                + "\(counted(rotations, "producer")) rotated; \(counted(lanes, "lane")), \(guarantee.rawValue)"
        }
    }

    private var json: String {
        "{\"records\":\(records),\"failed\":0,\"seconds\":\(Self.decimal(seconds)),"
            + "\"per_s\":\(Int(recordsPerSecond.rounded())),\"cpu_s\":\(Self.decimal(cpuSeconds)),"
            + "\"cpu_us_per_record\":\(Self.decimal(cpuMicrosecondsPerRecord)),\"decisions\":\(decisions),"
            + "\"dead_letters\":\(deadLetters),\"committed\":\(committed),\"aborted\":\(aborted),"
            + "\"rotations\":\(rotations),\"lanes\":\(lanes),\"guarantee\":\"\(guarantee.rawValue)\","
            + "\"librdkafka\":\(LogFormatter.quoted(library)),\"version\":\(LogFormatter.quoted(version))}"
    }

    /// Returns the value with three decimals.
    private static func decimal(_ value: Double) -> String {
        guard value.isFinite, value >= 0, value < 1e15 else { return "0.000" }
        let thousandths = Int((value * 1_000).rounded())
        let rest = String(thousandths % 1_000)
        return "\(thousandths / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

/// The result of a worker's run.
package struct WorkerOutcome: Sendable, Equatable {
    /// The reason of an error, or nil.
    package var exit: WorkerExit?
    /// The figures of the run.
    package var report: RunReport

    /// The process's exit code.
    package var code: Int32 { (exit?.code ?? .done).rawValue }
}
