/// A link event as a value of its own: for programs that read a few, not for a worker's millions.
///
/// What a record may be (an event, a bare link, a push body) and what each member means is told in the product's guide
/// to events. `LinkEvent.read(_:key:)` makes one from bytes.
public struct LinkEvent: Sendable, Equatable {
    /// What the event asks.
    public enum Request: Sendable, Equatable {
        /// A link, as it came.
        case link(String)
        /// A coordinator path and how it is applied (`replace`, `append`, `reuse`), if that is said.
        case path(String, mode: String?)
        /// A route's id and its parameters, the JSON text of an object, if there are any.
        case route(String, params: String?)
        /// A push body: the JSON text of an object.
        case payload(String)
    }

    /// A device that the event is for, and what is known of it.
    public struct Device: Sendable, Equatable {
        /// The device's id.
        public var id: String
        /// `ios`, `android`, and so on.
        public var platform: String?
        /// Version of the app on the device.
        public var app: String?
        /// Version of the operating system.
        public var os: String?
        /// For example `en-GB`.
        public var locale: String?
        /// For example `GB`.
        public var region: String?
        /// The coordinator on top of the device's stack.
        public var coordinator: String?
        /// Capabilities that the device lists.
        public var capabilities: [String]
        /// Claims that the device lists.
        public var claims: [String]
        /// Attributes for variants.
        public var attributes: [String: String]
        /// Facts that are there but malformed, and so count as not known.
        public var unreadable: [String]
    }

    /// Why bytes are no event.
    public struct Failure: Error, Sendable, Equatable {
        /// Stable code, for example `bad_json` or `missing_device`.
        public var reason: String
        /// What was expected; holds nothing of the input.
        public var detail: String
        /// JSON pointer (RFC 6901) of the member at fault, if there is one.
        public var pointer: String?

        /// Makes a failure.
        public init(reason: String, detail: String, pointer: String? = nil) {
            self.reason = reason
            self.detail = detail
            self.pointer = pointer
        }
    }

    /// The producer's event id.
    public var id: String?
    /// Bundle id or package name whose table is to resolve the event.
    public var application: String?
    /// What is asked.
    public var request: Request
    /// The devices it is for, at least one.
    public var devices: [Device]
    /// Milliseconds since 1970 after which the event is no longer of use.
    public var expires: Int64?
}
