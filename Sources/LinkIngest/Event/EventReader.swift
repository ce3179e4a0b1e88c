internal import LinkCoordinator
package import ByteStorage
package import ShortLinks
internal import StrictJSON

/// A strict reader of records that makes a single pass and does not allocate.
///
/// A lane uses one reader for all its records.
///
/// It stores only ranges and flags. The views of an event are valid until the next record is read.
package struct EventReader: ~Copyable {
    var cursor: JSONCursor
    var shape: MemberShape
    var devices = DeviceReader()
    /// The join with what is known about devices.
    private var join: DeviceJoin
    /// The tag of the member `user`, or nil without a registry of devices.
    let userTag: UInt8?
    /// The reader of push messages and of the envelopes that vendors use.
    var messages: MessageReader
    /// The event of CloudEvents that contains the record.
    var cloudEvent = CloudEvent()
    var context: ContextWriter
    let limits: Limits
    /// A Boolean value that indicates whether links of link platforms are replaced by their destinations.
    package let unwrapsLinks: Bool

    /// The tags, as bits, of the members that only push messages and other envelopes have.
    let envelopeTags: UInt64

    /// The JSON text of the current record, and its offset in the value.
    var text = ByteView.empty
    var textOffset = 0
    /// The event that was read last.
    ///
    /// Callers access it in place, so that nothing is copied per record.
    package let eventPointer: UnsafeMutablePointer<IngestedEvent>
    var state = ScanState()
    /// The failure of the last record that was refused.
    package internal(set) var failure = IngestFailure(.badJSON, "")
    /// The only device of the event, or the device that was selected last.
    package let devicePointer: UnsafeMutablePointer<EventDevice>
    /// The texts of the devices in `devices`.
    ///
    /// Their number is `state.listed`.
    let deviceTexts: FactList
    /// The items of the list that was refused last, and a Boolean value that indicates whether its content type names a
    /// batch of CloudEvents.
    var list = RecordBatch()
    var isTypedBatch = false
    /// The headers of the push request, if `state.hasPushHeaders` is true.
    var pushHeaders = PushHeaders()
    /// The views of the current record, which are revoked when the next one is read.
    private let records = ViewLender()
    /// The cursor for a second read of selected devices.
    ///
    /// It is separate, so that the views of the event stay valid.
    var deviceCursor: JSONCursor

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limits: The limits of a record.
    ///   - passthrough: The members to copy into `context`. Names after the first 16 and repeated names are ignored.
    ///   - vendors: The vendors whose messages are recognized, or nil for none.
    ///   - platforms: The link platforms whose links are replaced by their destinations, or nil for none.
    ///   - shortLinks: The file with the destinations of short links, or nil.
    ///   - keepsWrappers: A Boolean value that indicates whether the queries of these links are kept.
    ///   - devices: The devices about which more is known than events say, or nil for no join.
    package init(
        limits: Limits = Limits(), passthrough: Passthrough = [], vendors: VendorTable? = nil,
        platforms: LinkPlatforms? = nil, shortLinks: ShortLinkFile? = nil, keepsWrappers: Bool = false,
        devices: (any KnownDevices)? = nil
    ) {
        join = DeviceJoin(devices)
        self.limits = limits
        messages = MessageReader(
            vendors, LinkUnwrapper(platforms, shortLinks, keepsQueries: keepsWrappers), limits: limits)
        unwrapsLinks = platforms != nil || shortLinks != nil
        eventPointer = .allocate(capacity: 1)
        eventPointer.initialize(to: IngestedEvent())
        devicePointer = .allocate(capacity: 1)
        devicePointer.initialize(to: EventDevice())
        // Allows one more level, so that `payload` accepts every push body that is accepted as a whole record.
        cursor = JSONCursor(maxDepth: limits.depth + 1)
        cursor.depthLimit = limits.depth
        deviceCursor = JSONCursor(maxDepth: limits.depth)
        deviceTexts = FactList(capacity: max(limits.devices, 1))
        context = ContextWriter(passthrough)
        // Passthrough members are read one by one, so that their bytes can be stored.
        let marks = context.tags(of: vendors?.namesBesideLinks ?? [])
        envelopeTags = EventMember.envelopeTags | marks.tags
        var otherNames = context.otherNames + marks.newNames
        userTag = devices == nil ? nil : Self.userTag(in: &otherNames)
        shape = MemberShape(
            ContextWriter.knownNames, extra: otherNames,
            plain: EventMember.plainTags & ~context.passthroughTags)
    }

    /// Uses another file of short links from the next record on, if the reader was created with one.
    package mutating func use(_ shortLinks: ShortLinkFile) { messages.use(shortLinks) }

    /// Returns the tag of the member `user`, and adds its name if it is not among the names.
    private static func userTag(in names: inout [[UInt8]]) -> UInt8 {
        let user = Array("user".utf8)
        if !names.contains(user) { names.append(user) }
        return UInt8(ContextWriter.knownNames.count + (names.firstIndex(of: user) ?? 0))
    }

    /// The devices about which more is known than events say, or nil for no join.
    var knownDevices: (any KnownDevices)? { join.known }

    deinit {
        eventPointer.deallocate()
        devicePointer.deallocate()
    }

    /// The result of reading a record.
    package enum Outcome {
        /// An event. `device(at:)` returns its devices.
        case event(IngestedEvent)
        /// A failure.
        case failure(IngestFailure)
    }

    /// Reads a record: a JSON event, a bare link, or a push body.
    ///
    /// - Parameters:
    ///   - value: The value of the record.
    ///   - key: The key of the record, which is the id of the device if the event has none.
    package mutating func read(value: ByteView, key: ByteView?) -> Outcome {
        readInPlace(value: value, key: key) ? .event(eventPointer.pointee) : .failure(failure)
    }

    /// Reads a record as `read` does, and returns a Boolean value that indicates whether it is an event.
    ///
    /// If it is, the event is at `eventPointer`. Otherwise the failure is in `failure`.
    package mutating func readInPlace(value: ByteView, key: ByteView?) -> Bool {
        fits(value) && readValue(value, key)
    }

    /// Reads a value that is not too large.
    @inline(__always)
    mutating func readValue(_ value: ByteView, _ key: ByteView?) -> Bool {
        records.revoke()
        let value = records.lend(value)
        let key = key.map { records.lend($0) }
        cloudEvent.clear()
        return readUnknown(value: value, key: key)
    }

    /// Returns a Boolean value that indicates whether a value is not too large, or records the failure.
    @inline(__always)
    mutating func fits(_ value: ByteView) -> Bool {
        if value.count <= limits.recordBytes { return true }
        failure = IngestFailure(
            .oversizeInput, "the value has \(value.count) bytes, limits.record.bytes is \(limits.recordBytes)")
        return false
    }

    /// Lends the views of a record that is not too large.
    mutating func lend(_ value: ByteView, _ key: ByteView?) -> (value: ByteView, key: ByteView?) {
        records.revoke()
        cloudEvent = CloudEvent()
        messages.clearData()
        return (records.lend(value), key.map { records.lend($0) })
    }

    /// Marks the event as one that is not usual.
    mutating func markOther() {
        eventPointer.pointee.isUsual = false
        state.hasOther = true
        state.hasMembers = true
    }

    /// Removes what was read of the record so far.
    mutating func startOver() {
        eventPointer.pointee.clear(all: true)
        devicePointer.pointee.clear()
        state = ScanState()
        context.clear()
    }

    /// Reads a value whose views are lent.
    ///
    /// - Parameter isText: A Boolean value that indicates whether the value must be a bare link.
    @inline(__always)
    mutating func readUnknown(value: ByteView, key: ByteView?, isText: Bool = false) -> Bool {
        eventPointer.pointee.clear(all: state.hasMembers)
        state.clear()
        if isText {
            let range = WireFormat.trimmed(value, from: 0)
            textOffset = range.lowerBound
            text = value.slice(range.lowerBound, range.upperBound)
            return readText(key, isText: true)
        }
        if value.count > 1 && value.start[0] == UInt8(ascii: "{") && value.end[-1] == UInt8(ascii: "}") {
            textOffset = 0
            text = value
            return readJSON(key)
        }
        return readOther(value: value, key: key)
    }

    /// Reads a value that does not begin and end with the braces of an object.
    @inline(never)
    private mutating func readOther(value: ByteView, key: ByteView?) -> Bool {
        if let refusal = WireFormat.refusal(ofUTF16: value) {
            failure = refusal
            return false
        }
        let isFramed = frame(value)
        if !text.isEmpty && text[0] == UInt8(ascii: "{") { return readJSON(key) }
        if isFramed {
            refuseText(isTypedBatch: false)
            // Bytes of another encoding can follow a schema id, and only a whole list is surely JSON.
            if failure.reason != .batchUnsupported {
                let id = WireFormat.schemaID(of: value)
                failure = IngestFailure(.schemaUnsupported, "expected JSON after schema id \(id)")
            }
            return false
        }
        return readLink(key)
    }

    /// Removes the framing of a value, and returns a Boolean value that indicates whether it has a schema id.
    @discardableResult
    mutating func frame(_ value: ByteView) -> Bool {
        let isFramed = WireFormat.hasSchemaPrefix(value)
        let range = WireFormat.trimmed(value, from: isFramed ? WireFormat.schemaPrefixBytes : 0)
        textOffset = range.lowerBound
        text = value.slice(range.lowerBound, range.upperBound)
        return isFramed
    }

    /// Reads `text`, which has no white space at its ends.
    mutating func readText(_ key: ByteView?, isText: Bool) -> Bool {
        !isText && !text.isEmpty && text[0] == UInt8(ascii: "{") ? readJSON(key) : readLink(key)
    }

    @inline(__always)
    private mutating func readJSON(_ key: ByteView?) -> Bool {
        do {
            try scanRecord()
            if state.isMessage { try readMessageRecord() }
        } catch {
            fail(IngestFailure(error, textOffset: textOffset))
            return false
        }
        if state.isUsual, case .link = eventPointer.pointee.request.form {
            eventPointer.pointee.deviceCount = 1
            eventPointer.pointee.isUsual = true
            if unwrapsLinks { checkLink() }
            return context.hasStoredMembers ? passThroughMembers() : true
        }
        return readOtherEvent(key)
    }

    /// Writes the context of a usual event.
    ///
    /// An event with a member that is not passed through has a note and is not usual.
    @inline(never)
    private mutating func passThroughMembers() -> Bool {
        if let fault = completeContext() { return accept(fault) }
        if context.hasSkipped {
            markOther()
            noteRequest()
        }
        return true
    }

    private mutating func readLink(_ key: ByteView?) -> Bool {
        state.hasMembers = true
        state.isBareLink = true
        context.clear()
        if unwrapsLinks { state.hasOther = true }
        guard WireFormat.isLink(text) else {
            refuseText(isTypedBatch: false)
            return false
        }
        eventPointer.pointee.isUsual = false
        eventPointer.pointee.request.form = .link
        eventPointer.pointee.request.text = text
        eventPointer.pointee.request.isScreened = false
        eventPointer.pointee.request.bytesAfter = 0
        return accept(useKey(key))
    }

    /// Records the failure for a fault.
    ///
    /// Returns true if there is none.
    mutating func accept(_ fault: Fault?) -> Bool {
        guard let fault else { return true }
        var failure = fault.failure(textOffset: textOffset)
        if fault.reason == .tooManyDevices, state.user == nil {
            let found = state.listed + state.listedIDs + state.skipped
            failure.detail = "expected at most \(limits.devices) devices, found \(found)"
        }
        fail(failure)
        return false
    }

    @inline(never)
    mutating func fail(_ failure: IngestFailure) {
        self.failure = failure
        if cloudEvent.isPresent { locateFailure() }
        self.failure.event = eventPointer.pointee.id.isEmpty ? nil : eventPointer.pointee.id.array
    }

    /// Moves the location of a failure from the data of CloudEvents to the record.
    private mutating func locateFailure() {
        if cloudEvent.isDecoded {
            failure.offset = nil
        } else if let outer = cloudEvent.outerOffset {
            failure.textOffset = outer
        }
    }

    /// Returns a device of the event that was read last.
    ///
    /// Its views are valid until the next device is selected.
    ///
    /// - Parameter index: The index of the device, less than the event's `deviceCount`.
    ///
    /// - Throws: `IngestFailure` with the reason `too_many_values` if strings with JSON that the device reads reach a
    ///   limit, or `internal` if the device cannot be read a second time.
    package mutating func device(at index: Int) throws(IngestFailure) -> EventDevice {
        guard selectDevice(at: index) else { throw failure }
        return devicePointer.pointee
    }

    /// Reads a device of the event into `devicePointer`, with the roots in which this device's payload is searched.
    ///
    /// - Parameter index: The index of the device, less than the event's `deviceCount`.
    ///
    /// - Returns: False if strings with JSON that the device reads reach a limit, or if a defect keeps the device from
    ///   being read a second time. The record must then have no decision for any device, and `failure` has the reason.
    package mutating func selectDevice(at index: Int) -> Bool {
        precondition(index >= 0 && index < eventPointer.pointee.deviceCount)
        if state.hasOther { return selectOther(at: index) }
        if join.known != nil { joinDevice() }
        return true
    }

    @inline(never)
    private mutating func selectOther(at index: Int) -> Bool {
        if state.listed > 0 && !readListed(index) { return false }
        if state.listedIDs > 0 { selectID(index) }
        if cloudEvent.isDecoded { devicePointer.pointee.isPlain = false }
        // The platform chooses what the message or the link opens.
        if join.known != nil && !eventPointer.pointee.hasNoDevice { joinDevice() }
        switch eventPointer.pointee.request.form {
        case .payload: return selectMessage()
        case .link: if unwrapsLinks { selectLink() }
        case .path, .route: break
        }
        return true
    }

    /// Adds what is known about the selected device to its facts, if this was not done before.
    package mutating func joinDevice() {
        if devicePointer.pointee.isJoined { return }
        devicePointer.pointee.isJoined = true
        devicePointer.pointee.joined = join.join(devicePointer)
    }

    /// Reads a device of the list a second time.
    ///
    /// Returns false if the device cannot be read again. Only a defect can cause this.
    private mutating func readListed(_ index: Int) -> Bool {
        deviceCursor.open(deviceTexts.prefix(state.listed)[index])
        do {
            try devices.read(&deviceCursor, into: devicePointer)
            try deviceCursor.finish()
        } catch {
            return failSecondRead()
        }
        return devicePointer.pointee.id.isEmpty ? failSecondRead() : true
    }

    @inline(never)
    private mutating func failSecondRead() -> Bool {
        devicePointer.pointee.clear()
        fail(
            IngestFailure(
                .internal, "a valid device cannot be read a second time: report this bug with the record"))
        return false
    }
}

/// The state of a record while its members are read.
///
/// It is validated after the last member.
struct ScanState {
    /// The number of members among `link`, `path`, `route`, and `payload`.
    var forms = 0
    /// The offset of the second of these members, or nil, and likewise of the second of `device` and `devices`.
    var secondForm: Int?
    var secondDevice: Int?
    var hasDevice = false
    var hasDevices = false
    /// The number of devices in the list whose text is stored.
    var listed = 0
    /// The number of devices in the list beyond the limit.
    var skipped = 0
    /// The offset of the list of devices.
    var listOffset: Int?
    /// A Boolean value that indicates whether the list is longer than the limit.
    var isTooLong = false
    /// The first member with a wrong type, or over its limit.
    var typeFault: Fault?
    /// The first device without a valid id.
    var deviceFault: Fault?
    /// The kind in `payloadType`.
    var namedKind: PayloadType?
    /// The user in place of devices, or nil, and the offset of the member.
    var user: ByteView?
    var userOffset: Int?
    /// The number of devices in a list that contains only ids.
    var listedIDs = 0
    /// A Boolean value that indicates whether the record is a push body.
    var isPushRecord = false
    /// A Boolean value that indicates whether the scan stopped because the record is probably a push message.
    var isMessage = false
    /// A Boolean value that indicates whether the record has a member that only push messages and other envelopes have.
    var mayBeMessage = false
    /// A Boolean value that indicates whether the values of the record are in the list of the message reader.
    var isListed = false
    /// A Boolean value that indicates whether the record is a bare link.
    var isBareLink = false
    /// A Boolean value that indicates whether the link is kept for further devices.
    var keepsLink = false

    /// Boolean values that indicate whether there are the strings `session_id` and `data`.
    private var hasSession = false
    private var hasData = false

    /// A Boolean value that indicates whether the event has the headers of a push request.
    var hasPushHeaders = false
    /// A Boolean value that indicates whether the event has its id from a header.
    var hasHeaderID = false
    /// A Boolean value that indicates whether white space at the ends of the link was removed.
    var hasTrimmedLink = false

    /// A Boolean value that indicates whether the record has more than one form and one device.
    ///
    /// Examples are a mode, parameters, a list of devices, a link to trim, or a fault.
    var hasOther = false
    /// A Boolean value that indicates whether properties of the event other than its id, link, and device are set.
    var hasMembers = false

    /// Clears the state of the last record.
    mutating func clear() {
        if hasOther || hasMembers {
            self = ScanState()
        } else {
            forms = 0
            hasDevice = false
        }
    }

    /// Forgets the devices of an event that has none, because these members mean something else.
    mutating func forgetDevices() {
        hasDevice = false
        hasDevices = false
        listed = 0
        skipped = 0
        isTooLong = false
        deviceFault = nil
    }

    /// A Boolean value that indicates whether the record has one form, one device, and nothing that `hasOther`
    /// indicates.
    var isUsual: Bool { forms == 1 && hasDevice && !hasOther }

    /// Records a type fault, unless there is an earlier one.
    mutating func record(_ fault: Fault) {
        hasOther = true
        if typeFault == nil { typeFault = fault }
    }

    /// A Boolean value that indicates whether the record can be an answer of an API, with a link that is no request.
    var mayBeAnswer: Bool { hasSession && hasData && forms == 1 }

    /// Records the presence of a member with a tag that is a string.
    mutating func countText(_ tag: UInt8) {
        if tag == EventMember.sessionTag {
            hasSession = true
        } else if tag == EventMember.dataTag {
            hasData = true
        } else {
            return
        }
        hasMembers = true
        if hasSession && hasData { hasOther = true }
    }

    /// Counts one of the four forms.
    mutating func countForm(at offset: Int) {
        forms += 1
        if forms == 1 { return }
        hasOther = true
        if forms == 2 { secondForm = offset }
    }

    /// Records the presence of `device` or `devices`.
    mutating func countDevice(list: Bool, at offset: Int) {
        if list ? hasDevice : hasDevices { secondDevice = offset }
        if list {
            hasDevices = true
            hasOther = true
        } else {
            hasDevice = true
        }
    }
}
