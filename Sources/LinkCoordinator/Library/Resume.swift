internal import StrictJSON

extension Decision {
    /// The request to resolve again when the device has the claim that a guard requires.
    ///
    /// The library does not store it. The app keeps it, for at most ``ttl``, until the device has the claim or receives
    /// another link, which supersedes it.
    ///
    /// See DecisionReference, "Resume".
    public struct Resume: Sendable, Hashable, Codable {
        /// The name of the claim that the device lacks.
        public let claim: String
        /// The original request.
        ///
        /// A push payload is kept whole if the route binds fields from it. Otherwise, the request is the link or route
        /// that was found in the payload.
        public let request: LinkRequest
        /// The time for which the request can be resumed, starting at the decision.
        public let ttl: Duration
        /// A Boolean value that indicates whether to resume the request only once, regardless of the result.
        public let once: Bool

        /// Creates a request to resume.
        ///
        /// - Parameters:
        ///   - claim: The name of the claim that the device lacks.
        ///   - request: The original request.
        ///   - ttl: The time for which the request can be resumed, starting at the decision.
        ///   - once: Pass `true` to resume the request only once, regardless of the result.
        public init(claim: String, request: LinkRequest, ttl: Duration, once: Bool) {
            self.claim = claim
            self.request = request
            self.ttl = ttl
            self.once = once
        }

        private enum CodingKeys: String, CodingKey { case claim, ttl, once }

        /// Reads the members of a decision's `resume`, in which `ttl` is a number of seconds.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            claim = try container.decode(String.self, forKey: .claim)
            request = try LinkRequest(from: decoder)
            ttl = .seconds(try container.decode(Int64.self, forKey: .ttl))
            once = try container.decodeIfPresent(Bool.self, forKey: .once) ?? false
        }

        /// Writes the members of a decision's `resume`, in which `ttl` is a number of whole seconds.
        public func encode(to encoder: any Encoder) throws {
            try request.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(claim, forKey: .claim)
            try container.encode(ttl.components.seconds, forKey: .ttl)
            if once { try container.encode(true, forKey: .once) }
        }
    }

    /// The request to resume after a ``Outcome/deferred`` decision, or nil if the guard does not resume requests.
    public var resume: Resume? {
        guard let resume = value["resume"], let claim = resume["claim"]?.string, let ttl = resume["ttl"]?.integer,
            let request = Self.request(of: resume)
        else { return nil }
        var once = false
        if case .bool(true)? = resume["once"]?.kind { once = true }
        return Resume(claim: claim, request: request, ttl: .seconds(ttl), once: once)
    }

    /// Returns the request of a `resume` object.
    ///
    /// A payload takes precedence, because the table finds the same link or route in it again.
    private static func request(of resume: JSONValue) -> LinkRequest? {
        if let payload = resume["payload"].flatMap({ LinkRequest.Object($0) }) { return .payload(payload) }
        if let link = resume["link"]?.string { return .link(link) }
        if let path = resume["path"]?.string {
            return .path(path, mode: resume["mode"]?.string.flatMap(LinkRequest.Mode.init))
        }
        return resume["route"]?.string.map {
            .route($0, params: resume["params"].flatMap { LinkRequest.Object($0) } ?? [:])
        }
    }
}
