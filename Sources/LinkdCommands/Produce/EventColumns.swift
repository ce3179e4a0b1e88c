internal import LinkCoordinator
internal import RouteTools
internal import StrictJSON

/// The contents of the rows of a CSV file.
enum RowKind: Sendable {
    /// Events, whose columns `device.app` and the like are members of the device.
    case events
    /// Devices for the registry, whose columns are the members of a device.
    case devices
}

/// The columns of a CSV file, each a member of the event or, with `--devices`, of the device.
///
/// Columns with other names are ignored.
struct EventColumns {
    /// The meaning of a column.
    fileprivate enum Column {
        case member(String)
        case payload
        case parameter(String)
        case device(String)
        case deviceList(String)
        case attribute(String)
        /// The mark of a device that is to be deleted from the registry.
        case deletion
        case ignored
    }

    private let columns: [Column]
    private let rows: RowKind
    /// The names of the columns that are ignored, although `--map` does not say so.
    let ignoredNames: [String]

    /// The number of cells in a row.
    var count: Int { columns.count }

    fileprivate static let members = [
        "id", "application", "link", "path", "mode", "route", "payloadType", "action", "expires", "sent", "campaign",
    ]
    private static let facts = ["id", "platform", "app", "os", "locale", "region", "coordinator"]
    private static let lists = ["capabilities", "claims"]

    static let deviceMembers = facts + lists + ["attributes"]

    /// Returns the valid column names, for messages.
    static func names(of rows: RowKind) -> [String] {
        let device = facts + lists + ["attributes.NAME"]
        return switch rows {
        case .events: members + ["payload", "params.NAME"] + device.map { "device." + $0 }
        case .devices: device + ["user", DeviceRecords.deletion]
        }
    }

    /// Returns a Boolean value that indicates whether a name is the name of a column.
    ///
    /// The names in `passthrough` are also valid for events.
    static func isColumn(_ name: String, _ rows: RowKind, passthrough: [String]) -> Bool {
        column(name, rows, passthrough: passthrough) != nil
    }

    /// Reads the header.
    ///
    /// A name that is nearly the name of a column is an error, because it is probably misspelled.
    init(header: [[UInt8]], file: String, map: ColumnMap) throws(CommandFailure) {
        let file = Escaping.visible(file)
        let given = header.map { ColumnMap.trimmed(String(decoding: $0, as: UTF8.self)) }
        if let missing = map.mappedNames.first(where: { !given.contains($0) }) {
            let nearest = NearestName.of(missing, among: given)
            throw CommandFailure(
                .badData, "\(file): the header has no column `\(Escaping.visible(missing))`, which --map names",
                advice: nearest.map { "write `\(Escaping.visible($0))`" }
                    ?? "use the names of the header: " + Escaping.list(given.filter { !$0.isEmpty }))
        }
        var columns: [Column] = []
        var seen: [String: String] = [:]
        var unknown: [String] = []
        for (name, cell) in zip(given, header) {
            guard let target = map.column(cell) else {
                unknown.append(name)
                columns.append(.ignored)
                continue
            }
            guard let column = Self.column(target, map.rows, passthrough: map.passthrough) else {
                columns.append(.ignored)
                continue
            }
            if let other = seen.updateValue(name, forKey: target) {
                let fault =
                    other == name
                    ? "`\(Escaping.visible(target))` is listed twice"
                    : "\(Escaping.list([other, name])) are both `\(Escaping.visible(target))`"
                throw CommandFailure(
                    .badData, "\(file): column \(fault)",
                    advice: other == name
                        ? "rename or remove one of the columns in the file"
                        : "list each column once, or ignore one with --map \(ShellQuote.posix(name + "="))")
            }
            columns.append(column)
        }
        self.columns = columns
        rows = map.rows
        ignoredNames = unknown
        try checkUnknown(unknown, file)
    }

    /// Throws a failure for a misspelled name, and for a file from which no event or device can be read.
    private func checkUnknown(_ unknown: [String], _ file: String) throws(CommandFailure) {
        for name in unknown {
            guard let nearest = NearestName.of(name, among: Self.names(of: rows).filter { !$0.hasSuffix(".NAME") })
            else {
                continue
            }
            throw CommandFailure(
                .badData, "\(file): \(Escaping.list([name])) is not a valid column",
                advice: "write `\(nearest)`, or ignore the column with --map \(Self.quoted(name + "="))")
        }
        let (noun, column, words) =
            rows == .events ? ("link", "link", ["link", "url", "uri"]) : ("id of a device", "id", ["id", "device"])
        let likely = unknown.first { name in words.contains { name.lowercased().contains($0) } }
        guard let first = likely ?? unknown.first, !columns.contains(where: isContent) else { return }
        throw CommandFailure(
            .badData,
            "\(file): no column is \(rows == .events ? "a" : "the") \(noun), and \(Escaping.list(unknown)) "
                + (unknown.count == 1 ? "is not a valid column" : "are not valid columns"),
            advice: "name the \(noun), such as --map \(Self.quoted("\(first)=\(column)")), or use "
                + Self.names(of: rows).joined(separator: ", "))
    }

    /// Creates the columns of a file without a header.
    ///
    /// - Parameters:
    ///   - count: The number of cells in a row.
    ///   - map: The columns at their positions.
    init(count: Int, map: ColumnMap) {
        columns = (0..<max(count, map.numbers.keys.max() ?? 0)).map { index in
            map.numbers[index + 1].flatMap { Self.column($0, map.rows, passthrough: map.passthrough) } ?? .ignored
        }
        rows = map.rows
        ignoredNames = []
    }

    private static func quoted(_ text: String) -> String { ShellQuote.posix(Escaping.visible(text)) }

    private static func column(_ name: String, _ rows: RowKind, passthrough: [String]) -> Column? {
        if rows == .devices {
            return name == "user" ? .member(name) : name == DeviceRecords.deletion ? .deletion : deviceColumn(name)
        }
        if members.contains(name) || passthrough.contains(name) { return .member(name) }
        if name == "payload" { return .payload }
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty else { return nil }
        switch parts[0] {
        case "params": return .parameter(parts[1])
        case "device": return deviceColumn(parts[1])
        default: return nil
        }
    }

    private static func deviceColumn(_ name: String) -> Column? {
        if facts.contains(name) { return .device(name) }
        if lists.contains(name) { return .deviceList(name) }
        let prefix = "attributes."
        guard name.hasPrefix(prefix), name.count > prefix.count else { return nil }
        return .attribute(String(name.dropFirst(prefix.count)))
    }

    /// Returns a Boolean value that indicates whether the column says what to open or, with `--devices`, which device
    /// is meant.
    private func isContent(_ column: Column) -> Bool { rows == .events ? column.isContent : column.isID }

    /// Returns a Boolean value that indicates whether cells can be a row.
    ///
    /// There are as many cells as columns, links and ids have the form of their columns, payloads are objects, and
    /// there is something to open.
    func isRow(_ cells: [[UInt8]]) -> Bool {
        guard cells.count == columns.count else { return false }
        var hasContent = !columns.contains(where: isContent)
        for (column, cell) in zip(columns, cells) where !cell.isEmpty {
            guard column.accepts(cell) else { return false }
            hasContent = hasContent || isContent(column)
        }
        return hasContent
    }

    /// Returns a Boolean value that indicates whether cells can be a row of several lines: there are as many as
    /// columns, and links and payloads have the form of their columns.
    func canSpanLines(_ cells: [[UInt8]]) -> Bool {
        cells.count == columns.count
            && zip(columns, cells).allSatisfy { column, cell in
                cell.isEmpty || !isContent(column) || column.accepts(cell)
            }
    }

    /// Returns a Boolean value that indicates whether a cell other than a payload has several lines.
    func hasLinesInText(_ cells: [[UInt8]]) -> Bool {
        zip(columns, cells).contains { column, cell in
            if case .payload = column { return false }
            return cell.contains(UInt8(ascii: "\n"))
        }
    }

    /// Returns the event or the device of a row, or nil if its payload is not JSON.
    ///
    /// An empty cell is an absent member.
    func event(_ cells: [[UInt8]]) -> [UInt8]? {
        for (column, cell) in zip(columns, cells) where !cell.isEmpty {
            if case .payload = column, (try? JSONValue.parse(cell)) == nil { return nil }
        }
        let filled = zip(columns, cells).filter { !$1.isEmpty }
        let event = JSONText.object { json in
            for (column, cell) in filled {
                switch column {
                case .member(let name): json.text(name, String(decoding: cell, as: UTF8.self))
                case .payload: json.raw("payload", cell)
                case .deletion: Self.deletion(cell, into: &json)
                default: continue
                }
            }
            Self.group("params", filled, into: &json) { if case .parameter(let name) = $0 { name } else { nil } }
            guard filled.contains(where: \.0.isOfDevice) else { return }
            if rows == .events { json.beginObject("device") }
            Self.device(filled, into: &json)
            if rows == .events { json.endObject() }
        }
        return Array(event.utf8)
    }

    private typealias Cells = [(column: Column, cell: [UInt8])]

    /// Writes a mark of deletion, whose check is left to `DeviceRecords` if it is not a Boolean value.
    private static func deletion(_ cell: [UInt8], into json: inout JSONText) {
        let text = String(decoding: cell, as: UTF8.self)
        switch text.lowercased() {
        case "true": json.boolean(DeviceRecords.deletion, true)
        case "false": json.boolean(DeviceRecords.deletion, false)
        default: json.text(DeviceRecords.deletion, text)
        }
    }

    private static func device(_ cells: Cells, into json: inout JSONText) {
        for (column, cell) in cells {
            switch column {
            case .device(let name): json.text(name, String(decoding: cell, as: UTF8.self))
            case .deviceList(let name):
                let items = cell.split(separator: UInt8(ascii: " "))
                json.texts(name, items.map { String(decoding: $0, as: UTF8.self) })
            default: continue
            }
        }
        group("attributes", cells, into: &json) { if case .attribute(let name) = $0 { name } else { nil } }
    }

    private static func group(
        _ member: String, _ cells: Cells, into json: inout JSONText, _ name: (Column) -> String?
    ) {
        let members = cells.compactMap { column, cell in name(column).map { ($0, cell) } }
        guard !members.isEmpty else { return }
        json.beginObject(member)
        for (name, cell) in members { json.text(name, String(decoding: cell, as: UTF8.self)) }
        json.endObject()
    }
}

extension EventColumns.Column {
    /// A Boolean value that indicates whether the column says what to open.
    fileprivate var isContent: Bool {
        switch self {
        case .member(let name): ["link", "path", "route"].contains(name)
        case .payload: true
        default: false
        }
    }

    /// A Boolean value that indicates whether the column is the id of the device.
    fileprivate var isID: Bool {
        if case .device("id") = self { true } else { false }
    }

    /// A Boolean value that indicates whether the column is a member of the device.
    fileprivate var isOfDevice: Bool {
        switch self {
        case .device, .deviceList, .attribute: true
        default: false
        }
    }

    /// A Boolean value that indicates whether cells can be any text.
    fileprivate var isText: Bool {
        switch self {
        case .member(let name): !EventColumns.members.contains(name) || name == "campaign"
        case .parameter, .attribute, .ignored: true
        case .payload, .device, .deviceList, .deletion: false
        }
    }

    /// Returns a Boolean value that indicates whether a nonempty cell has the form of the column's values.
    fileprivate func accepts(_ cell: [UInt8]) -> Bool {
        switch self {
        case .payload: (try? JSONValue.parse(cell))?.object != nil
        case .member("link"): EventColumns.isLink(cell)
        default: isText || !cell.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\"") }
        }
    }
}

extension EventColumns {
    /// Returns a Boolean value that indicates whether a cell begins with a scheme and has no white space.
    static func isLink(_ cell: [UInt8]) -> Bool {
        guard let colon = cell.firstIndex(of: UInt8(ascii: ":")), cell[0].isASCIILetter else { return false }
        let isScheme = cell[..<colon].allSatisfy { $0.isASCIIWord(or: "+-.") }
        guard isScheme, colon + 1 < cell.count else { return false }
        return !cell.contains { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\"") }
    }
}

/// The columns of CSV files by the names in their headers, which `--map` gives and aliases add.
struct ColumnMap {
    /// Other names of columns, without the case, spaces, `_`, and `-` of a name.
    static let aliases = [
        ("url", "link"), ("uri", "link"), ("deeplink", "link"), ("device", "device.id"), ("deviceid", "device.id"),
        ("platform", "device.platform"), ("appversion", "device.app"), ("os", "device.os"),
        ("locale", "device.locale"), ("region", "device.region"), ("campaignid", "campaign"),
    ]
    /// The greatest number of a column.
    private static let numberLimit = 10_000

    /// The column for each name in a header, or an empty text for one that is ignored.
    private var names: [String: String] = [:]
    /// The column at each position of a file without a header, from 1.
    private(set) var numbers: [Int: String] = [:]
    /// The members that are passed through to decisions, which are also columns.
    let passthrough: [String]
    /// The contents of the rows.
    let rows: RowKind

    /// A Boolean value that indicates whether `--map` was given, which means that files are CSV.
    var isGiven: Bool { !names.isEmpty || hasNoHeader }

    /// A Boolean value that indicates whether positions are mapped, which means that files have no header.
    var hasNoHeader: Bool { !numbers.isEmpty }

    /// The names that are mapped, in order.
    var mappedNames: [String] { names.keys.sorted() }

    /// Creates a map from the values of `--map`.
    ///
    /// The names in `passthrough` are also columns of events.
    init(_ pairs: [KeyValue] = [], passthrough: [String], of rows: RowKind = .events) throws(CommandFailure) {
        self.passthrough = passthrough
        self.rows = rows
        let isNumbered = !pairs.isEmpty && pairs.allSatisfy { Int($0.key) != nil }
        for pair in pairs {
            let target =
                EventColumns.isColumn(pair.value, rows, passthrough: passthrough)
                ? pair.value : aliased(pair.value) ?? pair.value
            guard target.isEmpty || EventColumns.isColumn(target, rows, passthrough: passthrough) else {
                let names = EventColumns.names(of: rows)
                let columns = names + (rows == .events ? passthrough.filter { !names.contains($0) } : [])
                let nearest = NearestName.of(target, among: columns)
                throw CommandFailure(
                    .usage, "--map: `\(Escaping.visible(target))` is not a column",
                    advice: nearest.map { "write `\($0)`" }
                        ?? "use " + columns.joined(separator: ", ") + ", or nothing to ignore the column")
            }
            if isNumbered, let number = Int(pair.key) {
                guard (1...Self.numberLimit).contains(number), numbers.updateValue(target, forKey: number) == nil
                else { throw Self.repeated(pair.key) }
            } else if names.updateValue(target, forKey: Self.trimmed(pair.key)) != nil {
                throw Self.repeated(pair.key)
            }
        }
    }

    private static func repeated(_ name: String) -> CommandFailure {
        CommandFailure(
            .usage, "--map: `\(Escaping.visible(name))` is listed twice, or is not a number in 1..\(numberLimit)",
            advice: "list each column once")
    }

    /// Returns the column for a name in a header, an empty text for one that is ignored, or nil for an unknown name.
    ///
    /// Names of columns precede aliases.
    func column(_ cell: [UInt8]) -> String? {
        let name = Self.trimmed(String(decoding: cell, as: UTF8.self))
        if let mapped = names[name] { return mapped }
        if name.isEmpty || EventColumns.isColumn(name, rows, passthrough: passthrough) { return name }
        return aliased(name)
    }

    /// Returns the column that another name or another spelling stands for, or nil.
    private func aliased(_ name: String) -> String? {
        let plain = Self.plain(name)
        let names = EventColumns.names(of: rows).filter { !$0.hasSuffix(".NAME") }
        if let alias = Self.aliases.first(where: { $0.0 == plain }) {
            if rows == .events { return alias.1 }
            // The members of a device are columns without a prefix.
            if let member = names.first(where: { "device." + $0 == alias.1 }) { return member }
        }
        if rows == .devices, plain == "userid" { return "user" }
        return names.first { Self.plain($0) == plain }
    }

    /// Returns a name without white space at its ends.
    static func trimmed(_ name: String) -> String {
        let start = name.drop(while: \.isWhitespace)
        return String(start.prefix(start.count - start.reversed().prefix(while: \.isWhitespace).count))
    }

    private static func plain(_ name: String) -> String {
        name.lowercased().filter { !$0.isWhitespace && $0 != "_" && $0 != "-" }
    }
}
