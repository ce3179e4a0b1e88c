internal import LinkCoordinator
internal import ByteStorage

/// The validation of a complete event: first its members, then the request, then the devices.
extension EventReader {
    /// Validates and completes an event that is not the usual one (a link for one device).
    ///
    /// Returns the fault, or nil.
    @inline(never)
    mutating func complete(_ key: ByteView?) -> Fault? {
        state.hasOther = true
        state.hasMembers = true
        event.isUsual = false
        state.isPushRecord = state.forms == 0 && recordBody.detectedKind != nil
        if let fault = state.typeFault, !state.isPushRecord { return fault }
        if let fault = completeContext() ?? completeForm() { return fault }
        if state.secondDevice >= 0 {
            return Fault(
                reason: .ambiguousEvent, detail: "expected `device` or `devices`, not both", offset: state.secondDevice)
        }
        return completeDevices(key)
    }

    private mutating func completeContext() -> Fault? {
        guard let written = context.finish() else {
            return .type("expected at most 4096 bytes in the passthrough members", at: -1)
        }
        event.context = written
        return nil
    }

    private mutating func completeForm() -> Fault? {
        event.request.payloadType = .unspecified
        if state.forms > 1 {
            return Fault(
                reason: .ambiguousEvent, detail: "expected only one of `link`, `path`, `route`, and `payload`",
                offset: state.secondForm)
        }
        if state.isPushRecord {
            event.request.form = .payload
            event.request.payload = text
            completeKind(detected: recordBody.detectedKind)
        } else if state.forms == 0 {
            return Fault(
                reason: .missingLink, detail: "expected `link`, `path`, `route`, or `payload`, or a push body",
                offset: -1)
        }
        switch event.request.form {
        case .link: break
        case .path:
            event.request.params = .empty
            return nil
        case .route:
            event.request.mode = .unspecified
            return nil
        case .payload:
            if !state.isPushRecord { completeKind(detected: payloadBody.detectedKind) }
        }
        event.request.mode = .unspecified
        event.request.params = .empty
        return nil
    }

    /// Sets the kind of the push body: the one that the event states, or else the detected one.
    private mutating func completeKind(detected: PushKind?) {
        state.kind = state.namedKind ?? detected ?? .other
        guard let named = state.namedKind, named != detected else { return }
        event.request.payloadType = named == .apns ? .apns : .fcm
    }

    private mutating func completeDevices(_ key: ByteView?) -> Fault? {
        if let fault = state.deviceFault { return fault }
        if state.isTooLong {
            return Fault(reason: .tooManyDevices, detail: "too many devices", offset: state.listOffset)
        }
        if state.hasDevices {
            event.deviceCount = state.listed
            guard state.listed == 0 else { return nil }
            return Fault(
                reason: .missingDevice, detail: "expected at least one device in `devices`", offset: state.listOffset)
        }
        if state.hasDevice {
            event.deviceCount = 1
            return nil
        }
        return useKey(key)
    }

    /// Uses the key of the record, or else the target of an FCM message, as the only device of the event.
    mutating func useKey(_ key: ByteView?) -> Fault? {
        device.clear()
        if let key {
            if key.isEmpty || key.count > IngestLimits.deviceIDBytes || key.firstIllFormedUTF8 != nil {
                return Fault(
                    reason: .badDevice, detail: "expected a device, or a key of 1 to 256 bytes of UTF-8", offset: -1)
            }
            device.id = key
            device.isPlain = WireFormat.isPlain(key)
        } else if let fault = useTarget() {
            return fault
        }
        event.deviceCount = 1
        return nil
    }

    private mutating func useTarget() -> Fault? {
        var isMessage = false
        if case .payload = event.request.form { isMessage = state.kind == .fcm }
        let parts = state.isPushRecord ? recordBody.messageParts : payloadBody.messageParts
        if isMessage && parts.has(.token) {
            if parts.token.isEmpty || parts.token.count > IngestLimits.deviceIDBytes {
                return Fault(
                    reason: .badDevice, detail: "expected the message's `token` to be a string of 1 to 256 bytes",
                    offset: -1)
            }
            device.id = parts.token
            device.isPlain = parts.tokenIsPlain
            return nil
        }
        if isMessage && (parts.has(.topic) || parts.has(.condition)) {
            return Fault(
                reason: .untargetable, detail: "expected a key or a device with a message to a topic or condition",
                offset: -1)
        }
        return Fault(reason: .missingDevice, detail: "expected `device`, `devices`, or a key", offset: -1)
    }
}
