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
    ///   - filter: The filter, whose times are limited to those of the spans.
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
