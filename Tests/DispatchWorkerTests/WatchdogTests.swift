import DispatchWorker
import Foundation
import KafkaClient
import Synchronization
import TestSupport
import Testing

/// When a call counts as hanging: only the innermost one, only while brokers answer.
@Suite struct HangDetectorTests {
    private static let second: UInt64 = 1_000_000_000

    /// Looks every 100 ms for some seconds; returns the first hang and when it was found.
    private static func watch(
        _ detector: inout HangDetector, _ entries: [CallWatch.Entry], seconds: Double, isReachable: Bool = true
    ) -> (hang: HangDetector.Hang, after: Double)? {
        for moment in 1...Int(seconds * 10) {
            if let hang = detector.look(at: entries, passed: second / 10, isReachable: isReachable) {
                return (hang, Double(moment) / 10)
            }
        }
        return nil
    }

    private static func entries(_ calls: LibraryCall..., from number: UInt64 = 1) -> [CallWatch.Entry] {
        calls.enumerated().map { CallWatch.Entry(call: $1, number: number + UInt64($0), began: 0) }
    }

    private static func detector() -> HangDetector {
        HangDetector(limit: 35 * second, callbackLimit: 300 * second)
    }

    @Test("A call hangs after its bound, and is named with the calls around it")
    func bound() {
        var detector = Self.detector()
        let calls = Self.entries(.consumerClose, .rebalanceCallback, .sendOffsets)
        #expect(Self.watch(&detector, calls, seconds: 35) == nil)
        let found = Self.watch(&detector, calls, seconds: 1)
        #expect(
            found?.hang
                == HangDetector.Hang(
                    call: .sendOffsets, outer: [.consumerClose, .rebalanceCallback], milliseconds: 35_100))
    }

    @Test("Time without a broker is no hang, however long; what was spent before counts on")
    func outage() {
        var detector = Self.detector()
        let calls = Self.entries(.commitTransaction)
        #expect(Self.watch(&detector, calls, seconds: 20) == nil)
        #expect(Self.watch(&detector, calls, seconds: 7_200, isReachable: false) == nil)
        #expect(Self.watch(&detector, calls, seconds: 15) == nil)
        #expect(Self.watch(&detector, calls, seconds: 1)?.after == 0.1)
    }

    @Test("The call around a nested one goes on with its own time when the inner one has returned")
    func nesting() {
        var detector = Self.detector()
        let close = Self.entries(.consumerClose)
        #expect(Self.watch(&detector, close, seconds: 30) == nil)
        let inner = close + Self.entries(.rebalanceCallback, .commitTransaction, from: 2)
        #expect(Self.watch(&detector, inner, seconds: 30) == nil)
        #expect(Self.watch(&detector, close, seconds: 5) == nil)
        #expect(Self.watch(&detector, close, seconds: 1)?.hang.call == .consumerClose)
    }

    @Test("Calls that return are no hang, one after another; a handler that asks again and again is given longer")
    func callsThatReturn() {
        var detector = Self.detector()
        for number in 0..<20 {
            let calls =
                Self.entries(.consumerPoll, .rebalanceCallback) + Self.entries(.committed, from: UInt64(10 + number))
            #expect(Self.watch(&detector, calls, seconds: 10) == nil)
        }
        let callback = Self.entries(.consumerPoll, .rebalanceCallback)
        #expect(Self.watch(&detector, callback, seconds: 300) == nil)
        #expect(Self.watch(&detector, callback, seconds: 1)?.hang.call == .rebalanceCallback)
    }

    @Test(
        "What is asked for in vain while brokers answer is a hang, though every call returns; in an outage it is none")
    func lacks() {
        var detector = Self.detector()
        let lack = CallWatch.Lack(need: .committedOffsets, number: 900, began: 0)
        var found: HangDetector.Hang?
        for moment in 0..<1_400 where found == nil {
            let calls = moment % 100 == 0 ? [] : Self.entries(.committed, from: UInt64(moment / 100))
            found = detector.look(at: calls, lacks: [lack], passed: Self.second / 10, isReachable: moment >= 650)
        }
        #expect(
            found
                == HangDetector.Hang(call: .committed, outer: [], milliseconds: 70_100, need: .committedOffsets))
        #expect(detector.look(at: [], lacks: [], passed: Self.second, isReachable: true) == nil)
        let other = CallWatch.Lack(need: .membership, number: 901, began: 0)
        for _ in 0..<2_999 {
            #expect(detector.look(at: [], lacks: [other], passed: Self.second / 10, isReachable: true) == nil)
        }
    }

    @Test("A process that was stopped for an hour has spent a moment, not an hour")
    func stoppedProcess() {
        var detector = Self.detector()
        let calls = Self.entries(.flush)
        #expect(detector.look(at: calls, passed: 3_600 * Self.second, isReachable: true) == nil)
        #expect(Self.watch(&detector, calls, seconds: 30) == nil)
    }
}

/// What signals ask for, by their times.
@Suite struct SignalRecordTests {
    static let cases: [(milliseconds: [UInt64], wish: StopWish)] = [
        ([], .none), ([0], .drain), ([5_000], .drain), ([5_000, 5_000], .drain), ([5_000, 5_999], .drain),
        ([5_000, 5_300, 5_600, 5_999], .drain), ([5_000, 6_000], .end), ([5_000, 5_600, 6_001], .end),
        ([5_000, 90_000], .end),
    ]

    @Test("Signals within a second of the first are one wish, a later one forces the end", arguments: cases)
    func wishes(milliseconds: [UInt64], wish: StopWish) {
        let record = SignalRecord()
        for time in milliseconds { record.stop(at: time * 1_000_000) }
        #expect(record.wish == wish)
    }

    @Test("SIGHUP is counted and is no wish to stop")
    func hangUp() {
        let record = SignalRecord()
        record.hangUp()
        record.hangUp()
        #expect(record.hangups == 2)
        #expect(record.wish == .none)
    }
}

/// No wait of the worker's own depends on the time of day.
@Suite struct MonotonicTests {
    @Test("A wait lasts as long as it says, and is over at once when the value is there")
    func monitor() {
        let monitor = Monitor(0)
        let began = ContinuousClock.now
        #expect(monitor.wait(milliseconds: 60, until: { $0 == 1 ? true : nil }) == nil)
        #expect(ContinuousClock.now - began >= .milliseconds(60))
        monitor.signal { $0 = 1 }
        #expect(monitor.wait(milliseconds: 60_000, until: { $0 == 1 ? true : nil }) == true)
    }

    #if os(Linux)
    @Test("The kernel waits by the monotonic clock: a step of the time of day moves no deadline")
    func kernelWait() throws {
        let monitor = Monitor(false)
        let thread = Monitor("")
        SystemThread.start {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            thread.signal { $0 = link.flatMap { $0.split(separator: "/").last }.map(String.init) ?? "none" }
            _ = monitor.wait(milliseconds: 60_000) { $0 ? true : nil }
        }?.detach()
        defer { monitor.signal { $0 = true } }
        let name = try #require(thread.wait(milliseconds: 20_000) { $0.isEmpty ? nil : $0 })
        var operation: UInt64?
        let isWaiting = waits(seconds: 20) {
            operation = Self.futexOperation(name)
            if operation == nil { SystemClock.sleep(milliseconds: 5) }
            return operation != nil
        }
        try #require(isWaiting)
        // FUTEX_CLOCK_REALTIME is 256.
        #expect(operation.map { $0 & 256 } == 0)
    }

    /// The operation of the futex call that a thread waits in with a deadline; nil when it is in none.
    private static func futexOperation(_ thread: String) -> UInt64? {
        guard let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/syscall", encoding: .utf8) else {
            return nil
        }
        let fields = text.split(separator: " ")
        #if arch(x86_64)
        let futex = "202"
        #else
        let futex = "98"
        #endif
        // Number, address, operation, value, deadline.
        guard fields.count > 4, fields[0] == futex, fields[4] != "0x0" else { return nil }
        return UInt64(fields[2].dropFirst(2), radix: 16)
    }
    #endif

    @Test("The clock of the time of day is named where texts need it, and nothing sleeps by it")
    func sources() throws {
        var users: Set<String> = []
        for file in try Checkout.trackedFiles() where ["swift", "h", "c"].contains(file.suffix) {
            guard file.path.hasPrefix("Sources/"), let text = file.text else { continue }
            let words = ["CLOCK_REALTIME", "gettimeofday", "usleep(", "PTHREAD_COND_INITIALIZER"]
            if words.contains(where: text.contains) { users.insert(file.path) }
        }
        #expect(
            users == ["Sources/DispatchWorker/System/SystemClock.swift", "Sources/LinkdCommands/Platform.swift"])
    }
}
