internal import ByteStorage

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
        var values = SIMD8<UInt16>()
    }

    /// The times in milliseconds since 1970.
    private(set) var times: [Int64] = []
    /// The topics and partitions.
    private(set) var sources: [UInt32] = []
    private(set) var offsets: [Int64] = []
    /// The hashes of the devices' ids.
    private(set) var devices: [UInt64] = []
    /// The hashes of the events' ids.
    private(set) var events: [UInt64] = []
    /// The numbers of the values of each property.
    private(set) var values: [[UInt16]] = Array(repeating: [], count: RowField.allCases.count)

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
        for column in values.indices { values[column].append(row.values[column]) }
    }

    private mutating func set(_ index: Int, _ row: Row) {
        times[index] = row.key.time
        sources[index] = row.key.source.raw
        offsets[index] = row.key.offset
        devices[index] = row.device
        events[index] = row.event
        for column in values.indices { values[column][index] = row.values[column] }
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
        (start..<count).partitioningIndex { self.key($0) >= key }
    }

    /// Returns the index of the first row, from `start` on, whose time is not before a time.
    func lowerBound(time: Int64, from start: Int) -> Int {
        (start..<count).partitioningIndex { times[$0] >= time }
    }
}

/// The different values of one property, with the number of rows of each.
///
/// A value without rows is forgotten. Values beyond the limits are counted together.
struct ValueTable {
    /// The number of rows without a value.
    static let none: UInt16 = 0
    /// The number of a value beyond the limits.
    static let others: UInt16 = 1
    /// The limit of different values.
    static let countLimit = 65_000
    /// The limit of bytes of all values.
    static let byteLimit = 8 << 20
    /// The limit of bytes of one value.
    static let valueLimit = 512

    private let hash: KeyedHash
    private let countLimit: Int
    private let byteLimit: Int
    /// The numbers of values by the hash of the value.
    private var numbers: [UInt64: UInt16] = [:]
    /// The values by number.
    private var values: [[UInt8]] = [[], []]
    /// The rows by number.
    private(set) var rows: [Int] = [0, 0]
    private var free: [UInt16] = []
    private var bytes = 0

    /// Creates an empty table.
    init(_ hash: KeyedHash, countLimit: Int = ValueTable.countLimit, byteLimit: Int = ValueTable.byteLimit) {
        self.hash = hash
        self.countLimit = min(countLimit, Int(UInt16.max) - 1)
        self.byteLimit = byteLimit
    }

    /// The number after the greatest number of a value.
    var end: Int { values.count }

    /// Returns the number of a value, and counts a row with it.
    mutating func add(_ value: ByteView?) -> UInt16 {
        let number = number(adding: value)
        rows[Int(number)] += 1
        return number
    }

    private mutating func number(adding value: ByteView?) -> UInt16 {
        guard let value, !value.isEmpty else { return Self.none }
        let key = hash(value)
        if let number = numbers[key] {
            return values[Int(number)].elementsEqual(value.buffer) ? number : Self.others
        }
        guard value.count <= Self.valueLimit, numbers.count < countLimit, bytes + value.count <= byteLimit else {
            return Self.others
        }
        bytes += value.count
        if let number = free.popLast() {
            values[Int(number)] = value.array
            numbers[key] = number
            return number
        }
        let number = UInt16(values.count)
        values.append(value.array)
        rows.append(0)
        numbers[key] = number
        return number
    }

    /// Removes a row with the value of a number.
    mutating func remove(_ number: UInt16) {
        let index = Int(number)
        rows[index] -= 1
        guard rows[index] == 0, number > Self.others else { return }
        let key = values[index].withUnsafeBufferPointer { hash(ByteView($0)) }
        numbers[key] = nil
        bytes -= values[index].count
        values[index] = []
        free.append(number)
    }

    /// Returns the number of a value, or nil if no row has it.
    ///
    /// The empty text is the number of rows without a value.
    func number(of text: String) -> UInt16? {
        if text.isEmpty { return Self.none }
        guard let number = numbers[hash(text)], values[Int(number)].elementsEqual(text.utf8) else { return nil }
        return number
    }

    /// Calls a function with the bytes of the value of a number.
    func withBytes<Result>(of number: UInt16, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        values[Int(number)].withUnsafeBufferPointer(body)
    }

    /// Returns the value of a number, in which invalid UTF-8 is repaired.
    ///
    /// It is empty for rows without a value and for values beyond the limits.
    func text(of number: UInt16) -> String { String(decoding: values[Int(number)], as: UTF8.self) }
}
