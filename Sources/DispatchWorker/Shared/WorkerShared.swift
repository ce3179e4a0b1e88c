internal import CPlatform
internal import Synchronization

/// The state that the lanes of a process share: the stop request, the counter of `stop.after`, and the first exit.
package final class WorkerShared: Sendable {
    /// The counter of `stop.after`.
    package let stop: StopCounter
    /// The time and CPU for the report.
    package let meter = RunMeter()
    package let log: Log
    /// The watch of the brokers, or nil without one.
    package let brokers: BrokerWatch?
    /// The watch of the group, or nil without one.
    package let group: GroupWatch?
    /// The local copy of the registry of devices, or nil without a registry.
    package let devices: RegistryCopy?
    /// The lines of librdkafka that were logged.
    let library = Mutex(RepeatedLines(interval: 300_000_000_000))
    /// The failed calls that the log has, each once in 30 s for all lanes.
    let failedCalls = Mutex(RepeatedLines(interval: 30_000_000_000))
    /// The limit on dead letters of the process.
    let deadLetters = Mutex(DeadLetterMajority())
    /// The requests of an operator, which arrive as signals.
    package let requests = SignalRequests()
    private let draining = Atomic<Bool>(false)
    private let abandoned = Atomic<Bool>(false)
    private let paused = Atomic<Bool>(false)
    private let exit = Mutex<WorkerExit?>(nil)

    /// Creates the shared state of a worker.
    package init(
        stopAfter: Int64, log: Log, brokers: BrokerWatch? = nil, group: GroupWatch? = nil,
        devices: RegistryCopy? = nil
    ) {
        stop = StopCounter(target: stopAfter)
        self.log = log
        self.brokers = brokers
        self.group = group
        self.devices = devices
    }

    /// A Boolean value that indicates whether a stop was requested.
    package var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Requests that the lanes end.
    ///
    /// Returns true for the first request.
    @discardableResult
    package func drain() -> Bool { !draining.exchange(true, ordering: .relaxed) }

    /// A Boolean value that indicates whether the process ends without waiting for its lanes.
    package var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

    /// Requests that the process end without waiting for its lanes.
    ///
    /// Returns true for the first request.
    package func abandon() -> Bool { !abandoned.exchange(true, ordering: .relaxed) }

    /// A Boolean value that indicates whether the lanes do not consume.
    package var isPaused: Bool { paused.load(ordering: .relaxed) }

    /// Requests that the lanes stop consuming, or that they consume again.
    package func setPaused(_ isPaused: Bool) { paused.store(isPaused, ordering: .relaxed) }

    /// Records the exit of a lane and requests that the others end.
    ///
    /// The process ends with the first exit.
    package func fail(_ reason: WorkerExit) {
        exit.withLock { if $0 == nil { $0 = reason } }
        drain()
    }

    /// The first exit of a lane, or nil.
    package var failure: WorkerExit? { exit.withLock { $0 } }
}

/// The requests of an operator, counted by the watchdog.
///
/// The owner of a request compares the count with the one it has answered.
package final class SignalRequests: Sendable {
    private let statusCount = Atomic<Int>(0)
    private let reloadCount = Atomic<Int>(0)

    /// Creates counts that are zero.
    package init() {}

    /// The number of requests to log the status (SIGQUIT).
    package var status: Int { statusCount.load(ordering: .relaxed) }

    /// The number of requests to load the tables again (SIGHUP).
    package var reload: Int { reloadCount.load(ordering: .relaxed) }

    /// Copies the numbers of received signals.
    package func update(status: Int, reload: Int) {
        statusCount.store(status, ordering: .relaxed)
        reloadCount.store(reload, ordering: .relaxed)
    }
}

/// The counter of `stop.after`, from which all lanes of the process reserve a quota of records.
package final class StopCounter: Sendable {
    private let target: Int64
    private let free: Atomic<Int64>
    private let done: Atomic<Int64>

    /// Creates a counter with a limit of `target` records, or without a limit if it is 0.
    package init(target: Int64) {
        self.target = target
        free = Atomic(target)
        done = Atomic(0)
    }

    /// A Boolean value that indicates whether there is a limit.
    package var isLimited: Bool { target > 0 }

    /// A Boolean value that indicates whether no record can be reserved now.
    ///
    /// Records that were processed without a commit may be released later.
    package var isExhausted: Bool { isLimited && free.load(ordering: .relaxed) <= 0 }

    /// Reserves up to `count` records.
    ///
    /// Returns the number reserved.
    package func reserve(upTo count: Int) -> Int {
        guard isLimited else { return count }
        while true {
            let left = free.load(ordering: .relaxed)
            let reserved = min(Int64(count), left)
            if reserved <= 0 { return 0 }
            if free.compareExchange(expected: left, desired: left - reserved, ordering: .relaxed).exchanged {
                return Int(reserved)
            }
        }
    }

    /// Releases records that were not processed or not committed.
    package func release(_ count: Int) {
        if isLimited && count > 0 { free.wrappingAdd(Int64(count), ordering: .relaxed) }
    }

    /// Counts committed records.
    ///
    /// Returns a Boolean value that indicates whether the limit is reached.
    package func commit(_ count: Int) -> Bool {
        let (_, total) = done.wrappingAdd(Int64(count), ordering: .relaxed)
        return isLimited && total >= target
    }

    /// A Boolean value that indicates whether the limit is reached.
    package var isReached: Bool { isLimited && done.load(ordering: .relaxed) >= target }
}

/// A meter of the elapsed time and the CPU time from the first record to the last commit.
package final class RunMeter: Sendable {
    private let begun = Atomic<Bool>(false)
    private let span: Mutex<Span>

    private struct Span {
        var firstAt: UInt64 = 0
        var firstCPU: Int64 = 0
        var lastAt: UInt64 = 0
        var lastCPU: Int64 = 0
    }

    /// Creates a meter without measurements.
    package init() { span = Mutex(Span()) }

    /// Records that a lane received records.
    package func received(now: UInt64) {
        if begun.load(ordering: .relaxed) { return }
        if begun.exchange(true, ordering: .relaxed) { return }
        let cpu = linkd_process_cpu_microseconds()
        span.withLock {
            $0.firstAt = now
            $0.firstCPU = cpu
        }
    }

    /// Records that a commit returned.
    package func committed(now: UInt64) {
        let cpu = linkd_process_cpu_microseconds()
        span.withLock {
            guard now >= $0.lastAt else { return }
            $0.lastAt = now
            $0.lastCPU = cpu
        }
    }

    /// The elapsed and CPU seconds from the first record to the last commit, or zeros if nothing was committed.
    package var seconds: (elapsed: Double, cpu: Double) {
        span.withLock {
            guard $0.lastAt > $0.firstAt && $0.firstAt > 0 else { return (0, 0) }
            return (Double($0.lastAt - $0.firstAt) / 1e9, Double($0.lastCPU - $0.firstCPU) / 1e6)
        }
    }
}
