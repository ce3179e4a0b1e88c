internal import ByteStorage

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

    /// The number of different values.
    var count: Int { numbers.count }

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

    /// Returns the value of a number, in which invalid UTF-8 is repaired.
    ///
    /// It is empty for rows without a value and for values beyond the limits.
    func text(of number: UInt16) -> String { String(decoding: values[Int(number)], as: UTF8.self) }
}
