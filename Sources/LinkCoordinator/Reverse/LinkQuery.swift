// The query of a link in the dialect of its block (route-table.md, N8).
extension LinkText {
    /// The query with its `?`, or nothing.
    ///
    /// - Parameter markers: Names that stand there without a value, which no field needs.
    func query(
        _ arguments: LinkArguments, _ constraints: [TableSource.QueryConstraint], markers: [String]
    ) throws(LinkError) -> String {
        var pieces: [String] = []
        var written: [String] = []
        for constraint in constraints {
            let name = constraint.name.value
            let bound = arguments.query.first { same($0.name, name) }?.texts
            switch constraint.test {
            case .absent:
                if bound != nil {
                    throw LinkError(.conflict, "query.\(name)", "no value, for the route wants it absent")
                }
            case .present:
                if bound == nil { pieces.append(try encoded(name, of: name, isName: true)) }
            case .equals(let value):
                if let bound, bound != [value] {
                    throw LinkError(.conflict, "query.\(name)", "the value that the route wants")
                }
                written.append(name)
                pieces.append(try piece(name, value))
            }
        }
        for (name, texts) in arguments.query where !written.contains(where: { same($0, name) }) {
            if block.query.flatten && texts.count > 1 {
                throw LinkError(.unwritable, "query.\(name)", "one item at most, for a name has one value (flatten)")
            }
            for text in texts { pieces.append(try piece(name, text)) }
        }
        for name in markers { pieces.append(try encoded(name, of: name, isName: true)) }
        let separator = String(decoding: block.query.pairSeparators.prefix(1), as: UTF8.self)
        return pieces.isEmpty ? "" : "?" + pieces.joined(separator: separator)
    }

    /// Names that another route wants absent and that this link can have without changing anything of its own.
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

    private func piece(_ name: String, _ value: String) throws(LinkError) -> String {
        if block.query.flatten && value.isEmpty {
            throw LinkError(.unwritable, "query.\(name)", "a value that is not empty (flatten)")
        }
        return try encoded(name, of: name, isName: true) + "=" + encoded(value, of: name, isName: false)
    }

    /// A name or value as the dialect decodes it back.
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
                    .unwritable, "query.\(name)", "text without '#', '\\' and separators, for nothing is decoded here")
            }
            return text
        }
    }
}
