internal import ByteStorage
internal import RouteTools
internal import StrictJSON

/// The dead letters for each value of a property.
struct DeadLetterGroups {
    /// The limit of different values, beyond which dead letters are counted together.
    static let limit = 10_000

    /// The limit of a value in bytes, at which longer ones are cut.
    static let valueLimit = 256

    /// The dead letters with one value.
    struct Group: Equatable {
        var count: Int64 = 0
        /// The number of dead letters that were replayed, or nil if there is no ledger.
        var replayed: Int64?
        /// The time of the last failure in milliseconds since 1970, or 0 if it is unknown.
        var last: Int64 = 0
        /// The position of the dead letter with the last failure.
        var example = ""

        /// Counts a dead letter.
        mutating func add(_ record: ScannedRecord, failedAt: Int64, isReplayed: Bool?) {
            count += 1
            if let isReplayed { replayed = (replayed ?? 0) + (isReplayed ? 1 : 0) }
            guard failedAt > last || example.isEmpty else { return }
            last = failedAt
            example = "\(record.topic)-\(record.partition)-\(record.offset)"
        }
    }

    private let key: DeadLetterKey
    private var groups: [[UInt8]: Group] = [:]
    private var others = Group()

    /// Creates counts by a property.
    init(by key: DeadLetterKey) { self.key = key }

    /// Counts a dead letter with a value, or nil for none, which is printed as `-`.
    mutating func add(_ value: [UInt8]?, _ record: ScannedRecord, failedAt: Int64, isReplayed: Bool?) {
        let value = value.map { Array($0.prefix(Self.valueLimit)) } ?? [UInt8(ascii: "-")]
        if groups.count >= Self.limit, groups[value] == nil {
            others.add(record, failedAt: failedAt, isReplayed: isReplayed)
        } else {
            groups[value, default: Group()].add(record, failedAt: failedAt, isReplayed: isReplayed)
        }
    }

    /// The values, the most frequent first, or days in order.
    ///
    /// Values beyond the limit come last.
    var rows: [(value: [UInt8], group: Group)] {
        let rows = groups.sorted { a, b in
            key == .day || a.value.count == b.value.count
                ? a.key.lexicographicallyPrecedes(b.key) : a.value.count > b.value.count
        }
        return rows.map { ($0.key, $0.value) } + (others.count > 0 ? [(Array("(others)".utf8), others)] : [])
    }

    /// Prints one JSON object for each value.
    func printJSON(on out: Channel) {
        for row in rows {
            var json = JSONText()
            json.beginObject()
            json.text(key.rawValue, String(decoding: row.value, as: UTF8.self))
            json.number("count", row.group.count)
            json.number("replayed", row.group.replayed)
            json.number("last", row.group.last > 0 ? row.group.last : nil)
            json.text("example", row.group.example)
            json.endObject()
            out.line(json.finish())
        }
    }

    /// Prints comma-separated values.
    func printCSV(on out: Channel, local: Bool) {
        out.line("\(key.rawValue),count,replayed,last,example")
        for row in rows {
            let cell = row.value.withUnsafeBufferPointer { bytes in
                OutputArena.text { CSVText.append(ByteView(bytes), escaped: out.isTerminal, to: &$0) }
            }
            let replayed = row.group.replayed.map(String.init) ?? ""
            out.line("\(cell),\(row.group.count),\(replayed),\(last(row.group, local)),\(row.group.example)")
        }
    }

    /// Prints a table, with bars if the output can display them.
    func printTable(on out: Channel, bars: Bool, local: Bool) {
        let rows = rows
        let greatest = Double(rows.map(\.group.count).max() ?? 1)
        var columns: [(title: String, alignment: TextTable.Alignment)] = [
            (key.rawValue.uppercased(), .left), ("COUNT", .right), ("REPLAYED", .right), ("LAST", .left),
            ("EXAMPLE", .left),
        ]
        if bars { columns.append(("", .left)) }
        var table = TextTable(columns)
        for row in rows {
            var cells = [
                Escaping.visible(row.value), Counts.grouped(row.group.count),
                row.group.replayed.map(Counts.grouped) ?? "-", last(row.group, local), row.group.example,
            ]
            if bars { cells.append(TextTable.bar(Double(row.group.count) / greatest, width: 20)) }
            table.add(cells)
        }
        for line in table.lines(style: out.style) { out.line(line) }
    }

    private func last(_ group: Group, _ local: Bool) -> String {
        guard group.last > 0, group.last < 253_402_300_800_000 else { return "-" }
        return OutputArena.text { Timestamps.append(group.last, local: local, to: &$0) }
    }
}
