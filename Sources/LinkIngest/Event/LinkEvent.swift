public import LinkCoordinator

/// A link event, for programs that read single events.
///
/// The article <doc:EventReference> describes the valid records (an event, a bare link, or a push body) and the meaning
/// of each member. `LinkEvent.read(_:key:)` reads an event from bytes. A `RouteTable` resolves the request for each
/// device:
///
/// ```swift
/// let event = try LinkEvent.read(value, key: key)
/// for device in event.devices {
///     let decision = table.resolve(event.request, device: device.facts)
/// }
/// ```
public struct LinkEvent: Sendable, Equatable {
    /// A device that the event is for.
    public struct Device: Sendable, Equatable {
        /// The id of the device.
        public var id: String
        /// The facts about the device.
        ///
        /// A malformed fact is nil, as an unknown one is. The decision for the device has a note about it.
        public var facts: DeviceFacts

        /// Creates a device.
        public init(id: String, facts: DeviceFacts = DeviceFacts()) {
            self.id = id
            self.facts = facts
        }

        /// The names of malformed facts, which count as unknown.
        public var unreadable: [String] {
            DeviceFacts.Fact.allCases.filter(facts.unreadable.contains).map(\.name.description)
        }
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
    ///
    /// In a link that is not UTF-8, U+FFFD replaces the invalid bytes. A table searches a push payload as one object.
    /// It does not search the parts of an FCM message separately, as the worker does.
    public var request: LinkRequest
    /// The devices that the event is for, at least one.
    public var devices: [Device]
    /// The time of expiry in milliseconds since 1970.
    public var expires: Int64?
}
