internal import ByteStorage
package import LinkCoordinator

/// A one-line description of a route: its patterns and its target.
package enum RouteText {
    /// Returns the patterns, with the scheme and host if a pattern states them.
    package static func patterns(_ route: TableSource.Route) -> [String] {
        route.patterns.filter { !$0.omitsOptionalPart }.map { pattern in
            let scheme = pattern.scheme.map { "\($0)://" } ?? ""
            let host = pattern.host.map(Self.host) ?? ""
            return scheme + host + route.written(pattern)
        }.unique
    }

    /// Returns the target of a link: the targets of the variants, a redirect, or an exclusion.
    package static func target(_ route: TableSource.Route) -> String {
        switch route.action {
        case .variants(let variants): variants.map { Self.target($0.to) }.joined(separator: " | ")
        case .redirect(.route(let id)): "redirect to \(id.value)"
        case .redirect(.template(let template)): "redirect to \(template.value.text)"
        case .exclude(let outcome): "excluded: \(outcome.rawValue)"
        }
    }

    /// Returns the models that the route fills.
    package static func models(_ route: TableSource.Route) -> [String] {
        route.bindings.map(\.model.value).unique
    }

    private static func target(_ target: TableSource.Target) -> String {
        switch target.destination {
        case .path(let segments): "/" + segments.joined(separator: "/")
        case .captured(let name): "{\(name.value)}"
        case .root: "/"
        case .external(let template): template.text
        }
    }

    private static func host(_ rule: HostRule) -> String { rule.text }
}

/// Texts of the targets of a table.
struct TargetText {
    private let source: TableSource
    private let names: TableNames

    /// Creates texts for the targets of a table.
    init(_ source: TableSource) {
        self.source = source
        names = TableNames(source)
    }

    /// Returns the destination of a target: its stack with parents from bottom to top, a URL, a captured path, or the
    /// root.
    func text(of target: TableSource.Target) -> String {
        switch target.destination {
        case .root: return "the root"
        case .external(let template): return template.text
        case .captured(let name): return "the captured path {\(name.value)}"
        case .path:
            guard let stack = stack(of: target) else { return "" }
            var parts = stack.over.map { ["(the stack of \($0))"] } ?? []
            parts += stack.entries.map(entry)
            return parts.isEmpty ? "the root" : parts.joined(separator: " > ")
        }
    }

    /// Returns the entries of a static target with its parents from bottom to top, and the route whose stack is below
    /// them, if any.
    ///
    /// Returns nil for other destinations, and for a path that is not a stack.
    func stack(of target: TableSource.Target) -> (entries: [StaticStack.Entry], over: String?)? {
        guard case .path(let segments) = target.destination,
            var own = try? StaticStack.compose(segments, in: source, names: names)
        else { return nil }
        if let present = target.present, let last = own.entries.indices.last {
            own.entries[last].present = present.value
        }
        var over: String?
        switch target.parents {
        case .none: break
        case .initial:
            if let first = own.entries.first {
                own.entries = StaticStack.initialParents(of: first, in: source, names: names).entries + own.entries
            }
        case .paths(let paths):
            own.entries = paths.flatMap { entries($0.value) } + own.entries
        case .route(let id): over = id.value
        }
        return (own.withSingleSlots(in: source).entries, over)
    }

    /// Returns the way to apply the stack, or nil for the default.
    func presentationText(of target: TableSource.Target) -> String? {
        var parts: [String] = []
        if let mode = target.mode, mode != .replace { parts.append(mode.rawValue) }
        if target.dismissModals { parts.append("sheets, covers, and alerts are closed first") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Returns the names of the guards whose coordinators are, or can be, in the stack of the target.
    func guards(of target: TableSource.Target) -> [String] {
        switch target.destination {
        case .root, .external: return []
        case .captured: return source.guards.map(\.name.value)
        case .path(let segments):
            var entries = self.entries(segments)
            if case .initial = target.parents, let first = entries.first {
                entries += StaticStack.initialParents(of: first, in: source, names: names).entries
            }
            if case .paths(let paths) = target.parents {
                entries += paths.flatMap { self.entries($0.value) }
            }
            return entries.compactMap { source.coordinators[$0.coordinator].guarding?.value }.unique
        }
    }

    /// Returns the entries of a coordinator path, or none if it is not a stack.
    func entries(_ path: [String]) -> [StaticStack.Entry] {
        StaticStack.entries(of: path, in: source, names: names)
    }

    private func entry(_ entry: StaticStack.Entry) -> String {
        let coordinator = source.coordinators[entry.coordinator]
        let text = "\(coordinator.name.value).\(coordinator.screens[entry.screen].name.value)"
        return entry.present == .push ? text : "\(text) [\(entry.present.rawValue)]"
    }
}

/// Texts of the conditions of variants, constraints, and screens.
package enum ConditionText {
    /// Returns a condition with its parts joined by "and".
    ///
    /// Returns "always" for an empty condition, and "otherwise" for nil.
    package static func text(of condition: TableSource.Condition?) -> String {
        guard let condition else { return "otherwise" }
        var parts: [String] = []
        if !condition.app.isEmpty { parts.append("app " + versions(condition.app)) }
        if !condition.os.isEmpty { parts.append("os " + versions(condition.os)) }
        if !condition.capabilities.isEmpty { parts.append("capability " + all(condition.capabilities.map(\.value))) }
        if !condition.claims.isEmpty { parts.append("claim " + all(condition.claims.map(\.value))) }
        if let platforms = condition.platforms { parts.append("platform " + any(platforms)) }
        if let regions = condition.regions { parts.append("region " + any(regions)) }
        if let locales = condition.locales { parts.append("locale " + any(locales)) }
        for attribute in condition.attributes { parts.append("\(attribute.name.value) is " + any(attribute.values)) }
        parts += condition.query.map(text)
        return parts.isEmpty ? "always" : parts.joined(separator: " and ")
    }

    /// Returns the text of a constraint on a query parameter.
    static func text(of constraint: TableSource.QueryConstraint) -> String {
        let name = "query.\(constraint.name.value)"
        return switch constraint.test {
        case .equals(let value): "\(name) is \(value)"
        case .present: "\(name) is present"
        case .absent: "\(name) is absent"
        }
    }

    /// Returns the requirements of a screen, or nil for none.
    static func text(of screen: TableSource.Screen) -> String? {
        var parts: [String] = []
        if let since = screen.since { parts.append("app from \(since.text)") }
        if let until = screen.until { parts.append("app below \(until.text)") }
        if !screen.requires.isEmpty { parts.append("capability " + all(screen.requires.map(\.value))) }
        return parts.isEmpty ? nil : parts.joined(separator: " and ")
    }

    private static func versions(_ tests: [TableSource.Condition.VersionTest]) -> String {
        tests.map { test in
            switch test.relation {
            case .atLeast: "from \(test.version.text)"
            case .above: "above \(test.version.text)"
            case .atMost: "up to \(test.version.text)"
            case .below: "below \(test.version.text)"
            case .equal: "exactly \(test.version.text)"
            }
        }.joined(separator: " and ")
    }

    private static func all(_ names: [String]) -> String { names.joined(separator: " and ") }

    private static func any(_ names: [String]) -> String { names.joined(separator: " or ") }
}

/// Types of fields in words, such as `a whole number from 1 to 99` for `int(1..99)`.
package enum FieldTypeWords {
    /// Returns a type in words, which continue a sentence such as "`count` must be".
    package static func text(_ type: FieldType) -> String {
        switch type {
        case .uuid: "a UUID"
        case .bool: "`true` or `false`"
        case .double: "a number of at most 15 digits"
        case .decimal(let min, let max): "a decimal number" + range(min, max)
        case .date: "a date such as 2026-11-20"
        case .dateTime: "a date and time such as 2026-11-20T10:00:00Z"
        case .int(let min, let max):
            "a whole number" + range(min == .min ? nil : "\(min)", max == .max ? nil : "\(max)")
        case .string(let min, let max): text(min: min, max: max)
        case .enumeration(let values):
            "one of " + values.map { "`\(String(decoding: $0, as: UTF8.self))`" }.joined(separator: ", ")
        case .url(let hosts): "an https URL with the host " + hosts.map { "`\($0.text)`" }.joined(separator: " or ")
        case .list(let element, let min, let max): "a list\(items(min, max)), each " + text(element)
        }
    }

    private static func range(_ min: String?, _ max: String?) -> String {
        switch (min, max) {
        case (let min?, let max?): " from \(min) to \(max)"
        case (let min?, nil): " of at least \(min)"
        case (nil, let max?): " of at most \(max)"
        case (nil, nil): ""
        }
    }

    private static func text(min: Int, max: Int) -> String {
        let isBounded = max < FieldType.maxTextBytes
        switch (min, isBounded) {
        case (0, false): return "a text"
        case (0, true): return "a text of at most \(max) bytes"
        case (_, false): return "a text of at least \(Counts.text(min, "byte"))"
        case (_, true): return "a text of \(min) to \(max) bytes"
        }
    }

    private static func items(_ min: Int, _ max: Int) -> String {
        if min == 0 && max == FieldType.maxListCount { return "" }
        return " of \(min) to \(max) items"
    }
}

/// Texts of counts in which the noun agrees with the number.
package enum Counts {
    /// Returns a text such as `1 problem` or `2 problems`.
    package static func text(_ count: Int, _ noun: String, plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    /// Returns a number with commas between groups of three digits, such as `500,046`.
    package static func grouped(_ number: Int64) -> String {
        var result = ""
        let digits = String(number.magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return (number < 0 ? "-" : "") + result
    }
}

extension TableSource {
    /// Returns the indices of the coordinators in the order of the file, but each directly after its parent and that
    /// parent's other children.
    func coordinatorsAfterParents(_ names: TableNames) -> [Int] {
        var children: [Int?: [Int]] = [:]
        for (index, coordinator) in coordinators.enumerated() {
            children[coordinator.parent.flatMap { names.coordinators[$0.value] }, default: []].append(index)
        }
        var order: [Int] = []
        var next = Array((children[nil] ?? []).reversed())
        while let index = next.popLast() {
            order.append(index)
            next += (children[index] ?? []).reversed()
        }
        return order
    }
}
