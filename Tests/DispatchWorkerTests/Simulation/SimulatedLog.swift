@testable import DispatchWorker
@testable import KafkaClient
import ByteStorage

/// One entry of a simulated partition: a record, in a transaction or not, or the marker that ends a transaction.
struct SimulatedEntry {
    enum State { case open, committed, aborted, marker }
    var state: State
    /// The transaction of the record.
    var transactionalID: String?
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeader] = []
    var timestamp: Int64 = 0
    /// The time of the write.
    var writtenAt: UInt64 = 0

    /// The input record and the device of an outcome, or nil for an input record.
    var source: OutcomeSource? {
        if headers.isEmpty { return value.flatMap { OutcomeSource(decision: $0, key: key ?? []) } }
        return OutcomeSource(deadLetter: headers)
    }
}

/// The input record of an outcome.
struct OutcomeSource {
    var partition: Int32
    var offset: Int64
    /// The index of the device in the record.
    var part: Int64

    /// Parses `in-P-O value`, as `EchoProcessing` writes it, and the device's index after the slash of the key.
    init?(decision value: [UInt8], key: [UInt8]) {
        guard value.starts(with: Array("in-".utf8)) else { return nil }
        var index = 3
        let partition = Self.number(value, &index)
        index += 1
        offset = Self.number(value, &index)
        self.partition = Int32(partition)
        part = 0
        if let slash = key.firstIndex(of: UInt8(ascii: "/")) {
            var index = slash + 1
            part = Self.number(key, &index)
        }
    }

    /// Parses a dead letter's headers.
    init?(deadLetter headers: [RecordHeader]) {
        func number(_ name: String) -> Int64? {
            guard let value = headers.first(where: { $0.name == Array(name.utf8) })?.value else { return nil }
            var index = 0
            return Self.number(value, &index)
        }
        guard let partition = number("dlq.source.partition"), let offset = number("dlq.source.offset") else {
            return nil
        }
        self.partition = Int32(partition)
        self.offset = offset
        part = 0
    }

    private static func number(_ bytes: [UInt8], _ index: inout Int) -> Int64 {
        var number: Int64 = 0
        while index < bytes.count, (48...57).contains(bytes[index]) {
            number = number * 10 + Int64(bytes[index] - 48)
            index += 1
        }
        return number
    }
}

/// A partition with its entries by offset.
struct SimulatedLog {
    private(set) var entries: [SimulatedEntry] = []
    /// The first offset that retention has not removed.
    var start: Int64 = 0
    /// The offsets of each open transaction's records.
    private var open: [String: [Int]] = [:]

    var end: Int64 { Int64(entries.count) }

    /// The end for a read_committed reader: the first record of an open transaction.
    var lastStable: Int64 {
        var least = entries.count
        for indices in open.values { least = min(least, indices[0]) }
        return Int64(least)
    }

    mutating func append(_ entry: SimulatedEntry) {
        if entry.state == .open { open[entry.transactionalID ?? "", default: []].append(entries.count) }
        entries.append(entry)
    }

    /// Removes a record, as compaction does.
    mutating func compact(at offset: Int64) {
        if entries.indices.contains(Int(offset)) { entries[Int(offset)].state = .marker }
    }

    /// Ends a transaction in this partition with a marker.
    ///
    /// Returns its records.
    mutating func end(_ transactionalID: String, isCommit: Bool) -> [SimulatedEntry] {
        let indices = open.removeValue(forKey: transactionalID) ?? []
        for index in indices { entries[index].state = isCommit ? .committed : .aborted }
        entries.append(SimulatedEntry(state: .marker))
        return indices.map { entries[$0] }
    }

    /// The records that a read_committed reader receives.
    var visible: [ReadRecord] {
        let stable = lastStable
        return entries.indices.filter { entries[$0].state == .committed && Int64($0) < stable }.map { index in
            let entry = entries[index]
            return ReadRecord(
                partition: 0, offset: Int64(index), timestamp: entry.timestamp, key: entry.key, value: entry.value,
                headers: entry.headers)
        }
    }
}
