package import LinkCoordinator
package import ByteStorage

/// An event.
///
/// All views are valid until the next record is read, and no longer than the record itself.
package struct IngestedEvent {
    /// The unescaped id of the event, or an empty view.
    package var id = ByteView.empty
    /// A Boolean value that indicates whether `id` needs no escape in JSON.
    package var idIsPlain = true
    /// The request, without the roots of a payload, which depend on the device (`EventDevice.roots`).
    package var request = RequestView(form: .link, text: .empty)
    /// A Boolean value that indicates whether the event names its application.
    package var hasApplication = false
    /// The unescaped bundle identifier or package name.
    package var application = ByteView.empty
    /// The unescaped id of the tapped button, or an empty view.
    package var action = ByteView.empty
    /// The time of expiry in milliseconds since 1970, or nil.
    package var expires: Int64?
    /// The number of devices, at least 1.
    package var deviceCount = 0
    /// A Boolean value that indicates whether the event names a user without devices.
    ///
    /// Its only device then has the user's name as its id.
    package var hasNoDevice = false
    /// A Boolean value that indicates whether this is a usual event: a link for one device that is already read.
    package var isUsual = false
    /// The passthrough members as `"name":value,"name":value`, or an empty view.
    package var context = ByteView.empty

    /// Clears the id, the link, and the context of the last record, or with `all` all properties.
    @inline(__always)
    mutating func clear(all: Bool) {
        if all {
            self = IngestedEvent()
        } else {
            id = .empty
            request.text = .empty
            context = .empty
        }
    }
}

/// A device of an event.
///
/// The views are valid until the next device is selected.
package struct EventDevice {
    /// The unescaped id of the device, 1 to 256 bytes of UTF-8.
    package var id = ByteView.empty
    /// A Boolean value that indicates whether `id` needs no escape in JSON.
    package var isPlain = true
    /// The facts about the device.
    package var facts = DeviceView()
    /// The objects in which a payload's link is searched for, or an empty buffer for the other forms.
    package var roots = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// The members of `context` including `push`, or an empty view without one.
    package var context = ByteView.empty
    /// The expiry of the message for this device, or nil if it has none of its own.
    package var expiry: MessageExpiry?
    /// The facts that the registry knows and the event lacks, as members of JSON, or an empty view.
    package var joined = ByteView.empty
    /// A Boolean value that indicates whether the registry was asked about the device.
    var isJoined = false
    /// The offset of the device's object in the JSON text.
    var offset = 0
    /// The offset of the value of `id`, or -1 for none.
    var idOffset = -1

    /// Clears the last device.
    @inline(__always)
    mutating func clear() {
        id = .empty
        isPlain = true
        facts.known = 0
        facts.unreadable = 0
        facts.platform = .empty
        facts.app = .empty
        facts.os = .empty
        facts.locale = .empty
        facts.region = .empty
        facts.coordinator = .empty
        let none = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
        facts.capabilities = none
        facts.claims = none
        facts.attributes = none
        roots = none
        context = .empty
        expiry = nil
        isJoined = false
        idOffset = -1
    }
}
