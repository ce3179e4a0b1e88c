internal import ByteStorage
internal import TestSupport
internal import Testing

@testable internal import DecisionIndex

@Suite struct DecisionIndexTests {
    @Test(arguments: [1, 7, 100, 9000])
    func `Pages, counts, buckets, and neighbors are those of a plain array`(capacity: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var maker = RowMaker(seed: seed)
        var index = DecisionIndex(capacity: capacity)
        var plain = PlainIndex(capacity: capacity, hash: index.hash)
        var time: Int64 = 0
        for _ in 0..<60 {
            let added = (0..<maker.below(2 * min(capacity, 500) + 2)).map { _ in
                time += Int64(maker.below(3))
                return maker.row(near: time)
            }
            for row in added { row.add(to: &index) }
            index.settle()
            plain.settle(added)
            #expect(index.count == plain.rows.count, "seed \(seed)")
            #expect(index.oldest == plain.rows.first?.key && index.newest == plain.rows.last?.key, "seed \(seed)")
            for _ in 0..<4 { compare(index, plain, &maker, until: time, seed) }
        }
        #expect(index.dropped > 0 || capacity > 1000, "seed \(seed)")
    }

    private func compare(
        _ index: DecisionIndex, _ plain: PlainIndex, _ maker: inout RowMaker, until time: Int64, _ seed: UInt64
    ) {
        let filter = maker.filter(index.hash, until: time)
        let all = Array(plain.matches(filter).reversed())
        let position = maker.below(all.count + 3)
        let count = maker.below(40)
        let page = index.page(filter, position: position, count: count)
        #expect(page.total == all.count, "seed \(seed), \(filter)")
        #expect(page.rows == all.dropFirst(position).prefix(count).map(Self.row), "seed \(seed), \(filter)")
        if let key = all.randomElement(using: &maker.random)?.key {
            let older = all.filter { $0.key < key }
            let before = index.page(filter, limit: .before(key), count: count)
            #expect(before.rows == older.prefix(count).map(Self.row), "seed \(seed), \(filter)")
            #expect(index.page(filter, limit: .through(key), count: 1).total == older.count + 1, "seed \(seed)")
        }
        compareBuckets(index, all, filter, &maker, until: time, seed)
        if let row = plain.rows.randomElement(using: &maker.random), let device = row.device {
            let own = plain.rows.filter { $0.device == device }.map(\.key)
            let found = index.neighbors(of: row.key, device: index.hash(device), count: 3)
            #expect(found.before == own.filter { $0 < row.key }.suffix(3).reversed(), "seed \(seed)")
            #expect(found.after == Array(own.filter { row.key < $0 }.prefix(3)), "seed \(seed)")
        }
    }

    private func compareBuckets(
        _ index: DecisionIndex, _ all: [PlainRow], _ filter: RowFilter, _ maker: inout RowMaker, until time: Int64,
        _ seed: UInt64
    ) {
        let field = RowField.allCases.randomElement(using: &maker.random) ?? .reason
        let (from, step) = (Int64(maker.below(Int(time) + 1)), Int64(1 + maker.below(50)))
        let spans = 1 + maker.below(20)
        let buckets = index.buckets(filter, by: field, from: from, step: step, spans: spans, top: 2)
        let inside = all.filter { $0.key.time >= from && $0.key.time < from + step * Int64(spans) }
        #expect(buckets.totals.reduce(0, +) == inside.count, "seed \(seed), \(filter)")
        for (place, group) in buckets.groups.enumerated() {
            guard case .value(let value) = group else {
                #expect(place == 2, "seed \(seed)")
                continue
            }
            let own = inside.filter { ($0.values[field] ?? "") == value }
            #expect(buckets.totals[place] == own.count, "seed \(seed), \(filter)")
            for span in 0..<spans {
                let start = from + step * Int64(span)
                let count = own.filter { $0.key.time >= start && $0.key.time < start + step }.count
                #expect(buckets.counts[span][place] == count, "seed \(seed), \(filter)")
            }
        }
        let whole = index.buckets(filter, by: nil, from: from, step: step, spans: spans, top: 0)
        #expect(whole.totals.reduce(0, +) == inside.count, "seed \(seed)")
    }

    private static func row(_ row: PlainRow) -> DecisionIndex.Row {
        DecisionIndex.Row(key: row.key, values: row.values)
    }

    @Test func `Rows at or after the offsets of a vector are found`() throws {
        var index = DecisionIndex()
        let sources = (0..<2).compactMap { RowSource(topic: 0, partition: $0) }
        for offset in Int64(0)..<10 {
            for source in sources {
                PlainRow(key: RowKey(time: offset, source: source, offset: offset)).add(to: &index)
            }
        }
        index.settle()
        let found = index.rows(RowFilter(), from: [sources[0]: 8, sources[1]: 7], count: 3)
        #expect(found.total == 5)
        #expect(found.rows.map(\.key.offset) == [8, 9, 9])
        #expect(index.rows(RowFilter(), from: [sources[0]: 8], count: 9).total == 2)
        #expect(index.rows(RowFilter(), from: [:], count: 9).total == 0)
    }

    @Test func `Values beyond the limit are counted together, and values without rows are forgotten`() throws {
        var index = DecisionIndex(capacity: 10, valueLimit: 3)
        let source = try #require(RowSource(topic: 0, partition: 0))
        func add(_ number: Int64) {
            PlainRow(
                key: RowKey(time: number, source: source, offset: number), values: [.campaign: "c-\(number)"]
            ).add(to: &index)
            index.settle()
        }
        for number in Int64(0)..<5 { add(number) }
        #expect(index.otherRows(of: .campaign) == 2)
        #expect(index.values(RowFilter(), of: .campaign, top: 9).last?.group == .others)
        var filter = RowFilter()
        filter.values[.campaign] = "c-4"
        #expect(index.count(filter) == 0)
        for number in Int64(5)..<15 { add(number) }
        for number in Int64(15)..<18 { add(number) }
        // A row falls out after the next one was added, so the values of rows 11 to 13 have the room of the first.
        for number in 11...13 {
            filter.values[.campaign] = "c-\(number)"
            #expect(index.count(filter) == 1)
        }
        #expect(index.dropped == 8)
    }

    @Test func `A value of more than 512 bytes is not kept`() throws {
        var index = DecisionIndex()
        let source = try #require(RowSource(topic: 0, partition: 0))
        for (offset, length) in [512, 513].enumerated() {
            PlainRow(
                key: RowKey(time: 0, source: source, offset: Int64(offset)),
                values: [.table: String(repeating: "x", count: length)]
            ).add(to: &index)
        }
        index.settle()
        #expect(index.otherRows(of: .table) == 1)
        #expect(index.page(RowFilter(), count: 2).rows.map(\.values.count) == [0, 1])
    }

    @Test(arguments: ["", "1", "1.2.3", "1.2.3.4.5", "a.0.0.0", "1.4096.0.0", "1.0.1048576.0", "01.0.0.0", "+1.0.0.0"])
    func `A text that is not a cursor is refused`(text: String) { #expect(RowKey(text) == nil) }

    @Test(arguments: ["0.0.0.0", "-1.4095.1048575.9223372036854775807", "1700000000000.1.5.42"])
    func `A cursor is read as it was written`(text: String) { #expect(RowKey(text)?.text == text) }

    @Test func `Extreme times and spans do not trap`() throws {
        var index = DecisionIndex()
        let source = try #require(RowSource(topic: 0, partition: 0))
        for (offset, time) in [Int64.min, -1, 0, .max].enumerated() {
            PlainRow(key: RowKey(time: time, source: source, offset: Int64(offset))).add(to: &index)
        }
        index.settle()
        for from in [Int64.min, -1, 0, .max] {
            for step in [Int64.min, 0, 1, .max] {
                let buckets = index.buckets(RowFilter(), by: nil, from: from, step: step, spans: 2000, top: 0)
                #expect(buckets.counts.count == 2000)
            }
        }
    }
}
