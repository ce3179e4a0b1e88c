import Foundation
@testable import KafkaClient
import TestSupport
import Testing

@testable import DispatchWorker

/// The messages to the service manager.
@Suite struct ServiceStateTests {
    private static let second: UInt64 = 1_000_000_000

    private static func snapshot(_ seconds: UInt64, publishedAt: UInt64? = nil) -> WorkerSnapshot {
        var result = WorkerSnapshot(now: seconds * second)
        let machine = MachineTests.ready()
        result.lanes = [
            LaneView(snapshot: LaneSnapshot(lane: 0, machine: machine, at: (publishedAt ?? seconds) * second))
        ]
        return result
    }

    private static func state(watchdog: Int? = nil) -> ServiceState {
        ServiceState(maxLoopAgeMilliseconds: 60_000, watchdogMilliseconds: watchdog)
    }

    @Test("The start of a worker takes longer while it restores the registry of devices")
    func restoring() {
        var state = Self.state()
        var snapshot = Self.snapshot(1)
        snapshot.devices = RegistryView()
        snapshot.devices?.partitions = 2
        snapshot.devices?.remaining = 7
        let message = ServiceState.Message.restoring("restoring the registry of devices, 7 offsets left")
        #expect(state.messages(for: snapshot, []) == [message])
        #expect(state.messages(for: snapshot, []) == [message])
        snapshot.devices?.restored = 2
        #expect(state.messages(for: snapshot, []) == [])
    }

    @Test("A worker is ready once, stops once, and describes its state")
    func states() {
        var state = Self.state()
        #expect(state.messages(for: Self.snapshot(1), []) == [])
        var ready = Self.snapshot(2)
        ready.isReady = true
        #expect(state.messages(for: ready, []) == [.ready, .status("ready")])
        #expect(state.messages(for: Self.snapshot(3), []) == [])
        #expect(state.messages(for: ready, []) == [])
        let progress = LogEntry(
            .info, "progress", "m", ["records_per_s": 10, "lag": 3, "navigate": 9])
        let outage = LogEntry(
            .error, "brokers.unreachable", "no broker answers", ["cause": "refused", "ms": 5])
        #expect(
            state.messages(for: ready, [progress, outage, LogEntry(.info, "joining", "m")])
                == [.status("records_per_s=10 lag=3"), .status("no broker answers cause=refused")])
        ready.isDraining = true
        #expect(state.messages(for: ready, []) == [.stopping, .status("finishing the work in progress")])
        #expect(state.messages(for: ready, []) == [])
    }

    /// The state of a worker at 100 s and a Boolean value that indicates whether the watchdog is answered.
    struct Liveness: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var publishedAt: UInt64 = 100
        var isReachable = true
        var returnedAt: UInt64?
        var isStalled = false
        var isLive: Bool
    }

    static let cases: [Liveness] = [
        Liveness(testDescription: "a step", isLive: true),
        Liveness(testDescription: "a step in time", publishedAt: 40, isLive: true),
        Liveness(testDescription: "no step", publishedAt: 39, isLive: false),
        Liveness(testDescription: "no step in an outage", publishedAt: 39, isReachable: false, isLive: true),
        Liveness(testDescription: "no step after an outage", publishedAt: 20, returnedAt: 90, isLive: true),
        Liveness(testDescription: "a stall", isStalled: true, isLive: false),
        Liveness(testDescription: "a stall in an outage", isReachable: false, isStalled: true, isLive: true),
    ]

    @Test("The watchdog is answered unless a restart would help", arguments: cases)
    func liveness(state: Liveness) {
        var snapshot = Self.snapshot(100, publishedAt: state.publishedAt)
        snapshot.brokers.isReachable = state.isReachable
        snapshot.brokers.returnedAt = state.returnedAt.map { $0 * Self.second }
        var lag = PartitionLag(lane: 0, partition: MachineTests.partition, lag: 5)
        lag.isStalled = state.isStalled
        snapshot.partitions = [lag]
        var service = Self.state(watchdog: 10_000)
        #expect(service.messages(for: snapshot, []) == (state.isLive ? [.watchdog] : []))
    }

    @Test("The watchdog is answered at half of its time")
    func watchdog() {
        var state = Self.state(watchdog: 10_000)
        let times = (UInt64(1)...12).filter { state.messages(for: Self.snapshot($0), []) == [.watchdog] }
        #expect(times == [1, 6, 11])
    }

    @Test("The longest time of a watchdog is answered at least twice a day")
    func longestWatchdog() {
        var state = Self.state(watchdog: .max)
        let hours = (UInt64(0)...24).filter { state.messages(for: Self.snapshot($0 * 3_600), []) == [.watchdog] }
        #expect(hours == [0, 12, 24])
    }
}

/// The datagrams to systemd.
@Suite struct SystemdNotifierTests {
    @Test("A stop during a reload is the last message")
    func stopDuringReload() throws {
        let name = "linkd-\(UUID().uuidString.prefix(8))"
        let receiver = try DatagramReceiver([0] + Array(name.utf8))
        let notifier = try #require(SystemdNotifier(environment: ["NOTIFY_SOCKET": "@" + name]))
        notifier.ready()
        notifier.reload { notifier.stopping() }
        var messages: [String] = []
        while let message = receiver.next() { messages.append(String(message.prefix(11))) }
        #expect(messages == ["READY=1", "RELOADING=1", "STOPPING=1"])
    }

    private static func messages(_ name: String, _ receiver: DatagramReceiver) throws -> [String] {
        let notifier = try #require(SystemdNotifier(environment: ["NOTIFY_SOCKET": name]))
        notifier.reload { #expect(receiver.next() == nil, "a reload before the start is complete is reported") }
        #expect(notifier.ready() && notifier.watchdog())
        notifier.reload {}
        #expect(notifier.stopping())
        notifier.reload {}
        #expect(notifier.status("lag=3\nREADY=1") && notifier.status(String(repeating: "a", count: 1_000)))
        var result: [String] = []
        while let message = receiver.next() { result.append(message) }
        return result
    }

    private static func check(_ messages: [String]) {
        #expect(messages.count == 7)
        #expect(messages.first == "READY=1" && messages[1] == "WATCHDOG=1")
        #expect(messages[2].hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(messages[3...5] == ["READY=1", "STOPPING=1", "STATUS=lag=3"])
        #expect(messages.last == "STATUS=" + String(repeating: "a", count: 256))
    }

    @Test("Each message is one datagram, to a path or to an abstract name")
    func datagrams() throws {
        let unique = "linkd-\(UUID().uuidString.prefix(8))"
        let path = FileManager.default.temporaryDirectory.appending(path: unique).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        Self.check(try Self.messages(path, try DatagramReceiver(Array(path.utf8))))
        Self.check(try Self.messages("@" + unique, try DatagramReceiver([0] + Array(unique.utf8))))
    }

    static let wrongNames = ["relative", "/no/such/socket", "@linkd-nobody", "/" + String(repeating: "a", count: 200)]

    @Test("A message to a wrong name is not sent", arguments: wrongNames)
    func wrongName(name: String) throws {
        let notifier = try #require(SystemdNotifier(environment: ["NOTIFY_SOCKET": name]))
        #expect(!notifier.ready())
        #expect(!notifier.status("s"))
    }

    @Test("The time of the watchdog applies to the process that systemd has started")
    func watchdog() {
        let name = ["NOTIFY_SOCKET": "@linkd"]
        func time(_ variables: [String: String]) -> Int? {
            SystemdNotifier(environment: name.merging(variables) { $1 })?.watchdogMilliseconds
        }
        #expect(SystemdNotifier(environment: [:]) == nil)
        #expect(SystemdNotifier(environment: ["NOTIFY_SOCKET": ""]) == nil)
        #expect(time([:]) == nil)
        #expect(time(["WATCHDOG_USEC": "30000000"]) == 30_000)
        #expect(time(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "\(getpid())"]) == 30_000)
        #expect(time(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"]) == nil)
        #expect(time(["WATCHDOG_USEC": "soon"]) == nil)
    }
}
