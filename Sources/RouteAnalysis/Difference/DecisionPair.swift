internal import LinkCoordinator

/// Two tables' decisions about one request, as bytes.
struct DecisionPair {
    /// The old table's.
    let old: [UInt8]
    /// The new one's.
    let new: [UInt8]

    /// Resolves a request with both tables.
    init(_ request: LinkRequest, _ device: DeviceFacts, _ tables: [RouteTable]) {
        old = tables[0].compiled.resolve(request, device)
        new = tables[1].compiled.resolve(request, device)
    }

    /// Whether the tables decide alike, their own names aside.
    var isSame: Bool { Self.withoutTable(old) == Self.withoutTable(new) }

    /// Whether one of the requests waits for a claim, so that the stack behind the guard does not show.
    var isDeferred: Bool { Self.has(old) || Self.has(new) }

    /// The decision without its first member, which names the table and holds no quote but escaped ones.
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
