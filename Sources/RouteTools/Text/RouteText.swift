package import LinkCoordinator

/// A one-line description of a route: its patterns and its target.
package enum RouteText {
    /// Returns the patterns, with the scheme and host if a pattern states them.
    package static func patterns(_ route: TableSource.Route) -> [String] {
        var seen: [String] = []
        for pattern in route.patterns where !pattern.omitsOptionalPart {
            let scheme = pattern.scheme.map { "\($0)://" } ?? ""
            let host = pattern.host.map(Self.host) ?? ""
            let text = scheme + host + route.written(pattern)
            if !seen.contains(text) { seen.append(text) }
        }
        return seen
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
        var seen: [String] = []
        for binding in route.bindings where !seen.contains(binding.model.value) { seen.append(binding.model.value) }
        return seen
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
