internal import LinkCoordinator

/// The decisions of two tables about one request, as bytes.
struct DecisionPair {
    /// The old table's decision.
    let old: [UInt8]
    /// The new table's decision.
    let new: [UInt8]

    /// Resolves a request with both tables.
    init(_ request: LinkRequest, _ device: DeviceFacts, _ tables: [RouteTable]) {
        old = tables[0].compiled.resolve(request, device)
        new = tables[1].compiled.resolve(request, device)
    }

    /// A Boolean value that indicates whether the decisions are equal except for the tables' names.
    var isSame: Bool { Self.withoutTable(old) == Self.withoutTable(new) }

    /// A Boolean value that indicates whether one of the decisions waits for a claim, so that the guard hides the
    /// stack.
    var isDeferred: Bool { Self.has(old) || Self.has(new) }

    /// Returns the decision without its first member, the table's name, whose text contains no unescaped quotes.
    static func withoutTable(_ decision: [UInt8]) -> ArraySlice<UInt8> {
        var at = head.count
        while at < decision.count && decision[at] != UInt8(ascii: "\"") {
            at += decision[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return decision[min(at, decision.count)...]
    }

    private static let head = Array(#"{"table":""#.utf8)

    private static func has(_ decision: [UInt8]) -> Bool {
        let mark = Array(#""outcome":"deferred""#.utf8)
        return decision.indices.dropLast(mark.count).contains { start in
            decision[start] == mark[0] && decision[start..<(start + mark.count)].elementsEqual(mark)
        }
    }
}
