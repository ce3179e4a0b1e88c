import LinkCoordinator
import ByteStorage

/// The reasons why the values of a route cannot be written into a link.
enum RefusalCause: String, CaseIterable {
    /// The dialect does not decode, and a text has a separator of the query.
    case nothingDecoded = "a separator in a dialect that does not decode"
    /// The dialect flattens, and a text is empty.
    case emptyItem = "an empty text under flatten"
    /// The dialect flattens, so a name has a single value, and a list has several items.
    case severalItems = "several items under flatten"
    /// The dialect flattens, and a text is a name of the table, so the next item is read as its value.
    case textIsName = "a text that is a name under flatten"
    /// A screen needs a field that no link of the route carries: it is not bound, bound to a payload, or not captured.
    case neverCarried = "a field that no link carries"
    /// The text of a capture, or of another field with the same source, is not of a field's type.
    case contradiction = "a capture and fields that contradict each other"
    /// The only remaining pattern matches other texts at a capture.
    case notMatched = "a capture that does not match the text"
    /// The route requires another query value than the field that is bound to the name.
    case constraint = "a value that contradicts the route's own constraint"
    /// A pattern that precedes, usually of another route, matches the path with these values.
    case shadowed = "a pattern that matches the path and precedes"
    /// A rewrite removes segments that no link can restore.
    case rewritten = "a rewrite that removes the path's first segments"
    /// The stack of the values violates a rule of presentation, or is too deep.
    case presentation = "a stack that cannot be shown"
    /// The route is excluded to open externally, and none of its links is on the allowlist.
    case notAllowed = "an excluded link that is not on the allowlist"
}

/// Classifies refusals by the table and the values alone, without the library.
struct RefusalJudge {
    let table: RouteTable
    private var source: TableSource { table.source }
    private let coordinators: Set<[UInt8]>

    init(_ table: RouteTable) {
        self.table = table
        coordinators = Set(table.source.coordinators.map { Array($0.name.value.utf8) })
    }

    /// Returns the cause, or nil if no cause applies.
    func cause(
        of error: LinkError, _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments, _ device: DeviceFacts
    ) -> RefusalCause? {
        let texts = self.texts(route, given)
        switch error.code {
        case .unwritable where error.position.hasPrefix("query."): return unwritable(texts, route, given)
        case .missing:
            if !isCarried(error.position, route, given) { return .neverCarried }
            return sharesSource(error.position, route) ? .contradiction : nil
        case .conflict:
            if sharesSource(error.position, route) { return .contradiction }
            return isConstrained(route) ? .constraint : nil
        case .value: return isNotMatched(route, given) ? .notMatched : nil
        case .notRoundTripped: return readBackCause(error.difference, route, given, texts, device)
        default: return nil
        }
    }

    // MARK: Values that a query cannot express

    /// Returns the texts that the route's bindings write into the query.
    private func texts(_ route: TableSource.Route, _ given: ArgumentGenerator.Arguments) -> [String] {
        route.bindings.flatMap { binding -> [String] in
            guard case .query = binding.source.value else { return [] }
            return given.models[binding.model.value]?[binding.field.value]?.asTexts ?? []
        }
    }

    private func unwritable(
        _ texts: [String], _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments
    ) -> RefusalCause? {
        let hasList = route.bindings.contains { binding in
            guard case .query = binding.source.value else { return false }
            return (given.models[binding.model.value]?[binding.field.value]?.asTexts?.count ?? 0) > 1
        }
        for block in source.blocks {
            if block.query.flatten, texts.contains("") { return .emptyItem }
            if block.query.flatten, hasList { return .severalItems }
            guard block.query.decode == .none else { continue }
            let marks = block.query.pairSeparators + Array((block.query.flatten ? "#\\=" : "#\\").utf8)
            if texts.contains(where: { $0.utf8.contains(where: marks.contains) }) { return .nothingDecoded }
        }
        return nil
    }

    private func isConstrained(_ route: TableSource.Route) -> Bool {
        route.bindings.contains { binding in
            guard case .query(let name) = binding.source.value else { return false }
            return route.query.contains { $0.name.value.lowercased() == name.lowercased() }
        }
    }

    // MARK: Values that a link does not carry

    /// Returns a Boolean value that indicates whether a field could have had a value that was not given.
    private func isCarried(
        _ position: String, _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments
    ) -> Bool {
        let parts = position.split(separator: ".").map(String.init)
        guard parts.count == 2,
            let binding = route.bindings.first(where: { $0.model.value == parts[0] && $0.field.value == parts[1] })
        else { return false }
        switch binding.source.value {
        case .payload: return false
        case .constant: return true
        case .rewrite(let name): return source.blocks.allSatisfy { $0.rewrites.contains { $0.name == name } }
        case .path(let name): return given.captures[name] == nil && hasField(name, route, given)
        case .query, .fragment: return !isSiblingUnbound(parts[0], route)
        }
    }

    private func hasField(_ name: String, _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments) -> Bool {
        route.bindings.contains {
            ArgumentGenerator.sourceName($0.source.value) == "path.\(name)"
                && given.models[$0.model.value]?[$0.field.value] != nil
        }
    }

    /// Returns a Boolean value that indicates whether no link carries a required field of the model, so that the
    /// model was not given at all.
    private func isSiblingUnbound(_ model: String, _ route: TableSource.Route) -> Bool {
        source.models.first { $0.name.value == model }?.fields.contains { field in
            guard field.absence == .required else { return false }
            let binding = route.bindings.first {
                $0.model.value == model && $0.field.value == field.name.value
            }
            guard let binding else { return true }
            if case .payload = binding.source.value { return true }
            return false
        } ?? false
    }

    // MARK: Values that are read back differently

    private func readBackCause(
        _ difference: LinkError.Difference?, _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments,
        _ texts: [String], _ device: DeviceFacts
    ) -> RefusalCause? {
        if isReadAsName(texts) { return .textIsName }
        switch difference {
        case .route(let id): return isShadowed(by: id, route, given) ? .shadowed : nil
        case .capture: return isShadowed(by: route.id.value, route, given) ? .shadowed : nil
        case .reason(.presentation, _), .reason(.budget, _): return isNotShown(route, given) ? .presentation : nil
        case .reason(.paramInvalid, let field): return contradicts(field ?? "", route, given) ? .contradiction : nil
        case .reason(.externalRefused, _): return isAllowed(route) ? nil : .notAllowed
        case .noRoute, .field, .reason, nil: return nil
        }
    }

    private func isReadAsName(_ texts: [String]) -> Bool {
        let names = source.routes.flatMap { route in
            route.bindings.compactMap { binding -> String? in
                if case .query(let name) = binding.source.value { name.lowercased() } else { nil }
            } + route.query.map { $0.name.value.lowercased() }
        }
        return source.blocks.contains(where: \.query.flatten) && texts.contains { names.contains($0.lowercased()) }
    }

    /// Returns a Boolean value that indicates whether a pattern of the other route matches the path of these values and
    /// precedes the intended one.
    private func isShadowed(
        by other: String, _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments
    ) -> Bool {
        // A route that redirects can be selected in place of its destination.
        let winners = source.routes.filter { $0.id.value == other || ($0.redirects && $0.id.value != route.id.value) }
        return route.patterns.contains { own in
            guard let segments = segments(own.path, route, given) else { return false }
            return winners.contains { winner in
                winner.patterns.contains { pattern in
                    pattern.path.matches(
                        segments, foldsCase: source.foldsPathCase, isCoordinator: coordinators.contains)
                        && Precedence.compare(winner.precedence(of: pattern), route.precedence(of: own)) < 0
                }
            }
        }
    }

    /// Returns the segments of a pattern with these values, or nil if some are unknown.
    private func segments(
        _ pattern: Pattern, _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments
    ) -> [[UInt8]]? {
        var segments: [[UInt8]] = []
        for (index, matcher) in pattern.matchers.enumerated() {
            let capture = pattern.captures.first { $0.segment == index }
            switch matcher {
            case .literal(let text), .anySegment(let text): segments.append(text)
            case _ where capture != nil:
                guard let texts = texts(of: capture?.name ?? "", route, given) else {
                    if matcher == .restStar { continue }
                    return nil
                }
                if matcher.isTerminal {
                    segments += texts.map { Array($0.utf8) }
                } else if case .affix(let prefix, _, let suffix) = matcher {
                    segments.append(prefix + Array(texts.joined().utf8) + suffix)
                } else {
                    segments.append(Array(texts.joined().utf8))
                }
            default: continue
            }
        }
        return segments
    }

    private func texts(
        of capture: String, _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments
    ) -> [String]? {
        if let text = given.captures[capture] {
            let isTail = route.patterns.contains { $0.path.capture(named: capture)?.isTail == true }
            return isTail ? text.split(separator: "/").map { nfc(String($0)) } : [nfc(text)]
        }
        for binding in route.bindings where ArgumentGenerator.sourceName(binding.source.value) == "path.\(capture)" {
            if let texts = given.models[binding.model.value]?[binding.field.value]?.asTexts { return texts.map(nfc) }
        }
        return nil
    }

    /// Returns a Boolean value that indicates whether another field has the same source.
    private func sharesSource(_ field: String, _ route: TableSource.Route) -> Bool {
        guard let own = route.bindings.first(where: { "\($0.model.value).\($0.field.value)" == field }) else {
            return false
        }
        let sourceName = ArgumentGenerator.sourceName(own.source.value)
        return route.bindings.count { ArgumentGenerator.sourceName($0.source.value) == sourceName } > 1
    }

    /// Returns a Boolean value that indicates whether the texts of a field's source are not of its type.
    private func contradicts(
        _ field: String, _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments
    ) -> Bool {
        guard let own = route.bindings.first(where: { "\($0.model.value).\($0.field.value)" == field }),
            let model = source.models.first(where: { $0.name.value == own.model.value }),
            let type = model.field(named: own.field.value)?.type
        else { return false }
        let sourceName = ArgumentGenerator.sourceName(own.source.value)
        var texts: [[String]] = []
        if case .path(let name) = own.source.value { texts += self.texts(of: name, route, given).map { [$0] } ?? [] }
        for other in route.bindings where ArgumentGenerator.sourceName(other.source.value) == sourceName {
            if let own = given.models[other.model.value]?[other.field.value]?.asTexts { texts.append(own) }
        }
        return texts.contains { ArgumentGenerator.value(of: $0, type) == nil }
    }

    /// Returns a Boolean value that indicates whether each pattern lacks a capture, has one that does not match its
    /// text, or is preceded by a better pattern.
    private func isNotMatched(_ route: TableSource.Route, _ given: ArgumentGenerator.Arguments) -> Bool {
        let names = route.bindings.compactMap { binding -> String? in
            guard case .path(let name) = binding.source.value else { return nil }
            return given.models[binding.model.value]?[binding.field.value] == nil ? nil : name
        }
        return route.patterns.allSatisfy { pattern in
            let isHeld = Set(names + given.captures.keys).allSatisfy { name in
                guard let capture = pattern.path.capture(named: name) else { return false }
                let texts = texts(of: name, route, given) ?? []
                if capture.matcher == .coordinatorPath {
                    return texts.first.map { coordinators.contains(Array($0.utf8)) } ?? false
                }
                if capture.isTail { return true }
                return Array(texts.joined().utf8).withUnsafeBufferPointer {
                    capture.matcher.matches(ByteView($0), foldsCase: source.foldsPathCase)
                }
            }
            return !isHeld || source.routes.contains { isShadowed(by: $0.id.value, route, given) }
        }
    }

    /// Returns a Boolean value that indicates whether the captured path violates a rule of presentation, with the
    /// entries of any parents below it.
    private func isNotShown(_ route: TableSource.Route, _ given: ArgumentGenerator.Arguments) -> Bool {
        let names = TableNames(source)
        for text in given.captures.values {
            let segments = text.split(separator: "/").map(String.init)
            guard let own = try? StaticStack.compose(segments, in: source, names: names), let first = own.entries.first
            else { continue }
            var stacks = [own]
            for target in route.variants.map(\.to) {
                switch target.parents {
                case .initial:
                    let under = StaticStack.initialParents(of: first, in: source, names: names)
                    stacks.append(StaticStack(under.entries + own.entries))
                case .paths(let paths):
                    let under = paths.compactMap { try? StaticStack.compose($0.value, in: source, names: names) }
                    stacks.append(StaticStack(under.flatMap(\.entries) + own.entries))
                case .route(let id):
                    for target in source.routes.filter({ $0.id.value == id.value }).flatMap(\.variants).map(\.to) {
                        guard case .path(let path) = target.destination,
                            let under = try? StaticStack.compose(path, in: source, names: names)
                        else { continue }
                        stacks.append(StaticStack(under.entries + own.entries))
                    }
                case .none: break
                }
            }
            if stacks.contains(where: { $0.withSingleSlots(in: source).brokenPresentation(in: source) != nil }) {
                return true
            }
        }
        return false
    }

    /// Returns a Boolean value that indicates whether an excluded route has a link that can be opened externally.
    private func isAllowed(_ route: TableSource.Route) -> Bool {
        route.patterns.contains { pattern in
            source.blocks.contains { block in
                block.hostRole == .authority && block.schemes.contains { source.externals.schemes.contains($0.value) }
                    && pattern.scheme.map { source.externals.schemes.contains($0) } ?? true
                    && source.externals.hosts.contains { rule in
                        guard case .exact(let host, let port) = rule else { return true }
                        return block.hosts.contains { $0.value.matches(host: host, port: port) }
                            && pattern.host?.matches(host: host, port: port) ?? true
                    }
            }
        }
    }
}
