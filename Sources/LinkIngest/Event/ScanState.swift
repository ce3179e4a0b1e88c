/// What is noted of a record while its members are read, and judged when all of them are.
struct ScanState {
    /// Number of `link`, `path`, `route` and `payload` that are there.
    var forms = 0
    /// Where the second of them begins, or the second of `device` and `devices`.
    var secondForm = -1
    var secondDevice = -1
    var hasDevice = false
    var hasDevices = false
    /// Devices of the list whose text is kept.
    var listed = 0
    /// Where the list of devices begins.
    var listOffset = -1
    /// Whether the list is longer than the limit.
    var isTooLong = false
    /// The first member of a wrong type or over its limit.
    var typeFault: Fault?
    /// The first device without a good id.
    var deviceFault: Fault?
    /// What `payloadType` names.
    var namedKind: PushKind?
    /// What the payload is.
    var kind: PushKind?
    /// Whether the record as a whole is a push body.
    var isPushRecord = false

    /// Whether anything was noted beside one form and one device.
    var hasOther = false
    /// Whether more of the event than its id, link and device was written.
    var hasMembers = false

    /// Forgets the last record.
    mutating func clear() {
        if hasOther || hasMembers {
            self = ScanState()
        } else {
            forms = 0
            hasDevice = false
        }
    }

    /// Whether one form and one device were met and nothing to object to, nor a mode or parameters of other forms.
    var isUsual: Bool { forms == 1 && hasDevice && !hasOther }

    /// Notes a fault of type unless one was noted before.
    mutating func note(_ fault: Fault) {
        hasOther = true
        if typeFault == nil { typeFault = fault }
    }

    /// Notes one more of the four forms.
    mutating func countForm(at offset: Int) {
        forms += 1
        if forms == 1 { return }
        hasOther = true
        if forms == 2 { secondForm = offset }
    }

    /// Notes `device` or `devices`.
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
