internal import LinkCoordinator
internal import ByteStorage

extension LinkEvent {
    /// Reads an event from a JSON object, a bare link, or a push body.
    ///
    /// The limits are those of the worker: 1 MiB, 64 levels, and 500 devices.
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
            var devices: [Device] = []
            for index in 0..<event.deviceCount {
                do {
                    devices.append(Device(try reader.device(at: index)))
                } catch {
                    throw Failure(reason: error.reason.rawValue, detail: error.detail)
                }
            }
            return LinkEvent(
                id: event.id.isEmpty ? nil : event.id.string,
                application: event.hasApplication ? event.application.string : nil,
                request: Request(event.request), devices: devices, expires: event.expires)
        }
    }
}

extension LinkEvent.Request {
    fileprivate init(_ request: RequestView) {
        switch request.form {
        case .link: self = .link(request.text.string)
        case .path: self = .path(request.text.string, mode: Self.name(of: request.mode))
        case .route: self = .route(request.text.string, params: request.params.isEmpty ? nil : request.params.string)
        case .payload: self = .payload(request.payload.string)
        }
    }

    private static func name(of mode: RequestView.Mode) -> String? {
        switch mode {
        case .unsaid: nil
        case .replace: "replace"
        case .append: "append"
        case .reuse: "reuse"
        }
    }
}

extension LinkEvent.Device {
    fileprivate init(_ device: EventDevice) {
        let facts = device.facts
        func text(_ fact: DeviceFacts.Fact, _ view: ByteView) -> String? { facts.has(fact) ? view.string : nil }
        id = device.id.string
        platform = text(.platform, facts.platform)
        app = text(.app, facts.app)
        os = text(.os, facts.os)
        locale = text(.locale, facts.locale)
        region = text(.region, facts.region)
        coordinator = text(.coordinator, facts.coordinator)
        capabilities = facts.capabilities.map(\.string)
        claims = facts.claims.map(\.string)
        var pairs: [String: String] = [:]
        for index in stride(from: 0, to: facts.attributes.count, by: 2) {
            pairs[facts.attributes[index].string] = facts.attributes[index + 1].string
        }
        attributes = pairs
        unreadable = DeviceFacts.Fact.allCases
            .filter { facts.unreadable & $0.bit != 0 }
            .map { $0.name.description }
    }
}
