internal import LinkCoordinator
internal import StrictJSON

// Requests other than links that exceed a limit of only one table.
extension Comparison {
    /// Returns coordinator paths, with their text, that have more segments or bytes than one table allows.
    ///
    /// They repeat the same screens. One path names a screen that no table has.
    func largePaths(_ paths: [[String]], _ tables: [ProofTable]) -> [(path: [String], text: String)] {
        var all: [(path: [String], text: String)] = []
        if let count = Self.excess(tables, \.maxSegments) {
            all += SizeSearch.longPaths(paths, segments: count).map { ($0, "/" + $0.joined(separator: "/")) }
        }
        if let bytes = Self.excess(tables, \.maxBytes) {
            all.append(([], "/" + String(repeating: "a", count: bytes - 1)))
            let maxSegments = tables.map(\.source.limits.maxSegments).max() ?? 0
            for step in SizeSearch.longPaths(paths, segments: 2) {
                // Escapes use the most bytes with the fewest screens.
                let texts = step.map { "/" + LinkEncoding.escape(Array($0.utf8)) }
                let count =
                    2 + max(0, bytes - texts.joined().utf8.count + texts[1].utf8.count - 1) / texts[1].utf8.count
                if count > maxSegments { continue }
                let path = step + Array(repeating: step[1], count: count - 2)
                all.append((path, texts[0] + String(repeating: texts[1], count: count - 1)))
            }
        }
        return all
    }

    /// Returns parameters of a route that make its path too long for one table, or that are too many for one table.
    func largeParams(_ id: String, _ params: JSONValue, _ tables: [ProofTable]) -> [JSONValue] {
        let members = params.object ?? []
        var all: [JSONValue] = []
        if let count = Self.excess(tables, \.maxSegments) {
            for table in tables {
                guard let number = table.names.routes[id],
                    let path = table.source.routes[number].patterns.first?.path,
                    let tail = path.captures.first(where: \.isTail), count > path.segmentCount
                else { continue }
                let own = members.first { $0.name == tail.name }?.value ?? JSONValue(.string("x"))
                let items = Array(repeating: own, count: count - path.segmentCount)
                let rest = members.filter { $0.name != tail.name }
                all.append(JSONValue(.object(rest + [JSONMember(name: tail.name, value: JSONValue(.array(items)))])))
            }
        }
        if let count = Self.excess(tables, \.maxQueryItems) {
            let more = (0..<max(0, count - members.count)).map {
                JSONMember(name: "zz-\($0)", value: JSONValue(.string("x")))
            }
            all.append(JSONValue(.object(members + more)))
        }
        return all
    }

    /// Returns the least number over the limit of one table that the other allows, or nil if the limits are equal.
    private static func excess(_ tables: [ProofTable], _ limit: KeyPath<TableSource.LinkLimits, Int>) -> Int? {
        let limits = tables.map { $0.source.limits[keyPath: limit] }
        return limits[0] == limits[1] ? nil : min(limits[0], limits[1]) + 1
    }
}
