package import StrictJSON

/// What a link became for one device: the members of `route-table`, 3.6, and the bytes that say them.
public struct Decision: Sendable {
    /// What is to be done.
    public enum Outcome: String, Sendable, CaseIterable {
        /// Apply the stack.
        case navigate
        /// Open a URL outside the app.
        case external
        /// Show the guard's stack now and ask again when the claim is there.
        case deferred
        /// Nothing to route.
        case none
        /// The link is wrong for this device.
        case reject
    }

    /// The decision as JSON: what the worker publishes, byte for byte.
    public let json: [UInt8]

    /// The decision's members.
    package let value: JSONValue

    /// Reads a decision that this library or a worker has written.
    ///
    /// - Parameter json: The decision's bytes: one JSON object with an outcome and a table.
    /// - Throws: ``DecisionError`` where the bytes are not a decision.
    public init(json: some Sequence<UInt8>) throws(DecisionError) {
        let bytes = [UInt8](json)
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(bytes, maxDepth: 512)
        } catch {
            throw DecisionError(description: "not JSON: \(error)")
        }
        guard value.object != nil else { throw DecisionError(description: "expected an object") }
        guard let outcome = value["outcome"]?.string else {
            throw DecisionError(description: "expected the member `outcome`, a string")
        }
        guard Outcome(rawValue: outcome) != nil else {
            let known = Outcome.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            throw DecisionError(description: "the outcome is not known: expected one of \(known)")
        }
        guard value["table"]?.string != nil else {
            throw DecisionError(description: "expected the member `table`, a string")
        }
        self.json = bytes
        self.value = value
    }

    /// Takes bytes that were just written.
    package init(_ json: [UInt8]) {
        self.json = json
        // What the encoder writes always reads; the empty object stands for what cannot happen.
        value = (try? JSONValue.parse(json, maxDepth: 512)) ?? JSONValue(.object([]))
    }

    /// Text of a member, or nil.
    package func text(_ member: String) -> String? { value[member]?.string }

    /// What is to be done.
    public var outcome: Outcome { text("outcome").flatMap(Outcome.init) ?? .reject }
    /// Id, version and hash of the table.
    public var table: String? { text("table") }
    /// The route that was chosen.
    public var route: String? { text("route") }
    /// Index of the variant, where the route lists variants.
    public var variant: Int? { value["variant"]?.integer.map { Int($0) } }
    /// Ids of the routes that redirected here.
    public var via: [String] { value["via"]?.array?.compactMap(\.string) ?? [] }
    /// How the stack is applied.
    public var mode: LinkRequest.Mode? { text("mode").flatMap(LinkRequest.Mode.init) }
    /// Whether sheets and covers are closed first.
    public var dismissModals: Bool {
        if case .bool(true)? = value["dismissModals"]?.kind { return true }
        return false
    }
    /// The stack in canonical print.
    public var path: String? { text("path") }
    /// The stack, from the bottom up.
    public var stack: [Entry] { value["stack"]?.array?.map(Entry.init) ?? [] }
    /// The URL to open outside the app.
    public var url: String? { text("url") }
    /// A coordinator path to show beside the result.
    public var notice: String? { text("notice") }
    /// Why, where there is something to say: a stable code.
    public var reason: String? { text("reason") }
    /// More about the reason.
    public var detail: String? { text("detail") }
    /// The guard that is not satisfied.
    public var `guard`: String? { text("guard") }
    /// Remarks on how the decision came about.
    public var notes: [String] { value["notes"]?.array?.compactMap(\.string) ?? [] }

    /// A Boolean value that indicates whether the outcome is that of a fallback rule: the request itself failed.
    public var isFallback: Bool { Self.isFallback(value) }

    /// Returns whether a decision's members say what a fallback rule made of a failed request.
    package static func isFallback(_ value: JSONValue) -> Bool {
        guard let reason = value["reason"]?.string else { return false }
        switch value["outcome"]?.string {
        case "navigate", "external": return true
        case "none": return reason != Reason.noLink.rawValue && reason != Reason.excluded.rawValue
        default: return false
        }
    }

    /// An entry of the stack: a screen and how it is presented.
    public struct Entry: Sendable {
        /// The entry as the decision has it.
        package let value: JSONValue

        init(_ value: JSONValue) { self.value = value }

        /// The coordinator.
        public var coordinator: String { value["coordinator"]?.string ?? "" }
        /// The screen.
        public var screen: String { value["screen"]?.string ?? "" }
        /// The screen whose view draws this one, if it is another.
        public var view: String? { value["view"]?.string }
        /// How it is presented: `push`, `sheet`, `cover` or `alert`.
        public var present: String { value["present"]?.string ?? "push" }
        /// Whether it has its own navigation.
        public var nav: Bool {
            if case .bool(true)? = value["nav"]?.kind { return true }
            return false
        }
        /// What tells this entry from others of the same screen.
        public var identity: String? { value["identity"]?.string }
    }
}

/// An error for bytes that are not a decision.
public struct DecisionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error as a phrase: what was found or expected.
    public let description: String
}
