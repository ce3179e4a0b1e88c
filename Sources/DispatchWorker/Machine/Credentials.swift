/// The state of the credentials at the brokers.
///
/// A broker that refuses them repeats the error at least every 30 s. librdkafka suppresses an equal error of the same
/// connection for that time and tries to connect every second.
package enum Credentials: Sendable, Equatable {
    /// No broker refuses them.
    case accepted
    /// They have been refused since `since`, most recently at `last`.
    case refused(since: UInt64, last: UInt64)

    /// The time after which a refusal counts as a new one: three times librdkafka's suppression of equal errors.
    static var silenceNanoseconds: UInt64 { 90_000_000_000 }

    /// Records a refusal.
    ///
    /// Returns the time of the first one.
    mutating func refuse(now: UInt64) -> UInt64 {
        var since = now
        if case .refused(let first, let last) = self, now.saturatingSubtract(last) < Self.silenceNanoseconds {
            since = first
        }
        self = .refused(since: since, last: now)
        return since
    }
}
