internal import ByteStorage
internal import RouteTools
internal import StrictJSON

/// The property of records by which `linkd inspect` counts them.
enum GroupKey: String, CaseIterable {
    case reason, route, outcome, application, campaign, table
}

/// The number of records for each value of a property.
struct GroupCounts {
    /// The limit of different values, beyond which records are counted together.
    static let limit = 10_000
    /// The limit of bytes of the values that are counted one by one.
    static let limitBytes = 64 << 20
    /// The number of columns of a value in a table.
    private static let columns = 80

    /// The name of the property.
    let name: String
    private var counts: [[UInt8]: Int64] = [:]
    private var others: Int64 = 0
    private var bytes = 0

    /// Creates counts for a property.
    init(_ name: String) { self.name = name }

    /// Counts a record with a value, or nil for none, which is printed as `-`.
    mutating func add(_ value: ByteView?) {
        let value = value?.array ?? [UInt8(ascii: "-")]
        if let index = counts.index(forKey: value) {
            counts.values[index] += 1
        } else if counts.count >= Self.limit || bytes + value.count > Self.limitBytes {
            others += 1
        } else {
            counts[value] = 1
            bytes += value.count
        }
    }

    /// A Boolean value that indicates whether no record has a value.
    var hasNoValues: Bool { others == 0 && counts.keys.allSatisfy { $0 == [UInt8(ascii: "-")] } }

    /// The values and their counts, the most frequent first, then by value.
    ///
    /// Values beyond the limit come last.
    var rows: [(value: [UInt8], count: Int64)] {
        let rows = counts.sorted { a, b in
            a.value == b.value ? a.key.lexicographicallyPrecedes(b.key) : a.value > b.value
        }
        return rows.map { ($0.key, $0.value) } + (others > 0 ? [(Array("(others)".utf8), others)] : [])
    }

    /// Prints one JSON object for each value.
    func printJSON(on out: Channel) {
        for row in rows {
            var json = JSONText()
            json.beginObject()
            json.text(name, String(decoding: row.value, as: UTF8.self))
            json.number("count", row.count)
            json.endObject()
            out.line(json.finish())
        }
    }

    /// Prints comma-separated values.
    func printCSV(on out: Channel) {
        out.line(name + ",count")
        for row in rows {
            let cell = row.value.withUnsafeBufferPointer { bytes in
                OutputArena.text { CSVText.append(ByteView(bytes), escaped: out.isTerminal, to: &$0) }
            }
            out.line("\(cell),\(row.count)")
        }
    }

    /// Returns the beginning of a value without control characters.
    private static func cell(_ value: [UInt8]) -> String {
        // A column needs at most 32 bytes, and what is longer is cut in any case.
        DisplayWidth.cut(Escaping.visible(Array(value.prefix(32 * columns))), to: columns)
    }

    /// Prints a table, with bars if the output can display them.
    func printTable(on out: Channel, bars: Bool) {
        let rows = rows.map { (name: Self.cell($0.value), count: $0.count) }
        let total = Double(rows.reduce(0) { $0 + $1.count })
        let greatest = Double(rows.map(\.count).max() ?? 1)
        let used = (rows.map { DisplayWidth.width(of: $0.name) } + [name.count]).max() ?? 0
        let width = min(40, (out.columns ?? 80) - used - 25)
        var columns: [(title: String, alignment: TextTable.Alignment)] = [
            (name.uppercased(), .left), ("COUNT", .right), ("SHARE", .right),
        ]
        if bars { columns.append(("", .left)) }
        var table = TextTable(columns)
        for row in rows {
            let perMille = Int((Double(row.count) / total * 1000).rounded())
            var cells = [row.name, Counts.grouped(row.count), "\(perMille / 10).\(perMille % 10) %"]
            if bars { cells.append(TextTable.bar(Double(row.count) / greatest, width: width)) }
            table.add(cells)
        }
        for line in table.lines(style: out.style) { out.line(line) }
    }
}

extension TextTable {
    /// Returns a bar of a share of a width in columns, in eighths of a column.
    static func bar(_ share: Double, width: Int) -> String {
        let eighths = Int((max(0, min(1, share)) * Double(max(0, width)) * 8).rounded())
        let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        return String(repeating: "█", count: eighths / 8) + rest
    }
}
