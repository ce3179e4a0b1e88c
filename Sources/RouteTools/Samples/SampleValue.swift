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
    static func field(_ type: FieldType, name: String, attempt: Int = 0) -> String {
        switch type {
        case .uuid: return uuids[attempt % uuids.count]
        case .int(let min, let max): return String(integer(min, max, attempt))
        case .string(let min, let max):
            let texts = [name, "42", "blue", "a b", "x-1", "\u{E9}"]
            let text = texts[attempt % texts.count]
            if text.utf8.count >= min, text.utf8.count <= max { return text }
            return String(repeating: "x", count: Swift.max(min, Swift.min(1, max)))
        case .bool: return ["true", "false"][attempt % 2]
        case .double: return ["1.5", "2", "-0.25"][attempt % 3]
        case .decimal(let min, let max):
            let valid = ["1.5", "1", min, max, "2", "-0.25"].compactMap(\.self).filter { type.canonicalText($0) != nil }
            return valid.isEmpty ? "0" : valid[attempt % valid.count]
        case .dateTime: return ["2025-11-20T09:30:00Z", "2024-02-29T23:59:59.5Z"][attempt % 2]
        case .date: return ["2025-11-20", "2024-02-29", "2026-01-01"][attempt % 3]
        case .enumeration(let values):
            return values.isEmpty ? "" : String(decoding: values[attempt % values.count], as: UTF8.self)
        case .url(let hosts):
            return "https://\(hosts.first?.sample ?? "example.com")/" + ["", "x"][attempt % 2]
        case .list(let element, _, _): return field(element, name: name, attempt: attempt)
        }
    }

    private static func integer(_ min: Int64, _ max: Int64, _ attempt: Int) -> Int64 {
        let candidates: [Int64] = [12, 7, 1, 99, min, max]
        return Swift.min(Swift.max(candidates[attempt % candidates.count], min), max)
    }

    private static func characters(_ set: CharacterClass, _ min: Int, _ max: Int, _ attempt: Int) -> String {
        let letters = set.characters.reversed().filter { $0 != UInt8(ascii: ".") }
        let all = letters.isEmpty ? set.characters : letters
        let count = attempt % 2 == 0 ? min : max
        return String(decoding: (0..<count).map { all[($0 + attempt) % all.count] }, as: UTF8.self)
    }
}
