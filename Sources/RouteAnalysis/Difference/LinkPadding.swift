internal import LinkCoordinator

/// Makes a link larger and leaves what it means: its fragment or query gets what no route asks for.
enum LinkPadding {
    /// A longer fragment, up to a number of bytes of the whole link.
    case fragment(bytes: Int)
    /// A value of a name that nothing asks for, up to a number of bytes of the whole link.
    case query(bytes: Int)
    /// So many more pieces of the query, by this separator, that one of the tables has too many of them.
    case items(separator: UInt8, bounds: [Bound])

    /// Most pieces of a query in one table.
    struct Bound {
        /// What stands between pieces.
        var separators: [UInt8]
        /// Most of them.
        var limit: Int

        /// Number of pieces that the table counts, empty ones with them.
        fileprivate func count(_ query: String) -> Int { 1 + query.utf8.count { separators.contains($0) } }
    }

    /// The values of a larger link; nil where these cannot be made so large, or are so already.
    func pad(_ values: RequestValues, in frame: RequestFrame) -> RequestValues? {
        var padded = values
        switch self {
        case .fragment(let bytes):
            let missing = bytes - frame.link(values).utf8.count - 1
            guard values.fragment == nil, missing >= 0 else { return nil }
            padded.fragment = String(repeating: "a", count: missing)
        case .query(let bytes):
            func query(_ count: Int) -> String {
                frame.query(values, after: Self.unusedName(values) + "=" + String(repeating: "a", count: count))
            }
            padded.writtenQuery = query(0)
            let missing = bytes - frame.link(padded).utf8.count
            guard missing >= 0 else { return nil }
            padded.writtenQuery = query(missing)
        case .items(let separator, let bounds):
            guard let query = Self.query(values, frame, separator, bounds) else { return nil }
            padded.writtenQuery = query
        }
        return padded
    }

    /// The query behind so many separators that one table has too many pieces and the other has not.
    private static func query(
        _ values: RequestValues, _ frame: RequestFrame, _ separator: UInt8, _ bounds: [Bound]
    ) -> String? {
        let counting = bounds.filter { $0.separators.contains(separator) }
        // Where only one table takes the byte for a separator, it begins a name for the other.
        let own =
            counting.count == bounds.count
            ? frame.query(values, after: "") : frame.query(values, after: unusedName(values) + "=x")
        guard let missing = counting.map({ $0.limit + 1 - $0.count(own) }).min(), missing > 0 else { return nil }
        let query = String(repeating: Character(UnicodeScalar(separator)), count: missing) + own
        let passes = Set(bounds.map { $0.count(query) > $0.limit })
        return passes.count == 2 ? query : nil
    }

    private static func unusedName(_ values: RequestValues) -> String {
        let used = Set(values.query.map { $0.name.lowercased() })
        return (0...).lazy.map { $0 == 0 ? "zz" : "zz\($0)" }.first { !used.contains($0) } ?? "zz"
    }
}

extension RequestFrame {
    /// The query of some values as a link has it, behind another piece if that is not empty.
    fileprivate func query(_ values: RequestValues, after first: String) -> String {
        let own = values.writtenQuery ?? String(QueryConstraints(dialect).text(of: values.items).dropFirst())
        if first.isEmpty || own.isEmpty { return first + own }
        return first + (dialect.pairSeparators.first.map { String(UnicodeScalar($0)) } ?? "&") + own
    }
}
