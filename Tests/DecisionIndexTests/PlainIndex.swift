internal import ByteStorage
internal import TestSupport

@testable internal import DecisionIndex

/// A row as a test writes it.
struct PlainRow: Equatable {
    var key: RowKey
    var device: String?
    var event: String?
    var values: [RowField: String] = [:]

    /// Adds the row to an index.
    func add(to index: inout DecisionIndex) {
        let texts = [device, event] + RowField.allCases.map { values[$0] }
        let bytes = Array(texts.map { $0 ?? "" }.joined().utf8)
        bytes.withUnsafeBufferPointer { buffer in
            var at = 0
            let views: [ByteView?] = texts.map { text in
                guard let text else { return nil }
                defer { at += text.utf8.count }
                return ByteView(buffer).slice(at, at + text.utf8.count)
            }
            var facts = RowFacts(key)
            (facts.device, facts.event, facts.outcome, facts.route) = (views[0], views[1], views[2], views[3])
            (facts.table, facts.reason, facts.campaign, facts.application) = (views[4], views[5], views[6], views[7])
            facts.query = views[8]
            index.add(facts)
        }
    }
}

/// The index as a plain array, which a test compares with the real one.
struct PlainIndex {
    let capacity: Int
    let hash: KeyedHash
    /// The rows in the order of their keys.
    var rows: [PlainRow] = []

    mutating func settle(_ added: [PlainRow]) {
        rows = Array((rows + added).sorted { $0.key < $1.key }.suffix(capacity))
    }

    func matches(_ filter: RowFilter) -> [PlainRow] {
        rows.filter { row in
            filter.values.allSatisfy { (row.values[$0.key] ?? "") == $0.value }
                && !filter.excluded.contains { $0.value.contains(row.values[$0.key] ?? "") }
                && !filter.excludedTableIDs.contains { (row.values[.table] ?? "").hasPrefix($0 + "@") }
                && (filter.device == nil || filter.device == row.device.map { hash($0) })
                && (filter.event == nil || filter.event == row.event.map { hash($0) })
                && (filter.kind == nil || filter.kind == row.key.source.kind)
                && (!filter.isProblem || row.values[.outcome] == "reject" || row.key.source.kind == .deadLetter)
                && (filter.tableID == nil || (row.values[.table] ?? "").hasPrefix((filter.tableID ?? "") + "@"))
                && row.key.time >= filter.from ?? .min && row.key.time < filter.to ?? .max
        }
    }
}

/// Makes rows and filters.
struct RowMaker {
    var random: SeededGenerator
    private var offsets: [UInt32: Int64] = [:]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    mutating func row(near time: Int64) -> PlainRow {
        let topic = [0, 0, RowSource.applicationTopics, 1][below(4)]
        let source = RowSource(topic: topic, partition: Int32(below(3))) ?? RowSource(raw: 0)
        let offset = offsets[source.raw, default: 0]
        offsets[source.raw] = offset + 1
        // Some rows are very late, as those of a partition that is read after another one.
        let delay = below(30) == 0 ? Int64(below(Int(max(1, time)))) : 0
        var row = PlainRow(key: RowKey(time: time + Int64(below(20)) - 10 - delay, source: source, offset: offset))
        if below(8) > 0 { row.device = "d-\(below(9))" }
        if below(8) > 0 { row.event = "e-\(below(30))" }
        for field in RowField.allCases where below(3) > 0 { row.values[field] = "\(field.rawValue)-\(below(4))" }
        if row.values[.outcome] == "outcome-0" { row.values[.outcome] = "reject" }
        if let table = row.values[.table] { row.values[.table] = table + "@\(below(2))" }
        return row
    }

    mutating func filter(_ hash: KeyedHash, until time: Int64) -> RowFilter {
        var filter = RowFilter()
        for field in RowField.allCases where below(6) == 0 {
            filter.values[field] = below(5) == 0 ? "" : "\(field.rawValue)-\(below(5))"
            if field == .table, filter.values[field] != "" { filter.values[field]? += "@1" }
        }
        for field in RowField.allCases where below(6) == 0 {
            filter.excluded[field] = ["\(field.rawValue)-\(below(5))" + (field == .table ? "@1" : "")]
            if below(3) == 0 { filter.excluded[field]?.insert("") }
        }
        if below(6) == 0 { filter.device = hash("d-\(below(10))") }
        if below(10) == 0 { filter.event = hash("e-\(below(31))") }
        if below(4) == 0 { filter.from = Int64(below(Int(time) + 1)) }
        if below(4) == 0 { filter.to = Int64(below(Int(time) + 1)) }
        if below(4) == 0 { filter.kind = below(2) == 0 ? .decision : .deadLetter }
        filter.isProblem = below(5) == 0
        if below(6) == 0 { filter.excludedTableIDs = ["table-\(below(5))", "table-\(below(5))"] }
        if below(5) == 0 { filter.tableID = "table-\(below(5))" }
        return filter
    }
}
