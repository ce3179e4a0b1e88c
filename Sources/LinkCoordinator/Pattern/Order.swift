extension Matcher {
    /// Step 3 for one segment: negative if `a` is better, positive if `b` is, 0 if they are the same matcher.
    ///
    /// First the rank, then a key of the matcher alone. Never by inclusion of languages: going on where two are
    /// incomparable would not be transitive.
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

    /// Texts of two sorted lists of one length.
    private static func compareLists(_ a: [[UInt8]], _ b: [[UInt8]]) -> Int {
        for (x, y) in zip(a, b) {
            let order = compareBytes(x, y)
            if order != 0 { return order }
        }
        return 0
    }

    /// int, bool, date, uuid, class; ints by range, then start; classes by their largest length and so on.
    private static func compareTyped(_ a: Matcher, _ b: Matcher) -> Int {
        if a.typedRank != b.typedRank { return a.typedRank - b.typedRank }
        switch (a, b) {
        case (.int(let min, let max), .int(let otherMin, let otherMax)):
            // The distance of two Int64 always fits a UInt64.
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
    /// Step 3: segment by segment from the left; 0 if the two have the same matchers.
    package static func compare(_ a: Pattern, _ b: Pattern) -> Int {
        for (x, y) in zip(a.matchers, b.matchers) {
            let order = Matcher.compare(x, y)
            if order != 0 { return order }
        }
        // Patterns end with a terminal matcher, so of two different ones neither begins with the other.
        return a.matchers.count - b.matchers.count
    }
}

/// The place of one pattern of a table in the order of 2.3, steps 1 to 6: of all that match, the least is chosen.
package struct Precedence: Sendable {
    /// The scheme, nil for any.
    package var scheme: String?
    /// The host rule, nil for any.
    package var host: HostRule?
    /// The path.
    package var path: Pattern
    /// Number of query constraints of the route.
    package var constraints: Int
    /// Number of them that name a value.
    package var valuedConstraints: Int
    /// The route's `priority`.
    package var priority: Int64
    /// The route's id.
    package var route: String

    /// Makes the key of a pattern.
    package init(
        scheme: String?, host: HostRule?, path: Pattern, constraints: Int, valuedConstraints: Int, priority: Int64,
        route: String
    ) {
        self.scheme = scheme
        self.host = host
        self.path = path
        self.constraints = constraints
        self.valuedConstraints = valuedConstraints
        self.priority = priority
        self.route = route
    }

    /// Steps 1 to 3: 0 if both have the same scheme, host rule and matchers, and so take the same links but for
    /// their query constraints.
    package static func comparePlaces(_ a: Precedence, _ b: Precedence) -> Int {
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

    /// All steps: negative if `a` is chosen before `b`, positive if after, 0 only for the same pattern of one route.
    package static func compare(_ a: Precedence, _ b: Precedence) -> Int {
        let places = comparePlaces(a, b)
        if places != 0 { return places }
        if a.constraints != b.constraints { return b.constraints - a.constraints }
        if a.valuedConstraints != b.valuedConstraints { return b.valuedConstraints - a.valuedConstraints }
        if a.priority != b.priority { return a.priority > b.priority ? -1 : 1 }
        let routes = compareBytes(a.route, b.route)
        return routes != 0 ? routes : compareBytes(a.path.text, b.path.text)
    }
}
