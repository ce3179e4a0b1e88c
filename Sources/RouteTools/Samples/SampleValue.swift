internal import LinkCoordinator

/// Sample values that a matcher or a type accepts.
enum SampleValue {
    /// The number of different values to try for one segment.
    static let attempts = 6

    private static let uuids = [
        "B121D5E7-EA65-49F8-8B33-B3C43FA93866", "80674450-AAEC-4704-9D0F-63C7B2068FF1",
    ]

    /// Returns a segment that the matcher accepts, or nil if this attempt has none.
    static func segment(_ matcher: Matcher, name: String, attempt: Int) -> String? {
        switch matcher {
        case .literal(let text): return String(decoding: text, as: UTF8.self)
        case .enumeration(let values): return String(decoding: values[attempt % values.count], as: UTF8.self)
        case .affix(let prefix, let inner, let suffix):
            return segment(inner, name: name, attempt: attempt).map {
                String(decoding: prefix, as: UTF8.self) + $0 + String(decoding: suffix, as: UTF8.self)
            }
        case .int(let min, let max): return String(integer(min, max, attempt))
        case .bool: return ["true", "false", "1", "0"][attempt % 4]
        case .date: return ["2025-11-20", "2024-02-29", "2026-01-01"][attempt % 3]
        case .uuid: return uuids[attempt % uuids.count]
        case .characters(let set, let min, let max): return characters(set, min, max, attempt)
        case .any: return ["\(name.isEmpty ? "value" : name)", "42", "blue", "a b", "x-1", "é"][attempt % 6]
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: return nil
        }
    }

    /// Returns a value of a field's type, in the form of a link.
    static func field(_ type: FieldType, name: String) -> String {
        switch type {
        case .uuid: return uuids[0]
        case .int(let min, let max): return String(integer(min, max, 0))
        case .string(let min, let max):
            if name.utf8.count >= min, name.utf8.count <= max { return name }
            return String(repeating: "x", count: Swift.max(min, Swift.min(1, max)))
        case .bool: return "true"
        case .double: return "1.5"
        case .decimal(let min, let max):
            return ["1.5", "1", min, max].compactMap(\.self).first { type.canonicalText($0) != nil } ?? "0"
        case .date: return "2025-11-20"
        case .dateTime: return "2025-11-20T09:30:00Z"
        case .enumeration(let values): return values.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        case .url(let hosts): return "https://\(hosts.first?.sample ?? "example.com")/"
        case .list(let element, _, _): return field(element, name: name)
        }
    }

    private static func integer(_ min: Int64, _ max: Int64, _ attempt: Int) -> Int64 {
        let wanted: [Int64] = [12, 7, 1, 99, min, max]
        return Swift.min(Swift.max(wanted[attempt % wanted.count], min), max)
    }

    private static func characters(_ set: CharacterClass, _ min: Int, _ max: Int, _ attempt: Int) -> String {
        let letters = set.characters.reversed().filter { $0 != UInt8(ascii: ".") }
        let all = letters.isEmpty ? set.characters : letters
        let count = attempt % 2 == 0 ? min : max
        return String(decoding: (0..<count).map { all[($0 + attempt) % all.count] }, as: UTF8.self)
    }
}
