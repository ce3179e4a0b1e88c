package import KafkaClient

/// A lane's transaction; each case holds what belongs to it, so that a forgotten flag cannot outlive it.
///
/// At least once the same cases count what is delivered and committed together.
package enum Transaction: Sendable, Equatable {
    /// None.
    case none
    /// Its first outputs wait; nil is a transaction of offsets alone.
    case beginning(BatchResult?, retryAt: UInt64)
    /// It takes records.
    case open(OpenTransaction, Production)
    /// Its offsets are being added; a repeat has the same arguments.
    case sendingOffsets(OpenTransaction, [PartitionOffset], isRepeat: Bool, retryAt: UInt64)
    /// It holds these offsets and is being committed since `began`.
    case committing(OpenTransaction, [PartitionOffset], began: UInt64, retryAt: UInt64)
    /// At least once: its outputs are on their way.
    case flushing(OpenTransaction, retryAt: UInt64)
    /// At least once: its outputs are delivered, and these offsets are being committed.
    case storing(OpenTransaction, [PartitionOffset], began: UInt64, retryAt: UInt64)
    /// It must be aborted.
    case aborting(OpenTransaction, AbortCause, retryAt: UInt64)

    /// What is known of the open transaction, or nil when none is open.
    package var content: OpenTransaction? {
        switch self {
        case .none, .beginning: nil
        case .open(let open, _), .sendingOffsets(let open, _, _, _), .committing(let open, _, _, _),
            .flushing(let open, _), .storing(let open, _, _, _), .aborting(let open, _, _):
            open
        }
    }

    /// What was resolved and the producer has not taken.
    package var staged: BatchResult? {
        switch self {
        case .beginning(let staged, _): staged
        case .open(_, let production): production.staged
        default: nil
        }
    }

    /// A Boolean value that indicates whether a commit can still come of it.
    var isCommittable: Bool {
        switch self {
        case .open(_, .idle), .sendingOffsets, .committing, .flushing, .storing: true
        default: false
        }
    }

    /// The same transaction with another content; none stays none.
    func with(_ change: (inout OpenTransaction) -> Void) -> Transaction {
        guard var open = content else { return self }
        change(&open)
        switch self {
        case .none, .beginning: return self
        case .open(_, let production): return .open(open, production)
        case .sendingOffsets(_, let offsets, let isRepeat, let retryAt):
            return .sendingOffsets(open, offsets, isRepeat: isRepeat, retryAt: retryAt)
        case .committing(_, let offsets, let began, let retryAt):
            return .committing(open, offsets, began: began, retryAt: retryAt)
        case .flushing(_, let retryAt): return .flushing(open, retryAt: retryAt)
        case .storing(_, let offsets, let began, let retryAt):
            return .storing(open, offsets, began: began, retryAt: retryAt)
        case .aborting(_, let cause, let retryAt): return .aborting(open, cause, retryAt: retryAt)
        }
    }
}

/// What is between a batch's results and the producer.
package enum Production: Sendable, Equatable {
    /// Nothing.
    case idle
    /// Outputs that are being offered.
    case offering(BatchResult)
    /// Outputs that wait for room in the producer's queue.
    case blocked(BatchResult)

    /// What waits.
    var staged: BatchResult? {
        switch self {
        case .idle: nil
        case .offering(let staged), .blocked(let staged): staged
        }
    }
}

/// An open transaction: what it holds, and what was seen that makes its outcome unsure.
package struct OpenTransaction: Sendable, Equatable {
    /// Records, outputs, and when it began.
    package var content = TransactionContent()
    /// Why the producer is to be replaced after it.
    package var suspect: RotationCause?
    /// The first error that spoiled it.
    package var error: KafkaErrorCode?
    /// How often the coordinator's connection had gone down when it began.
    package var coordinatorDrops = 0

    /// An empty one.
    package init(beganAt: UInt64, coordinatorDrops: Int) {
        content.beganAt = beganAt
        self.coordinatorDrops = coordinatorDrops
    }
}
