internal import StrictJSON

/// The words that tables contain.
///
/// Events with these words reach more of the code.
package struct Vocabulary: Sendable {
    /// The names of applications.
    package var applications: [String] = []
    /// The schemes, without `*`.
    package var schemes: [String] = []
    /// The hosts as in the rules, including `*.` and ports.
    package var hosts: [String] = []
    /// The patterns of paths.
    package var patterns: [String] = []
    /// The names of query items and parameters.
    package var names: [String] = []
    /// The links of examples.
    package var links: [String] = []
    /// The requests of examples, as JSON.
    package var requests: [String] = []
    /// The ids of routes.
    package var routes: [String] = []
    /// The coordinator paths.
    package var paths: [String] = []
    /// The JSON pointers into payloads.
    package var pointers: [String] = []
    /// The names of attributes.
    package var attributes: [String] = []
    /// The values in conditions.
    package var values: [String] = []

    /// Collects the words of tables, each given as the bytes of a file.
    package init(tables: [[UInt8]]) {
        for table in tables {
            guard let value = try? JSONValue.parse(table) else { continue }
            gather(value, under: "")
        }
    }

    /// Collects the names and the strings of JSON texts.
    package init(membersOf texts: [[UInt8]]) {
        for text in texts {
            guard let value = try? JSONValue.parse(text) else { continue }
            gatherMembers(value)
        }
    }

    private mutating func gatherMembers(_ value: JSONValue) {
        switch value.kind {
        case .string(let text): values.append(text)
        case .array(let elements): for element in elements { gatherMembers(element) }
        case .object(let members):
            for member in members {
                names.append(member.name)
                gatherMembers(member.value)
            }
        default: break
        }
    }

    /// Adds the pointers of a vendor table, the names in them, and the beginnings of names.
    package mutating func add(vendors table: [UInt8]) {
        guard let value = try? JSONValue.parse(table) else { return }
        gatherPointers(value, under: "")
    }

    private mutating func gatherPointers(_ value: JSONValue, under key: String) {
        switch value.kind {
        case .string(let text):
            if key == "prefix" { names.append(text) }
            if key == "equals" { values.append(text) }
            guard text.hasPrefix("/") else { return }
            let pointer = text.replacing("{N}", with: "0")
            pointers.append(pointer)
            for name in pointer.split(separator: "/") {
                names.append(String(name).replacing("~1", with: "/").replacing("~0", with: "~"))
            }
        case .array(let elements): for element in elements { gatherPointers(element, under: key) }
        case .object(let members): for member in members { gatherPointers(member.value, under: member.name) }
        default: break
        }
    }

    private mutating func gather(_ value: JSONValue, under key: String) {
        switch value.kind {
        case .string(let text): add(text, under: key)
        case .array(let elements): for element in elements { gather(element, under: key) }
        case .object(let members):
            if key == "request" { requests.append(value.text) }
            if key == "attributes" { attributes += members.map(\.name) }
            for member in members {
                if key == "coordinators" { addScreens(member) }
                if key == "query" { names.append(member.name) }
                gather(member.value, under: member.name)
            }
        default: break
        }
    }

    private mutating func addScreens(_ coordinator: JSONMember) {
        paths.append("/" + coordinator.name)
        for screen in coordinator.value["screens"]?.object ?? [] { paths.append("/\(coordinator.name)/\(screen.name)") }
    }

    private mutating func add(_ text: String, under key: String) {
        switch key {
        case "applications": applications.append(text)
        case "schemes": if text != "*" { schemes.append(text) }
        case "hosts": hosts.append(text)
        case "match", "alias", "path", "anySegment", "stripPrefix": patterns.append(text)
        case "link": if text.hasPrefix("/") { pointers.append(text) } else { links.append(text) }
        case "id": routes.append(text)
        case "platform", "locale", "region", "capability", "claim": values.append(text)
        default: addSource(text)
        }
        if key == "route" || key == "params", text.hasPrefix("/") { pointers.append(text) }
    }

    /// Adds the name in a binding (`query.x`, `path.x`, or `payload./x`), or the version in a condition.
    private mutating func addSource(_ text: String) {
        for prefix in ["query.", "path."] where text.hasPrefix(prefix) {
            names.append(String(text.dropFirst(prefix.count)))
        }
        if text.hasPrefix("payload.") { pointers.append(String(text.dropFirst("payload.".count))) }
        if let first = text.utf8.first, UInt8(ascii: "<")...UInt8(ascii: ">") ~= first {
            values.append(String(text.drop { "<>= ".contains($0) }))
        } else if text.utf8.count < 24 {
            values.append(text)
        }
    }
}
