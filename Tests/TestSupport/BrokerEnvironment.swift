import Foundation

/// The broker for tests, and unique names for topics and groups.
package enum BrokerEnvironment {
    /// The value of `bootstrap.servers` from `KAFKA_BOOTSTRAP_SERVERS`, or nil if there is no broker for tests.
    package static var bootstrapServers: String? {
        let value = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"] ?? ""
        return value.isEmpty ? nil : value
    }

    /// A listener of that broker that directs clients to another port, for a proxy, and that port.
    ///
    /// They come from `LINKD_TEST_PROXIED` as `PORT:PORT`, or are nil.
    package static var proxied: (listener: UInt16, proxy: UInt16)? {
        let ports = (ProcessInfo.processInfo.environment["LINKD_TEST_PROXIED"] ?? "").split(separator: ":")
        guard ports.count == 2, let listener = UInt16(ports[0]), let proxy = UInt16(ports[1]) else { return nil }
        return (listener, proxy)
    }

    /// A Boolean value that indicates whether tests that need a broker can run.
    package static var hasBroker: Bool { bootstrapServers != nil }

    /// Returns a unique name that begins with `stem`.
    package static func uniqueName(_ stem: String) -> String {
        "\(stem)-\(String(UInt64.random(in: .min ... .max), radix: 16))"
    }
}

/// Runs `body` on a new thread, because calls into librdkafka block and must not occupy Swift's thread pool.
///
/// The function stays in the current task, so that failures are reported for the current test.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(ThreadExecutor()) { try body() }
}

/// Runs an asynchronous body on new threads, so that blocking calls in it do not occupy Swift's thread pool.
///
/// The function stays in the current task.
package func onThreads(_ body: @Sendable () async throws -> Void) async throws {
    try await withTaskExecutorPreference(ThreadExecutor()) { try await body() }
}

/// An executor that runs every job on a new thread.
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = Thread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}

/// Evaluates a condition until it is true or the time is over, and returns its last value.
///
/// It is evaluated every 20 ms, because a loop without a pause takes a core from what it waits for.
package func becomesTrue(withinSeconds seconds: Double, _ condition: () throws -> Bool) rethrows -> Bool {
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .seconds(seconds) {
        if try condition() { return true }
        Thread.sleep(forTimeInterval: 0.02)
    }
    return try condition()
}
