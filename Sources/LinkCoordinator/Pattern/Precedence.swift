extension Matcher {
    /// Compares the precedence of two matchers of a segment.
    ///
    /// Returns a negative number if `a` precedes, a positive number if `b` precedes, and 0 if they are equal.
    ///
    /// The rank is compared first, and then a key of each matcher. Comparing by inclusion of the matched texts would
    /// not be transitive, because some matchers are incomparable.
    package static func compare(_ a: Matcher, _ b: Matcher) -> Int {
        if a.rank != b.rank { return a.rank - b.rank }
        switch (a, b) {
        case (.literal(let x), .literal(let y)), (.anySegment(let x), .anySegment(let y)):
            return compareBytes(x, y)
        case (.enumeration(let x), .enumeration(let y)):
            return x.count != y.count ? x.count - y.count : compareLists(x, y)
        case (.affix(let p, let x, let s), .affix(let q, let y, let t)):
            if p.count + s.count != q.count + t.count { return q.count + t.count - p.count - s.count }
            if p.count != q.count { return q.count - p.count }
            let inner = compare(x, y)
            if inner != 0 { return inner }
            let prefixes = compareBytes(p, q)
            return prefixes != 0 ? prefixes : compareBytes(s, t)
        default:
            return a.rank == 3 ? compareTyped(a, b) : 0
        }
    }

    /// Compares two sorted lists of the same length.
    private static func compareLists(_ a: [[UInt8]], _ b: [[UInt8]]) -> Int {
        for (x, y) in zip(a, b) {
            let order = compareBytes(x, y)
            if order != 0 { return order }
        }
        return 0
    }

    /// Compares typed matchers: int, bool, date, uuid, class.
    ///
    /// Integers are ordered by the size of their range and then by its start, and classes by their maximum length
    /// first.
    private static func compareTyped(_ a: Matcher, _ b: Matcher) -> Int {
        if a.typedRank != b.typedRank { return a.typedRank - b.typedRank }
        switch (a, b) {
        case (.int(let min, let max), .int(let otherMin, let otherMax)):
            // The difference of two `Int64` values always fits into a `UInt64`.
            let range = UInt64(bitPattern: max &- min)
            let otherRange = UInt64(bitPattern: otherMax &- otherMin)
            if range != otherRange { return range < otherRange ? -1 : 1 }
            return min == otherMin ? 0 : (min < otherMin ? -1 : 1)
        case (.characters(let set, let min, let max), .characters(let otherSet, let otherMin, let otherMax)):
            if max != otherMax { return max - otherMax }
            if set.count != otherSet.count { return set.count - otherSet.count }
            if min != otherMin { return otherMin - min }
            return compareBytes(set.characters, otherSet.characters)
        default: return 0
        }
    }

    private var typedRank: Int {
        switch self {
        case .int: 0
        case .bool: 1
        case .date: 2
        case .uuid: 3
        default: 4
        }
    }
}

extension Pattern {
    /// Compares the precedence of two patterns, segment by segment from the left.
    ///
    /// Returns 0 if they have equal matchers.
    package static func compare(_ a: Pattern, _ b: Pattern) -> Int {
        for (x, y) in zip(a.matchers, b.matchers) {
            let order = Matcher.compare(x, y)
            if order != 0 { return order }
        }
        // Patterns end with a terminal matcher, so no pattern is a prefix of a different one.
        return a.matchers.count - b.matchers.count
    }
}

/// The precedence of a pattern of a table.
///
/// Of all matching patterns, the one with the lowest value is selected.
package struct Precedence: Sendable {
    /// The scheme, or nil for any scheme.
    package var scheme: String?
    /// The host rule, or nil for any host.
    package var host: HostRule?
    /// The pattern of the path.
    package var path: Pattern
    /// The number of query constraints of the route.
    package var constraints: Int
    /// The number of query constraints that require a value.
    package var valuedConstraints: Int
    /// The `priority` of the route.
    package var priority: Int64
    /// The id of the route.
    package var route: String

    /// Compares schemes, host rules, and paths.
    ///
    /// Returns 0 if all of them are equal. Apart from query constraints, both patterns then match the same links.
    package static func compareMatches(_ a: Precedence, _ b: Precedence) -> Int {
        switch (a.scheme, b.scheme) {
        case (.some(let x), .some(let y)):
            let order = compareBytes(x, y)
            if order != 0 { return order }
        case (.some, nil): return -1
        case (nil, .some): return 1
        case (nil, nil): break
        }
        let hosts = HostRule.compare(a.host ?? .any, b.host ?? .any)
        return hosts != 0 ? hosts : Pattern.compare(a.path, b.path)
    }

    /// Compares all criteria.
    ///
    /// Returns a negative number if `a` is selected before `b`, a positive number if after, and 0 only for the same
    /// pattern of one route.
    package static func compare(_ a: Precedence, _ b: Precedence) -> Int {
        let order = compareMatches(a, b)
        if order != 0 { return order }
        if a.constraints != b.constraints { return b.constraints - a.constraints }
        if a.valuedConstraints != b.valuedConstraints { return b.valuedConstraints - a.valuedConstraints }
        if a.priority != b.priority { return a.priority > b.priority ? -1 : 1 }
        let routes = compareBytes(a.route, b.route)
        return routes != 0 ? routes : compareBytes(a.path.text, b.path.text)
    }
}

/// Compares bytewise.
///
/// Returns a negative number if `a` comes first, a positive number if `b` comes first, and 0 if they are equal.
package func compareBytes(_ a: [UInt8], _ b: [UInt8]) -> Int {
    for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
    return a.count - b.count
}

/// Compares the UTF-8 bytes of two texts.
package func compareBytes(_ a: String, _ b: String) -> Int {
    if a.utf8.elementsEqual(b.utf8) { return 0 }
    return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
}
