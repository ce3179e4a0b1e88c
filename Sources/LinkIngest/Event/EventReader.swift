internal import LinkCoordinator
package import ByteStorage
internal import StrictJSON

/// Reads records into events, strictly, in one pass and without allocating: one for a lane, used for its whole life.
///
/// Only ranges and flags are kept. What an event lends lives until the next record is read.
package struct EventReader: ~Copyable {
    var cursor: JSONCursor
    var shape: MemberShape
    var devices = DeviceReader()
    private var templates = EventTemplates()
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
    /// Why the record that was refused last is no event.
    package private(set) var failure = IngestFailure(.badJSON, "")
    /// The event's one device, or the one that was asked for last.
    package let devicePointer: UnsafeMutablePointer<EventDevice>
    var recordBody = PushBody()
    var payloadBody = PushBody()
    /// Texts of the devices of an event with `devices`; their number is `state.listed`.
    let deviceTexts: FactList
    /// Of records, until the next is read.
    private let records = ViewLender()
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
        // A push is nested one deeper in `payload` than alone: what is taken alone is taken there too.
        cursor = JSONCursor(maxDepth: limits.depth + 1)
        cursor.depthLimit = limits.depth
        deviceCursor = JSONCursor(maxDepth: limits.depth)
        deviceTexts = FactList(capacity: max(limits.devices, 1))
        context = ContextWriter(passthrough)
        // What is passed through is read one by one, so that its bytes are kept.
        shape = MemberShape(
            ContextWriter.knownNames, extra: context.otherNames, plain: EventMember.plainTags & ~context.wanted)
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
        readInPlace(value: value, key: key) ? .event(event) : .failure(failure)
    }

    /// Reads one record as `read` does: the event stands at `eventPointer` where true comes back, else `failure` says
    /// why there is none.
    package mutating func readInPlace(value: ByteView, key: ByteView?) -> Bool {
        if value.count > limits.recordBytes {
            failure = IngestFailure(.oversizeInput, "expected at most \(limits.recordBytes) bytes")
            return false
        }
        records.revoke()
        let value = records.lend(value)
        let key = key.map { records.lend($0) }
        if templates.take(value, into: eventPointer, devicePointer) {
            state.clear()
            return true
        }
        templates.lose()
        eventPointer.pointee.clear(all: state.hasMembers)
        state.clear()
        if value.count > 1 && value.start[0] == UInt8(ascii: "{") && value.end[-1] == UInt8(ascii: "}") {
            textOffset = 0
            text = value
            if !readJSON(key) { return false }
            if eventPointer.pointee.isUsual && !state.hasMembers { templates.learn(value, eventPointer, devicePointer) }
            return true
        }
        return readOther(value: value, key: key)
    }

    /// Reads what is not an object from its first byte to its last.
    @inline(never)
    private mutating func readOther(value: ByteView, key: ByteView?) -> Bool {
        let isFramed = WireFormat.hasSchemaPrefix(value)
        let range = WireFormat.trimmed(value, from: isFramed ? WireFormat.schemaPrefixBytes : 0)
        textOffset = range.lowerBound
        text = value.slice(range.lowerBound, range.upperBound)
        if !text.isEmpty && text[0] == UInt8(ascii: "{") { return readJSON(key) }
        if isFramed {
            let id = WireFormat.schemaID(of: value)
            failure = IngestFailure(.schemaUnsupported, "expected JSON behind schema id \(id)")
            return false
        }
        return readLink(key)
    }

    @inline(__always)
    private mutating func readJSON(_ key: ByteView?) -> Bool {
        do {
            try scanRecord()
        } catch {
            fail(IngestFailure(error, textOffset: textOffset))
            return false
        }
        if state.isUsual, !context.hasSome, case .link = eventPointer.pointee.request.form {
            eventPointer.pointee.deviceCount = 1
            eventPointer.pointee.isUsual = true
            return true
        }
        return judge(settle(key))
    }

    private mutating func readLink(_ key: ByteView?) -> Bool {
        state.hasMembers = true
        guard WireFormat.isLink(text) else {
            let isText = text.firstIllFormedUTF8 == nil
            failure =
                isText
                ? IngestFailure(.badJSON, "expected an object or a link")
                : IngestFailure(.notUTF8, "expected UTF-8: an object or a link")
            return false
        }
        event.isUsual = false
        event.request.form = .link
        event.request.text = text
        event.request.isPlain = WireFormat.isPlain(text)
        event.request.isScreened = false
        event.request.bytesBehind = 0
        return judge(takeKey(key))
    }

    /// Whether a record is an event: it is, if nothing is wrong with it.
    private mutating func judge(_ fault: Fault?) -> Bool {
        guard let fault else { return true }
        fail(fault.failure(textOffset: textOffset))
        return false
    }

    @inline(never)
    private mutating func fail(_ failure: IngestFailure) {
        self.failure = failure
        self.failure.event = event.id.isEmpty ? nil : event.id.array
    }

    /// One device of the event that was read last; what it lends lives until the next one is asked for.
    ///
    /// - Parameter index: From 0, below the event's `deviceCount`.
    /// - Throws: `IngestFailure` with reason `internal` where the device does not read again.
    package mutating func device(at index: Int) throws(IngestFailure) -> EventDevice {
        guard selectDevice(at: index) else { throw failure }
        return device
    }

    /// Makes one device of the event the one at `devicePointer`, and its roots those of the request.
    ///
    /// - Parameter index: From 0, below the event's `deviceCount`.
    /// - Returns: False where the device was read strictly before and does not read again, which only a defect brings
    ///   about; then the record must have no decision, and `failure` says why.
    package mutating func selectDevice(at index: Int) -> Bool {
        precondition(index >= 0 && index < eventPointer.pointee.deviceCount)
        return state.hasOther ? selectOther(at: index) : true
    }

    @inline(never)
    private mutating func selectOther(at index: Int) -> Bool {
        if state.listed > 0 && !readListed(index) { return false }
        if case .payload = event.request.form {
            let body = state.isPushRecord ? recordBody : payloadBody
            device.roots = pushRoots.roots(
                of: body, text: event.request.payload, kind: state.kind ?? .other, platform: device.facts.platform)
            event.request.roots = device.roots
        }
        return true
    }

    /// Reads a device of a list again; false where it has become none, with an id.
    private mutating func readListed(_ index: Int) -> Bool {
        deviceCursor.open(deviceTexts.prefix(state.listed)[index])
        do {
            try devices.read(&deviceCursor, into: devicePointer)
            try deviceCursor.finish()
        } catch {
            return failAgain()
        }
        return device.id.isEmpty ? failAgain() : true
    }

    @inline(never)
    private mutating func failAgain() -> Bool {
        device.clear()
        fail(IngestFailure(.internalError, "a device that was read strictly does not read again"))
        return false
    }
}
