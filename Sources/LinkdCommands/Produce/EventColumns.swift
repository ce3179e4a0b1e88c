internal import RouteTools
internal import LinkCoordinator
internal import StrictJSON

/// The columns of a CSV file, each a member of the event.
///
/// `device.app` is a member of the device.
struct EventColumns {
    /// The meaning of a column.
    private enum Column {
        case member(String)
        case payload
        case parameter(String)
        case device(String)
        case deviceList(String)
        case attribute(String)
    }

    private let columns: [Column]

    /// The number of cells in a row.
    var count: Int { columns.count }

    private static let members = [
        "id", "application", "link", "path", "mode", "route", "payloadType", "action", "expires", "sent", "campaign",
    ]
    private static let facts = ["id", "platform", "app", "os", "locale", "region", "coordinator"]
    private static let lists = ["capabilities", "claims"]

    /// The valid column names, for messages.
    static var names: [String] {
        members + ["payload", "params.NAME"] + (facts + lists).map { "device." + $0 } + ["device.attributes.NAME"]
    }

    /// Returns a Boolean value that indicates whether a cell of a header is a valid column name.
    ///
    /// The names in `passthrough` are also valid.
    static func isName(_ cell: [UInt8], passthrough: [String]) -> Bool {
        column(String(decoding: cell, as: UTF8.self), passthrough: passthrough) != nil
    }

    /// Reads the header.
    ///
    /// The names in `passthrough` are also valid.
    init(header: [[UInt8]], file: String, passthrough: [String]) throws(CommandFailure) {
        var columns: [Column] = []
        var seen: Set<String> = []
        for cell in header {
            let name = String(decoding: cell, as: UTF8.self)
            guard seen.insert(name).inserted else {
                throw CommandFailure(
                    .badData, "\(file): column `\(Escaping.visible(name))` is listed twice",
                    advice: "list each column once")
            }
            guard let column = Self.column(name, passthrough: passthrough) else {
                let nearest = NearestName.of(name, among: Self.names)
                throw CommandFailure(
                    .badData, "\(file): `\(Escaping.visible(DisplayWidth.cut(name, to: 60)))` is not a valid column",
                    advice: nearest.map { "write `\($0)`" } ?? "use " + Self.names.joined(separator: ", "))
            }
            columns.append(column)
        }
        self.columns = columns
    }

    private static func column(_ name: String, passthrough: [String]) -> Column? {
        if members.contains(name) || passthrough.contains(name) { return .member(name) }
        if name == "payload" { return .payload }
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty else { return nil }
        switch parts[0] {
        case "params": return .parameter(parts[1])
        case "device":
            if facts.contains(parts[1]) { return .device(parts[1]) }
            if lists.contains(parts[1]) { return .deviceList(parts[1]) }
            let prefix = "attributes."
            guard parts[1].hasPrefix(prefix), parts[1].count > prefix.count else { return nil }
            return .attribute(String(parts[1].dropFirst(prefix.count)))
        default: return nil
        }
    }

    /// Returns the event of a row, or nil if its payload is not JSON.
    ///
    /// An empty cell is an absent member.
    func event(_ cells: [[UInt8]]) -> [UInt8]? {
        for (column, cell) in zip(columns, cells) where !cell.isEmpty {
            if case .payload = column, (try? JSONValue.parse(cell)) == nil { return nil }
        }
        var json = JSONText()
        json.beginObject()
        for (column, cell) in zip(columns, cells) where !cell.isEmpty {
            switch column {
            case .member(let name): json.text(name, String(decoding: cell, as: UTF8.self))
            case .payload: json.raw("payload", cell)
            default: continue
            }
        }
        group("params", cells, into: &json) { column in
            if case .parameter(let name) = column { return name }
            return nil
        }
        device(cells, into: &json)
        json.endObject()
        return Array(json.finish().utf8)
    }

    private func device(_ cells: [[UInt8]], into json: inout JSONText) {
        var opened = false
        for (column, cell) in zip(columns, cells) where !cell.isEmpty {
            switch column {
            case .device(let name):
                if !opened { json.beginObject("device") }
                json.text(name, String(decoding: cell, as: UTF8.self))
                opened = true
            case .deviceList(let name):
                if !opened { json.beginObject("device") }
                json.texts(
                    name, cell.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) })
                opened = true
            case .attribute:
                if !opened { json.beginObject("device") }
                opened = true
            default: continue
            }
        }
        guard opened else { return }
        group("attributes", cells, into: &json) { column in
            if case .attribute(let name) = column { return name }
            return nil
        }
        json.endObject()
    }

    private func group(
        _ member: String, _ cells: [[UInt8]], into json: inout JSONText, _ name: (Column) -> String?
    ) {
        var opened = false
        for (column, cell) in zip(columns, cells) where !cell.isEmpty {
            guard let name = name(column) else { continue }
            if !opened { json.beginObject(member) }
            json.text(name, String(decoding: cell, as: UTF8.self))
            opened = true
        }
        if opened { json.endObject() }
    }
}
