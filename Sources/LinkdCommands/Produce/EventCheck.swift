internal import RouteTools
internal import LinkIngest
internal import ByteStorage

/// Reads events as the worker will, before they are sent: finds their key, or why they would be dead letters.
final class EventCheck {
    /// `--key`: the key of every record.
    let fixed: [UInt8]?
    /// `--device`: the key of events that name no device.
    let otherwise: [UInt8]?
    private var reader: EventReader

    /// Makes a check with a worker's limits.
    init(_ settings: Settings, fixed: [UInt8]?, otherwise: [UInt8]?) {
        self.fixed = fixed
        self.otherwise = otherwise
        reader = EventReader(
            limits: IngestLimits(settings), passthrough: settings.list("passthrough"))
    }

    /// The key to send an event with, or nil for none: it has no device, and whoever reads it has nowhere to look.
    func key(of value: [UInt8]) -> Result<[UInt8]?, EventLine.Fault> {
        value.withUnsafeBufferPointer { value in
            guard let key = fixed ?? otherwise else { return read(ByteView(value), key: nil) }
            return key.withUnsafeBufferPointer { read(ByteView(value), key: ByteView($0)) }
        }
    }

    private func read(_ value: ByteView, key: ByteView?) -> Result<[UInt8]?, EventLine.Fault> {
        switch reader.read(value: value, key: key) {
        case .event:
            guard fixed == nil else { return .success(fixed) }
            return reader.selectDevice(at: 0)
                ? .success(reader.devicePointer.pointee.id.array)
                : .failure(EventLine.Fault(text: "\(reader.failure.reason.rawValue): \(reader.failure.detail)"))
        case .failure(let failure):
            if key == nil, failure.reason == .missingDevice, failure.offset == nil { return .success(nil) }
            let pointer = failure.pointer(in: value).map { $0.isEmpty ? "" : " at \(Escaping.visible($0))" } ?? ""
            return .failure(EventLine.Fault(text: "\(failure.reason.rawValue)\(pointer): \(failure.detail)"))
        }
    }
}

extension IngestLimits {
    /// The limits that the settings say.
    init(_ settings: Settings) {
        self.init(
            recordBytes: Int(settings.number("limits.record.bytes")), depth: Int(settings.number("limits.json.depth")),
            devices: Int(settings.number("limits.devices")))
    }
}
