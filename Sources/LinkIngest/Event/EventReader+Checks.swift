internal import LinkCoordinator
internal import ByteStorage

/// What must hold of an event as a whole, judged in the order of the dead letters' codes (`kafka-worker`, section 4).
extension EventReader {
    /// Judges an event that is not the usual one (a link for one device) and completes it; returns what is wrong.
    @inline(never)
    mutating func settle(_ key: ByteView?) -> Fault? {
        state.hasOther = true
        state.hasMembers = true
        event.isUsual = false
        state.isPushRecord = state.forms == 0 && recordBody.foundKind != nil
        if let fault = state.typeFault, !state.isPushRecord { return fault }
        if let fault = settleContext() ?? settleForm() { return fault }
        if state.secondDevice >= 0 {
            return Fault(
                reason: .ambiguousEvent, detail: "expected device or devices, not both", offset: state.secondDevice)
        }
        return settleDevices(key)
    }

    private mutating func settleContext() -> Fault? {
        guard let written = context.finish() else {
            return .type("expected at most 4096 bytes in the members that are passed through", at: -1)
        }
        event.context = written
        return nil
    }

    private mutating func settleForm() -> Fault? {
        event.request.payloadType = .unsaid
        if state.forms > 1 {
            return Fault(
                reason: .ambiguousEvent, detail: "expected one of link, path, route and payload",
                offset: state.secondForm)
        }
        if state.isPushRecord {
            event.request.form = .payload
            event.request.payload = text
            settleKind(found: recordBody.foundKind)
        } else if state.forms == 0 {
            return Fault(
                reason: .missingLink, detail: "expected one of link, path, route and payload, or a push body",
                offset: -1)
        }
        switch event.request.form {
        case .link: break
        case .path:
            event.request.params = .empty
            return nil
        case .route:
            event.request.mode = .unsaid
            return nil
        case .payload:
            if !state.isPushRecord { settleKind(found: payloadBody.foundKind) }
        }
        event.request.mode = .unsaid
        event.request.params = .empty
        return nil
    }

    /// Takes the kind of push body that the event names, else the one that was found out.
    private mutating func settleKind(found: PushKind?) {
        state.kind = state.namedKind ?? found ?? .other
        guard let named = state.namedKind, named != found else { return }
        event.request.payloadType = named == .apns ? .apns : .fcm
    }

    private mutating func settleDevices(_ key: ByteView?) -> Fault? {
        if let fault = state.deviceFault { return fault }
        if state.isTooLong {
            return Fault(
                reason: .tooManyDevices, detail: "expected no more devices than the limit", offset: state.listOffset)
        }
        if state.hasDevices {
            event.deviceCount = state.listed
            guard state.listed == 0 else { return nil }
            return Fault(
                reason: .missingDevice, detail: "expected at least one device in devices", offset: state.listOffset)
        }
        if state.hasDevice {
            event.deviceCount = 1
            return nil
        }
        return takeKey(key)
    }

    /// Makes the record's key, or else the target of an FCM message, the event's one device.
    mutating func takeKey(_ key: ByteView?) -> Fault? {
        device.clear()
        if let key {
            if key.isEmpty || key.count > IngestLimits.deviceIDBytes || key.firstIllFormedUTF8 != nil {
                return Fault(
                    reason: .badDevice, detail: "expected a key of 1 to 256 bytes of UTF-8, or a device", offset: -1)
            }
            device.id = key
            device.isPlain = WireFormat.isPlain(key)
        } else if let fault = takeTarget() {
            return fault
        }
        event.deviceCount = 1
        return nil
    }

    private mutating func takeTarget() -> Fault? {
        var isMessage = false
        if case .payload = event.request.form { isMessage = state.kind == .fcm }
        let parts = state.isPushRecord ? recordBody.messageParts : payloadBody.messageParts
        if isMessage && parts.has(.token) {
            if parts.token.isEmpty || parts.token.count > IngestLimits.deviceIDBytes {
                return Fault(
                    reason: .badDevice, detail: "expected the message's token as text of 1 to 256 bytes", offset: -1)
            }
            device.id = parts.token
            device.isPlain = parts.tokenIsPlain
            return nil
        }
        if isMessage && (parts.has(.topic) || parts.has(.condition)) {
            return Fault(
                reason: .untargetable, detail: "expected a key or a device beside a message to a topic or condition",
                offset: -1)
        }
        return Fault(reason: .missingDevice, detail: "expected a device, devices or a key", offset: -1)
    }
}
