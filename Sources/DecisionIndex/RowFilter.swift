/// The choice of rows.
///
/// A property that is nil includes every row.
package struct RowFilter: Equatable, Sendable {
    /// The values of properties, of which the empty text stands for none.
    package var values: [RowField: String] = [:]
    /// The hash of the device's id.
    package var device: UInt64?
    /// The hash of the event's id.
    package var event: UInt64?
    /// The first time, in milliseconds since 1970.
    package var from: Int64?
    /// The time after the last one, in milliseconds since 1970.
    package var to: Int64?
    /// The kind of the records.
    package var kind: RowKind?

    /// Creates a filter that includes every row.
    package init() {}
}

/// A filter in the numbers of an index.
struct RowTests {
    /// The size of the blocks in which rows are tested, in rows.
    static let block = 4096

    private var values: [(column: Int, number: UInt16)] = []
    private let device: UInt64?
    private let event: UInt64?
    private let kind: RowKind?

    /// Creates the tests of a filter, or returns nil if no row has one of its values.
    init?(_ filter: RowFilter, _ tables: [ValueTable]) {
        device = filter.device
        event = filter.event
        kind = filter.kind
        for (field, text) in filter.values {
            guard let number = tables[field.column].number(of: text) else { return nil }
            values.append((field.column, number))
        }
    }

    /// A Boolean value that indicates whether every row passes.
    var isEmpty: Bool { values.isEmpty && device == nil && event == nil && kind == nil }

    /// Sets an element of a mask to 1 for each row that passes and to 0 for each other row.
    ///
    /// - Parameters:
    ///   - rows: The rows, at most as many as the mask has elements.
    ///   - mask: The mask.
    /// - Returns: The number of rows that pass.
    func run(_ rows: Range<Int>, in columns: RowColumns, _ mask: UnsafeMutableBufferPointer<UInt8>) -> Int {
        for index in 0..<rows.count { mask[index] = 1 }
        for (column, number) in values { Self.narrow(mask, columns.values[column], rows) { $0 == number } }
        if let device { Self.narrow(mask, columns.devices, rows) { $0 == device } }
        if let event { Self.narrow(mask, columns.events, rows) { $0 == event } }
        switch kind {
        case .decision: Self.narrow(mask, columns.sources, rows) { $0 < 1 << 20 }
        case .deadLetter: Self.narrow(mask, columns.sources, rows) { $0 >= 1 << 20 }
        case nil: break
        }
        var count = 0
        for index in 0..<rows.count { count &+= Int(mask[index]) }
        return count
    }

    @inline(__always)
    private static func narrow<Value>(
        _ mask: UnsafeMutableBufferPointer<UInt8>, _ column: [Value], _ rows: Range<Int>, _ test: (Value) -> Bool
    ) {
        column.withUnsafeBufferPointer { column in
            for index in 0..<rows.count { mask[index] &= test(column[rows.lowerBound &+ index]) ? 1 : 0 }
        }
    }

    /// Returns a Boolean value that indicates whether a row passes.
    func includes(_ row: Int, in columns: RowColumns) -> Bool {
        for (column, number) in values where columns.values[column][row] != number { return false }
        if let device, columns.devices[row] != device { return false }
        if let event, columns.events[row] != event { return false }
        if let kind, RowSource(raw: columns.sources[row]).kind != kind { return false }
        return true
    }
}
