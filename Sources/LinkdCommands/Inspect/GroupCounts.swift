internal import ByteStorage
internal import DecisionIndex
internal import RouteTools
internal import StrictJSON

/// A property of records by which `linkd inspect` counts them.
enum RecordGroup {
    case field(RowField)
    /// An item of the link's query, by its name.
    case query([UInt8])

    /// The properties in the order in which the help names them.
    static let fields: [RowField] = [.reason, .route, .outcome, .application, .campaign, .table]
    /// The beginning of the name of an item of the link's query.
    private static let queryStart = "context.query."

    /// Creates a property from its name, or returns nil if there is none with the name.
    init?(_ name: String) {
        if name.hasPrefix(Self.queryStart), name != Self.queryStart {
            self = .query(Array(name.dropFirst(Self.queryStart.count).utf8))
        } else if let field = Self.fields.first(where: { $0.rawValue == name }) {
            self = .field(field)
        } else {
            return nil
        }
    }

    /// Returns the property of a record, or nil if it has none.
    func value(of record: ScannedRecord, _ decision: inout DecisionTape) -> ByteView? {
        switch self {
        case .field(let field): return field.value(of: record, &decision)
        case .query(let name):
            let query = decision.query
            return name.withUnsafeBufferPointer { decision.string(decision.member(ByteView($0), of: query)) }
        }
    }

    /// The reason why no record has a value, and what to do, or nil if the value itself says that.
    var reasonWithoutValues: String? {
        switch self {
        case .field(let field): field.reasonWithoutValues
        case .query(let name):
            "no record has a value of this item: no link has it, the setting `context.query` leaves it out, or a "
                + "worker of an older version published the decisions; add "
                + "`\(Escaping.visible(name))` to `context.query`, or upgrade the workers"
        }
    }
}

extension RowField {
    /// The reason why no record has a value, and what to do, or nil if the value itself says that.
    var reasonWithoutValues: String? {
        switch self {
        case .application:
            "no record has an application: the events state none, or a worker of an older version published the "
                + "decisions; state `application` in events, upgrade the workers, or group by table"
        case .campaign:
            "no record has a campaign: the events have none, the setting `passthrough` leaves it out, or a worker of "
                + "an older version published the decisions; set `passthrough` to `campaign`, or upgrade the workers"
        case .reason, .route, .outcome, .table, .query: nil
        }
    }
}

/// The number of records for each value of a property.
struct GroupCounts {
    /// The records with one value.
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

    /// The limit of different values, beyond which records are counted together.
    static let limit = 10_000
    /// The limit of bytes of the values that are counted one by one.
    static let limitBytes = 64 << 20
    /// The limit of a value of dead letters in bytes, at which longer ones are cut.
    static let valueLimit = 256
    /// The number of columns of a value in a table.
    private static let columns = 80
    /// The name of the property.
    let name: String
    /// The property of dead letters, whose last failures are printed too, or nil for other records.
    var key: DeadLetterKey?
    private var groups: [[UInt8]: Group] = [:]
    private var others = Group()
    private var bytes = 0

    /// Creates counts for a property.
    init(_ name: String) { self.name = name }

    /// Creates counts for a property of dead letters.
    init(by key: DeadLetterKey) { (name, self.key) = (key.rawValue, key) }

    /// Counts a record with a value, or nil for none, which is printed as `-`.
    mutating func add(_ value: ByteView?) { add(value?.array) { $0.count += 1 } }

    /// Counts a dead letter with a value, or nil for none, which is printed as `-`.
    mutating func add(_ value: [UInt8]?, _ record: ScannedRecord, failedAt: Int64, isReplayed: Bool?) {
        add(value.map { Array($0.prefix(Self.valueLimit)) }) {
            $0.add(record, failedAt: failedAt, isReplayed: isReplayed)
        }
    }

    private mutating func add(_ value: [UInt8]?, _ count: (inout Group) -> Void) {
        let value = value ?? [UInt8(ascii: "-")]
        if let index = groups.index(forKey: value) {
            count(&groups.values[index])
        } else if groups.count >= Self.limit || bytes + value.count > Self.limitBytes {
            count(&others)
        } else {
            count(&groups[value, default: Group()])
            bytes += value.count
        }
    }

    /// A Boolean value that indicates whether no record has a value.
    var hasNoValues: Bool { others.count == 0 && groups.keys.allSatisfy { $0 == [UInt8(ascii: "-")] } }

    /// The values, the most frequent first, then by value, or days in order.
    ///
    /// Values beyond the limit come last.
    var rows: [(value: [UInt8], group: Group)] {
        let rows = groups.sorted { a, b in
            key == .day || a.value.count == b.value.count
                ? a.key.lexicographicallyPrecedes(b.key) : a.value.count > b.value.count
        }
        return rows.map { ($0.key, $0.value) } + (others.count > 0 ? [(Array("(others)".utf8), others)] : [])
    }

    /// Prints the counts in the format that the flags of a call select.
    func print(_ call: Invocation) {
        let (out, local) = (call.console.out, call.isOn("local"))
        if call.json {
            printJSON(on: out)
        } else if call.isOn("csv") {
            printCSV(on: out, local: local)
        } else if !groups.isEmpty {
            printTable(on: out, bars: out.isTerminal && Console.isUTF8(call.environment), local: local)
        }
    }

    /// Prints one JSON object for each value.
    func printJSON(on out: Channel) {
        for (value, group) in rows {
            out.json { json in
                json.text(name, String(decoding: value, as: UTF8.self))
                json.number("count", group.count)
                guard key != nil else { return }
                json.number("replayed", group.replayed)
                json.number("last", group.last > 0 ? group.last : nil)
                json.text("example", group.example)
            }
        }
    }

    /// Prints comma-separated values.
    func printCSV(on out: Channel, local: Bool = false) {
        out.line("\(name),count" + (key == nil ? "" : ",replayed,last,example"))
        for (value, group) in rows {
            let cell = value.withUnsafeBufferPointer { bytes in
                OutputArena.text { CSVText.append(ByteView(bytes), escaped: out.isTerminal, to: &$0) }
            }
            let replayed = group.replayed.map(String.init) ?? ""
            let more = key == nil ? "" : ",\(replayed),\(Self.last(group, local)),\(group.example)"
            out.line("\(cell),\(group.count)\(more)")
        }
    }

    /// Returns the beginning of a value without control characters.
    private static func cell(_ value: [UInt8]) -> String {
        // A column needs at most 32 bytes, and what is longer is cut in any case.
        DisplayWidth.cut(Escaping.visible(Array(value.prefix(32 * columns))), to: columns)
    }

    /// Prints a table, with bars if the output can display them.
    func printTable(on out: Channel, bars: Bool, local: Bool = false) {
        let rows = rows.map { (name: key == nil ? Self.cell($0.value) : Escaping.visible($0.value), group: $0.group) }
        let total = Double(rows.reduce(0) { $0 + $1.group.count })
        let greatest = Double(rows.map(\.group.count).max() ?? 1)
        let used = (rows.map { DisplayWidth.width(of: $0.name) } + [name.count]).max() ?? 0
        let width = key == nil ? min(40, (out.columns ?? 80) - used - 25) : 20
        var columns: [(title: String, alignment: TextTable.Alignment)] = [
            (name.uppercased(), .left), ("COUNT", .right),
        ]
        columns += key == nil ? [("SHARE", .right)] : [("REPLAYED", .right), ("LAST", .left), ("EXAMPLE", .left)]
        if bars { columns.append(("", .left)) }
        var table = TextTable(columns)
        for (name, group) in rows {
            let perMille = Int((Double(group.count) / total * 1000).rounded())
            var cells = [name, Counts.grouped(group.count)]
            cells +=
                key == nil
                ? ["\(perMille / 10).\(perMille % 10) %"]
                : [group.replayed.map(Counts.grouped) ?? "-", Self.last(group, local), group.example]
            if bars { cells.append(TextTable.bar(Double(group.count) / greatest, width: width)) }
            table.add(cells)
        }
        out.table(table)
    }

    private static func last(_ group: Group, _ local: Bool) -> String {
        guard group.last > 0, group.last < 253_402_300_800_000 else { return "-" }
        return OutputArena.text { Timestamps.append(group.last, local: local, to: &$0) }
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

/// The property of dead letters by which `linkd dlq list` counts them.
enum DeadLetterKey: String, CaseIterable {
    case reason, application, producer, stage, day

    /// The headers that can name the producer, the first one first.
    ///
    /// A record of Kafka does not have its producer.
    private static let producerHeaders: [StaticString] = ["ce_source", "source", "producer", "client.id"]

    /// Returns the property of a dead letter, or nil if it has none.
    ///
    /// - Parameters:
    ///   - value: The members of the record's value.
    ///   - local: A Boolean value that indicates whether a day is one of the local time zone.
    func bytes(
        of record: ScannedRecord, _ head: DeadLetterHead?, _ value: inout DecisionTape, local: Bool
    ) -> [UInt8]? {
        switch self {
        case .reason: head?.reason?.array
        case .stage: record.header("dlq.stage")?.array
        case .application: value.string("application", of: value.event)?.array
        case .producer: Self.producerHeaders.lazy.compactMap { record.header($0) }.first?.array
        case .day:
            head.flatMap { head in
                head.failedAt > 0 && head.failedAt < 253_402_300_800_000 ? Self.day(head.failedAt, local) : nil
            }
        }
    }

    /// Returns the day of a time before the year 10000.
    private static func day(_ time: Int64, _ local: Bool) -> [UInt8] {
        Array(OutputArena.text { Timestamps.append(time, local: local, to: &$0) }.utf8.prefix(10))
    }
}
