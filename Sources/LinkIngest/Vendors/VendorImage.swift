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
    /// The number of these names.
    var slots = 0
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

/// A compiled place of a link.
struct LinkImage: BitwiseCopyable {
    var pointer: PointerImage
    var conditions: ConditionImages
    /// The platform to which the link is limited, or none.
    var platform: VendorSurfaces
    /// The scheme of wrapped links, or an empty view, and the segment before the actual link.
    var wrapperScheme = ByteView.empty
    var wrapperSegment = ByteView.empty
}

/// A compiled description of buttons, or of one numbered button.
struct ButtonImage: BitwiseCopyable {
    enum Kind: UInt8 { case list, object, members, numbered }

    var kind: Kind
    var place: PointerImage
    var id: PointerImage
    var requirements: RuleImages
    var hasRequirements: Bool
    var links: UnsafeBufferPointer<LinkImage>
    /// The number of buttons in a list that the app shows.
    var limit: Int
    var opensApp: RuleImages
    var customActions: RuleImages
    var opensBody: Bool
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
    var surfaces: VendorSurfaces
    var marks: RuleImages
    var embedded: PointerImages
    var silent: RuleImages
    var links: UnsafeBufferPointer<LinkImage>
    var opensApp: RuleImages
    var customActions: RuleImages
    var buttons: UnsafeBufferPointer<ButtonSetImage>
    var message: PointerImages
    var campaign: PointerImages
    var record: RecordFormImage
}

/// The compiled members of a form that is a whole record.
struct RecordFormImage: BitwiseCopyable {
    var envelope = ByteView.empty
    var event = PointerImages(start: nil, count: 0)
    var device = PointerImages(start: nil, count: 0)
    var devices = PointerImages(start: nil, count: 0)
    var platform = PointerImages(start: nil, count: 0)
    var action = PointerImages(start: nil, count: 0)
    var broadcast = RuleImages(start: nil, count: 0)
    var platformNames = UnsafeBufferPointer<PlatformNameImage>(start: nil, count: 0)
}

/// The name of a platform in the records of a form.
struct PlatformNameImage: BitwiseCopyable {
    var name: ByteView
    var platform: ByteView
}
