internal import LinkDecider
internal import LinkIngest
internal import ByteStorage

/// A check of events before they are sent, with the worker's reader.
///
/// It returns the key of an event, or the reason why the event would become a dead letter.
final class EventKeys {
    /// The key of every record, from `--key`.
    private(set) var fixedKey: ByteView?
    /// The key of events without a device, from `--device`.
    private(set) var fallbackKey: ByteView?
    /// The number of events that have neither a key nor a device.
    private(set) var withoutDevice = 0
    private var reader: EventReader
    /// The memory of the keys.
    private var arena = OutputArena(chunkBytes: 4096)

    /// Creates a check with the limits of a worker.
    init(_ settings: Settings, _ vendors: LoadedVendors, fixedKey: [UInt8]?, fallbackKey: [UInt8]?) {
        reader = EventReader(DeciderConfiguration(settings, [], vendors), devices: settings.emptyRegistry)
        self.fixedKey = fixedKey.map { arena.copy($0) }
        self.fallbackKey = fallbackKey.map { arena.copy($0) }
    }

    /// Returns the key of an event, or nil for an event without a device.
    ///
    /// The key of an event with `user` is the user, if there is a registry of devices.
    /// The key is valid until the next call.
    func key(of value: ByteView) -> Result<ByteView?, EventLine.Fault> {
        let key = fixedKey ?? fallbackKey
        if reader.readInPlace(value: value, key: key) {
            guard fixedKey == nil else { return .success(fixedKey) }
            return reader.selectDevice(at: 0)
                ? .success(reader.devicePointer.pointee.id)
                : .failure(EventLine.Fault(text: "\(reader.failure.reason.rawValue): \(reader.failure.detail)"))
        }
        let failure = reader.failure
        if let batch = reader.batch(of: value, key: key, headers: []) { return check(batch, of: value, key) }
        if key == nil, failure.reason == .missingDevice, failure.offset == nil {
            withoutDevice += 1
            return .success(nil)
        }
        let pointer = InputPlace.text(pointer: failure.pointer(in: value), in: value.array)
        return .failure(EventLine.Fault(text: "\(failure.reason.rawValue)\(pointer): \(failure.detail)"))
    }

    /// Returns the key of a list, whose messages have devices of their own, or the reason of its first dead letter.
    private func check(_ batch: RecordBatch, of value: ByteView, _ key: ByteView?) -> Result<ByteView?, EventLine.Fault>
    {
        for (item, place) in batch.items.enumerated() {
            let message = value.slice(place.lowerBound, place.upperBound)
            guard case .failure(let failure) = reader.read(value: message, key: key) else { continue }
            let pointer = InputPlace.text(pointer: "/\(item)" + (failure.pointer(in: message) ?? ""), in: value.array)
            let text = "item \(item): \(failure.reason.rawValue)\(pointer): \(failure.detail)"
            return .failure(EventLine.Fault(text: text))
        }
        return .success(key)
    }
}
