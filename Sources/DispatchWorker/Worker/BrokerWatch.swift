package import KafkaClient
internal import SystemThreads

/// A watch that asks the brokers for an answer every 2 s, from before the lanes start until the worker ends.
///
/// It has its own client and thread, because a lane in a call does not see the events of its clients. The lanes report
/// those events, so that the state also names the cause that only they have seen. It says whether any broker answers.
/// `Reachability` says whether all of them do, which is needed only to recognize a call that hangs.
package final class BrokerWatch: Sendable {
    /// The time limit of a request, in milliseconds.
    private static let requestTimeout: Int32 = 2_000
    /// The pause after an answer, in milliseconds.
    private static let pause = 2_000
    /// The pause after a request without an answer, in milliseconds.
    private static let retryPause = 250
    /// The number of failed requests after which a new client is created, which knows only the bootstrap brokers.
    private static let attempts = 3

    private let contact = Monitor(BrokerContact())
    private let thread = StoppableThread(name: "brokers")
    private let configuration: ClientConfiguration
    private let topic: String

    /// Creates a watch that has not started.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the connection.
    ///   - topic: Any topic. A request without a topic would be answered with all topics of the cluster.
    package init(_ configuration: ClientConfiguration, topic: String) {
        self.configuration = configuration
        self.topic = topic
    }

    /// Starts the watch.
    ///
    /// A second call has no effect. Without a thread, the brokers count as reachable.
    package func start() { thread.start { [self] in run() } }

    /// Stops the watch.
    ///
    /// Its thread ends when its request returns.
    package func stop() { thread.stop() }

    /// Records an event of a client of the worker.
    package func report(_ event: ClientEvent) {
        let now = SystemClock.monotonicNanoseconds()
        contact.withLock { $0.report(event, now: now) }
    }

    /// Returns the state of the brokers.
    ///
    /// `now` is in nanoseconds of the monotonic clock.
    package func state(now: UInt64) -> BrokerState { contact.withLock { $0.state(now: now) } }

    /// Returns a Boolean value that indicates whether an error follows from an outage that the log names once.
    func explains(_ code: KafkaErrorCode, now: UInt64) -> Bool {
        contact.withLock { $0.explains(code, now: now) }
    }

    private func run() {
        contact.withLock { $0.started(now: SystemClock.monotonicNanoseconds()) }
        while !thread.isStopped {
            do {
                let admin = try KafkaAdmin(configuration)
                defer { admin.close() }
                ask(admin)
            } catch {
                // The worker has validated the same settings. Without a client, the brokers would count as unreachable
                // for a reason of this process.
                return
            }
        }
    }

    /// Sends requests until some in a row have failed, or until the watch is stopped.
    private func ask(_ admin: KafkaAdmin) {
        var failures = 0
        while failures < Self.attempts, !thread.isStopped {
            let error = failure(of: admin)
            for event in admin.takeEvents() { report(event) }
            let now = SystemClock.monotonicNanoseconds()
            if let error {
                failures += 1
                contact.withLock { $0.failed(error, certificate: admin.certificateProblem) }
            } else {
                failures = 0
                contact.withLock { $0.answered(now: now) }
            }
            _ = thread.sleep(milliseconds: error == nil ? Self.pause : Self.retryPause)
        }
    }

    /// Returns the error of a request that no broker answered, or nil after an answer.
    ///
    /// A refusal of a broker is an answer.
    private func failure(of admin: KafkaAdmin) -> KafkaError? {
        do {
            _ = try admin.metadata(ofTopic: topic, timeoutMilliseconds: Self.requestTimeout)
            return nil
        } catch {
            return error.code.rawValue > 0 ? nil : error
        }
    }
}
