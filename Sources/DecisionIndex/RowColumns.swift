/// The columns of rows, which are in the order of their keys.
struct RowColumns {
    /// A row with the numbers of its values.
    struct Row {
        /// The place in the order.
        var key: RowKey
        /// The hash of the device's id, or 0 for none.
        var device: UInt64
        /// The hash of the event's id, or 0 for none.
        var event: UInt64
        /// The numbers of the values, by column.
        var values: (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16)
    }

    /// The times in milliseconds since 1970.
    private(set) var times: [Int64] = []
    /// The topics and partitions.
    private(set) var sources: [UInt32] = []
    /// The offsets.
    private(set) var offsets: [Int64] = []
    /// The hashes of the devices' ids.
    private(set) var devices: [UInt64] = []
    /// The hashes of the events' ids.
    private(set) var events: [UInt64] = []
    /// The numbers of the values of each property.
    private(set) var values: [[UInt16]] = Array(repeating: [], count: RowField.allCases.count)

    /// The bytes of a row in all columns.
    static let rowBytes = 8 + 4 + 8 + 8 + 8 + 2 * RowField.allCases.count

    /// The number of rows.
    var count: Int { times.count }

    /// Reserves memory for rows, which the system provides when they are written.
    mutating func reserve(_ rows: Int) {
        times.reserveCapacity(rows)
        sources.reserveCapacity(rows)
        offsets.reserveCapacity(rows)
        devices.reserveCapacity(rows)
        events.reserveCapacity(rows)
        for column in values.indices { values[column].reserveCapacity(rows) }
    }

    /// Returns the key of a row.
    func key(_ index: Int) -> RowKey {
        RowKey(time: times[index], source: RowSource(raw: sources[index]), offset: offsets[index])
    }

    /// Adds a row at the end.
    mutating func append(_ row: Row) {
        times.append(row.key.time)
        sources.append(row.key.source.raw)
        offsets.append(row.key.offset)
        devices.append(row.device)
        events.append(row.event)
        values[0].append(row.values.0)
        values[1].append(row.values.1)
        values[2].append(row.values.2)
        values[3].append(row.values.3)
        values[4].append(row.values.4)
        values[5].append(row.values.5)
    }

    private mutating func set(_ index: Int, _ row: Row) {
        times[index] = row.key.time
        sources[index] = row.key.source.raw
        offsets[index] = row.key.offset
        devices[index] = row.device
        events[index] = row.event
        values[0][index] = row.values.0
        values[1][index] = row.values.1
        values[2][index] = row.values.2
        values[3][index] = row.values.3
        values[4][index] = row.values.4
        values[5][index] = row.values.5
    }

    private mutating func move(_ from: Int, _ to: Int) {
        times[to] = times[from]
        sources[to] = sources[from]
        offsets[to] = offsets[from]
        devices[to] = devices[from]
        events[to] = events[from]
        for column in values.indices { values[column][to] = values[column][from] }
    }

    /// Removes the first rows.
    mutating func removeFirst(_ rows: Int) {
        times.removeFirst(rows)
        sources.removeFirst(rows)
        offsets.removeFirst(rows)
        devices.removeFirst(rows)
        events.removeFirst(rows)
        for column in values.indices { values[column].removeFirst(rows) }
    }

    /// Adds rows in the order of their keys, and moves only the rows after the first of them.
    mutating func merge(_ sorted: [Row]) {
        var old = count - 1
        var new = sorted.count - 1
        for row in sorted { append(row) }
        var at = count - 1
        // The rows before the last new row are in their places when no old row is after it.
        while new >= 0, old >= 0 {
            if sorted[new].key < key(old) {
                move(old, at)
                old -= 1
            } else {
                set(at, sorted[new])
                new -= 1
            }
            at -= 1
        }
        while new >= 0 {
            set(at, sorted[new])
            new -= 1
            at -= 1
        }
    }

    /// Returns the index of the first row, from `start` on, whose key is not before a key.
    func lowerBound(_ key: RowKey, from start: Int) -> Int {
        var low = start
        var high = count
        while low < high {
            let middle = low + (high - low) / 2
            if self.key(middle) < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the index of the first row, from `start` on, whose time is not before a time.
    func lowerBound(time: Int64, from start: Int) -> Int {
        var low = start
        var high = count
        while low < high {
            let middle = low + (high - low) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
