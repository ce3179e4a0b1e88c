internal import LinkCoordinator

/// The sizes of the texts that a link's captures can have.
enum ArrivalTexts {
    /// A size that no text exceeds.
    static let maxBytes = 1 << 30
    /// The bytes of the normal form of a text for each of its bytes.
    ///
    /// U+1D160, for example, is 4 bytes in a link, and 12 in a decision.
    static let normalGrowth = 3
}

extension ProofTable {
    /// Returns how requests reach the last route of a chain of redirects.
    func arrival(of chain: [Int]) -> Arrival {
        var maxBytes = source.limits.maxBytes * ArrivalTexts.normalGrowth
        for route in chain.dropLast() {
            guard case .redirect(.template(let template)) = source.routes[route].action else { continue }
            let sizes = template.value.segments.map { parts in
                parts.reduce(0) { size, part in
                    if case .text(let text) = part { size + text.utf8.count } else { size + maxBytes }
                }
            }
            maxBytes = min(max(maxBytes, sizes.max() ?? 0), ArrivalTexts.maxBytes)
        }
        var first = chain.count - 1
        while first > 0, case .redirect(.route) = source.routes[chain[first - 1]].action { first -= 1 }
        return Arrival(route: chain[first], maxBytes: maxBytes)
    }

    /// Returns the route at the end of redirects by id, or nil if it redirects to a path, or there is no end.
    func end(ofRedirectsFrom first: Int) -> Int? {
        var route = first
        for _ in source.routes.indices {
            guard case .redirect(let redirect) = source.routes[route].action else { return route }
            guard case .route(let id) = redirect, let next = names.routes[id.value] else { return nil }
            route = next
        }
        return nil
    }
}
