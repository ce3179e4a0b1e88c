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
            return LinkEvent(
                id: event.id.isEmpty ? nil : event.id.string,
                application: event.hasApplication ? event.application.string : nil,
                request: try request(of: event), devices: try devices(of: event, &reader), expires: event.expires)
        }
    }

    private static func request(of event: IngestedEvent) throws(Failure) -> LinkRequest {
        do {
            return try LinkRequest(event.request)
        } catch {
            throw Failure(
                reason: IngestFailure.Reason.internalError.rawValue,
                detail: "a valid object cannot be read a second time: report this bug with the record")
        }
    }

    private static func devices(of event: IngestedEvent, _ reader: inout EventReader) throws(Failure) -> [Device] {
        var devices: [Device] = []
        for index in 0..<event.deviceCount {
            do {
                let device = try reader.device(at: index)
                devices.append(Device(id: device.id.string, facts: DeviceFacts(device.facts)))
            } catch {
                throw Failure(reason: error.reason.rawValue, detail: error.detail)
            }
        }
        return devices
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
