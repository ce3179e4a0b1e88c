internal import Synchronization

/// The place where a lane publishes its state, and where readers on other threads find it.
///
/// The lane never waits for a reader: if one holds the lock, which it does only to copy a reference, the lane publishes
/// at its next step.
package final class LaneStatus: Sendable {
    private struct Parked {
        var bytes: [UInt8]
        var at: UInt64
    }

    let current = Mutex<LaneSnapshot?>(nil)
    private let ofConsumer = Mutex<Parked?>(nil)
    private let ofProducer = Mutex<Parked?>(nil)

    /// Creates the status of a lane that has published nothing.
    package init() {}

    /// Publishes a snapshot, and returns a Boolean value that indicates whether it did.
    @discardableResult
    package func publish(_ snapshot: LaneSnapshot) -> Bool {
        // The previous snapshot is destroyed after the lock is released.
        let previous: LaneSnapshot?? = current.withLockIfAvailable { current in
            let previous = current
            current = snapshot
            return previous
        }
        return previous != nil
    }

    /// The newest snapshot, or nil before the first one.
    package var snapshot: LaneSnapshot? { current.withLock { $0 } }

    /// Keeps the newest statistics document of a client for the thread that reads it.
    package func park(_ document: [UInt8], of client: ClientKind, at now: UInt64) {
        switch client {
        case .consumer: ofConsumer.withLock { $0 = Parked(bytes: document, at: now) }
        case .producer: ofProducer.withLock { $0 = Parked(bytes: document, at: now) }
        }
    }

    /// Returns and removes the newest statistics document of a client, or nil if none has arrived since the last call.
    package func takeStatistics(of client: ClientKind) -> (bytes: [UInt8], at: UInt64)? {
        let parked: Parked? =
            switch client {
            case .consumer: ofConsumer.withLock { Self.take(&$0) }
            case .producer: ofProducer.withLock { Self.take(&$0) }
            }
        return parked.map { ($0.bytes, $0.at) }
    }

    private static func take(_ parked: inout Parked?) -> Parked? {
        defer { parked = nil }
        return parked
    }
}
