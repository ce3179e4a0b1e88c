internal import RouteTools
internal import LinkIngest
internal import ByteStorage

/// A check of events before they are sent, with the worker's reader.
///
/// It returns the key of an event, or the reason why the event would become a dead letter.
final class EventCheck {
    /// The key of every record, from `--key`.
    let fixedKey: [UInt8]?
    /// The key of events without a device, from `--device`.
    let fallbackKey: [UInt8]?
    private var reader: EventReader

    /// Creates a check with the limits of a worker.
    init(_ settings: Settings, _ vendors: LoadedVendors, fixedKey: [UInt8]?, fallbackKey: [UInt8]?) {
        self.fixedKey = fixedKey
        self.fallbackKey = fallbackKey
        reader = EventReader(
            limits: IngestLimits(settings), passthrough: settings.list("passthrough"), vendors: vendors.table,
            platforms: vendors.platforms)
    }

    /// Returns the key of an event, or nil for an event without a device.
    func key(of value: [UInt8]) -> Result<[UInt8]?, EventLine.Fault> {
        value.withUnsafeBufferPointer { value in
            guard let key = fixedKey ?? fallbackKey else { return read(ByteView(value), key: nil) }
            return key.withUnsafeBufferPointer { read(ByteView(value), key: ByteView($0)) }
        }
    }

    private func read(_ value: ByteView, key: ByteView?) -> Result<[UInt8]?, EventLine.Fault> {
        switch reader.read(value: value, key: key) {
        case .event:
            guard fixedKey == nil else { return .success(fixedKey) }
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
    /// Creates the limits from the settings.
    init(_ settings: Settings) {
        self.init(
            recordBytes: Int(settings.number("limits.record.bytes")), depth: Int(settings.number("limits.json.depth")),
            devices: Int(settings.number("limits.devices")))
    }
}
