internal import LinkCoordinator
internal import StrictJSON

/// Texts that distinguish the types of fields: valid texts of each type, with its bounds, and invalid ones.
///
/// For any two types of `FieldType`, one of the texts is valid for only one of them, or is bound to a different value.
struct ValueSamples {
    /// Texts for single values; the first is the best of `fitting`.
    private(set) var texts: [String] = []

    /// The texts that are valid for a type.
    ///
    /// They are sorted by the number of strict types for which they are valid, then by the number of all types.
    private(set) var fitting: [String] = []

    /// Numbers of items for lists, at the bounds of all lists.
    private(set) var counts: [Int] = []

    /// The number of repetitions of the first text: one, or the number that is valid for most lists.
    private(set) var fittingCount = 1

    /// Creates samples for the types of one source in both tables.
    ///
    /// `strict` contains the types that reject a link with an invalid text.
    init(_ types: [FieldType], strict: [FieldType]) {
        var seen = Set<FieldType>()
        let own = types.filter { seen.insert($0).inserted }
        var all: [String] = []
        for type in own { all += Self.samples(type, beside: own) }
        // A value that one type binds as text can be a number for another, so with two types all short spellings count.
        if own.count > 1 { all += Self.spellings }
        if own.isEmpty { all = ["v"] }
        all.append("")
        let refusing = strict.filter { seen.remove($0) != nil }
        let scored = all.enumerated().map { position, text in
            (
                position: position, text: text,
                score: Self.matchCount(refusing, text) * (own.count + 1) + Self.matchCount(own, text)
            )
        }
        let best = scored.sorted { ($1.score, $0.position) < ($0.score, $1.position) }
        var included = Set<[UInt8]>()
        for text in best.prefix(1).map(\.text) + all where included.insert(Array(text.utf8)).inserted {
            texts.append(text)
        }
        included = []
        fitting = best.filter { $0.score > 0 && included.insert(Array($0.text.utf8)).inserted }.map(\.text)
        for case .list(_, let min, let max) in own {
            counts += [min - 1, min, max, max + 1].filter { $0 > 0 && $0 <= 129 && !counts.contains($0) }
            fittingCount = max >= 1 ? Swift.max(fittingCount, min) : fittingCount
        }
    }

    private static let spellings = [
        "1", "0", "true", "7", "05", "+5", "-0", "1.50", "x", "b121d5e7-ea65-49f8-8b33-b3c43fa93866", "2025-01-31",
    ]

    /// Returns the number of types for which a text is valid.
    private static func matchCount(_ types: [FieldType], _ text: String) -> Int {
        types.count { $0.canonicalText(text) != nil }
    }

    private static func samples(_ type: FieldType, beside types: [FieldType]) -> [String] {
        switch type {
        case .int(let min, let max):
            let inside = [min, max, Swift.max(min, Swift.min(max, 7))].map { String($0) }
            let outside = [min > .min ? min - 1 : nil, max < .max ? max + 1 : nil].compactMap { $0.map { String($0) } }
            return outside + ["x"] + inside
        case .string(let min, let max):
            // A letter that no enum has as a value distinguishes strings from enums.
            let values = types.flatMap { if case .enumeration(let values) = $0 { values } else { [[UInt8]]() } }
            let letter = ["a", "q", "z", "k", "w"].first { letter in
                !values.contains { $0.allSatisfy { $0 == letter.utf8.first } }
            }
            return [min - 1, max + 1, min, max, Swift.max(min, Swift.min(max, 3))]
                .filter { $0 >= 0 && $0 <= longest }
                .map { String(repeating: letter ?? "a", count: $0) }
        case .bool: return ["0", "x", "true"]
        case .uuid: return ["x", "b121d5e7-ea65-49f8-8b33-b3c43fa93866", "B121D5E7-EA65-49F8-8B33-B3C43FA93866"]
        case .date: return ["2025-02-30", "2025-01-31"]
        case .double: return ["-0", "x", "1.50"]
        case .decimal(let min, let max): return DecimalSamples(min: min, max: max).texts
        case .dateTime: return ["2025-01-31T12:00:60Z", "2025-01-31T14:00:00+02:00", "2025-01-31T12:00:00Z"]
        case .enumeration(let values):
            // If all types are equal, a few values represent all of them.
            let named = types.count == 1 ? values.prefix(4) : values[...]
            return ["zz-"] + named.reversed().map { String(decoding: $0, as: UTF8.self) }
        case .url(let hosts):
            let named = hosts.compactMap { rule -> String? in
                switch rule {
                case .exact(let host, let port): String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
                case .suffix(let suffix): "x." + String(decoding: suffix, as: UTF8.self)
                case .empty, .any: nil
                }
            }
            return ["https://any.invalid/", "x"] + named.map { "https://\($0)/" }
        case .list(let element, _, _): return samples(element, beside: types)
        }
    }

    /// The maximum length of a text to try: no field accepts a longer one.
    private static let longest = FieldType.maxTextBytes
}
