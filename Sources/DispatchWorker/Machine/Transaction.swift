package import KafkaClient

/// The state of a lane's transaction.
///
/// Each case holds only its own data, so that no flag outlives its state.
///
/// With at-least-once, the same cases describe the outputs and offsets that are delivered and committed together.
package enum Transaction: Sendable, Equatable {
    /// No transaction.
    case none
    /// The transaction begins, and its first outputs wait. Nil means offsets alone.
    case beginning(BatchResult?, retryAt: UInt64)
    /// The transaction accepts records.
    case open(OpenTransaction, Production)
    /// Its offsets are being added. A repeated call has the same arguments.
    case sendingOffsets(OpenTransaction, [PartitionOffset], isRepeat: Bool, retryAt: UInt64)
    /// It holds these offsets and has been committing since `began`.
    case committing(OpenTransaction, [PartitionOffset], began: UInt64, retryAt: UInt64)
    /// With at-least-once, its outputs are being delivered.
    case flushing(OpenTransaction, retryAt: UInt64)
    /// With at-least-once, its outputs are delivered, and these offsets are being committed.
    case committingOffsets(OpenTransaction, [PartitionOffset], began: UInt64, retryAt: UInt64)
    /// It must be aborted.
    case aborting(OpenTransaction, AbortCause, retryAt: UInt64)

    /// The data of the open transaction, or nil if none is open.
    package var content: OpenTransaction? {
        switch self {
        case .none, .beginning: nil
        case .open(let open, _), .sendingOffsets(let open, _, _, _), .committing(let open, _, _, _),
            .flushing(let open, _), .committingOffsets(let open, _, _, _), .aborting(let open, _, _):
            open
        }
    }

    /// The processed batch that the producer has not accepted, or nil.
    package var staged: BatchResult? {
        switch self {
        case .beginning(let staged, _): staged
        case .open(_, let production): production.staged
        default: nil
        }
    }

    /// A Boolean value that indicates whether the transaction can still be committed.
    var isCommittable: Bool {
        switch self {
        case .open(_, .idle), .sendingOffsets, .committing, .flushing, .committingOffsets: true
        default: false
        }
    }

    /// Returns the same transaction with changed data, or itself if no transaction is open.
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
        case .committingOffsets(_, let offsets, let began, let retryAt):
            return .committingOffsets(open, offsets, began: began, retryAt: retryAt)
        case .aborting(_, let cause, let retryAt): return .aborting(open, cause, retryAt: retryAt)
        }
    }
}

/// The state of outputs between the batch and the producer.
package enum Production: Sendable, Equatable {
    /// No outputs wait.
    case idle
    /// Outputs are being produced.
    case offering(BatchResult)
    /// Outputs wait for room in the producer's queue.
    case blocked(BatchResult)

    /// The batch whose outputs wait, or nil.
    var staged: BatchResult? {
        switch self {
        case .idle: nil
        case .offering(let staged), .blocked(let staged): staged
        }
    }
}

/// The data of an open transaction: its content, and events that make its outcome uncertain.
package struct OpenTransaction: Sendable, Equatable {
    /// The number of records and outputs, and the begin time.
    package var content = TransactionContent()
    /// The reason to replace the producer after the transaction, or nil.
    package var suspect: RotationCause?
    /// The first error of the transaction, or nil.
    package var error: KafkaErrorCode?
    /// The number of lost coordinator connections when the transaction began.
    package var coordinatorDrops = 0

    /// Creates an empty transaction.
    package init(beganAt: UInt64, coordinatorDrops: Int) {
        content.beganAt = beganAt
        self.coordinatorDrops = coordinatorDrops
    }
}
