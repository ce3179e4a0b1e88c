import Foundation
import TestSupport

/// A run of three workers that are killed repeatedly while records arrive.
final class KillRun {
    /// One kill of a worker.
    private struct Strike {
        var victim: Int
        /// A Boolean value that indicates whether the worker is stopped by SIGTERM, which must lead to exit code 0,
        /// instead of SIGKILL.
        var isGentle = false
        /// A Boolean value that indicates whether the worker is killed again at a random moment of its next start.
        var isRepeated = false
    }

    static let lanes = 2
    static let killsWhileWorking = 5
    /// The number of portions of the records between two kills.
    private static let pieces = 16

    let topics: RunTopics
    private let workers: [WorkerProcess]
    private let feed: Feed
    private let total: Int
    private var random: SeededGenerator

    /// Observations of the run for the checks and the final line.
    struct Tally {
        var kills = 0
        /// Kills while records waited for their outcome.
        var killsWithWork = 0
        /// Kills that left an open transaction on the output.
        var killsInTransaction = 0
        /// The ends of the output at each kill, summed over partitions.
        var outputs: [Int64] = []
        var seconds = 0.0
        /// The number of log lines by event.
        var events: [String: Int] = [:]
    }
    private(set) var tally = Tally()

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - records: The input records.
    ///   - flags: The workers' flags in addition to those that every run needs.
    ///   - logs: A directory for the workers' logs.
    init(_ topics: RunTopics, records: [InputRecord], seed: UInt64, flags: [String], logs: URL) throws {
        self.topics = topics
        random = SeededGenerator(seed: seed)
        total = records.count
        feed = try Feed(records, to: topics)
        workers = try (0..<3).map { number in
            let command =
                [BuiltProgram.linkd, "worker", "-b", topics.bootstrap, "--instance", "e\(number)"]
                + ["--input", topics.input, "--output", topics.output, "--group", topics.group]
                + ["--lanes", String(Self.lanes), "--commit-interval", "100ms", "--log-format", "json"]
                + ["--table", Checkout.root.appending(path: "config/routes/shop.json").path]
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
        for (index, strike) in plan.enumerated() {
            try feed.send(upTo: feed.sent + 1)
            try awaits("the output to grow and \(workers[strike.victim].name) to have its partitions") {
                try workers[strike.victim].isAssigned(lanes: Self.lanes) && sum(topics.ends(topics.output)) > outputs
            }
            let portionEnd = total * (index + 1) / (plan.count + 1)
            try feedAndStrike(strike, upTo: portionEnd)
            outputs = tally.outputs.last ?? 0
        }
        try feed.send(upTo: total)
        try feed.finish()
        let ends = try topics.ends(topics.input)
        try awaits("every offset to be committed") { try topics.committed() == ends }
        for worker in workers { try worker.stop() }
        tally.kills = workers.reduce(0) { $0 + $1.kills }
        let duration = ContinuousClock.now - start
        tally.seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        for event in ["rewound", "aborted", "recreated", "rotated", "fenced", "lost", "hung"] {
            tally.events[event] = workers.reduce(0) { $0 + $1.count(of: event) }
        }
    }

    /// Returns the kills in random order.
    ///
    /// Each worker is killed several times, and once again during the restart. One random worker is stopped by SIGTERM.
    private func plan() -> [Strike] {
        var plan = workers.indices.flatMap { victim in
            (0..<Self.killsWhileWorking).map { Strike(victim: victim, isRepeated: $0 == 2) }
        }
        plan.append(Strike(victim: Int.random(in: workers.indices, using: &random), isGentle: true))
        return plan.shuffled(using: &random)
    }

    /// Produces records in portions, faster than transactions end, and kills a worker after one of the portions.
    private func feedAndStrike(_ strike: Strike, upTo end: Int) throws {
        let begin = feed.sent
        let moment = Int.random(in: 2..<Self.pieces - 2, using: &random)
        for piece in 1...Self.pieces {
            try feed.send(upTo: begin + (end - begin) * piece / Self.pieces)
            feed.pause(milliseconds: Int32.random(in: 1...8, using: &random))
            if piece == moment { try deal(strike) }
        }
    }

    private func deal(_ strike: Strike) throws {
        let worker = workers[strike.victim]
        try checkThatAllRun()
        let waiting = try Int64(feed.sent) - sum(topics.committed())
        tally.outputs.append(try sum(topics.ends(topics.output)))
        if strike.isGentle {
            try worker.stop()
            return try worker.start()
        }
        try worker.kill()
        if waiting > 0 { tally.killsWithWork += 1 }
        if try topics.stableEnds(topics.output) != topics.ends(topics.output) { tally.killsInTransaction += 1 }
        try worker.start()
        guard strike.isRepeated else { return }
        let moment = ContinuousClock.now + .milliseconds(Int.random(in: 0...700, using: &random))
        while ContinuousClock.now < moment { feed.pause(milliseconds: 5) }
        try worker.kill()
        try worker.start()
    }

    private func checkThatAllRun() throws {
        for worker in workers where !worker.isRunning {
            throw RunFailure("\(worker.name) ended unexpectedly\n\(worker.lastLines)")
        }
    }

    private func awaits(_ what: String, _ question: () throws -> Bool) throws {
        let isSo = try waits(seconds: 120) {
            try checkThatAllRun()
            if try question() { return true }
            feed.pause(milliseconds: 20)
            return false
        }
        if isSo { return }
        let logs = workers.map { "\($0.name):\n\($0.lastLines)" }.joined(separator: "\n")
        let state = try "input \(topics.ends(topics.input)), committed \(topics.committed())"
        throw RunFailure("timed out after 120 s waiting for \(what): \(state)\n\(logs)")
    }

    private func sum(_ offsets: [Int64]) -> Int64 { offsets.reduce(0, +) }
}
