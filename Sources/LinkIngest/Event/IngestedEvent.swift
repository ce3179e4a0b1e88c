package import LinkCoordinator
package import ByteStorage

/// One event as it was read.
///
/// All views live until the reader reads the next record, and no longer than the record.
package struct IngestedEvent {
    /// The producer's event id, escapes resolved; empty when the event has none.
    package var id = ByteView.empty
    /// Whether `id` needs no JSON escape.
    package var idIsPlain = true
    /// What is asked, the payload's roots aside: these depend on the device (`EventDevice.roots`).
    package var request = LinkRequest(form: .link, text: .empty, isPlain: true)
    /// Whether the event names its application.
    package var hasApplication = false
    /// Bundle id or package name, escapes resolved.
    package var application = ByteView.empty
    /// Id of the button that was tapped, escapes resolved; empty when none is named.
    package var action = ByteView.empty
    /// Milliseconds since 1970 after which the event is no longer of use.
    package var expires: Int64?
    /// Number of devices, at least 1.
    package var deviceCount = 0
    /// Whether it is the usual one: a link for one device, which needs not be asked for.
    package var isUsual = false
    /// The members passed through, as `"name":value,"name":value`, or empty.
    package var context = ByteView.empty

    init() {}

    /// Forgets the id and the link of the last record; `all` says that there is more to forget.
    @inline(__always)
    mutating func clear(all: Bool) {
        if all {
            self = IngestedEvent()
        } else {
            id = .empty
            request.text = .empty
        }
    }
}

/// One device of an event.
///
/// The views live until the next device is asked for.
package struct EventDevice {
    /// The device's id, escapes resolved, 1 to 256 bytes of UTF-8.
    package var id = ByteView.empty
    /// Whether `id` needs no JSON escape.
    package var isPlain = true
    /// What is known of it.
    package var facts = DeviceFacts()
    /// Where a payload's link is looked for on this device; empty for the other forms.
    package var roots = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// Where its object begins in the JSON text.
    var offset = 0
    /// Where the value of its `id` begins, or -1 if it has none.
    var idOffset = -1

    init() {}

    /// Forgets the last device.
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
        idOffset = -1
    }
}
