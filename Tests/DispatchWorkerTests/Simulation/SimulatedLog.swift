import KafkaClient

/// One entry of a simulated partition: a record of a transaction (or of none), or the marker that ended one.
struct SimulatedEntry {
    enum State { case open, committed, aborted, marker }
    var state: State
    /// The transaction that it belongs to.
    var transactionalID: String?
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeader] = []
    var timestamp: Int64 = 0
}

/// A partition: entries by offset, what is stable, what a reader may see.
struct SimulatedLog {
    var entries: [SimulatedEntry] = []
    /// The first offset that retention has left.
    var start: Int64 = 0

    var end: Int64 { Int64(entries.count) }

    /// Where a read_committed reader must stop: the first record of an open transaction.
    var lastStable: Int64 { Int64(entries.firstIndex { $0.state == .open } ?? entries.count) }

    /// Ends a transaction's part of this partition by a marker.
    mutating func end(_ transactionalID: String, isCommit: Bool) {
        for index in entries.indices where entries[index].state == .open {
            if entries[index].transactionalID == transactionalID {
                entries[index].state = isCommit ? .committed : .aborted
            }
        }
        entries.append(SimulatedEntry(state: .marker))
    }

    /// What a read_committed reader sees.
    var visible: [ReadRecord] {
        entries.indices.filter { entries[$0].state == .committed && Int64($0) < lastStable }.map { index in
            let entry = entries[index]
            return ReadRecord(
                partition: 0, offset: Int64(index), timestamp: entry.timestamp, key: entry.key, value: entry.value,
                headers: entry.headers)
        }
    }
}
