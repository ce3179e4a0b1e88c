internal import StrictJSON

extension Decision {
    /// What is to be asked again once the claim is there that a guard wants (route-table.md, 2.5 and 3.6).
    ///
    /// Nothing here remembers it: the app keeps it, for ``ttl`` at most, until the claim is there or another link comes
    /// from the same device, which supersedes it.
    public struct Resume: Sendable, Hashable {
        /// The claim that the device lacks.
        public let claim: String
        /// The request as it came; a push payload whole where the route binds from it, else what was found in it.
        public let request: LinkRequest
        /// How long it may wait, counted from the decision.
        public let ttl: Duration
        /// Whether it is to be asked once only, whatever then becomes of it.
        public let once: Bool
    }

    /// What is to be asked again, for a ``Outcome/deferred`` decision whose guard says so; nil for all others.
    public var resume: Resume? {
        guard let resume = value["resume"], let claim = resume["claim"]?.string, let ttl = resume["ttl"]?.integer,
            let request = Self.request(of: resume)
        else { return nil }
        var once = false
        if case .bool(true)? = resume["once"]?.kind { once = true }
        return Resume(claim: claim, request: request, ttl: .seconds(ttl), once: once)
    }

    /// The request in a `resume`; the payload stands for itself, for the table finds the same link or route in it.
    private static func request(of resume: JSONValue) -> LinkRequest? {
        if let payload = resume["payload"], payload.object != nil { return .payload(payload.text) }
        if let link = resume["link"]?.string { return .link(link) }
        if let path = resume["path"]?.string {
            return .path(path, mode: resume["mode"]?.string.flatMap(LinkRequest.Mode.init))
        }
        return resume["route"]?.string.map { .route($0, params: resume["params"]?.text ?? "{}") }
    }
}
