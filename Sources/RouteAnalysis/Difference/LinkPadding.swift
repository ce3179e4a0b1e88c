internal import LinkCoordinator

/// A way to make a link longer without a change of its meaning: a fragment or a query that no route reads.
enum LinkPadding {
    /// A fragment that extends the link to a number of bytes.
    case fragment(bytes: Int)
    /// A value of an unused name that extends the link to a number of bytes.
    case query(bytes: Int)
    /// Empty query parts with this separator, as many as exceed the limit of one table.
    case items(separator: UInt8, bounds: [Bound])

    /// The maximum number of query parts in one table.
    struct Bound {
        /// The bytes that separate parts.
        var separators: [UInt8]
        /// The maximum number of parts.
        var limit: Int

        /// Returns the number of parts that the table counts, including empty ones.
        fileprivate func count(_ query: String) -> Int { 1 + query.utf8.count { separators.contains($0) } }
    }

    /// Returns the values of a longer link, or nil if it cannot be made that long, or already is.
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

    /// Returns the query with enough separators before it that only one table has too many parts, or nil if there is
    /// none.
    private static func query(
        _ values: RequestValues, _ frame: RequestFrame, _ separator: UInt8, _ bounds: [Bound]
    ) -> String? {
        let counting = bounds.filter { $0.separators.contains(separator) }
        // If only one table treats the byte as a separator, the other one reads it as part of a name.
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
        return UnusedText.first("zz") { !used.contains($0) }
    }
}

extension RequestFrame {
    /// Returns the query of some values in the form of a link, after another part that can be empty.
    fileprivate func query(_ values: RequestValues, after first: String) -> String {
        let own = values.writtenQuery ?? String(QueryConstraints(dialect).text(of: values.items).dropFirst())
        if first.isEmpty || own.isEmpty { return first + own }
        return first + (dialect.pairSeparators.first.map { String(UnicodeScalar($0)) } ?? "&") + own
    }
}
