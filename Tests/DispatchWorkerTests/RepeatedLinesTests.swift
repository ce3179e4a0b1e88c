@testable import DispatchWorker
@testable import KafkaClient
import LinkDecider
import Synchronization
import TestSupport
import Testing

/// The filter of repeated lines, with given times.
@Suite struct RepeatedLinesTests {
    private static let minute: UInt64 = 60_000_000_000

    /// Two lines and a Boolean value that indicates whether they count as the same.
    static let pairs: [(first: String, second: String, isSame: Bool)] = [
        ("127.0.0.1:9092/1: 3 request(s) timed out", "127.0.0.1:9093/2: 11 request(s) timed out", true),
        ("Topic 'in' partition 3 lags", "Topic 'other' partition 12 lags", true),
        ("broker's answer 1", "broker's answer 2", true), ("Fetch failed", "Commit failed", false),
        ("Topic 'in' is missing", "Topic 'in' has moved", false),
        (String(repeating: "a", count: 512) + "b", String(repeating: "a", count: 512) + "c", true),
    ]

    @Test("Lines that differ in numbers and quoted names are the same", arguments: pairs)
    func keys(first: String, second: String, isSame: Bool) {
        var lines = RepeatedLines(interval: 5 * Self.minute)
        #expect(lines.admit(facility: "F", text: first, now: 1) == 1)
        #expect(lines.admit(facility: "F", text: second, now: 2) == (isSame ? nil : 1))
        #expect(lines.admit(facility: "G", text: first, now: 3) == 1)
    }

    @Test("The same line is logged again after 5 minutes, with the number of lines that it stands for")
    func interval() {
        var lines = RepeatedLines(interval: 5 * Self.minute)
        #expect(lines.admit(facility: "F", text: "a", now: 0) == 1)
        for time in UInt64(1)..<5 { #expect(lines.admit(facility: "F", text: "a", now: time * Self.minute) == nil) }
        #expect(lines.admit(facility: "F", text: "a", now: 5 * Self.minute) == 5)
        #expect(lines.admit(facility: "F", text: "a", now: 6 * Self.minute) == nil)
        #expect(lines.admit(facility: "F", text: "a", now: 20 * Self.minute) == 2)
    }

    @Test("A client that logs a different line each time fills neither the log nor the memory")
    func flood() {
        var lines = RepeatedLines(interval: 5 * Self.minute)
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        var logged = 0
        for index in 0..<10_000 {
            let text = String([letters[index / 676 % 26], letters[index / 26 % 26], letters[index % 26]])
            if lines.admit(facility: "F", text: text, now: UInt64(index)) != nil { logged += 1 }
        }
        #expect(logged <= RepeatedLines.capacity + 1)
        #expect(lines.admit(facility: "F", text: "later", now: 6 * Self.minute) == 1)
    }

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    @Test("A call that fails again and again in two lanes has one line in 30 s, and another failure its own at once")
    func failedCalls() throws {
        let world = SimulatedWorld(seed: 7, callsPerFault: 0, lanes: 0, partitions: 1, isStable: true)
        var configuration = WorkerConfiguration(bootstrap: [])
        configuration.input = .topics([world.input])
        configuration.outputs = OutputTopics("out")
        let lines = Lines()
        let log = Log(level: .info, format: .json) { line in lines.all.withLock { $0.append(line) } }
        let shared = WorkerShared(stopAfter: 0, log: log)
        let lanes = try [0, 1].map { number in
            Lane(
                number: number, policy: world.policy, topics: LaneTopics(configuration),
                commitBytes: configuration.commit.bytes,
                worker: WorkerIdentity(group: "g", instance: "i", version: "1"),
                environment: SimulatedEnvironment(
                    world, SimulatedLife(), LaneIdentity(group: "g", instance: "i", isStable: true, lane: number)),
                processing: RecordProcessor(try LaneHeaderTests.configuration()), shared: shared)
        }
        for second in UInt64(0)..<65 {
            let now = second * 1_000_000_000
            let lane = lanes[Int(second % 2)]
            lane.machine.failed(.fetchCommitted, KafkaError(code: .timedOut), now: now)
            if second == 40 { lane.machine.failed(.subscribe, KafkaError(code: .timedOut), now: now) }
            lane.report(now)
        }
        log.close()
        let written = lines.all.withLock { $0 }
        #expect(written.allSatisfy { $0.contains(#""event":"failed""#) })
        #expect(written.map { $0.contains("subscribe: ") } == [false, false, true, false], "\(written)")
        #expect(written.map { $0.contains(#""count":30"#) } == [false, true, false, true], "\(written)")
    }
}
