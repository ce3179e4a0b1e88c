package import LinkCoordinator

/// Types of fields in words, such as `a whole number from 1 to 99` for `int(1..99)`.
package enum FieldTypeWords {
    /// Returns a type in words, which continue a sentence such as "`count` must be".
    package static func text(_ type: FieldType) -> String {
        switch type {
        case .uuid: "a UUID"
        case .bool: "`true` or `false`"
        case .double: "a number of at most 15 digits"
        case .decimal(let min, let max): "a decimal number" + range(min, max)
        case .date: "a date such as 2026-11-20"
        case .dateTime: "a date and time such as 2026-11-20T10:00:00Z"
        case .int(let min, let max):
            "a whole number" + range(min == .min ? nil : "\(min)", max == .max ? nil : "\(max)")
        case .string(let min, let max): text(min: min, max: max)
        case .enumeration(let values):
            "one of " + values.map { "`\(String(decoding: $0, as: UTF8.self))`" }.joined(separator: ", ")
        case .url(let hosts): "an https URL with the host " + hosts.map { "`\($0.text)`" }.joined(separator: " or ")
        case .list(let element, let min, let max): "a list\(items(min, max)), each " + text(element)
        }
    }

    private static func range(_ min: String?, _ max: String?) -> String {
        switch (min, max) {
        case (let min?, let max?): " from \(min) to \(max)"
        case (let min?, nil): " of at least \(min)"
        case (nil, let max?): " of at most \(max)"
        case (nil, nil): ""
        }
    }

    private static func text(min: Int, max: Int) -> String {
        let isBounded = max < FieldType.maxTextBytes
        switch (min, isBounded) {
        case (0, false): return "a text"
        case (0, true): return "a text of at most \(max) bytes"
        case (_, false): return "a text of at least \(Counts.text(min, "byte"))"
        case (_, true): return "a text of \(min) to \(max) bytes"
        }
    }

    private static func items(_ min: Int, _ max: Int) -> String {
        if min == 0 && max == FieldType.maxListCount { return "" }
        return " of \(min) to \(max) items"
    }
}
