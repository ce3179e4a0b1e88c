import Foundation
import TestSupport

/// The overlays of `config/kubernetes`, of which a run plays the stories.
enum Overlay: String, CaseIterable, Sendable {
    case autoscaled, instances
}

/// A run of workers that are started, stopped, and killed as Kubernetes does, while events arrive at a constant rate.
///
/// A process stands for a pod: it has its own `state.dir` and, in the overlay `instances`, the name of its ordinal.
final class StoryRun {
    /// A change of the workers, and the time that it took, in milliseconds since 1970.
    struct Story {
        var name: String
        var begin: Int64
        var end: Int64
    }

    static let lanes = 2
    /// Events per second.
    static let rate = 500.0
    /// The least time for a change, in milliseconds.
    private static let span = 3_000

    let topics: RunTopics
    let overlay: Overlay
    /// The stories that were played, of which the first one is a time without a change.
    private(set) var stories: [Story] = []
    private let producer: InputProducer
    private let scratch: URL
    private var pods: [WorkerProcess?] = []
    private var started = 0
    private var isSending = true
    private let begun = ContinuousClock.now

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - records: The events, of which as many are sent as the stories take time for.
    ///   - scratch: A directory for logs and the directories of the pods.
    init(_ topics: RunTopics, _ overlay: Overlay, records: [InputRecord], scratch: URL) throws {
        self.topics = topics
        self.overlay = overlay
        self.scratch = scratch
        producer = try InputProducer(records, to: topics)
    }

    /// Plays all stories of the overlay, and ends when every event is committed and every worker has stopped.
    func run() throws {
        defer { for pod in pods { pod?.clear() } }
        let first = overlay == .autoscaled ? 1 : 3
        for ordinal in 0..<first { try start(ordinal) }
        try waitUntilReady()
        try play("no change") {}
        for ordinal in first..<3 { try play("scale-out to \(ordinal + 1)") { try start(ordinal) } }
        for ordinal in 0..<3 { try play("roll, worker \(ordinal + 1) of 3") { try roll(ordinal) } }
        try play("eviction") { try evict(1) }
        try play("loss of a node") { try lose(2) }
        for ordinal in [2, 1] { try play("scale-in to \(ordinal)") { try stop(ordinal) } }
        try producer.finish()
        isSending = false
        let ends = try topics.ends(topics.input)
        try wait("every event to be committed") { try topics.committed() == ends }
        try stop(0)
    }

    /// Starts the pod of an ordinal.
    private func start(_ ordinal: Int) throws {
        started += 1
        let state = scratch.appending(path: "state-\(started)").path
        var command =
            [BuiltProgram.linkd, "worker", "-b", topics.bootstrap, "--group", topics.group]
            + ["--input", topics.input, "--output", topics.output, "--state-dir", state]
            + ["--lanes", String(Self.lanes), "--log-format", "json", "--table", try ServedFile.shop.path]
        if overlay == .instances { command += ["--instance", "linkd-\(ordinal)"] }
        let pod = try WorkerProcess(name: "pod-\(started)", command: command, logs: scratch)
        try pod.start()
        while pods.count <= ordinal { pods.append(nil) }
        pods[ordinal] = pod
    }

    /// Ends a pod with SIGTERM, while events still arrive.
    private func stop(_ ordinal: Int) throws {
        guard let pod = pods[ordinal] else { return }
        pods[ordinal] = nil
        try end(pod)
    }

    private func end(_ pod: WorkerProcess) throws {
        pod.requestStop()
        try wait("\(pod.name) to end") { !pod.isRunning }
        try pod.checkEnd()
    }

    /// Replaces a pod by a new version: with a new name before the old one ends, or with the same name after it.
    private func roll(_ ordinal: Int) throws {
        if overlay == .instances { return try evict(ordinal) }
        let old = pods[ordinal]
        try start(ordinal)
        try waitUntilReady()
        if let old { try end(old) }
    }

    /// Ends a pod, and starts it again elsewhere.
    private func evict(_ ordinal: Int) throws {
        try stop(ordinal)
        try start(ordinal)
    }

    /// Kills a pod, and starts it again elsewhere.
    private func lose(_ ordinal: Int) throws {
        try pods[ordinal]?.kill()
        try start(ordinal)
    }

    /// Performs a change, and waits until all workers are ready and have processed what has waited.
    private func play(_ name: String, _ change: () throws -> Void) throws {
        let begin = Self.now()
        try change()
        try waitUntilReady()
        let least = begin + Int64(Self.span)
        try wait("the lag after \(name) to become small") {
            guard Self.now() >= least else { return false }
            let waiting = zip(try topics.ends(topics.input), try topics.committed()).map { $0 - $1 }
            return waiting.allSatisfy { Double($0) < Self.rate / 6 }
        }
        stories.append(Story(name: name, begin: begin, end: Self.now()))
    }

    private func waitUntilReady() throws {
        try wait("the workers to be ready") {
            try pods.allSatisfy { try $0?.hasLogged("ready", lanes: Self.lanes) ?? true }
        }
    }

    /// Sends events at the rate until a condition is true.
    private func wait(_ what: String, _ question: () throws -> Bool) throws {
        let isFulfilled = try becomesTrue(withinSeconds: 150) {
            if isSending {
                try producer.send(upTo: Int((ContinuousClock.now - begun) / .seconds(1) * Self.rate))
                producer.pause(milliseconds: 5)
            } else {
                Thread.sleep(forTimeInterval: 0.005)
            }
            for case .some(let pod) in pods where !pod.isRunning {
                throw RunFailure("\(pod.name) ended unexpectedly\n\(pod.lastLines)")
            }
            return try question()
        }
        if isFulfilled { return }
        let logs = pods.compactMap { pod in pod.map { "\($0.name):\n\($0.lastLines)" } }.joined(separator: "\n")
        throw RunFailure("timed out waiting for \(what)\n\(logs)")
    }

    private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}

/// The pauses in the decisions of the output partitions.
struct StoryPauses {
    /// The name of the story.
    var name: String
    /// The longest pause of each partition, in milliseconds, shortest first.
    var partitions: [Int64]

    /// Finds the pauses of each story: the longest time between two decisions of a partition that ends in the story.
    static func all(_ stories: [StoryRun.Story], decisions: [ReadRecord]) -> [StoryPauses] {
        let times = Dictionary(grouping: decisions, by: \.partition).mapValues { $0.map(\.timestamp).sorted() }
        return stories.map { story in
            let longest = times.values.map { times in
                zip(times, times.dropFirst())
                    .filter { $1 >= story.begin && $1 <= story.end }.map { $1 - $0 }.max() ?? 0
            }
            return StoryPauses(name: story.name, partitions: longest.sorted())
        }
    }

    /// The line of a table: the median of the partitions, and the longest pause.
    var line: String {
        func seconds(_ time: Int64) -> String { "\(time / 1_000).\(time % 1_000 / 100) s" }
        return "| \(name) | \(seconds(partitions[partitions.count / 2])) | \(seconds(partitions.last ?? 0)) |"
    }
}
