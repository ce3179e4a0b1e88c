internal import StrictJSON

/// The words that tables contain.
///
/// Events with these words reach more of the code.
struct Vocabulary: Sendable {
    /// The names of applications.
    var applications: [String] = []
    /// The schemes, without `*`.
    var schemes: [String] = []
    /// The hosts as in the rules, including `*.` and ports.
    var hosts: [String] = []
    /// The patterns of paths.
    var patterns: [String] = []
    /// The names of query items and parameters.
    var names: [String] = []
    /// The links of examples.
    var links: [String] = []
    /// The ids of routes.
    var routes: [String] = []
    /// The coordinator paths.
    var paths: [String] = []
    /// The JSON pointers into payloads.
    var pointers: [String] = []
    /// The names of attributes.
    var attributes: [String] = []
    /// The values in conditions.
    var values: [String] = []

    /// Collects the words of tables, each given as the bytes of a file.
    init(tables: [[UInt8]]) {
        for table in tables { Self.visit(table) { add($0, under: $1) } }
    }

    /// Collects the names and the strings of JSON texts.
    init(membersOf texts: [[UInt8]]) {
        for text in texts {
            Self.visit(text) { value, _ in
                if let text = value.string { values.append(text) }
                names += (value.object ?? []).map(\.name)
            }
        }
    }

    /// Adds the pointers of a vendor table, the names in them, and the beginnings of names.
    mutating func add(vendors table: [UInt8]) {
        Self.visit(table) { value, key in
            guard let text = value.string else { return }
            if key == "prefix" { names.append(text) }
            if key == "equals" { values.append(text) }
            guard text.hasPrefix("/") else { return }
            let pointer = text.replacing("{N}", with: "0")
            pointers.append(pointer)
            names += pointer.split(separator: "/").map {
                String($0).replacing("~1", with: "/").replacing("~0", with: "~")
            }
        }
    }

    /// Calls a function with each value of a JSON text and the name of the member that contains it.
    private static func visit(_ text: [UInt8], _ body: (JSONValue, String) -> Void) {
        func visit(_ value: JSONValue, under key: String) {
            body(value, key)
            for element in value.array ?? [] { visit(element, under: key) }
            for member in value.object ?? [] { visit(member.value, under: member.name) }
        }
        if let value = try? JSONValue.parse(text) { visit(value, under: "") }
    }

    private mutating func add(_ value: JSONValue, under key: String) {
        if let text = value.string { add(text, under: key) }
        guard let members = value.object else { return }
        if key == "attributes" { attributes += members.map(\.name) }
        if key == "coordinators" { for member in members { addScreens(member) } }
        if key == "query" { names += members.map(\.name) }
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

/// A repeatable source of random choices (SplitMix64).
///
/// The same seed yields the same choices on every machine.
package struct RandomSource: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a source from a seed.
    package init(seed: UInt64) { state = seed }

    /// Returns the next random number.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 to `bound` - 1, or 0 if `bound` is not positive.
    mutating func below(_ bound: Int) -> Int {
        bound > 1 ? Int(truncatingIfNeeded: next() % UInt64(bound)) : 0
    }

    /// Returns true with a probability of 1 in `count`.
    package mutating func one(in count: Int) -> Bool { below(count) == 0 }

    /// Returns one of the choices, which must not be empty.
    package mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }

    /// Returns one of the choices, or `other` if there are none.
    package mutating func pick<Choice>(_ choices: [Choice], else other: Choice) -> Choice {
        choices.isEmpty ? other : pick(choices)
    }
}
