internal import ByteStorage
internal import StrictJSON

/// The compiled form of a vendor table.
///
/// All parts are in memory that the table owns, so that a lookup does not count references.
struct VendorImage: BitwiseCopyable {
    var vendors = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    var forms = UnsafeBufferPointer<FormImage>(start: nil, count: 0)
    /// The forms with strings that contain JSON.
    var embeddings = UnsafeBufferPointer<Int32>(start: nil, count: 0)
    /// A hash table of the names at the top level that any pointer begins with.
    var names = UnsafeBufferPointer<NameImage>(start: nil, count: 0)
    /// These names by their numbers.
    var slotNames = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// The beginnings of names.
    var prefixes = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// A filter of these beginnings: a name whose bit is not set has none of them.
    var prefixBytes: UInt64 = 0
    /// The number of words in a set of forms.
    var words = 0
    /// For each slot, then for each prefix, the forms that are tried if it is present.
    var candidates = UnsafeBufferPointer<UInt64>(start: nil, count: 0)
    /// The forms that are always tried.
    var always = UnsafeBufferPointer<UInt64>(start: nil, count: 0)

    /// Returns the bit of the first two bytes of a name in `prefixBytes`, or all bits for a shorter text.
    @inline(__always)
    static func prefixBit(_ name: ByteView) -> UInt64 {
        name.count < 2 ? .max : 1 &<< UInt64((name.start[0] &* 7 &+ name.start[1]) & 63)
    }
}

/// An entry of the hash table of names.
struct NameImage: BitwiseCopyable {
    var hash: UInt32 = 0
    /// The number of the name, or -1 for an empty entry.
    var slot: Int32 = -1
    var name = ByteView.empty
}

/// A compiled JSON pointer.
struct PointerImage: BitwiseCopyable {
    /// The number of the first segment at the top level, or -1 for a pointer inside a button.
    var slot: Int32 = -1
    /// The number of segments after which a string is read as JSON, or 0.
    var embeddedAt: Int32 = 0
    /// The other segments.
    var steps = UnsafeBufferPointer<StepImage>(start: nil, count: 0)
}

/// A segment of a pointer.
struct StepImage: BitwiseCopyable {
    var name: ByteView
    /// The index in an array, or -1 if the segment is not one.
    var index: Int32
}

/// A compiled condition.
struct ConditionImage: BitwiseCopyable {
    enum Kind: UInt8 { case present, absent, prefix, tests, shown }

    var kind = Kind.present
    var pointer = PointerImage()
    /// The number of the prefix.
    var prefix: Int32 = -1
    var valueKind: JSONTape.Kind?
    var hasEquals = false
    var equals = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    var notEquals = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    var start: ByteView?
    var empty: Bool?
    /// The expected value of the kind `shown`.
    var isShown = false
}

typealias ConditionImages = UnsafeBufferPointer<ConditionImage>
typealias RuleImages = UnsafeBufferPointer<ConditionImages>
typealias PointerImages = UnsafeBufferPointer<PointerImage>

/// A compiled place of a link, or of another value.
struct LinkImage: BitwiseCopyable {
    var pointer: PointerImage
    /// The conditions, which must all hold.
    var conditions = ConditionImages(start: nil, count: 0)
    /// The platform to which the link is limited, or none.
    var platform: VendorSurfaces = []
    /// The scheme of wrapped links, or an empty view, and the segment before the actual link.
    var wrapperScheme = ByteView.empty
    var wrapperSegment = ByteView.empty
}

/// A compiled description of buttons, or of one numbered button.
struct ButtonImage: BitwiseCopyable {
    /// The place of the buttons.
    enum Kind: UInt8 {
        /// The elements of an array, each with its id.
        case list
        /// A single object with its id.
        case object
        /// The members of an object, whose names are the ids.
        case members
        /// Members of the message whose names contain the number of the button.
        case numbered
    }

    /// The limit of numbered buttons, and of the elements that are searched in an array.
    static let most = 64

    var kind: Kind
    var place = PointerImage()
    var id: PointerImage
    /// The rule that an object must meet to be a button.
    ///
    /// Without it, every object is one.
    var requirements = RuleImages(start: nil, count: 0)
    var hasRequirements = false
    var links = UnsafeBufferPointer<LinkImage>(start: nil, count: 0)
    /// The number of buttons in a list that the app shows.
    var limit = most
    var opensApp = RuleImages(start: nil, count: 0)
    /// The rule for buttons with an action of the app.
    var customActions = RuleImages(start: nil, count: 0)
    /// A Boolean value that indicates whether a button without a link opens what the body opens.
    var opensBody = false
}

/// The descriptions of one `buttons` entry.
struct ButtonSetImage: BitwiseCopyable {
    var descriptions: UnsafeBufferPointer<ButtonImage>
    /// The number of the first numbered button.
    var first: Int
}

/// A compiled form.
struct FormImage: BitwiseCopyable {
    var vendor: Int32
    /// The bodies that the form reads.
    var surfaces: VendorSurfaces
    /// The rule by which the form is recognized.
    var marks = RuleImages(start: nil, count: 0)
    /// The places of strings that contain JSON.
    var embedded = PointerImages(start: nil, count: 0)
    /// The rule for messages that open nothing.
    var silent = RuleImages(start: nil, count: 0)
    var links = UnsafeBufferPointer<LinkImage>(start: nil, count: 0)
    /// The rule for messages that only open the app.
    var opensApp = RuleImages(start: nil, count: 0)
    /// The rule for messages with an action of the app.
    var customActions = RuleImages(start: nil, count: 0)
    var buttons = UnsafeBufferPointer<ButtonSetImage>(start: nil, count: 0)
    /// The places of the message's id and of the campaign's id.
    var message = PointerImages(start: nil, count: 0)
    var campaign = PointerImages(start: nil, count: 0)
    var record = RecordFormImage()
}

/// The compiled members of a form that is a whole record.
struct RecordFormImage: BitwiseCopyable {
    var envelope = ByteView.empty
    /// A Boolean value that indicates whether a record can be a list of these events or requests.
    var isListed = false
    var event = PointerImages(start: nil, count: 0)
    var device = PointerImages(start: nil, count: 0)
    var devices = PointerImages(start: nil, count: 0)
    var platform = PointerImages(start: nil, count: 0)
    var action = PointerImages(start: nil, count: 0)
    var broadcast = RuleImages(start: nil, count: 0)
    var platformNames = UnsafeBufferPointer<PlatformNameImage>(start: nil, count: 0)
    var delivery = DeliveryImage()
}

/// The places of the values that delivery needs.
struct DeliveryImage: BitwiseCopyable {
    var timeToLive = UnsafeBufferPointer<LinkImage>(start: nil, count: 0)
    var expiration = UnsafeBufferPointer<LinkImage>(start: nil, count: 0)
    var collapse = UnsafeBufferPointer<LinkImage>(start: nil, count: 0)
    var priority = UnsafeBufferPointer<LinkImage>(start: nil, count: 0)
}

/// The name of a platform in the records of a form.
struct PlatformNameImage: BitwiseCopyable {
    var name: ByteView
    var platform: ByteView
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
