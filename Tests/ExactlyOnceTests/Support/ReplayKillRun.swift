import ByteStorage
import Foundation
import KafkaClient
import StrictJSON
import TestSupport

extension RunTopics {
    /// The ledger of replays.
    var ledger: String { deadLetters + ".replayed" }
    /// The topic for parked dead letters.
    var parked: String { deadLetters + ".parked" }

    /// Creates the topics of replays.
    func createReplayTopics() throws {
        let admin = try KafkaAdmin(["bootstrap.servers": bootstrap])
        defer { admin.close() }
        let specifications = [ledger, parked].map {
            TopicSpecification(name: $0, partitions: partitions, settings: ["retention.ms": "-1"])
        }
        let results = try admin.create(topics: specifications, timeoutMilliseconds: 20_000)
        if let error = results.compactMap(\.error).first { throw error }
    }
}

/// A replay of dead letters that is killed at random moments, and started again, until no dead letter is left.
final class ReplayKillRun {
    /// The invalid records, of which some are valid for the second worker.
    private static let kinds: [BadKind] = [
        .unknownApplication, .oversizeOutput, .notJSON, .nullValue, .emptyValue, .noDevice, .notUTF8,
    ]
    private static let events = 3000
    private static let truncated = 20
    private static let capped = 20
    /// The number of kills after which the replay can end.
    private static let killLimit = 25

    /// Observations for the checks and the final line.
    struct Statistics {
        var chosen = 0
        var parked = 0
        var kills = 0
        /// Kills that left an open transaction on the input.
        var killsInTransaction = 0
        /// Kills after which some, but not all dead letters were replayed.
        var killsInMiddle = 0
        /// Entries of the ledger in aborted transactions, which shows that entries are in transactions.
        var abortedEntries = 0
        /// The exit codes other than 0.
        var codes: [Int32] = []
        var contradictions: [String] = []
    }
    private(set) var statistics = Statistics()

    private let topics: RunTopics
    private let logs: URL
    private var random: SeededGenerator
    private let isWorkerRunning: Bool

    /// Creates a run.
    ///
    /// - Parameter isWorkerRunning: A Boolean value that indicates whether a worker reads the input meanwhile.
    init(_ topics: RunTopics, seed: UInt64, isWorkerRunning: Bool, logs: URL) {
        self.topics = topics
        self.logs = logs
        self.isWorkerRunning = isWorkerRunning
        // Neighboring seeds would begin with similar numbers.
        random = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Makes dead letters, replays them, and checks the result.
    func run() throws {
        try topics.createReplayTopics()
        try fail()
        try addLetters()
        let letters = try topics.read(topics.deadLetters)
        let until = Self.now
        while Self.now == until { usleep(1000) }
        let reason: BadKind? = Int.random(in: 0..<3, using: &random) == 0 ? .unknownApplication : nil
        let oracle = ReplayOracle(letters, topics, until: until, reason: reason?.reason)
        statistics.chosen = oracle.replayed.count + oracle.parked.count
        statistics.parked = oracle.parked.count
        let ends = try topics.ends(topics.input)
        let worker = try worker("second", [])
        if isWorkerRunning { try worker.start() }
        defer { worker.clear() }
        try replay(["--until", Self.timestamp(until)] + (reason.map { ["--reason", $0.reason ?? ""] } ?? []))
        statistics.contradictions = try oracle.contradictions(inputAfter: ends, times: until...Self.now + 1)
        statistics.abortedEntries =
            try topics.read(topics.ledger, isolation: "read_uncommitted").count - statistics.chosen
        guard isWorkerRunning else { return }
        try awaitCommit(worker, controlRecords: 1)
        try worker.stop()
        try checkOutcomes(oracle)
    }

    /// Lets a worker decide events, of which every fifth becomes a dead letter.
    private func fail() throws {
        let records = (0..<Self.events).map { number in
            let key = Array("d-\(number % 97)".utf8)
            if number % 5 == 0 {
                return Self.kinds[number / 5 % Self.kinds.count].record(number: number, key: key)
            }
            let event = #"{"id":"e-\#(number)","link":"https://shop.example/p/new",""#
            return InputRecord(key: key, value: Array((event + #"device":{"id":"d-\#(number % 97)"}}"#).utf8))
        }
        let producer = try InputProducer(records, to: topics)
        try producer.send(upTo: records.count)
        try producer.finish()
        let worker = try worker("first", ["--limits-decision-bytes", String(BadKind.decisionBytesLimit)])
        try worker.start()
        defer { worker.clear() }
        try awaitCommit(worker)
        try worker.stop()
    }

    private func worker(_ name: String, _ flags: [String]) throws -> WorkerProcess {
        let command =
            [BuiltProgram.linkd, "worker", "-b", topics.bootstrap, "--instance", name, "--lanes", "2"]
            + ["--input", topics.input, "--output", topics.output, "--group", topics.group, "--log-format", "json"]
            + ["--commit-interval", "100ms", "--dlq-max-ratio", "0", "--table", try ServedFile.shop.path]
        return try WorkerProcess(name: name, command: command + flags, logs: logs)
    }

    /// Waits until a worker has committed all records.
    ///
    /// - Parameter controlRecords: The number of control records at the end of a partition, which are not committed.
    private func awaitCommit(_ worker: WorkerProcess, controlRecords: Int64 = 0) throws {
        let ends = try topics.ends(topics.input)
        let isDone = try becomesTrue(withinSeconds: 120) {
            try zip(topics.committed(), ends).allSatisfy { $0 + controlRecords >= $1 }
        }
        guard isDone else {
            throw RunFailure("not committed: \(try topics.committed()) of \(ends)\n\(worker.lastLines)")
        }
    }

    /// Writes dead letters to park: truncated ones, and ones that were replayed three times.
    private func addLetters() throws {
        let samples = try topics.read(topics.deadLetters)
        let producer = try KafkaProducer(["bootstrap.servers": topics.bootstrap, "enable.idempotence": "true"])
        defer { producer.close() }
        let topic = try producer.topic(topics.deadLetters)
        var arena = OutputArena(chunkBytes: 4096)
        func view(_ bytes: [UInt8]?) -> ByteView? {
            guard let bytes else { return nil }
            arena.begin()
            arena.append(bytes)
            return arena.finish()
        }
        for number in 0..<Self.truncated + Self.capped {
            guard let sample = samples.randomElement(using: &random) else { throw RunFailure("no dead letters") }
            let (name, value) = number < Self.truncated ? ("dlq.truncated", "99") : ("dlq.replay.count", "3")
            var headers = sample.headers.filter { !$0.name.elementsEqual(name.utf8) }
            headers.append(RecordHeader(name: Array(name.utf8), value: Array(value.utf8)))
            try producer.produce(
                topic, partition: sample.partition, key: view(sample.key), value: view(sample.value),
                headers: headers.map { HeaderView(name: view($0.name) ?? .empty, value: view($0.value)) },
                timestamp: sample.timestamp)
        }
        try producer.flush(timeoutMilliseconds: 20_000)
    }

    /// Starts the replay again and again until it ends with no dead letter left.
    private func replay(_ filter: [String]) throws {
        let command =
            [BuiltProgram.linkd, "dlq", "replay", "-b", topics.bootstrap, "--topic", topics.input]
            + ["--output", topics.output, "--yes", "--json"] + filter
            // A replay without a kill takes 10 seconds.
            + ["--rate", String(max(1, statistics.chosen / 10))]
        for _ in 0..<Self.killLimit + 10 {
            let flags = Bool.random(using: &random) ? ["--no-order-check"] : []
            let process = try ReplayProcess(command + flags, logs: logs)
            guard let code = try process.end(withinMilliseconds: moment(of: process)) else {
                try countKill()
                continue
            }
            guard code == 0 else {
                statistics.codes.append(code)
                throw RunFailure("the replay ended with \(code): \(process.log)\(process.text)")
            }
            let summary = try JSONValue.parse(Array(process.text.utf8))
            guard summary["left"]?.integer == 0 else { throw RunFailure("dead letters are left: \(process.text)") }
            return
        }
        throw RunFailure("the replay does not end")
    }

    /// Returns the milliseconds after which a replay is killed.
    ///
    /// A third of the replays is killed at any moment, the others while they send.
    private func moment(of process: ReplayProcess) throws -> Int {
        guard statistics.kills < Self.killLimit else { return 60_000 }
        guard Int.random(in: 0..<3, using: &random) > 0 else { return Int.random(in: 20...900, using: &random) }
        let before = try topics.ends(topics.ledger)
        _ = try becomesTrue(withinSeconds: 20) { try !process.isRunning || topics.ends(topics.ledger) != before }
        return Int.random(in: 0...200, using: &random)
    }

    private func countKill() throws {
        statistics.kills += 1
        if try topics.stableEnds(topics.input) != topics.ends(topics.input) { statistics.killsInTransaction += 1 }
        let entries = try topics.read(topics.ledger).count
        if entries > 0, entries < statistics.chosen { statistics.killsInMiddle += 1 }
    }

    /// Checks that each record of the input has one outcome, so that the replay has not disturbed the worker.
    private func checkOutcomes(_ oracle: ReplayOracle) throws {
        let input = try topics.read(topics.input).count
        let own = Self.truncated + Self.capped
        let outcomes = try topics.read(topics.output).count + topics.read(topics.deadLetters).count - own
        if input != outcomes { statistics.contradictions.append("\(input) events, \(outcomes) outcomes") }
        let again = try topics.read(topics.deadLetters).filter { $0.header("dlq.replay.count") == "1" }
        let isRight = again.allSatisfy { letter in letter.header("dlq.origin")?.hasPrefix(topics.input + "-") == true }
        if !isRight { statistics.contradictions.append("a dead letter of a replay has no origin") }
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    private static func timestamp(_ milliseconds: Int64) -> String {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(format)
    }
}
