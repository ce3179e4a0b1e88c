internal import StrictJSON

/// The words that tables know: what events must say for anything interesting to become of them.
package struct Vocabulary: Sendable {
    /// Names of applications.
    package var applications: [String] = []
    /// Schemes, without `*`.
    package var schemes: [String] = []
    /// Hosts as the rules write them, `*.` and ports included.
    package var hosts: [String] = []
    /// Patterns of paths.
    package var patterns: [String] = []
    /// Names of query items and parameters.
    package var names: [String] = []
    /// Links of examples.
    package var links: [String] = []
    /// Requests of examples, as JSON.
    package var requests: [String] = []
    /// Ids of routes.
    package var routes: [String] = []
    /// Coordinator paths.
    package var paths: [String] = []
    /// JSON pointers into payloads.
    package var pointers: [String] = []
    /// Names of attributes.
    package var attributes: [String] = []
    /// Texts that conditions ask for.
    package var values: [String] = []

    /// Gathers the words of tables, each the bytes of a file.
    package init(tables: [[UInt8]]) {
        for table in tables {
            guard let value = try? JSONValue.parse(table) else { continue }
            gather(value, under: "")
        }
    }

    private mutating func gather(_ value: JSONValue, under key: String) {
        switch value.kind {
        case .string(let text): take(text, under: key)
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

    private mutating func take(_ text: String, under key: String) {
        switch key {
        case "applications": applications.append(text)
        case "schemes": if text != "*" { schemes.append(text) }
        case "hosts": hosts.append(text)
        case "match", "alias", "path", "anySegment", "stripPrefix": patterns.append(text)
        case "link": if text.hasPrefix("/") { pointers.append(text) } else { links.append(text) }
        case "id": routes.append(text)
        case "platform", "locale", "region", "capability", "claim": values.append(text)
        default: takeSource(text)
        }
        if key == "route" || key == "params", text.hasPrefix("/") { pointers.append(text) }
    }

    /// Notes what a binding names: `query.x`, `path.x` or `payload./x`; of a condition the version.
    private mutating func takeSource(_ text: String) {
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
