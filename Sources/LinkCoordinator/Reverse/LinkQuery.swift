// Writes the query of a link in the dialect of its link block.
// See RouteTableReference, "Query".
extension LinkText {
    /// Returns the query with its `?`, or an empty text.
    ///
    /// - Parameters:
    ///   - arguments: The values of the link.
    ///   - constraints: The query constraints of the route.
    ///   - markers: The names to add without a value.
    /// - Returns: The query.
    /// - Throws: A `LinkError` if a value conflicts with a constraint or cannot be encoded.
    func query(
        _ arguments: LinkArguments, _ constraints: [TableSource.QueryConstraint], markers: [String]
    ) throws(LinkError) -> String {
        var items: [String] = []
        var written: [String] = []
        for constraint in constraints {
            let name = constraint.name.value
            let bound = arguments.query.first { same($0.name, name) }?.texts
            switch constraint.test {
            case .absent:
                if bound != nil {
                    throw LinkError(
                        .conflict, "query.\(name)", "no value, because the route requires the name to be absent")
                }
            case .present:
                if bound == nil { items.append(try encoded(name, of: name, isName: true)) }
            case .equals(let value):
                if let bound, bound != [value] {
                    throw LinkError(.conflict, "query.\(name)", "the value that the route requires")
                }
                written.append(name)
                items.append(try item(name, value))
            }
        }
        for (name, texts) in arguments.query where !written.contains(where: { same($0, name) }) {
            if block.query.flatten && texts.count > 1 {
                throw LinkError(
                    .unwritable, "query.\(name)", "at most one item, because a name has a single value (flatten)")
            }
            for text in texts { items.append(try item(name, text)) }
        }
        for name in markers { items.append(try encoded(name, of: name, isName: true)) }
        let separator = String(decoding: block.query.pairSeparators.prefix(1), as: UTF8.self)
        return items.isEmpty ? "" : "?" + items.joined(separator: separator)
    }

    /// Returns the names that another route requires to be absent, and that this link can contain without changing its
    /// own values.
    func markers(
        against other: [TableSource.QueryConstraint], _ arguments: LinkArguments,
        _ constraints: [TableSource.QueryConstraint]
    ) -> [String] {
        other.filter { $0.test == .absent }.map(\.name.value).filter { name in
            !constraints.contains { same($0.name.value, name) } && !arguments.query.contains { same($0.name, name) }
        }
    }

    private func same(_ a: String, _ b: String) -> Bool {
        block.query.names == .insensitive ? a.equalsFolded(b) : a.utf8.elementsEqual(b.utf8)
    }

    private func item(_ name: String, _ value: String) throws(LinkError) -> String {
        if block.query.flatten && value.isEmpty {
            throw LinkError(.unwritable, "query.\(name)", "a nonempty value (flatten)")
        }
        return try encoded(name, of: name, isName: true) + "=" + encoded(value, of: name, isName: false)
    }

    /// Returns a name or value in the encoding that the dialect decodes to the same text.
    private func encoded(_ text: String, of name: String, isName: Bool) throws(LinkError) -> String {
        guard text.isClean(invisiblesAllowed: true), !(isName && text.isEmpty) else {
            throw LinkError(.unwritable, "query.\(name)", "text without control characters")
        }
        switch block.query.decode {
        case .once: return Self.encode(text)
        case .before: return Self.encode(Self.encode(text))
        case .none:
            var marks = block.query.pairSeparators + [UInt8(ascii: "#"), UInt8(ascii: "\\")]
            if isName || block.query.flatten { marks.append(UInt8(ascii: "=")) }
            guard !text.utf8.contains(where: marks.contains) else {
                throw LinkError(
                    .unwritable, "query.\(name)",
                    "text without `#`, `\\`, and separators, because the query is not decoded")
            }
            return text
        }
    }
}
