internal import LinkCoordinator

/// Sample texts of a matcher: short ones first, then some that few other matchers match.
enum SegmentSamples {
    /// Returns texts of a matcher; all of them if there are few.
    static func texts(of matcher: Matcher) -> [[UInt8]] {
        switch matcher {
        case .literal(let text): return [text]
        case .enumeration(let values): return values
        case .affix(let prefix, let inner, let suffix): return texts(of: inner).map { prefix + $0 + suffix }
        case .int(let min, let max):
            let numbers = [min, max, Swift.max(min, Swift.min(max, 7)), min &+ (max &- min) / 2, min &+ 1, max &- 1]
            return numbers.filter { $0 >= min && $0 <= max }.map { Array(String($0).utf8) }
        case .bool: return Matcher.boolTexts
        case .date: return ["2025-01-31", "1789-07-14", "0004-02-29"].map { Array($0.utf8) }
        case .uuid: return [Array("80674450-AAEC-4704-9D0F-63C7B2068FF1".utf8)]
        case .characters(let set, let min, let max):
            let characters = set.characters
            return [min, max, (min + max) / 2].flatMap { count in
                [0, 1, 7].map { offset in
                    (0..<count).map { characters[(offset + $0 * offset) % characters.count] }
                }
            }
        case .any: return ["x", "zz", "0", "q-7_k", "~", "Zq9.wv-k3j"].map { Array($0.utf8) }
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: return []
        }
    }
}
