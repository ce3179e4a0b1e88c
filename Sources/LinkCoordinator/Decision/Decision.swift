internal import ByteStorage
package import StrictJSON

/// The result of resolving a link for one device: the decision's members and their JSON representation.
///
/// Two decisions are equal if their JSON is the same, byte for byte.
public struct Decision: Sendable, Hashable, CustomStringConvertible {
    /// The kind of action that a decision requires.
    public enum Outcome: String, Sendable, CaseIterable {
        /// Apply the stack to the screens that the app shows.
        case navigate
        /// Open a URL outside the app.
        case external
        /// Show the guard's stack now, and resolve the request again when the device has the claim.
        case deferred
        /// There is nothing to do.
        case none
        /// The link is not valid for this device.
        case reject
    }

    /// The decision as UTF-8 encoded JSON, exactly as the worker publishes it.
    public let json: [UInt8]

    /// The decision as a parsed JSON object.
    package let value: JSONValue

    /// Reads a decision that this library or a worker has written.
    ///
    /// - Parameter json: The decision's bytes: one JSON object with an outcome, a table unless there is nothing to do,
    ///   and a stack if the outcome is `navigate` or `deferred`.
    /// - Throws: A ``DecisionError`` if the bytes are not a decision.
    public init(json: some Sequence<UInt8>) throws(DecisionError) {
        let bytes = [UInt8](json)
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(bytes, maxDepth: 512)
        } catch {
            throw DecisionError(description: "not JSON: \(error.text) at byte \(error.offset)")
        }
        guard value.object != nil else { throw DecisionError(description: "expected an object") }
        guard let outcome = value["outcome"]?.string else {
            throw DecisionError(description: "expected the member `outcome`, a string")
        }
        guard Outcome(rawValue: outcome) != nil else {
            let known = Outcome.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            throw DecisionError(description: "the value of the member `outcome` is unknown: expected one of \(known)")
        }
        // If there are several tables, a request that opens nothing may need no particular one.
        guard value["table"]?.string != nil || (value["table"] == nil && outcome == Outcome.none.rawValue) else {
            throw DecisionError(description: "expected the member `table`, a string")
        }
        // An app would replace its screens by the empty stack.
        guard Self.isStack(value["stack"]) || value["stack"] == nil && outcome != "navigate" && outcome != "deferred"
        else {
            throw DecisionError(
                description: "expected the member `stack`, a list of objects with a `coordinator` and a `screen`")
        }
        self.json = bytes
        self.value = value
    }

    private static func isStack(_ value: JSONValue?) -> Bool {
        value?.array?.allSatisfy { $0["coordinator"]?.string != nil && $0["screen"]?.string != nil } ?? false
    }

    /// Creates a decision from JSON that the encoder wrote.
    package init(_ json: [UInt8]) {
        self.json = json
        // The encoder always writes valid JSON, so the empty object is never used.
        value = (try? JSONValue.parse(json, maxDepth: 512)) ?? JSONValue(.object([]))
    }

    /// Creates a decision from JSON that the encoder wrote, with the scratch memory of a cursor.
    init(_ json: ByteView, reading cursor: inout JSONCursor) {
        self.json = json.array
        value = (try? JSONValue.parse(json, with: &cursor)) ?? JSONValue(.object([]))
    }

    /// Returns the text of a member, or nil if the member is absent or not a string.
    package func text(_ member: String) -> String? { value[member]?.string }

    /// The kind of action that the decision requires.
    public var outcome: Outcome { text("outcome").flatMap(Outcome.init) ?? .reject }
    /// The id, version, and hash of the table that made the decision, or nil if the request opened nothing and no
    /// particular table was needed to see that.
    public var table: String? { text("table") }
    /// The id of the selected route.
    public var route: String? { text("route") }
    /// The index of the selected variant, or nil if the route does not list variants.
    public var variant: Int? { value["variant"]?.integer.flatMap { Int(exactly: $0) } }
    /// The ids of the routes that redirected to the selected route, in order.
    public var via: [String] { value["via"]?.array?.compactMap(\.string) ?? [] }
    /// The mode in which the stack is applied to the screens that the app shows.
    public var mode: LinkRequest.Mode? { text("mode").flatMap(LinkRequest.Mode.init) }
    /// A Boolean value that indicates whether to close all sheets, covers, and alerts before applying the stack.
    public var dismissModals: Bool {
        if case .bool(true)? = value["dismissModals"]?.kind { return true }
        return false
    }
    /// The stack as a canonical coordinator path.
    public var path: String? { text("path") }
    /// The entries of the stack, from the bottom to the top.
    public var stack: [StackEntry] { value["stack"]?.array?.map { StackEntry($0) } ?? [] }
    /// The URL to open outside the app.
    public var url: String? { text("url") }
    /// A coordinator path to show as a notice beside the result.
    public var notice: String? { text("notice") }
    /// The reason for the outcome, or nil if there is none.
    public var reason: Reason? { text("reason").map { Reason(rawValue: $0) } }
    /// Additional information about the reason.
    public var detail: String? { text("detail") }
    /// The name of the guard that is not satisfied.
    public var `guard`: String? { text("guard") }
    /// Notes about how the decision was made.
    public var notes: [String] { value["notes"]?.array?.compactMap(\.string) ?? [] }

    /// A Boolean value that indicates whether the request failed and a fallback rule determined the outcome.
    public var isFallback: Bool { Self.isFallback(value) }

    /// Returns a Boolean value that indicates whether a fallback rule determined the outcome of a parsed decision.
    package static func isFallback(_ value: JSONValue) -> Bool {
        guard let reason = value["reason"]?.string.map({ Reason(rawValue: $0) }) else { return false }
        switch value["outcome"]?.string {
        case "navigate", "external": return true
        case "none": return reason != .noLink && reason != .excluded && !Reason.beforeResolution.contains(reason)
        default: return false
        }
    }

    /// Decodes a model of the topmost entry that has it.
    ///
    /// To decode a model of a certain entry, use ``StackEntry/model(_:)``.
    ///
    /// - Parameter type: The type of the model.
    /// - Returns: The decoded model.
    /// - Throws: A ``ModelError`` if no entry has the model, or a field does not have the type of its property.
    public func model<Model: LinkModel>(_ type: Model.Type) throws(ModelError) -> Model {
        guard let entry = stack.last(where: { $0.models[Model.modelName] != nil }) else {
            throw ModelError(code: .noModel, model: Model.modelName, detail: "no entry of the stack has the model")
        }
        return try entry.model(type)
    }

    /// The decision's JSON as text.
    public var description: String { String(decoding: json, as: UTF8.self) }

    /// Returns a Boolean value that indicates whether both decisions have the same JSON, byte for byte.
    public static func == (a: Decision, b: Decision) -> Bool { a.json == b.json }

    /// Adds the decision's JSON to a hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// The reason for which a request ended without the target of its route.
    ///
    /// The set of reasons is open: a newer server can send a reason that this version does not know.
    ///
    /// See DecisionReference, "Reasons".
    public struct Reason: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral,
        CustomStringConvertible
    {
        /// The stable code of the reason, as in the decision's JSON.
        public let rawValue: String

        /// Creates a reason from its code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates a reason from its code.
        public init(stringLiteral value: String) { rawValue = value }

        /// The code of the reason.
        public var description: String { rawValue }

        /// A limit on bytes, segments, query items, or the stack is exceeded.
        public static let budget = Reason(rawValue: "budget")
        /// The link has forbidden bytes, or an escape that is malformed.
        public static let badEncoding = Reason(rawValue: "bad_encoding")
        /// The link has no scheme, or one that no block lists.
        public static let scheme = Reason(rawValue: "scheme")
        /// The authority is malformed, or its host is not listed.
        public static let host = Reason(rawValue: "host")
        /// The path has an empty segment, and the table rejects them.
        public static let emptySegment = Reason(rawValue: "empty_segment")
        /// The path has a segment `.` or `..`.
        public static let dotSegment = Reason(rawValue: "dot_segment")
        /// No pattern matches, or there is no route with this id.
        public static let noRoute = Reason(rawValue: "no_route")
        /// A route redirects for the second time, or the limit of redirects is exceeded.
        public static let redirectLimit = Reason(rawValue: "redirect_limit")
        /// The route is excluded.
        public static let excluded = Reason(rawValue: "excluded")
        /// The excluded route opens links externally, but the link is not on the allowlist.
        public static let externalRefused = Reason(rawValue: "external_refused")
        /// A segment of a coordinator path is not a screen.
        public static let unknownScreen = Reason(rawValue: "unknown_screen")
        /// The device does not support a screen.
        public static let unsupported = Reason(rawValue: "unsupported")
        /// A value does not have the type of its field.
        public static let paramInvalid = Reason(rawValue: "param_invalid")
        /// A value that a screen requires is missing.
        public static let paramMissing = Reason(rawValue: "param_missing")
        /// The stack violates a rule of presentation.
        public static let presentation = Reason(rawValue: "presentation")
        /// A payload contains neither a link nor a route.
        public static let noLink = Reason(rawValue: "no_link")
        /// A push message, or one of its buttons, only opens the app.
        public static let opensApp = Reason(rawValue: "open_app")
        /// The link is a short link, whose destination only its platform knows.
        public static let needsResolution = Reason(rawValue: "needs_resolution")
        /// A worker received the event after its `expires`.
        public static let expired = Reason(rawValue: "expired")
        /// The event names a user of whom the registry knows no device.
        public static let noDevice = Reason(rawValue: "no_device")

        /// The reasons for which nothing is resolved.
        package static let beforeResolution: [Reason] = [.opensApp, .needsResolution, .expired, .noDevice]
    }
}

extension Decision.Reason {
    /// Creates the reason for a code of the resolver.
    package init(_ code: ReasonCode) { self.init(rawValue: code.rawValue) }
}

/// An error for bytes that are not a decision.
public struct DecisionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error as a phrase: what was found or expected.
    public let description: String

    /// Creates an error.
    public init(description: String) { self.description = description }
}

extension Decision {
    /// The request to resolve again when the device has the claim that a guard requires.
    ///
    /// The library does not store it. The app keeps it, for at most ``ttl``, until the device has the claim or receives
    /// another link. That link supersedes it.
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
