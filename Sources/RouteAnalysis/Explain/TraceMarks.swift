internal import LinkCoordinator
internal import StrictJSON

// Uses of the parts of the link.
extension Tracer {
    /// Adds to every segment the rewrite, literal, or capture of the first chosen pattern that matched it.
    mutating func markSegments(_ explanation: inout Explanation) {
        guard let pattern = chosenPattern()?.pattern.path else { return }
        let prefixCount = resolver.selection.path.first
        var index = 0
        for partIndex in explanation.parts.indices where explanation.parts[partIndex].kind == .segment {
            explanation.parts[partIndex].use =
                index < prefixCount ? "rewrite" : use(of: index - prefixCount, in: pattern)
            index += 1
        }
    }

    /// Returns the chosen pattern of the table and its route.
    mutating func chosenPattern() -> (route: String, pattern: TableSource.RoutePattern)? {
        guard let pattern = resolver.selection.pattern else { return nil }
        let number = resolver.tableData.number(of: pattern)
        let route = Int(pattern.route)
        var first = number
        while first > 0, Int(resolver.tableData.patterns[first - 1].route) == route { first -= 1 }
        let source = table.source.routes[route]
        guard source.patterns.indices.contains(number - first) else { return nil }
        return (source.id.value, source.patterns[number - first])
    }

    /// Returns the use of a segment in a pattern that matches the path.
    func use(of index: Int, in pattern: Pattern) -> String {
        if case .anySegment(let text) = pattern.matchers[pattern.segmentCount] {
            return "any segment `\(String(decoding: text, as: UTF8.self))`"
        }
        if index < pattern.segmentCount {
            let capture = pattern.captures.first { $0.segment == index && !$0.isTail }
            return capture.map { "{\($0.name)}" } ?? "literal"
        }
        return pattern.captures.first(where: \.isTail).map { "{\($0.name)}" } ?? "rest"
    }

    /// Adds to every part of the query, and to the fragment, the fields and constraints of the selected route that read
    /// it.
    mutating func mark(_ explanation: inout Explanation) {
        guard let routeNumber, !explanation.parts.isEmpty else { return }
        let readers = self.readers(of: table.source.routes[routeNumber])
        let given = (explanation.link?.query ?? []).map(\.name)
        var absent: [String] = []
        for reader in readers where !absent.contains(reader.name) {
            if !given.contains(where: { isSame($0, reader.name) }) { absent.append(reader.name) }
        }
        var index = 0
        for partIndex in explanation.parts.indices {
            switch explanation.parts[partIndex].kind {
            case .query:
                defer { index += 1 }
                let names = (explanation.link?.query ?? []).map(\.name)
                // If the dialect does not allow the query to be divided, there is one part for all names.
                let isWhole = explanation.parts.count { $0.kind == .query } == 1
                let own = isWhole ? names : names.indices.contains(index) ? [names[index]] : []
                let uses = readers.filter { reader in own.contains { isSame($0, reader.name) } }.map(\.use)
                if !uses.isEmpty {
                    explanation.parts[partIndex].use = uses.joined(separator: ", ")
                } else if own.count == 1, let suggestion = NearestName.of(own[0], among: absent) {
                    explanation.parts[partIndex].hint = "unused, did you mean `\(suggestion)`?"
                }
            case .fragment:
                let uses = explanation.bindings.filter { $0.source == "fragment" }.map(\.field)
                if !uses.isEmpty { explanation.parts[partIndex].use = uses.joined(separator: ", ") }
            default: continue
            }
        }
    }

    private mutating func isSame(_ a: String, _ b: String) -> Bool {
        resolver.link.block.namesFold ? a.equalsFolded(b) : a.utf8.elementsEqual(b.utf8)
    }

    /// Returns the names of the query that a route reads, each with its use.
    private func readers(of route: TableSource.Route) -> [(name: String, use: String)] {
        var readers: [(name: String, use: String)] = []
        for constraint in route.query { readers.append((constraint.name.value, "constraint")) }
        for binding in route.bindings {
            guard case .query(let name) = binding.source.value else { continue }
            readers.append((name, "\(binding.model.value).\(binding.field.value)"))
        }
        for (index, variant) in route.variants.enumerated() {
            for constraint in variant.when?.query ?? [] { readers.append((constraint.name.value, "variant \(index)")) }
            guard case .external(let template) = variant.to.destination else { continue }
            for part in template.parts {
                if case .query(let name) = part { readers.append((name.value, "url")) }
            }
        }
        return readers
    }
}
