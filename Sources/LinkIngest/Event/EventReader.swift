internal import LinkCoordinator
package import StrictJSON

/// Reads records into events, strictly, in one pass and without allocating: one for a lane, used for its whole life.
///
/// Only ranges and flags are kept. What an event lends lives until the next record is read.
package struct EventReader: ~Copyable {
    var cursor: JSONCursor
    var shape: MemberShape
    var devices = DeviceReader()
    var pushes = PushScanner()
    var pushRoots = PushRoots()
    var context: ContextWriter
    let limits: IngestLimits

    /// The JSON text of the record that is being read, and where in the value it begins.
    var text = ByteView.empty
    var textOffset = 0
    /// The event that was read last; in place, so that nothing of it is copied per record.
    package let eventPointer: UnsafeMutablePointer<IngestedEvent>
    var state = ScanState()
    /// The event's one device, or the one that was asked for last.
    package let devicePointer: UnsafeMutablePointer<EventDevice>
    var recordBody = PushBody()
    var payloadBody = PushBody()
    /// Texts of the devices of an event with `devices`; their number is `state.listed`.
    let deviceTexts: FactList
    /// Reads devices again when they are asked for; its own, so that what the event lends stays.
    var deviceCursor: JSONCursor

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - limits: Bounds of a record.
    ///   - passthrough: Names of the members to copy into `context`, at most 16; more and repeated ones are left out.
    package init(limits: IngestLimits = IngestLimits(), passthrough: [String] = []) {
        self.limits = limits
        eventPointer = .allocate(capacity: 1)
        eventPointer.initialize(to: IngestedEvent())
        devicePointer = .allocate(capacity: 1)
        devicePointer.initialize(to: EventDevice())
        cursor = JSONCursor(maxDepth: limits.depth)
        deviceCursor = JSONCursor(maxDepth: limits.depth)
        deviceTexts = FactList(capacity: max(limits.devices, 1))
        context = ContextWriter(passthrough)
        shape = MemberShape(ContextWriter.knownNames, extra: context.otherNames)
    }

    deinit {
        eventPointer.deallocate()
        devicePointer.deallocate()
    }

    /// The event that was read last.
    var event: IngestedEvent {
        mutating _read { yield eventPointer.pointee }
        _modify { yield &eventPointer.pointee }
    }

    /// The device that was read or asked for last.
    var device: EventDevice {
        mutating _read { yield devicePointer.pointee }
        _modify { yield &devicePointer.pointee }
    }

    /// What became of a record.
    package enum Outcome {
        /// It is an event; its devices are asked for with `device(at:)`.
        case event(IngestedEvent)
        /// It is none.
        case failure(IngestFailure)
    }

    /// Reads one record: JSON as `events` section 2 has it, a bare link, or a push body as a whole.
    ///
    /// - Parameters:
    ///   - value: The record's value.
    ///   - key: The record's key, the device's id where the event names none.
    package mutating func read(value: ByteView, key: ByteView?) -> Outcome {
        readInPlace(value: value, key: key).map { .failure($0) } ?? .event(event)
    }

    /// Reads one record as `read` does; the event stands at `eventPointer` where nil comes back.
    package mutating func readInPlace(value: ByteView, key: ByteView?) -> IngestFailure? {
        if value.count > limits.recordBytes {
            return IngestFailure(.oversizeInput, "expected at most \(limits.recordBytes) bytes")
        }
        eventPointer.pointee.clear()
        state.clear()
        let isFramed = WireFormat.hasSchemaPrefix(value)
        let range = WireFormat.trimmed(value, from: isFramed ? WireFormat.schemaPrefixBytes : 0)
        textOffset = range.lowerBound
        text = value.slice(range.lowerBound, range.upperBound)
        if !text.isEmpty && text[0] == UInt8(ascii: "{") { return readJSON(key) }
        if isFramed {
            let id = WireFormat.schemaID(of: value)
            return IngestFailure(.schemaUnsupported, "expected JSON behind schema id \(id)")
        }
        return readLink(key)
    }

    private mutating func readJSON(_ key: ByteView?) -> IngestFailure? {
        do {
            try scanRecord()
        } catch {
            return fail(IngestFailure(error, textOffset: textOffset))
        }
        if let fault = settle(key) { return fail(fault.failure(textOffset: textOffset)) }
        return nil
    }

    private mutating func readLink(_ key: ByteView?) -> IngestFailure? {
        guard WireFormat.isLink(text) else {
            let isText = text.firstIllFormedUTF8 == nil
            return isText
                ? IngestFailure(.badJSON, "expected an object or a link")
                : IngestFailure(.notUTF8, "expected UTF-8: an object or a link")
        }
        event.request.form = .link
        event.request.text = text
        event.request.isPlain = WireFormat.isPlain(text)
        if let fault = takeKey(key) { return fail(fault.failure(textOffset: textOffset)) }
        return nil
    }

    private mutating func fail(_ failure: IngestFailure) -> IngestFailure {
        var failure = failure
        failure.event = event.id.isEmpty ? nil : event.id.array
        return failure
    }

    /// One device of the event that was read last; what it lends lives until the next one is asked for.
    ///
    /// - Parameter index: From 0, below the event's `deviceCount`.
    package mutating func device(at index: Int) -> EventDevice {
        selectDevice(at: index)
        return device
    }

    /// Makes one device of the event the one at `devicePointer`, and its roots those of the request.
    package mutating func selectDevice(at index: Int) {
        precondition(index >= 0 && index < event.deviceCount)
        if state.listed > 0 { readListed(index) }
        if case .payload = event.request.form {
            let body = state.isPushRecord ? recordBody : payloadBody
            device.roots = pushRoots.roots(
                of: body, text: event.request.payload, kind: state.kind ?? .other, platform: device.facts.platform)
            event.request.roots = device.roots
        }
    }

    /// Reads a device of a list again; it was read before, so it cannot fail.
    private mutating func readListed(_ index: Int) {
        deviceCursor.open(deviceTexts.prefix(state.listed)[index])
        do {
            try devices.read(&deviceCursor, into: devicePointer)
        } catch {
            assertionFailure("a device that was read once reads again")
        }
    }
}
