internal import LinkCoordinator

/// A value of a link in Swift: its type, its text in the link, and the check for values that the table accepts.
struct SwiftValue {
    /// The type, without `?`.
    var type: String
    /// An expression for the text of the value, in which `$` represents the value.
    var text: String
    /// An expression that is true for values that the table accepts, or nil if it accepts all.
    var check: String?

    /// Returns the expression with the name of the value.
    static func put(_ name: String, into expression: String) -> String { expression.replacing("$", with: name) }

    /// Returns a value of a field.
    static func field(_ type: FieldType, enumerations: inout SwiftEnumerations, name: String) -> SwiftValue {
        switch type {
        case .uuid: return SwiftValue(type: "UUID", text: "$.uuidString")
        case .bool: return SwiftValue(type: "Bool", text: "String($)")
        case .int(let min, let max): return integer(min, max)
        case .double: return SwiftValue(type: "Double", text: "String($)", check: "LinkText.isDecimal($)")
        case .decimal, .dateTime: return SwiftValue(type: "String", text: "$")
        case .date: return SwiftValue(type: "String", text: "$", check: "LinkText.isDate($)")
        case .string(let min, let max):
            return SwiftValue(type: "String", text: "$", check: "(\(min)...\(max)).contains($.utf8.count)")
        case .enumeration(let values):
            let type = enumerations.type(values.map { String(decoding: $0, as: UTF8.self) }, name: name)
            return SwiftValue(type: type, text: "$.rawValue")
        case .url: return SwiftValue(type: "String", text: "$", check: "$.hasPrefix(\"https://\")")
        case .list(let element, _, _): return field(element, enumerations: &enumerations, name: name)
        }
    }

    /// Returns the value of a capture; if the pattern matches any segment, its type is that of the bound field.
    static func capture(
        _ capture: Capture, bound: FieldType?, enumerations: inout SwiftEnumerations
    ) -> SwiftValue {
        switch capture.matcher {
        case .int(let min, let max):
            if case .int(let low, let high)? = bound { return integer(Swift.max(min, low), Swift.min(max, high)) }
            return integer(min, max)
        case .bool: return SwiftValue(type: "Bool", text: "String($)")
        case .uuid: return SwiftValue(type: "UUID", text: "$.uuidString")
        case .date: return SwiftValue(type: "String", text: "$", check: "LinkText.isDate($)")
        case .enumeration:
            let values = capture.spellings.map { String(decoding: $0, as: UTF8.self) }
            return SwiftValue(type: enumerations.type(values, name: capture.name), text: "$.rawValue")
        case .characters(let set, let min, let max):
            let characters = SwiftNames.literal(String(decoding: set.characters, as: UTF8.self))
            return SwiftValue(
                type: "String", text: "$",
                check: "(\(min)...\(max)).contains($.utf8.count) && LinkText.isMade($, of: \(characters))")
        default:
            if let bound, !isList(bound) { return field(bound, enumerations: &enumerations, name: capture.name) }
            return SwiftValue(type: "String", text: "$")
        }
    }

    private static func isList(_ type: FieldType) -> Bool { if case .list = type { true } else { false } }

    private static func integer(_ min: Int64, _ max: Int64) -> SwiftValue {
        let low = min == .min ? "" : String(min)
        let high = max == .max ? "" : String(max)
        let check = low.isEmpty && high.isEmpty ? nil : "(\(low)...\(high)).contains($)"
        return SwiftValue(type: "Int", text: "String($)", check: check)
    }
}

/// The enums of a file, one for each list of values.
struct SwiftEnumerations {
    /// The enums in the order of their first use.
    private(set) var all: [(name: String, values: [String])] = []
    private var names: SwiftNames

    /// Creates enums with names that differ from the reserved ones.
    init(reserving reserved: Set<String>) { names = SwiftNames(reserving: reserved) }

    /// Returns the name of the type for these values.
    mutating func type(_ values: [String], name: String) -> String {
        if let known = all.first(where: { $0.values == values }) { return known.name }
        let type = names.next(name, upper: true)
        all.append((type, values))
        return type
    }

    /// The declarations, indented.
    var lines: [String] {
        all.flatMap { type, values -> [String] in
            var cases = SwiftNames()
            return [
                "", "    /// One of the values that the table lists.",
                "    public enum \(type): String, Sendable, CaseIterable {",
            ]
                + values.map { "        case \(SwiftNames.code(cases.next($0))) = \(SwiftNames.literal($0))" } + [
                    "    }"
                ]
        }
    }
}
