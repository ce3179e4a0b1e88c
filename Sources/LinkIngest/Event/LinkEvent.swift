public import LinkCoordinator
internal import ByteStorage

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
        /// A malformed fact is nil, like an unknown one. The decision for the device has a note about it.
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

extension LinkEvent {
    /// Reads an event from a JSON object, a bare link, or a push body.
    ///
    /// It has the default limits of a worker: 1 MiB, 64 levels, and 500 devices.
    ///
    /// - Parameters:
    ///   - value: The bytes of a record's value.
    ///   - key: The bytes of a record's key, which is the id of the device if the event names none.
    /// - Throws: `Failure` with a stable code, a description, and the location.
    public static func read(_ value: [UInt8], key: [UInt8]? = nil) throws(Failure) -> LinkEvent {
        try value.withUnsafeBufferPointer { bytes throws(Failure) in
            guard let key else { return try read(ByteView(bytes), key: nil) }
            return try key.withUnsafeBufferPointer { key throws(Failure) in
                try read(ByteView(bytes), key: ByteView(key))
            }
        }
    }

    private static func read(_ value: ByteView, key: ByteView?) throws(Failure) -> LinkEvent {
        var reader = EventReader()
        switch reader.read(value: value, key: key) {
        case .failure(let failure):
            throw Failure(
                reason: failure.reason.rawValue, detail: failure.detail, pointer: failure.pointer(in: value))
        case .event(let event):
            return LinkEvent(
                id: event.id.isEmpty ? nil : event.id.string,
                application: event.hasApplication ? event.application.string : nil,
                request: try request(of: event), devices: try devices(of: event, &reader, value), expires: event.expires
            )
        }
    }

    private static func request(of event: IngestedEvent) throws(Failure) -> LinkRequest {
        do {
            return try LinkRequest(event.request)
        } catch {
            throw Failure(
                reason: DeadLetterReason.internal.rawValue,
                detail: "a valid object cannot be read a second time: report this bug with the record")
        }
    }

    private static func devices(
        of event: IngestedEvent, _ reader: inout EventReader, _ value: ByteView
    ) throws(Failure) -> [Device] {
        var devices: [Device] = []
        for index in 0..<event.deviceCount {
            do {
                let device = try reader.device(at: index)
                devices.append(Device(id: device.id.string, facts: DeviceFacts(device.facts)))
            } catch {
                throw Failure(
                    reason: error.reason.rawValue, detail: error.detail, pointer: error.pointer(in: value))
            }
        }
        return devices
    }
}

extension EventReader {
    /// Copies the request and the facts of the last event that was read, or returns nil if the event has none.
    ///
    /// A payload whose link a rule of the vendor table or of the link platforms has found also has it as a request.
    ///
    /// - Parameter index: The index of the device.
    package mutating func copy(at index: Int) -> (request: LinkRequest, found: LinkRequest?, facts: DeviceFacts)? {
        guard index < eventPointer.pointee.deviceCount, selectDevice(at: index), !eventPointer.pointee.hasNoDevice,
            let request = try? LinkRequest(eventPointer.pointee.request)
        else { return nil }
        let view = eventPointer.pointee.request
        let opening = view.tapped.kind != .unknown ? view.tapped : view.found
        return (
            request, opening.kind == .link ? .link(opening.link.string) : nil,
            DeviceFacts(devicePointer.pointee.facts)
        )
    }
}

extension LinkRequest {
    /// Copies the request of an event.
    ///
    /// - Throws: `LinkRequestError` if a valid object cannot be read a second time, which only a defect can cause.
    fileprivate init(_ request: RequestView) throws(LinkRequestError) {
        switch request.form {
        case .link: self = .link(request.text.string)
        case .path: self = .path(request.text.string, mode: Self.mode(request.mode))
        case .route:
            let params = request.params
            self = .route(request.text.string, params: params.isEmpty ? [:] : try Object(json: params.array))
        case .payload: self = .payload(try Object(json: request.payload.array))
        }
    }

    private static func mode(_ mode: RequestView.Mode) -> Mode? {
        switch mode {
        case .unspecified: nil
        case .replace: .replace
        case .append: .append
        case .reuse: .reuse
        }
    }
}

extension DeviceFacts {
    /// Copies the facts about a device.
    fileprivate init(_ facts: DeviceView) {
        func text(_ fact: Fact, _ view: ByteView) -> String? { facts.has(fact) ? view.string : nil }
        func texts(_ fact: Fact, _ views: UnsafeBufferPointer<ByteView>) -> [String]? {
            facts.has(fact) ? views.map(\.string) : nil
        }
        self.init(
            platform: text(.platform, facts.platform), app: text(.app, facts.app), os: text(.os, facts.os),
            locale: text(.locale, facts.locale), region: text(.region, facts.region),
            capabilities: texts(.capabilities, facts.capabilities), claims: texts(.claims, facts.claims),
            coordinator: text(.coordinator, facts.coordinator))
        if facts.has(.attributes) {
            var attributes: [String: String] = [:]
            for index in stride(from: 0, to: facts.attributes.count, by: 2) {
                attributes[facts.attributes[index].string] = facts.attributes[index + 1].string
            }
            self.attributes = attributes
        }
        unreadable = Set(Fact.allCases.filter { facts.unreadable & $0.bit != 0 })
    }
}
