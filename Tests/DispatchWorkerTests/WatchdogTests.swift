@testable import DispatchWorker
import Foundation
@testable import KafkaClient
import Synchronization
import SystemThreads
import TestSupport
import Testing

/// The conditions for a hang: only the innermost call, and only while brokers answer.
@Suite struct HangDetectorTests {
    private static let second: UInt64 = 1_000_000_000

    /// Checks every 100 ms for some seconds.
    ///
    /// Returns the first hang and its time.
    private static func watch(
        _ detector: inout HangDetector, _ entries: [CallWatch.Entry], seconds: Double, isReachable: Bool = true
    ) -> (hang: HangDetector.Hang, after: Double)? {
        for moment in 1...Int(seconds * 10) {
            if let hang = detector.check(entries, passed: second / 10, isReachable: isReachable) {
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

    @Test("A call hangs after its limit and is reported with its outer calls")
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

    @Test("Time without a broker is not charged, and earlier time still counts")
    func outage() {
        var detector = Self.detector()
        let calls = Self.entries(.commitTransaction)
        #expect(Self.watch(&detector, calls, seconds: 20) == nil)
        #expect(Self.watch(&detector, calls, seconds: 7_200, isReachable: false) == nil)
        #expect(Self.watch(&detector, calls, seconds: 15) == nil)
        #expect(Self.watch(&detector, calls, seconds: 1)?.after == 0.1)
    }

    @Test("An outer call is charged again after its nested call has returned")
    func nesting() {
        var detector = Self.detector()
        let close = Self.entries(.consumerClose)
        #expect(Self.watch(&detector, close, seconds: 30) == nil)
        let inner = close + Self.entries(.rebalanceCallback, .commitTransaction, from: 2)
        #expect(Self.watch(&detector, inner, seconds: 30) == nil)
        #expect(Self.watch(&detector, close, seconds: 5) == nil)
        #expect(Self.watch(&detector, close, seconds: 1)?.hang.call == .consumerClose)
    }

    @Test("Successive calls that return do not hang, and a handler that repeats calls has a longer limit")
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
        "An unmet need is a hang while brokers answer, but not in an outage")
    func unmetNeeds() {
        var detector = Self.detector()
        let unmet = CallWatch.UnmetNeed(need: .committedOffsets, number: 900, began: 0)
        var found: HangDetector.Hang?
        for moment in 0..<1_400 where found == nil {
            let calls = moment % 100 == 0 ? [] : Self.entries(.committed, from: UInt64(moment / 100))
            found = detector.check(calls, unmetNeeds: [unmet], passed: Self.second / 10, isReachable: moment >= 650)
        }
        #expect(
            found
                == HangDetector.Hang(call: .committed, outer: [], milliseconds: 70_100, need: .committedOffsets))
        #expect(detector.check([], unmetNeeds: [], passed: Self.second, isReachable: true) == nil)
        let other = CallWatch.UnmetNeed(need: .membership, number: 901, began: 0)
        for _ in 0..<2_999 {
            #expect(detector.check([], unmetNeeds: [other], passed: Self.second / 10, isReachable: true) == nil)
        }
    }

    @Test("A process that was suspended for an hour is charged for one interval")
    func stoppedProcess() {
        var detector = Self.detector()
        let calls = Self.entries(.flush)
        #expect(detector.check(calls, passed: 3_600 * Self.second, isReachable: true) == nil)
        #expect(Self.watch(&detector, calls, seconds: 30) == nil)
    }
}

/// The request of signals, by their times.
@Suite struct SignalRecordTests {
    static let cases: [(milliseconds: [UInt64], request: StopRequest)] = [
        ([], .none), ([0], .drain), ([5_000], .drain), ([5_000, 5_000], .drain), ([5_000, 5_999], .drain),
        ([5_000, 5_300, 5_600, 5_999], .drain), ([5_000, 6_000], .end), ([5_000, 5_600, 6_001], .end),
        ([5_000, 90_000], .end),
    ]

    @Test("Signals within a second of the first are one request, and a later one forces the end", arguments: cases)
    func requests(milliseconds: [UInt64], request: StopRequest) {
        let record = SignalRecord()
        for (index, time) in milliseconds.enumerated() {
            #expect(record.stop(by: index == 0 ? 15 : 2, at: time * 1_000_000) == (index == 0))
        }
        #expect(record.number == (milliseconds.isEmpty ? nil : 15))
        #expect(record.request == request)
    }

    @Test("SIGHUP is counted and does not request a stop")
    func hangUp() {
        let record = SignalRecord()
        record.hangUp()
        record.hangUp()
        #expect(record.hangups == 2)
        #expect(record.request == .none)
    }

    @Test("SIGQUIT is counted, and the last of SIGUSR1 and SIGUSR2 counts")
    func operatorRequests() {
        let record = SignalRecord()
        #expect(record.quits == 0)
        #expect(record.isPaused == false)
        record.quit()
        record.pause()
        record.pause()
        #expect(record.quits == 1)
        #expect(record.isPaused == true)
        record.resume()
        #expect(record.isPaused == false)
        #expect(record.hangups == 0)
        #expect(record.request == .none)
    }
}

/// Waits of the worker are independent of the time of day.
@Suite struct MonotonicTests {
    @Test("A wait lasts until its timeout and returns at once if the value is present")
    func monitor() {
        let monitor = Monitor(0)
        let began = ContinuousClock.now
        #expect(monitor.wait(milliseconds: 60, until: { $0 == 1 ? true : nil }) == nil)
        #expect(ContinuousClock.now - began >= .milliseconds(60))
        monitor.signal { $0 = 1 }
        #expect(monitor.wait(milliseconds: 60_000, until: { $0 == 1 ? true : nil }) == true)
    }

    #if os(Linux)
    @Test("The kernel waits with the monotonic clock, so changes to the time of day do not move deadlines")
    func kernelWait() throws {
        let monitor = Monitor(false)
        let thread = Monitor("")
        SystemThread.start("test") {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            thread.signal { $0 = link.flatMap { $0.split(separator: "/").last }.map(String.init) ?? "none" }
            _ = monitor.wait(milliseconds: 60_000) { $0 ? true : nil }
        }
        defer { monitor.signal { $0 = true } }
        let name = try #require(thread.wait(milliseconds: 20_000) { $0.isEmpty ? nil : $0 })
        var operation: UInt64?
        let isWaiting = becomesTrue(withinSeconds: 20) {
            operation = Self.futexOperation(name)
            if operation == nil { SystemClock.sleep(milliseconds: 5) }
            return operation != nil
        }
        try #require(isWaiting)
        // FUTEX_CLOCK_REALTIME is 256.
        #expect(operation.map { $0 & 256 } == 0)
    }

    /// Returns the operation of the futex call in which a thread waits with a deadline, or nil if it is in none.
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

    @Test("The time of day is read only in the expected files, and no wait depends on it")
    func sources() throws {
        var users: Set<String> = []
        for file in try Checkout.trackedFiles() where ["swift", "h", "c"].contains(file.suffix) {
            guard file.path.hasPrefix("Sources/"), let text = file.text else { continue }
            let words = ["CLOCK_REALTIME", "gettimeofday", "usleep(", "PTHREAD_COND_INITIALIZER"]
            if words.contains(where: text.contains) { users.insert(file.path) }
        }
        #expect(users == ["Sources/DispatchWorker/System/SystemClock.swift"])
    }
}
