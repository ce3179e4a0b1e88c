internal import LinkCoordinator

/// Queries that two dialects read differently, written with given names and values.
enum DialectProbes {
    /// Returns queries in the form of a link.
    static func queries(_ values: RequestValues, _ old: TableSource.LinkBlock, _ new: TableSource.LinkBlock) -> [String]
    {
        var queries: [String] = []
        if old.query != new.query { queries += dialects(values, [old.query, new.query]) }
        if old.repair != new.repair { queries += repairs(values) }
        return queries
    }

    private static func dialects(_ values: RequestValues, _ dialects: [TableSource.QueryDialect]) -> [String] {
        let separators = Set(dialects.flatMap(\.pairSeparators)).sorted().map { String(UnicodeScalar($0)) }
        let pairs = written(values.items)
        var queries = separators.map { pairs.joined(separator: $0) }
        for (name, value) in values.items {
            guard let value else { continue }
            let (n, v) = (encode(name), encode(value))
            let rest = written(values.items.filter { $0.name != name })
            // An encoded name has only ASCII letters, which are the ones that a dialect folds.
            for separator in separators {
                let spellings = [
                    "\(n)=\(v)\(separator)\(n)=zz", "\(n)=zz\(separator)\(n)=\(v)", "\(n)=\(v)\(separator)\(n)",
                    "\(n)\(separator)\(n)=\(v)", "zz=\(n)\(separator)\(v)", "\(n)=\(v)\(separator)zz",
                    "\(n.uppercased())=\(v)", "\(n.lowercased())=\(v)", "\(n)=\(escaped(value))",
                    "\(n)=\(encode(escaped(value)))", "\(n)=\(v)+\(v)", "\(n)=\(v)%20\(v)", "\(n)=\(value)",
                ]
                queries += spellings.map { ([$0] + rest).joined(separator: separator) }
            }
        }
        return queries
    }

    private static func repairs(_ values: RequestValues) -> [String] {
        values.items.flatMap { name, value -> [String] in
            guard let value else { return [] }
            let rest = written(values.items.filter { $0.name != name })
            let damaged = [
                "\(encode(name))=%20\(encode(value))", "zz&amp;\(encode(name))=\(encode(value))",
                "\(encode(name))=\(encode(value.replacing("-", with: "\u{2013}")))",
            ]
            return damaged.map { ([$0] + rest).joined(separator: "&") }
        }
    }

    /// Returns each item as it is written in a query.
    private static func written(_ items: [QueryConstraints.Item]) -> [String] {
        items.map { encode($0.name) + ($0.value.map { "=" + encode($0) } ?? "") }
    }

    private static func encode(_ text: String) -> String { LinkEncoding.encode(Array(text.utf8)) }

    private static func escaped(_ text: String) -> String { LinkEncoding.escape(Array(text.utf8)) }
}
