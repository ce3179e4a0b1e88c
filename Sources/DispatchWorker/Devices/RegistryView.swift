internal import DeviceRegistry

/// The facts about the registry's topic that a worker needs to read it.
struct RegistryFacts: Sendable, Equatable {
    /// The id of the cluster, or an empty text if no broker reports it.
    var cluster = ""
    /// The id of the topic, or an empty text with a librdkafka before 2.3.
    var topicID = ""
    /// The numbers of the partitions.
    var partitions: [Int32] = []
    /// `delete.retention.ms` of the topic in seconds, or nil if the brokers do not report it.
    var retentionSeconds: Int64?

    /// Kafka's default of `delete.retention.ms` in seconds.
    private static let defaultRetention: Int64 = 86_400

    /// The time in seconds for which the topic keeps deletions, or Kafka's default if it is unknown.
    var retention: Int64 { retentionSeconds ?? Self.defaultRetention }
}

/// The state of the local copy of the registry.
package struct RegistryView: Sendable, Equatable {
    /// The number of partitions, and how many of them were read up to the end that they had at the start.
    package var partitions = 0
    package var restored = 0
    /// The records that were read since the start.
    package var records: Int64 = 0
    /// The offsets that are left until all partitions are restored.
    package var remaining: Int64 = 0
    /// The devices in the copy.
    package var devices = 0
    /// The size of the copy's file, in bytes.
    package var bytes = 0
    /// The records since the start that are no valid device.
    package var malformed: UInt64 = 0
    /// The time of the start, in nanoseconds of the monotonic clock.
    package var startedAt: UInt64 = 0
    /// The last time at which everything up to the stable end was read, in nanoseconds of the monotonic clock, or
    /// nil before the first time.
    package var currentAt: UInt64?

    /// A Boolean value that indicates whether lanes can decide.
    package var isRestored: Bool { partitions > 0 && restored == partitions }

    /// Returns the records per second since the start.
    package func rate(now: UInt64) -> Double {
        let seconds = Double(now.saturatingSubtract(startedAt)) / 1e9
        return seconds > 0 ? Double(records) / seconds : 0
    }
}

/// The last time up to which everything in the registry's topic was read.
///
/// While records arrive, the reader never reaches the newest ends of the partitions, but it reaches the ends of an
/// earlier question.
package struct RegistryAge: Sendable {
    /// The ends of all partitions at one time.
    package struct Question: Sendable, Equatable {
        /// The ends by partition.
        package var ends: [Int32: Int64]
        /// The time in milliseconds since 1970.
        package var wall: Int64
        /// The time in nanoseconds of the monotonic clock.
        package var at: UInt64

        fileprivate func isReached(by next: [Int32: Int64]) -> Bool {
            ends.allSatisfy { next[$0.key] ?? 0 >= $0.value }
        }
    }

    /// The last question whose ends were not reached yet, or nil before the first one.
    private var open: Question?

    /// Creates an age without questions.
    package init() {}

    /// Returns the newest question whose ends are reached, or nil.
    ///
    /// - Parameters:
    ///   - next: The next offsets by partition.
    ///   - asked: The question of now, with its answer.
    package mutating func reached(by next: [Int32: Int64], _ asked: Question) -> Question? {
        let reached = [asked, open].compactMap(\.self).first { $0.isReached(by: next) }
        if reached != nil || open == nil { open = asked }
        return reached
    }
}

extension WorkerExit {
    /// Creates the exit for a copy of the registry that cannot be used.
    init(_ error: RegistryStoreError) {
        let code: WorkerExitCode =
            switch error {
            case .tooManyDevices, .tooManyAtOnce: .configuration
            default: .tryAgain
            }
        self.init(code, error.reason, advice: error.advice)
    }
}
