internal import ByteStorage

/// The choice of rows.
///
/// A property that is nil includes every row.
package struct RowFilter: Equatable, Sendable {
    /// The values of properties, with an empty text for no value.
    package var values: [RowField: String] = [:]
    /// The values of properties whose rows are left out, with an empty text for no value.
    package var excluded: [RowField: Set<String>] = [:]
    /// The ids of tables whose rows are left out, in any version.
    package var excludedTableIDs: Set<String> = []
    /// The texts of members that the object of the link's query items has, or with false does not have.
    package var queryMembers: [[UInt8]: Bool] = [:]
    /// The id of the table, in any version.
    package var tableID: String?
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
    /// A Boolean value that indicates whether only dead letters and decisions with the outcome `reject` are included.
    package var isProblem = false

    /// Creates a filter that includes every row.
    package init() {}

    /// Returns a Boolean value that indicates whether the ids of tables include a table's identity.
    package func includesTable(_ identity: String) -> Bool {
        if let tableID, !identity.hasPrefix(tableID + "@") { return false }
        return !excludedTableIDs.contains { identity.hasPrefix($0 + "@") }
    }

    /// Returns a Boolean value that indicates whether the filter includes an object of the link's query items.
    ///
    /// The quotation marks in a string are escaped, so the text of a member is nothing else.
    func includesQuery(_ object: UnsafeBufferPointer<UInt8>) -> Bool {
        queryMembers.allSatisfy { member, isThere in
            let isFound = object.indices.contains { start in
                object[start] == UInt8(ascii: "\"") && object[start...].starts(with: member)
            }
            return isFound == isThere
        }
    }
}

// The two ways of a filter to test a row: one that arrives, and the columns of an index.

extension RowFilter {
    /// Returns a Boolean value that indicates whether the filter includes a row, apart from its time.
    package func includes(_ facts: RowFacts, _ hash: KeyedHash) -> Bool {
        if let kind, facts.key.source.kind != kind { return false }
        if let device, facts.device.map({ hash($0) }) != device { return false }
        if let event, facts.event.map({ hash($0) }) != event { return false }
        let isReject = facts.outcome?.equals("reject") ?? false
        if isProblem, facts.key.source.kind == .decision, !isReject { return false }
        if tableID != nil || !excludedTableIDs.isEmpty {
            guard includesTable(facts.table?.string ?? "") else { return false }
        }
        if !queryMembers.isEmpty, !includesQuery((facts.query ?? .empty).buffer) { return false }
        if values.contains(where: { !(facts[$0] ?? .empty).buffer.elementsEqual($1.utf8) }) { return false }
        return !excluded.contains { field, texts in
            let value = (facts[field] ?? .empty).buffer
            return texts.contains { value.elementsEqual($0.utf8) }
        }
    }
}

/// A filter in the numbers of an index.
struct RowTests {
    /// The size of the blocks in which rows are tested, in rows.
    static let block = 4096

    private var values: [(column: Int, number: UInt16)] = []
    private let device: UInt64?
    private let event: UInt64?
    private let kind: RowKind?
    /// For each number of a value of a column, a Boolean value that indicates whether its rows pass.
    private var passing: [(column: Int, numbers: [Bool])] = []
    /// The number of the outcome `reject`, for a filter of problems.
    private let reject: UInt16?

    /// Creates the tests of a filter, or returns nil if no row has one of its values.
    init?(_ filter: RowFilter, _ tables: [ValueTable]) {
        device = filter.device
        event = filter.event
        kind = filter.kind
        for (field, text) in filter.values {
            guard let number = tables[field.column].number(of: text) else { return nil }
            values.append((field.column, number))
        }
        // No row has the greatest number.
        reject = filter.isProblem ? tables[RowField.outcome.column].number(of: "reject") ?? .max : nil
        for (field, texts) in filter.excluded {
            var numbers = Array(repeating: true, count: tables[field.column].end)
            for text in texts { if let number = tables[field.column].number(of: text) { numbers[Int(number)] = false } }
            passing.append((field.column, numbers))
        }
        if !filter.queryMembers.isEmpty {
            let known = tables[RowField.query.column]
            let numbers = (0..<known.end).map { number in
                // The items of values beyond the limits are not known.
                number != ValueTable.others && known.withBytes(of: UInt16(number), filter.includesQuery)
            }
            passing.append((RowField.query.column, numbers))
        }
        guard filter.tableID != nil || !filter.excludedTableIDs.isEmpty else { return }
        let known = tables[RowField.table.column]
        let numbers = (0..<known.end).map { filter.includesTable(known.text(of: UInt16($0))) }
        passing.append((RowField.table.column, numbers))
    }

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
        case .decision: Self.narrow(mask, columns.sources, rows) { !RowSource.isDeadLetter(raw: $0) }
        case .deadLetter: Self.narrow(mask, columns.sources, rows) { RowSource.isDeadLetter(raw: $0) }
        case nil: break
        }
        for (column, numbers) in passing { Self.narrow(mask, columns.values[column], rows) { numbers[Int($0)] } }
        if let reject { narrowProblems(mask, columns, rows, reject) }
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

    private func narrowProblems(
        _ mask: UnsafeMutableBufferPointer<UInt8>, _ columns: RowColumns, _ rows: Range<Int>, _ reject: UInt16
    ) {
        columns.values[RowField.outcome.column].withUnsafeBufferPointer { outcomes in
            columns.sources.withUnsafeBufferPointer { sources in
                for index in 0..<rows.count {
                    let row = rows.lowerBound &+ index
                    mask[index] &= outcomes[row] == reject || RowSource.isDeadLetter(raw: sources[row]) ? 1 : 0
                }
            }
        }
    }
}
