package import ByteStorage

/// What one record asks: a link, a coordinator path, a route with parameters, or a push payload that holds one.
///
/// All views live as long as the record that they were read from.
package struct RequestView {
    /// Which of the forms it is.
    package enum Form: UInt8, Sendable {
        /// `text` is a link.
        case link
        /// `text` is a coordinator path, `mode` how it is applied.
        case path
        /// `text` is a route's id, `params` its parameters.
        case route
        /// `roots` are the objects in which the table's pointers look for a link or a route (N10).
        case payload
    }

    /// How a path is to be applied to the device's stack.
    package enum Mode: UInt8, Sendable, BitwiseCopyable {
        /// Not said: `replace` for an absolute path, `append` for a relative one.
        case unsaid
        case replace
        case append
        case reuse
    }

    /// Which kind of push body a payload is said to be.
    package enum PayloadType: UInt8, Sendable, BitwiseCopyable {
        /// Not said, or what would be found out without it.
        case unsaid
        case apns
        case fcm
    }

    /// The form.
    package var form: Form
    /// The link, path or route id, escapes resolved.
    package var text: ByteView
    /// Whether `text` came without a JSON escape, so that it can go into JSON as it is.
    package var isPlain: Bool
    /// Whether all bytes of `text` are known to be of 0x20 to 0x7E and none a backslash, so that rule N1 holds.
    package var isScreened = false
    /// How many bytes behind `text` may be read, whatever they are; with some more it need not be copied to be split.
    package var bytesBehind = 0
    /// How a path is applied.
    package var mode: Mode = .unsaid
    /// The parameters of a route: the text of one strictly read JSON object, or empty for none.
    package var params: ByteView = .empty
    /// The payload's roots: each the text of one strictly read JSON object, in the order to look into.
    package var roots = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// The payload as it came: the text of one strictly read JSON object; for `resume`.
    package var payload: ByteView = .empty
    /// Which kind of push body the event says that it is, where that is not found out by itself; for `resume`.
    package var payloadType: PayloadType = .unsaid

    /// Makes a request.
    package init(form: Form, text: ByteView, isPlain: Bool) {
        self.form = form
        self.text = text
        self.isPlain = isPlain
    }
}

/// What is known of one device; all views live as long as the record (route-table.md, 3.0, Device facts).
package struct DeviceView {
    /// The facts in the order in which notes name them; the raw value is the bit in a set of facts.
    package enum Fact: Int, Sendable, CaseIterable {
        case platform, app, os, locale, region, capabilities, claims, attributes, coordinator

        /// The fact's bit in a set of facts.
        @inlinable
        package var bit: UInt16 { 1 &<< UInt16(truncatingIfNeeded: rawValue) }
    }

    /// Facts that are known: well-formed text, or a well-formed list.
    package var known: UInt16 = 0
    /// Facts that are there but not as 3.0 wants them; they count as not known and are noted.
    package var unreadable: UInt16 = 0
    /// For example `ios` or `android`.
    package var platform: ByteView = .empty
    /// Version of the app on the device.
    package var app: ByteView = .empty
    /// Version of the operating system.
    package var os: ByteView = .empty
    /// For example `en-GB`.
    package var locale: ByteView = .empty
    /// For example `GB`.
    package var region: ByteView = .empty
    /// The coordinator on top of the device's stack.
    package var coordinator: ByteView = .empty
    /// Names of capabilities that the device lists.
    package var capabilities = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// Names of claims that the device lists.
    package var claims = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// Attributes, name and value in turn (an even number of views).
    package var attributes = UnsafeBufferPointer<ByteView>(start: nil, count: 0)

    /// A device of which nothing is known.
    package init() {}

    /// Whether a fact is known.
    @inlinable
    package func has(_ fact: Fact) -> Bool { known & (1 << UInt16(fact.rawValue)) != 0 }

    /// Marks a fact as known.
    @inlinable
    package mutating func setKnown(_ fact: Fact) { known |= 1 << UInt16(fact.rawValue) }

    /// Marks a fact as there but not readable.
    @inlinable
    package mutating func setUnreadable(_ fact: Fact) { unreadable |= 1 << UInt16(fact.rawValue) }
}

/// The worker's members at the head of a decision; the library has none of them.
package struct DecisionHead {
    /// `topic-partition-offset` of the source record.
    package var source: ByteView
    /// Index of the device in the event.
    package var index: Int
    /// The producer's event id, or empty for `topic-partition-offset`.
    package var event: ByteView
    /// Whether `event` needs no JSON escape.
    package var eventIsPlain: Bool
    /// The device's id.
    package var device: ByteView
    /// Whether `device` needs no JSON escape.
    package var deviceIsPlain: Bool
    /// Members for `context`, as `"name":value,"name":value`, or empty.
    package var context: ByteView

    /// Makes a head.
    package init(
        source: ByteView, index: Int, event: ByteView, eventIsPlain: Bool, device: ByteView,
        deviceIsPlain: Bool, context: ByteView
    ) {
        self.source = source
        self.index = index
        self.event = event
        self.eventIsPlain = eventIsPlain
        self.device = device
        self.deviceIsPlain = deviceIsPlain
        self.context = context
    }
}

extension Ref<DeviceView> {
    /// Whether a fact is known.
    @inline(__always)
    func has(_ fact: DeviceView.Fact) -> Bool { self.known & (1 << UInt16(fact.rawValue)) != 0 }
}
