internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The validation of a complete event: first its members, then the request, then the devices.
extension EventReader {
    /// Validates and completes an event that is not the usual one (a link for one device).
    ///
    /// Returns the fault, or nil.
    @inline(never)
    mutating func complete(_ key: ByteView?) -> Fault? {
        if let fault = state.typeFault, !state.isPushRecord { return fault }
        if let fault = completeContext() ?? completeForm() { return fault }
        if context.hasSkipped { noteSkippedMember() }
        if state.isPushRecord, let form = messages.recordForm { return completeRecord(form, key) }
        if let second = state.secondDevice {
            return Fault(.ambiguousEvent, "expected `device` or `devices`, not both", at: second)
        }
        return completeDevices(key)
    }

    /// Writes the context of the event.
    ///
    /// Returns the fault of members that are too long together, or nil.
    mutating func completeContext() -> Fault? {
        guard let written = context.finish() else {
            return .type("expected at most 4096 bytes in the passthrough members")
        }
        eventPointer.pointee.context = written
        return nil
    }

    /// Notes that a member was not passed through.
    private mutating func noteSkippedMember() {
        if case .payload = eventPointer.pointee.request.form { messages.noteSkippedMember() } else { noteRequest() }
    }

    private mutating func completeForm() -> Fault? {
        eventPointer.pointee.request.payloadType = .unspecified
        if state.forms > 1 {
            return Fault(
                .ambiguousEvent, "expected only one of `link`, `path`, `route`, and `payload`", at: state.secondForm)
        }
        if state.isPushRecord {
            eventPointer.pointee.request.form = .payload
            eventPointer.pointee.request.payload = text
            // A member `action` of a push body belongs to the body.
            eventPointer.pointee.action = .empty
        } else if state.forms == 0 {
            return Fault(.missingLink, "expected `link`, `path`, `route`, or `payload`, or a push body")
        } else if state.mayBeMessage, let fault = noteEnvelopes() {
            return fault
        }
        switch eventPointer.pointee.request.form {
        case .link: trimLink()
        case .path:
            eventPointer.pointee.request.params = .empty
            return nil
        case .route:
            eventPointer.pointee.request.mode = .unspecified
            return nil
        case .payload:
            // The payload was opened when it was read.
            if !state.isPushRecord { messages.detectPayload(state.namedKind) }
            if let fault = cutFault { return fault }
            eventPointer.pointee.request.payloadType = messages.payloadType(state.namedKind)
            if state.hasPushHeaders { applyHeaders() }
        }
        eventPointer.pointee.request.mode = .unspecified
        eventPointer.pointee.request.params = .empty
        return nil
    }

    /// Removes white space at both ends of the link, and notes that it did.
    private mutating func trimLink() {
        let link = eventPointer.pointee.request.text
        guard WireFormat.hasWhiteSpaceAtEnds(link) else { return }
        let range = WireFormat.trimmed(link, from: 0)
        eventPointer.pointee.request.text = link.slice(range.lowerBound, range.upperBound)
        state.hasTrimmedLink = true
        noteRequest()
    }

    private mutating func completeDevices(_ key: ByteView?) -> Fault? {
        if let user = state.user { return useUser(user) }
        if let fault = state.deviceFault { return fault }
        if state.isTooLong {
            return Fault(.tooManyDevices, "too many devices", at: state.listOffset)
        }
        if state.hasDevices {
            eventPointer.pointee.deviceCount = state.listed
            guard state.listed == 0 else { return nil }
            return Fault(.missingDevice, "expected at least one device in `devices`", at: state.listOffset)
        }
        if state.hasDevice {
            eventPointer.pointee.deviceCount = 1
            return nil
        }
        return useKey(key)
    }

    /// Uses the devices that the registry knows of a user.
    ///
    /// A user without devices is the only device, so that the event has one decision.
    private mutating func useUser(_ user: ByteView) -> Fault? {
        if state.hasDevice || state.hasDevices {
            return Fault(
                .ambiguousEvent, "expected `user`, or `device` or `devices`, not both", at: state.userOffset)
        }
        var count = 0
        let found = knownDevices?.devices(of: user, limit: limits.devices) { [deviceTexts = deviceTexts.views] id in
            deviceTexts[count] = id
            count += 1
        }
        if found ?? 0 > limits.devices {
            return Fault(
                .tooManyDevices, "expected a user with at most as many devices as `limits.devices`",
                at: state.userOffset)
        }
        devicePointer.pointee.clear()
        state.listedIDs = count
        eventPointer.pointee.deviceCount = max(1, count)
        if count > 0 { return nil }
        eventPointer.pointee.hasNoDevice = true
        devicePointer.pointee.id = user
        devicePointer.pointee.isPlain = false
        return nil
    }

    /// Uses the key of the record, or else the target of the message, as the only device of the event.
    mutating func useKey(_ key: ByteView?) -> Fault? {
        devicePointer.pointee.clear()
        eventPointer.pointee.deviceCount = 1
        guard let key else {
            let fault = useTarget()
            return fault != nil && usePartitionKey() ? nil : fault
        }
        if key.isEmpty || key.count > Limits.deviceIDBytes || key.firstIllFormedUTF8 != nil {
            return Fault(.badDevice, "expected a device, or a key of 1 to 256 bytes of UTF-8")
        }
        devicePointer.pointee.id = key
        devicePointer.pointee.isPlain = WireFormat.isPlain(key)
        return nil
    }

    /// Uses the partition key of CloudEvents as the device, and returns false if there is none.
    private mutating func usePartitionKey() -> Bool {
        let key = cloudEvent.partitionKey
        guard !key.isEmpty, key.count <= Limits.deviceIDBytes, key.firstIllFormedUTF8 == nil else { return false }
        devicePointer.pointee.id = key
        // The key can be in memory of the reader.
        devicePointer.pointee.isPlain = false
        return true
    }

    private mutating func useTarget() -> Fault? {
        if case .payload = eventPointer.pointee.request.form, let target = messages.target() {
            switch target {
            case .token(let token):
                if token.isEmpty || token.count > Limits.deviceIDBytes { return Self.badToken }
                setDevice(token)
                return nil
            case .broadcast: return Self.untargetable
            }
        }
        return Fault(.missingDevice, "expected `device`, `devices`, or a key")
    }

    private static var badToken: Fault {
        Fault(.badDevice, "expected the message's `token` to be a string of 1 to 256 bytes")
    }

    private static var badTarget: Fault {
        Fault(.badDevice, "expected the request's device to be an id of 1 to 256 bytes")
    }

    private static var untargetable: Fault {
        Fault(.untargetable, "expected a key or a device with a message to a topic or condition")
    }

    /// Sets the id of the only device to a text of the message.
    private mutating func setDevice(_ id: ByteView) {
        devicePointer.pointee.id = id
        devicePointer.pointee.isPlain = isInRecord(id) && WireFormat.isPlain(id)
        setPlatform()
    }

    /// Sets the platform of the device to the one that the record states.
    private mutating func setPlatform() {
        guard !messages.platform.isEmpty, messages.recordForm != nil else { return }
        if messages.platform.count > Limits.factBytes {
            return devicePointer.pointee.facts.setUnreadable(.platform)
        }
        devicePointer.pointee.facts.platform = messages.platform
        devicePointer.pointee.facts.setKnown(.platform)
    }

    /// Returns a Boolean value that indicates whether a view is a part of the record, and not of the reader's memory.
    private mutating func isInRecord(_ view: ByteView) -> Bool {
        view.start >= text.start && view.end <= text.end && !cloudEvent.isDecoded
    }

    // MARK: Events and requests of vendors

    /// Completes an event or a request that is a whole record and has a form of its own in the vendor table.
    private mutating func completeRecord(_ form: Int32, _ key: ByteView?) -> Fault? {
        state.forgetDevices()
        devicePointer.pointee.clear()
        eventPointer.pointee.id = messages.eventID(of: form)
        eventPointer.pointee.idIsPlain = false
        eventPointer.pointee.action = messages.vendors.action(of: form)
        messages.setPlatform(messages.vendors.platform(of: form))
        let list = messages.vendors.devices(of: form)
        if list >= 0 { return useList(list) }
        if key != nil {
            if let fault = useKey(key) { return fault }
            setPlatform()
            return nil
        }
        eventPointer.pointee.deviceCount = 1
        if let target = messages.vendors.deviceID(of: form) {
            if target.count > Limits.deviceIDBytes { return Self.badTarget }
            setDevice(target)
            return nil
        }
        if usePartitionKey() {
            setPlatform()
            return nil
        }
        return messages.vendors.isBroadcast(form)
            ? Fault(.untargetable, "expected a key with a message to many devices")
            : Fault(.missingDevice, "expected a key, or a member with the device")
    }

    /// Uses the ids in an array as the devices of the event.
    private mutating func useList(_ list: Int32) -> Fault? {
        var node = messages.vendors.tape.first(in: list)
        let end = messages.vendors.tape.end(of: list)
        while node < end {
            if state.listedIDs < limits.devices {
                guard messages.vendors.tape.isString(node) else { return badElement(node) }
                let id = messages.vendors.tape.text(of: node)
                guard (1...Limits.deviceIDBytes).contains(id.count) else { return badElement(node) }
                deviceTexts.set(state.listedIDs, id)
                state.listedIDs += 1
            } else {
                state.skipped += 1
            }
            node = messages.vendors.tape.next(after: node)
        }
        if state.skipped > 0 {
            return Fault(.tooManyDevices, "too many devices", at: offset(of: list))
        }
        eventPointer.pointee.deviceCount = state.listedIDs
        if state.listedIDs > 0 { return nil }
        return Fault(.missingDevice, "expected at least one device in the list", at: offset(of: list))
    }

    private mutating func badElement(_ node: Int32) -> Fault {
        Fault(.badDevice, "expected each device to be a string of 1 to 256 bytes", at: offset(of: node))
    }

    /// Selects a device of a list that contains only ids.
    mutating func selectID(_ index: Int) {
        devicePointer.pointee.clear()
        setDevice(deviceTexts.prefix(state.listedIDs)[index])
    }
}
