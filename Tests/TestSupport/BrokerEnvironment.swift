import Foundation

/// Where the tests that need a broker find one, and names that no other run uses.
package enum BrokerEnvironment {
    /// The list for `bootstrap.servers`, from `KAFKA_BOOTSTRAP_SERVERS`; nil when no broker is there for tests.
    package static var bootstrapServers: String? {
        let value = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"] ?? ""
        return value.isEmpty ? nil : value
    }

    /// A listener of that broker which tells clients to come back to another port, and that port, where a proxy may
    /// stand; from `LINKD_TEST_PROXIED` as `PORT:PORT`, nil when the broker has none.
    package static var proxied: (listener: UInt16, proxy: UInt16)? {
        let ports = (ProcessInfo.processInfo.environment["LINKD_TEST_PROXIED"] ?? "").split(separator: ":")
        guard ports.count == 2, let listener = UInt16(ports[0]), let proxy = UInt16(ports[1]) else { return nil }
        return (listener, proxy)
    }

    /// Whether tests that need a broker can run.
    package static var hasBroker: Bool { bootstrapServers != nil }

    /// A name that begins with `stem` and was never used before.
    package static func uniqueName(_ stem: String) -> String {
        "\(stem)-\(String(UInt64.random(in: .min ... .max), radix: 16))"
    }
}

/// Runs `body` on a thread of its own: calls into librdkafka block, and Swift's pool of threads must not.
///
/// The task stays the same, so what fails inside is reported for the test that runs.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(ThreadExecutor()) { try body() }
}

/// Runs every job on a new thread.
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = Thread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}

/// Asks until the answer is yes or the time is over; returns the last answer.
///
/// The question itself should wait a little.
package func waits(seconds: Double, _ question: () throws -> Bool) rethrows -> Bool {
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .seconds(seconds) {
        if try question() { return true }
    }
    return try question()
}
