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
        /// The rows.
        package var rows: [Row]
        /// The position of the first row among the rows that match, counted from the newest.
        package var position: Int
        /// The number of rows that match.
        package var total: Int
    }

    /// Returns rows that match a filter, from newest to oldest.
    ///
    /// Each row is tested once, in blocks, so that a page of a million rows takes a few milliseconds.
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

    /// Calls a function for each block of rows, from newest to oldest, with the mask of those that pass and their
    /// number.
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
