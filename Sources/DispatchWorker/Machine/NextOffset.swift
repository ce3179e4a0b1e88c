internal import KafkaClient

/// The offset of the next record of a partition, for commits and seeks: one past the last processed record.
///
/// It is created only from a record's offset or from a broker's answer, so that the last offset is never committed by
/// mistake.
package struct NextOffset: Sendable, Equatable, Comparable {
    /// The offset as a number.
    package let value: Int64

    /// Creates the offset after a record's offset.
    @inlinable
    package init(after record: Int64) { value = record &+ 1 }

    /// Creates an offset that a broker reported as committed or as the end of a partition.
    @inlinable
    package init(reported value: Int64) { self.value = value }

    /// The offset before every record.
    @inlinable
    package static var zero: NextOffset { NextOffset(reported: 0) }

    /// Returns a Boolean value that indicates whether `a` is before `b`.
    @inlinable
    package static func < (a: NextOffset, b: NextOffset) -> Bool { a.value < b.value }
}

/// The position at which consumption of a partition starts or restarts.
package struct StartPosition: Sendable, Equatable {
    /// The offset for the client: a number or one of `LogicalOffset`.
    package var seek: Int64
    /// The smallest offset that is accepted.
    ///
    /// Smaller ones are duplicates of processed records.
    package var next: NextOffset
    /// A Boolean value that indicates whether this position must be committed before a record is.
    ///
    /// This is the case for the end of a partition, because a restart would find a later end.
    package var needsCommit = false

    /// Creates a start at a known offset.
    package init(at offset: NextOffset, needsCommit: Bool = false) {
        seek = offset.value
        next = offset
        self.needsCommit = needsCommit
    }

    /// The start at the first record that exists.
    package static var beginning: StartPosition {
        var position = StartPosition(at: .zero)
        position.seek = LogicalOffset.beginning
        return position
    }

    /// The start at the committed offset that the client finds.
    ///
    /// No record is processed before the lane has fetched the offset.
    package static var unknown: StartPosition {
        var position = StartPosition(at: .zero)
        position.seek = LogicalOffset.invalid
        return position
    }
}
