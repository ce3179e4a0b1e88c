package import StrictJSON

/// The result of resolving a link for one device: the decision's members and their JSON representation.
public struct Decision: Sendable {
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

    /// Creates a decision from JSON that the encoder wrote.
    package init(_ json: [UInt8]) {
        self.json = json
        // The encoder always writes valid JSON, so the empty object is never used.
        value = (try? JSONValue.parse(json, maxDepth: 512)) ?? JSONValue(.object([]))
    }

    /// Returns the text of a member, or nil if the member is absent or not a string.
    package func text(_ member: String) -> String? { value[member]?.string }

    /// The kind of action that the decision requires.
    public var outcome: Outcome { text("outcome").flatMap(Outcome.init) ?? .reject }
    /// The id, version, and hash of the table that made the decision.
    public var table: String? { text("table") }
    /// The id of the selected route.
    public var route: String? { text("route") }
    /// The index of the selected variant, or nil if the route does not list variants.
    public var variant: Int? { value["variant"]?.integer.map { Int($0) } }
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
    public var stack: [Entry] { value["stack"]?.array?.map(Entry.init) ?? [] }
    /// The URL to open outside the app.
    public var url: String? { text("url") }
    /// A coordinator path to show as a notice beside the result.
    public var notice: String? { text("notice") }
    /// The stable code of the reason for the outcome, or nil if there is none.
    public var reason: String? { text("reason") }
    /// Additional information about the reason.
    public var detail: String? { text("detail") }
    /// The name of the guard that is not satisfied.
    public var `guard`: String? { text("guard") }
    /// Notes about how the decision was made.
    public var notes: [String] { value["notes"]?.array?.compactMap(\.string) ?? [] }

    /// A Boolean value that indicates whether the request failed and a fallback rule determined the outcome.
    public var isFallback: Bool { Self.isFallback(value) }

    /// Returns a Boolean value that indicates whether a fallback rule determined the outcome in a decision's members.
    package static func isFallback(_ value: JSONValue) -> Bool {
        guard let reason = value["reason"]?.string else { return false }
        switch value["outcome"]?.string {
        case "navigate", "external": return true
        case "none": return reason != Reason.noLink.rawValue && reason != Reason.excluded.rawValue
        default: return false
        }
    }

    /// An entry of the stack: a screen and its presentation.
    public struct Entry: Sendable {
        /// The JSON object of the entry.
        package let value: JSONValue

        init(_ value: JSONValue) { self.value = value }

        /// The name of the coordinator.
        public var coordinator: String { value["coordinator"]?.string ?? "" }
        /// The name of the screen.
        public var screen: String { value["screen"]?.string ?? "" }
        /// The name of the screen whose view displays this screen, or nil if the screen has its own view.
        public var view: String? { value["view"]?.string }
        /// The presentation: `push`, `sheet`, `cover`, or `alert`.
        public var present: String { value["present"]?.string ?? "push" }
        /// A Boolean value that indicates whether the entry has its own navigation stack.
        public var nav: Bool {
            if case .bool(true)? = value["nav"]?.kind { return true }
            return false
        }
        /// The text that distinguishes this entry from other entries with the same screen.
        public var identity: String? { value["identity"]?.string }
    }
}

/// An error for bytes that are not a decision.
public struct DecisionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error as a phrase: what was found or expected.
    public let description: String
}
