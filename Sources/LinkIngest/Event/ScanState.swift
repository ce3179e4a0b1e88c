/// The state of a record while its members are read.
///
/// It is validated after the last member.
struct ScanState {
    /// The number of members among `link`, `path`, `route`, and `payload`.
    var forms = 0
    /// The offset of the second of these members, or -1, and likewise of the second of `device` and `devices`.
    var secondForm = -1
    var secondDevice = -1
    var hasDevice = false
    var hasDevices = false
    /// The number of devices in the list whose text is stored.
    var listed = 0
    /// The number of devices in the list beyond the limit.
    var skipped = 0
    /// The offset of the list of devices.
    var listOffset = -1
    /// A Boolean value that indicates whether the list is longer than the limit.
    var isTooLong = false
    /// The first member with a wrong type, or over its limit.
    var typeFault: Fault?
    /// The first device without a valid id.
    var deviceFault: Fault?
    /// The kind in `payloadType`.
    var namedKind: PayloadType?
    /// The number of devices of which only the ids are known.
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

    /// The headers of the push request.
    var headers: PushHeaders?
    /// A Boolean value that indicates whether the id of the event is that of a header.
    var hasHeaderID = false
    /// A Boolean value that indicates whether white space at the ends of the link was removed.
    var hasTrimmedLink = false

    /// A Boolean value that indicates whether the record has anything in addition to one form and one device, such as a
    /// mode, parameters, a list of devices, a link to trim, or a fault.
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

    /// A Boolean value that indicates whether the record can be an answer of an API, whose link is no request.
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
