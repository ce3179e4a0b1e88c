package import StrictJSON

/// A vendor of push messages: a row of the vendor table.
package struct VendorSource: Sendable {
    /// The id, as in a decision's `context.push`.
    package var id: String
    /// The name for people.
    package var name: String
    /// The documents and the source files from which the row was made.
    package var sources: [String]
    /// The forms of the vendor's messages, in the order in which they are tried.
    package var forms: [VendorForm]
    /// The examples of the row, with their positions in the file.
    package var examples: [JSONValue]
}

/// The kinds of bodies that a form reads.
package struct VendorSurfaces: OptionSet, Sendable, BitwiseCopyable {
    /// The surfaces as bits.
    package let rawValue: UInt8

    /// Creates a set from its bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The bodies that Apple's devices receive.
    package static var apple: Self { Self(rawValue: 1) }
    /// The bodies that Android devices receive.
    package static var android: Self { Self(rawValue: 2) }
    /// The bodies that browsers receive.
    package static var web: Self { Self(rawValue: 4) }
    /// The events and the requests to send a message that are the whole value of a record.
    package static var record: Self { Self(rawValue: 8) }
    /// The bodies of all devices.
    package static var devices: Self { [.apple, .android, .web] }

    /// The devices of an unknown platform, for links only.
    package static var unknown: Self { Self(rawValue: 16) }

    /// The surfaces by their names in the table.
    static let named: [(name: String, surface: VendorSurfaces)] = [
        ("apple", .apple), ("android", .android), ("web", .web), ("record", .record),
    ]

    /// The names of the surfaces in the table.
    package var names: [String] { Self.named.filter { contains($0.surface) }.map(\.name) }
}

/// A JSON pointer (RFC 6901) with at least one segment.
package struct VendorPointer: Sendable, Equatable {
    /// The text in the table.
    package var text: String
    /// The segments without escapes.
    var segments: [String]

    static let mostSegments = 8
    static let mostBytes = 256

    /// Reads a pointer, or returns nil if it is malformed or exceeds a limit.
    init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= Self.mostBytes else { return nil }
        var segments: [String] = []
        for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = Self.unescape(part) else { return nil }
            segments.append(segment)
        }
        guard segments.count <= Self.mostSegments else { return nil }
        self.text = text
        self.segments = segments
    }

    private static func unescape(_ part: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var iterator = part.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "~") else {
                bytes.append(byte)
                continue
            }
            switch iterator.next() {
            case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
            default: return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a Boolean value that indicates whether all segments of this pointer begin another one.
    func isPrefix(of other: VendorPointer) -> Bool { other.segments.starts(with: segments) }
}

/// A condition on a value of a message.
package enum VendorCondition: Sendable {
    /// The value is present.
    case present(VendorPointer)
    /// The value is not present.
    case absent(VendorPointer)
    /// A member at the top level is present whose name begins with a text.
    case prefix(String)
    /// The value is present, and all tests hold.
    case tests(VendorPointer, VendorTests)
    /// The push service itself shows a notification, or does not.
    case shown(Bool)

    /// A Boolean value that indicates whether the condition requires something to be present.
    var isPositive: Bool {
        switch self {
        case .absent, .shown: false
        case .present, .prefix, .tests: true
        }
    }
}

/// The tests of one value, all of which must hold.
package struct VendorTests: Sendable {
    /// The kind of the value.
    var kind: JSONTape.Kind?
    /// The texts, one of which equals that of the value.
    var equals: [String]?
    /// The texts, none of which equals that of the value.
    var notEquals: [String]?
    /// The beginning of the string.
    var start: String?
    /// A Boolean value that indicates whether the string, the array, or the object is empty.
    var empty: Bool?
}

/// A rule: any list holds, and a list holds if all its conditions hold.
typealias VendorRules = [[VendorCondition]]

/// A place where a link can be.
struct VendorLink: Sendable {
    var pointer: VendorPointer
    /// The conditions, all of which must hold.
    var conditions: [VendorCondition] = []
    /// The platform to which the link is limited, or nil.
    var platform: VendorSurfaces?
    /// The form of a link inside another one, or nil.
    var wrapper: VendorWrapper?
}

/// A link whose path contains the actual link, percent-encoded, as the segment after a certain first segment.
struct VendorWrapper: Sendable {
    /// The scheme of such links.
    ///
    /// Links with other schemes are not changed.
    var scheme: String
    /// The first segment of the path.
    var segment: String
}

/// A description of the buttons of a message.
struct VendorButtons: Sendable {
    /// The place of the buttons.
    enum Place: Sendable {
        /// The elements of an array, each with its id.
        case list(VendorPointer, id: VendorPointer)
        /// A single object with its id.
        case object(VendorPointer, id: VendorPointer)
        /// The members of an object, whose names are the ids.
        case members(VendorPointer)
        /// Members of the message whose names contain the number of the button.
        case numbered
    }

    /// The limit of numbered buttons, and of the elements that are searched in an array.
    static let most = 64

    var place: Place
    /// The rule for a button to be one, or nil if each is.
    var requirements: VendorRules?
    /// The number of buttons in a list that the app shows.
    var limit = most
    var links: [VendorLink] = []
    var opensApp: VendorRules = []
    /// The rule for buttons with an action of the app.
    var customActions: VendorRules = []
    /// A Boolean value that indicates whether a button without a link opens what the body opens.
    var opensBody = false
}

/// A form of a vendor's messages.
package struct VendorForm: Sendable {
    /// The bodies that the form reads.
    package var surfaces: VendorSurfaces = []
    /// The rule by which the form is recognized.
    var marks: VendorRules = []
    /// The places of strings that contain JSON.
    var embedded: [VendorPointer] = []
    /// The rule for messages that open nothing.
    var silent: VendorRules = []
    var links: [VendorLink] = []
    /// The rule for messages that only open the app.
    var opensApp: VendorRules = []
    /// The rule for messages with an action of the app.
    var customActions: VendorRules = []
    /// For each description of buttons, one per number if they are numbered.
    var buttons: [VendorButtonSet] = []
    /// The places of the message's id and of the campaign's id.
    var message: [VendorPointer] = []
    var campaign: [VendorPointer] = []
    /// The members of forms that are whole records, or nil.
    package var record: VendorRecordForm?
}

/// One `buttons` entry: a single description, or the descriptions of all numbers.
struct VendorButtonSet: Sendable {
    /// The descriptions, more than one only for numbered buttons.
    var descriptions: [VendorButtons]
    /// The ids of numbered buttons, or empty.
    var ids: [VendorPointer] = []
    /// The number of the first numbered button.
    var first = 0
}

/// The members of a form that is the whole value of a record.
package struct VendorRecordForm: Sendable {
    /// The kind of envelope, for notes.
    package var envelope: String
    /// The places of the event's id, the device, the list of devices, the device's platform, and the tapped button.
    var event: [VendorPointer] = []
    var device: [VendorPointer] = []
    var devices: [VendorPointer] = []
    var platform: [VendorPointer] = []
    var action: [VendorPointer] = []
    /// The platforms by their names in the record, other than those of a device.
    var platformNames: [(name: String, platform: String)] = []
    /// The rule for messages to many devices that the record does not name.
    var broadcast: VendorRules = []
}
