/// A compact index of the newest decisions and dead letters: their positions and the values that filters use.
///
/// The rows are in the order of their times. When there are more than the limit, the oldest ones fall out. The memory
/// is bounded: 48 bytes a row, and the limits of the different values.
package struct DecisionIndex {
    /// The default limit of rows.
    package static let defaultCapacity = 1_000_000
    /// The bytes of a row in memory, without the values that rows share.
    package static let rowBytes = RowColumns.rowBytes
    /// The number of rows that wait to be sorted before `settle()` is called by `add(_:)`.
    static let pendingLimit = 65_536

    /// The limit of rows.
    package let capacity: Int
    /// The hash of devices and events.
    package let hash: KeyedHash
    private let valueLimit: Int
    /// The rows in order, of which those before `start` have fallen out.
    var columns = RowColumns()
    /// The index of the first row.
    var start = 0
    /// The values of each property.
    var tables: [ValueTable]
    private var pending: [RowColumns.Row] = []
    /// The number of rows that have fallen out.
    package private(set) var dropped: Int64 = 0

    /// Creates an empty index.
    ///
    /// - Parameters:
    ///   - capacity: The limit of rows, from 1 to 16,777,216.
    ///   - hash: The hash of devices and events.
    ///   - valueLimit: The limit of different values of each property.
    package init(
        capacity: Int = DecisionIndex.defaultCapacity, hash: KeyedHash = KeyedHash(), valueLimit: Int = 65_000
    ) {
        self.capacity = min(max(capacity, 1), 1 << 24)
        self.hash = hash
        self.valueLimit = valueLimit
        tables = RowField.allCases.map { _ in ValueTable(hash, countLimit: valueLimit) }
    }

    /// The number of rows in order.
    package var count: Int { columns.count - start }

    /// The key of the oldest row, or nil.
    package var oldest: RowKey? { count == 0 ? nil : columns.key(start) }

    /// The key of the newest row, or nil.
    package var newest: RowKey? { count == 0 ? nil : columns.key(columns.count - 1) }

    /// The number of rows whose value of a property is beyond the limits.
    package func otherRows(of field: RowField) -> Int { tables[field.column].rows[Int(ValueTable.others)] }

    /// Adds a row.
    ///
    /// It is found after `settle()`.
    package mutating func add(_ row: RowFacts) {
        if columns.count == 0, pending.isEmpty {
            columns.reserve(capacity + slack + Self.pendingLimit)
            pending.reserveCapacity(1024)
        }
        pending.append(
            RowColumns.Row(
                key: row.key, device: row.device.map { hash($0) } ?? 0, event: row.event.map { hash($0) } ?? 0,
                values: (
                    tables[0].add(row.outcome), tables[1].add(row.route), tables[2].add(row.table),
                    tables[3].add(row.reason), tables[4].add(row.campaign), tables[5].add(row.application)
                )))
        if pending.count >= Self.pendingLimit { settle() }
    }

    /// Puts the added rows in order, and drops the oldest rows beyond the limit.
    package mutating func settle() {
        guard !pending.isEmpty else { return }
        pending.sort { $0.key < $1.key }
        dropLate()
        columns.merge(pending)
        pending.removeAll(keepingCapacity: pending.count <= 1024)
        let excess = count - capacity
        guard excess > 0 else { return }
        for index in start..<start + excess {
            for column in tables.indices { tables[column].remove(columns.values[column][index]) }
        }
        start += excess
        dropped += Int64(excess)
        guard start > slack else { return }
        columns.removeFirst(start)
        start = 0
    }

    /// Drops the added rows that are older than the rows that have fallen out.
    private mutating func dropLate() {
        guard start > 0 else { return }
        let oldest = columns.key(start)
        let late = pending.prefix { $0.key < oldest }
        for row in late { removeValues(row.values) }
        dropped += Int64(late.count)
        pending.removeFirst(late.count)
    }

    private mutating func removeValues(_ values: (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16)) {
        tables[0].remove(values.0)
        tables[1].remove(values.1)
        tables[2].remove(values.2)
        tables[3].remove(values.3)
        tables[4].remove(values.4)
        tables[5].remove(values.5)
    }

    /// Removes all rows.
    package mutating func removeAll() {
        self = DecisionIndex(capacity: capacity, hash: hash, valueLimit: valueLimit)
    }

    /// The number of dropped rows whose memory is kept, so that rows are not moved each time.
    private var slack: Int { capacity / 8 }
}
