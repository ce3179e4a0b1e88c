import Foundation
import TestSupport

/// A run of three workers that are killed repeatedly while records arrive.
final class KillRun {
    /// One kill of a worker.
    private struct Kill {
        var victim: Int
        /// A Boolean value that indicates whether the worker is stopped by SIGTERM, which must lead to exit code 0,
        /// instead of SIGKILL.
        var usesSIGTERM = false
        /// A Boolean value that indicates whether the worker is killed again at a random moment of its next start.
        var isRepeated = false
    }

    static let lanes = 2
    static let killsWhileWorking = 5
    /// The number of portions of the records between two kills.
    private static let portions = 16

    let topics: RunTopics
    private let table: ServedFile
    private let workers: [WorkerProcess]
    private let producer: InputProducer
    private let total: Int
    private var random: SeededGenerator

    /// Observations of the run for the checks and the final line.
    struct Statistics {
        var kills = 0
        /// Kills while records waited for their outcome.
        var killsWithWork = 0
        /// Kills that left an open transaction on the output.
        var killsInTransaction = 0
        /// The ends of the output at each kill, summed over partitions.
        var outputs: [Int64] = []
        /// The records that `linkd verify` has checked meanwhile, summed over its calls.
        var verified: Int64 = 0
        var seconds = 0.0
        /// The number of log lines by event.
        var events: [String: Int] = [:]
    }
    private(set) var statistics = Statistics()

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - records: The input records.
    ///   - table: The table of the workers.
    ///   - flags: The workers' flags in addition to those that every run needs.
    ///   - logs: A directory for the workers' logs.
    init(_ topics: RunTopics, records: [InputRecord], seed: UInt64, table: ServedFile, flags: [String], logs: URL)
        throws
    {
        self.topics = topics
        self.table = table
        random = SeededGenerator(seed: seed)
        total = records.count
        producer = try InputProducer(records, to: topics)
        workers = try (0..<3).map { number in
            let command =
                [BuiltProgram.linkd, "worker", "-b", topics.bootstrap, "--instance", "e\(number)"]
                + ["--input", topics.input, "--group", topics.group] + topics.outputFlags
                + ["--lanes", String(Self.lanes), "--commit-interval", "100ms", "--log-format", "json"]
                + ["--table", table.path]
            return try WorkerProcess(name: "e\(number)", command: command + flags, logs: logs)
        }
    }

    /// Runs until every record is produced, every offset is committed, and every worker has stopped.
    func run() throws {
        let start = ContinuousClock.now
        defer { for worker in workers { worker.clear() } }
        for worker in workers { try worker.start() }
        let plan = plan()
        var outputs: Int64 = 0
        for (index, kill) in plan.enumerated() {
            try producer.send(upTo: producer.sent + 1)
            try wait(for: "the output to grow and \(workers[kill.victim].name) to have its partitions") {
                try workers[kill.victim].isAssigned(lanes: Self.lanes) && sum(topics.outputEnds()) > outputs
            }
            if try table.change() {
                for worker in workers where try worker.isAssigned(lanes: Self.lanes) { worker.reload() }
            }
            let portionEnd = total * (index + 1) / (plan.count + 1)
            try produceAndKill(kill, upTo: portionEnd)
            // Workers run, and the killed one starts.
            if index % 5 == 2 { statistics.verified += try topics.verify() ?? 0 }
            outputs = statistics.outputs.last ?? 0
        }
        try producer.send(upTo: total)
        try producer.finish()
        let ends = try topics.ends(topics.input)
        try wait(for: "every offset to be committed") { try topics.committed() == ends }
        for worker in workers { try worker.stop() }
        statistics.kills = workers.reduce(0) { $0 + $1.kills }
        let duration = ContinuousClock.now - start
        statistics.seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        for event in [
            "rewound", "aborted", "recreated", "rotated", "fenced", "lost", "hung", "tables.reloaded", "tables.kept",
        ] {
            statistics.events[event] = workers.reduce(0) { $0 + $1.count(of: event) }
        }
    }

    /// Returns the kills in random order.
    ///
    /// Each worker is killed several times, and once again during the restart. One random worker is stopped by SIGTERM.
    private func plan() -> [Kill] {
        var plan = workers.indices.flatMap { victim in
            (0..<Self.killsWhileWorking).map { Kill(victim: victim, isRepeated: $0 == 2) }
        }
        plan.append(Kill(victim: Int.random(in: workers.indices, using: &random), usesSIGTERM: true))
        return plan.shuffled(using: &random)
    }

    /// Produces records in portions, faster than transactions end, and kills a worker after one of the portions.
    private func produceAndKill(_ kill: Kill, upTo end: Int) throws {
        let begin = producer.sent
        let moment = Int.random(in: 2..<Self.portions - 2, using: &random)
        for portion in 1...Self.portions {
            try producer.send(upTo: begin + (end - begin) * portion / Self.portions)
            producer.pause(milliseconds: Int32.random(in: 1...8, using: &random))
            guard portion == moment else { continue }
            if !kill.usesSIGTERM && needsOpenTransaction {
                try freeze(workers[kill.victim], producingUpTo: end)
            }
            try perform(kill)
        }
    }

    /// Produces a few records at a time and stops the worker's process at random moments, until it has a transaction
    /// with records open.
    ///
    /// Transactions of few records end within milliseconds, often sooner than the broker can be asked about them, so
    /// that a kill alone may never interrupt one. While the process is stopped, the transactions of other workers end.
    /// If this part's records are used up first, the next kill tries it again.
    private func freeze(_ worker: WorkerProcess, producingUpTo end: Int) throws {
        while producer.sent < end {
            try producer.send(upTo: min(producer.sent + 10, end))
            producer.pause(milliseconds: Int32.random(in: 1...30, using: &random))
            worker.signal(SIGSTOP)
            if try leftOpenTransaction() { return }
            worker.signal(SIGCONT)
        }
    }

    private func perform(_ kill: Kill) throws {
        let worker = workers[kill.victim]
        try checkThatAllRun()
        let waiting = try Int64(producer.sent) - sum(topics.committed())
        statistics.outputs.append(try sum(topics.outputEnds()))
        if kill.usesSIGTERM {
            try worker.stop()
            return try worker.start()
        }
        try worker.kill()
        if waiting > 0 { statistics.killsWithWork += 1 }
        if try leftOpenTransaction() { statistics.killsInTransaction += 1 }
        try worker.start()
        guard kill.isRepeated else { return }
        let moment = ContinuousClock.now + .milliseconds(Int.random(in: 0...700, using: &random))
        while ContinuousClock.now < moment { producer.pause(milliseconds: 5) }
        try worker.kill()
        try worker.start()
    }

    /// A Boolean value that indicates whether the next kill must interrupt a transaction with records.
    ///
    /// More than one is required because the transaction may be one of another worker that takes long to end.
    private var needsOpenTransaction: Bool { statistics.killsInTransaction < 3 }

    /// Returns a Boolean value that indicates whether a killed or stopped worker has left an open transaction with
    /// records.
    ///
    /// The transactions of the others end meanwhile. After a few such kills they are not waited for.
    private func leftOpenTransaction() throws -> Bool {
        try !becomesTrue(withinSeconds: needsOpenTransaction ? 1 : 0) {
            try topics.outputStableEnds() == topics.outputEnds()
        }
    }

    private func checkThatAllRun() throws {
        for worker in workers where !worker.isRunning {
            throw RunFailure("\(worker.name) ended unexpectedly\n\(worker.lastLines)")
        }
    }

    private func wait(for what: String, _ question: () throws -> Bool) throws {
        let isFulfilled = try becomesTrue(withinSeconds: 120) {
            try checkThatAllRun()
            if try question() { return true }
            producer.pause(milliseconds: 20)
            return false
        }
        if isFulfilled { return }
        let logs = workers.map { "\($0.name):\n\($0.lastLines)" }.joined(separator: "\n")
        let state = try "input \(topics.ends(topics.input)), committed \(topics.committed())"
        throw RunFailure("timed out after 120 s waiting for \(what): \(state)\n\(logs)")
    }

    private func sum(_ offsets: [Int64]) -> Int64 { offsets.reduce(0, +) }
}
