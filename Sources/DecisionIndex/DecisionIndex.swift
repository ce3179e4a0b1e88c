/// A compact index of the newest decisions and dead letters: their positions and the values that filters use.
///
/// The rows are in the order of their times. When there are more than the limit, the oldest ones fall out. The memory
/// is bounded: 50 bytes a row, and the limits of the different values.
package struct DecisionIndex {
    /// The default limit of rows.
    package static let defaultCapacity = 1_000_000
    /// The number of rows that wait to be sorted before `settle()` is called by `add(_:)`.
    static let pendingLimit = 65_536

    /// The limit of rows.
    package let capacity: Int
    /// The hash of devices and events.
    package let hash: KeyedHash
    private let valueLimit: Int
    /// The rows in order, including the rows before `start`, which have fallen out.
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
        var new = RowColumns.Row(
            key: row.key, device: row.device.map { hash($0) } ?? 0, event: row.event.map { hash($0) } ?? 0)
        for field in RowField.allCases { new.values[field.column] = tables[field.column].add(row[field]) }
        pending.append(new)
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
        for row in late {
            for column in tables.indices { tables[column].remove(row.values[column]) }
        }
        dropped += Int64(late.count)
        pending.removeFirst(late.count)
    }

    /// Removes all rows.
    package mutating func removeAll() {
        self = DecisionIndex(capacity: capacity, hash: hash, valueLimit: valueLimit)
    }

    /// The number of dropped rows whose memory is kept, so that rows are not moved each time.
    private var slack: Int { capacity / 8 }
}

/// The reading of rows in pages.
extension DecisionIndex {
    /// A row of a page.
    package struct Row: Equatable, Sendable {
        /// The place in the order, whose text is the cursor of the rows before it.
        package var key: RowKey
        /// The values of properties that the row has.
        package var values: [RowField: String]

        /// Creates a row.
        package init(key: RowKey, values: [RowField: String] = [:]) {
            self.key = key
            self.values = values
        }
    }

    /// A limit of the rows of a page.
    package enum Limit: Equatable, Sendable {
        /// Only this row and older rows.
        case through(RowKey)
        /// Only rows that are older than this row.
        case before(RowKey)
    }

    /// Rows from newest to oldest.
    package struct Page: Equatable, Sendable {
        package var rows: [Row]
        /// The position of the first row among the rows that match, counted from the newest.
        package var position: Int
        /// The number of rows that match.
        package var total: Int
    }

    /// Returns rows that match a filter, from newest to oldest.
    ///
    /// Each row is tested once, in blocks, so a page of a million rows takes a few milliseconds.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - limit: The limit of the rows, or nil for none. Positions begin at it.
    ///   - position: The number of matching rows to skip, which scroll positions are mapped to.
    ///   - count: The number of rows of the page.
    package func page(_ filter: RowFilter, limit: Limit? = nil, position: Int = 0, count: Int) -> Page {
        var page = Page(rows: [], position: max(0, position), total: 0)
        guard let tests = RowTests(filter, tables) else { return page }
        let range = range(filter, limit)
        var wanted = max(0, count)
        forEachBlock(range, tests) { block, mask, matches in
            defer { page.total += matches }
            guard wanted > 0, page.total + matches > page.position else { return }
            var at = page.total
            for index in stride(from: block.count - 1, through: 0, by: -1) where mask[index] != 0 {
                if at >= page.position, wanted > 0 {
                    page.rows.append(row(block.lowerBound + index))
                    wanted -= 1
                }
                at += 1
            }
        }
        return page
    }

    /// Returns the number of rows that match a filter.
    package func count(_ filter: RowFilter) -> Int { page(filter, count: 0).total }

    /// Returns the keys of rows of a device before and after a key, nearest first.
    ///
    /// - Parameters:
    ///   - key: The key, whose own row is not returned.
    ///   - device: The hash of the device's id.
    ///   - count: The number of rows in each direction.
    package func neighbors(
        of key: RowKey, device: UInt64, count: Int
    ) -> (before: [RowKey], after: [RowKey]) {
        let middle = columns.lowerBound(key, from: start)
        var before: [RowKey] = []
        var after: [RowKey] = []
        columns.devices.withUnsafeBufferPointer { devices in
            var index = middle - 1
            while index >= start, before.count < count {
                if devices[index] == device { before.append(columns.key(index)) }
                index -= 1
            }
            index = middle
            while index < devices.count, after.count < count {
                if devices[index] == device, columns.key(index) != key { after.append(columns.key(index)) }
                index += 1
            }
        }
        return (before, after)
    }

    /// Returns the newest matching rows that are at or after an offset of their partition, oldest first, and the
    /// number of all of them.
    ///
    /// - Parameters:
    ///   - offsets: The offsets by source. Rows of other sources are not returned.
    ///   - count: The number of rows to return.
    package func rows(
        _ filter: RowFilter, from offsets: [RowSource: Int64], count: Int
    ) -> (rows: [Row], total: Int) {
        guard let tests = RowTests(filter, tables) else { return ([], 0) }
        var rows: [Row] = []
        var total = 0
        forEachBlock(range(filter, nil), tests) { block, mask, _ in
            for index in stride(from: block.count - 1, through: 0, by: -1) where mask[index] != 0 {
                let at = block.lowerBound + index
                guard let first = offsets[RowSource(raw: columns.sources[at])], columns.offsets[at] >= first else {
                    continue
                }
                total += 1
                if rows.count < count { rows.append(row(at)) }
            }
        }
        return (rows.reversed(), total)
    }

    /// Returns the row at an index.
    func row(_ index: Int) -> Row {
        var values: [RowField: String] = [:]
        for field in RowField.allCases {
            let number = columns.values[field.column][index]
            if number > ValueTable.others { values[field] = tables[field.column].text(of: number) }
        }
        return Row(key: columns.key(index), values: values)
    }

    /// Returns the indices of the rows in the times of a filter and in a limit.
    func range(_ filter: RowFilter, _ limit: Limit?) -> Range<Int> {
        let low = filter.from.map { columns.lowerBound(time: $0, from: start) } ?? start
        var high = filter.to.map { columns.lowerBound(time: $0, from: start) } ?? columns.count
        switch limit {
        case .before(let key): high = min(high, columns.lowerBound(key, from: start))
        case .through(let key):
            var end = columns.lowerBound(key, from: start)
            while end < columns.count, columns.key(end) == key { end += 1 }
            high = min(high, end)
        case nil: break
        }
        return low..<max(low, high)
    }

    /// Calls a function for each block of rows, from newest to oldest, with the mask and the number of the rows that
    /// pass.
    func forEachBlock(
        _ range: Range<Int>, _ tests: RowTests,
        _ body: (_ rows: Range<Int>, _ mask: UnsafeMutableBufferPointer<UInt8>, _ matches: Int) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: RowTests.block) { mask in
            mask.initialize(repeating: 0)
            var high = range.upperBound
            while high > range.lowerBound {
                let block = max(range.lowerBound, high - RowTests.block)..<high
                body(block, mask, tests.run(block, in: columns, mask))
                high = block.lowerBound
            }
        }
    }
}

/// The counting of rows by time and value.
extension DecisionIndex {
    /// A value by which rows are counted.
    package enum Group: Equatable, Sendable {
        /// The rows with a value, which is empty for none.
        case value(String)
        /// The rows with the other values.
        case others
    }

    /// The numbers of rows in equal spans of time, by value.
    package struct Buckets: Equatable, Sendable {
        /// The values with the most rows, the most frequent first, then the other values if there are any.
        package var groups: [Group] = []
        /// The number of rows of each value.
        package var totals: [Int] = []
        /// The number of rows of each value, for each span.
        package var counts: [[Int]] = []
    }

    /// The limit of spans.
    package static let bucketLimit = 2000

    /// Counts the rows that match a filter, in spans of `step` milliseconds from `from` on.
    ///
    /// - Parameters:
    ///   - filter: The filter. Rows outside of the spans are not counted.
    ///   - field: The property, or nil for one count of all rows.
    ///   - from: The start of the first span, in milliseconds since 1970.
    ///   - step: The length of a span, in milliseconds.
    ///   - spans: The number of spans.
    ///   - top: The number of values that are counted by themselves.
    package func buckets(
        _ filter: RowFilter, by field: RowField?, from: Int64, step: Int64, spans: Int, top: Int
    ) -> Buckets {
        let spans = min(max(spans, 1), Self.bucketLimit)
        let step = max(step, 1)
        let (length, isLong) = step.multipliedReportingOverflow(by: Int64(spans))
        let (end, isLate) = from.addingReportingOverflow(length)
        var filter = filter
        filter.from = max(filter.from ?? .min, from)
        filter.to = min(filter.to ?? .max, isLong || isLate ? .max : end)
        var result = Buckets()
        guard let tests = RowTests(filter, tables) else { return result }
        let range = range(filter, nil)
        let places = groups(range, tests, field, top, &result)
        result.counts = Array(repeating: Array(repeating: 0, count: result.groups.count), count: spans)
        forEachBlock(range, tests) { block, mask, matches in
            guard matches > 0 else { return }
            for index in 0..<block.count where mask[index] != 0 {
                let row = block.lowerBound + index
                let (distance, isFar) = columns.times[row].subtractingReportingOverflow(from)
                let span = isFar ? spans - 1 : Int(min(distance / step, Int64(spans - 1)))
                let place = field.map { places[Int(columns.values[$0.column][row])] } ?? 0
                result.counts[span][place] += 1
            }
        }
        return result
    }

    /// Returns the values of a property with the most matching rows, and the number of rows of each.
    package func values(_ filter: RowFilter, of field: RowField, top: Int) -> [(group: Group, rows: Int)] {
        guard let tests = RowTests(filter, tables) else { return [] }
        var result = Buckets()
        _ = groups(range(filter, nil), tests, field, top, &result)
        return zip(result.groups, result.totals).map { ($0, $1) }
    }

    /// Sets the groups and totals of a result, and returns the place of each value's number among them.
    private func groups(
        _ range: Range<Int>, _ tests: RowTests, _ field: RowField?, _ top: Int, _ result: inout Buckets
    ) -> [Int] {
        guard let field else {
            var total = 0
            forEachBlock(range, tests) { _, _, matches in total += matches }
            (result.groups, result.totals) = ([.value("")], [total])
            return []
        }
        let table = tables[field.column]
        var totals = Array(repeating: 0, count: table.end)
        forEachBlock(range, tests) { block, mask, matches in
            guard matches > 0 else { return }
            columns.values[field.column].withUnsafeBufferPointer { values in
                for index in 0..<block.count {
                    totals[Int(values[block.lowerBound + index])] &+= Int(mask[index])
                }
            }
        }
        let others = Int(ValueTable.others)
        let found = totals.indices.filter { totals[$0] > 0 && $0 != others }
            .map { (number: $0, text: table.text(of: UInt16($0)), total: totals[$0]) }
            .sorted { $0.total == $1.total ? $0.text < $1.text : $0.total > $1.total }
        var places = Array(repeating: min(found.count, max(0, top)), count: table.end)
        for (place, group) in found.prefix(max(0, top)).enumerated() {
            places[group.number] = place
            result.groups.append(.value(group.text))
            result.totals.append(group.total)
        }
        let rest = found.dropFirst(max(0, top)).reduce(totals[others]) { $0 + $1.total }
        if rest > 0 {
            result.groups.append(.others)
            result.totals.append(rest)
        }
        return places
    }
}
