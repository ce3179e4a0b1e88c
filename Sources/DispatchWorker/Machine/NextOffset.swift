internal import KafkaClient

/// The offset of the next record of a partition: what is committed and sought, one past the last record handled.
///
/// It is had only from a record's offset or from the broker, so that nobody commits the last offset by mistake.
package struct NextOffset: Sendable, Equatable, Comparable {
    /// The offset as Kafka's protocol carries it.
    package let value: Int64

    /// The offset after a record's.
    @inlinable
    package init(after record: Int64) { value = record &+ 1 }

    /// An offset that a broker has committed or told as a partition's end.
    @inlinable
    package init(told value: Int64) { self.value = value }

    /// Before every record.
    @inlinable
    package static var zero: NextOffset { NextOffset(told: 0) }

    /// Whether `a` stands before `b`.
    @inlinable
    package static func < (a: NextOffset, b: NextOffset) -> Bool { a.value < b.value }
}

/// Where a partition's consumption begins or begins again.
package struct StartPosition: Sendable, Equatable {
    /// The offset for the client: a number or one of `LogicalOffset`.
    package var seek: Int64
    /// The least offset that is taken; smaller ones are deliveries of what was handled before.
    package var next: NextOffset
    /// Whether nobody else knows this place, so that it is committed before a record is: the end of a partition, where
    /// a restart would find a later one.
    package var isToCommit = false

    /// Begins at a known offset.
    package init(at offset: NextOffset, isToCommit: Bool = false) {
        seek = offset.value
        next = offset
        self.isToCommit = isToCommit
    }

    /// Begins at the first record that there is.
    package static var beginning: StartPosition {
        var position = StartPosition(at: .zero)
        position.seek = LogicalOffset.beginning
        return position
    }

    /// Wherever the client finds the group's committed offset; no record from there is handled before the lane knows
    /// it.
    package static var unknown: StartPosition {
        var position = StartPosition(at: .zero)
        position.seek = LogicalOffset.invalid
        return position
    }
}
