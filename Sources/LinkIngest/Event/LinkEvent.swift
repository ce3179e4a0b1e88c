/// A link event, for programs that read single events.
///
/// The article <doc:EventReference> describes the valid records (an event, a bare link, or a push body) and the meaning
/// of each member. `LinkEvent.read(_:key:)` reads an event from bytes.
public struct LinkEvent: Sendable, Equatable {
    /// The request of an event.
    public enum Request: Sendable, Equatable {
        /// A link.
        case link(String)
        /// A coordinator path, and the mode in which it is applied (`replace`, `append`, `reuse`), if the event states
        /// it.
        case path(String, mode: String?)
        /// The id of a route, and the JSON text of its parameters, if there are any.
        case route(String, params: String?)
        /// The JSON text of a push body.
        case payload(String)
    }

    /// A device that the event is for, with the facts about it.
    public struct Device: Sendable, Equatable {
        /// The id of the device.
        public var id: String
        /// The platform, for example `ios` or `android`.
        public var platform: String?
        /// The version of the app.
        public var app: String?
        /// The version of the operating system.
        public var os: String?
        /// The locale, for example `en-GB`.
        public var locale: String?
        /// The region, for example `GB`.
        public var region: String?
        /// The coordinator at the top of the device's stack.
        public var coordinator: String?
        /// The capabilities of the device.
        public var capabilities: [String]
        /// The claims of the device.
        public var claims: [String]
        /// The attributes of the device, for the conditions of variants.
        public var attributes: [String: String]
        /// The names of malformed facts, which count as unknown.
        public var unreadable: [String]
    }

    /// The reason why bytes are not an event.
    public struct Failure: Error, Sendable, Equatable {
        /// A stable code, for example `bad_json` or `missing_device`.
        public var reason: String
        /// A description of the fault.
        ///
        /// It contains no bytes of the input.
        public var detail: String
        /// The JSON pointer (RFC 6901) of the member at fault, if there is one.
        public var pointer: String?

        /// Creates a failure.
        public init(reason: String, detail: String, pointer: String? = nil) {
            self.reason = reason
            self.detail = detail
            self.pointer = pointer
        }
    }

    /// The id that the producer gave the event.
    public var id: String?
    /// The bundle identifier or package name, which selects the table.
    public var application: String?
    /// The request.
    public var request: Request
    /// The devices that the event is for, at least one.
    public var devices: [Device]
    /// The time of expiry in milliseconds since 1970.
    public var expires: Int64?
}
