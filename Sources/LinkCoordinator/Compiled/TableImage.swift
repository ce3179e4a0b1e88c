internal import ByteStorage

/// How links of some schemes are read.
struct BlockImage {
    var hostIsSegment: Bool
    var hosts: UnsafeBufferPointer<HostRuleImage>
    var schemesAreExact: Bool
    var emptySegments: TableSource.LinkBlock.EmptySegments
    var separators: UnsafeBufferPointer<UInt8>
    var namesFold: Bool
    var duplicates: TableSource.QueryDialect.Duplicates
    var decode: TableSource.QueryDialect.Decode
    var plusIsSpace: Bool
    var nullsErase: Bool
    var flatten: Bool
    var repair: Bool
    var rewrites: UnsafeBufferPointer<RewriteImage>
}

/// A scheme and the block that reads it.
struct SchemeImage {
    var text: ByteView
    var block: Int32
    /// Number of the scheme among those that patterns name, or -1.
    var number: Int32
}

/// A host rule in plain values.
struct HostRuleImage {
    enum Kind: UInt8 { case any, empty, exact, suffix }
    var kind: Kind
    var text: ByteView
    /// The port, or -1 for any.
    var port: Int32
}

/// A prefix that is taken off.
struct RewriteImage {
    var segments: UnsafeBufferPointer<MatcherImage>
    /// Index of the segment that is captured, or -1.
    var captured: Int32
    /// Number of its name, or -1.
    var name: Int32
    var nameText: ByteView
    var prefixText: ByteView
}

/// A field's type in plain values.
struct FieldImage {
    enum Kind: UInt8 { case uuid, int, string, bool, double, date, enumeration, url, list }
    enum Absence: UInt8 { case required, null, value, emptyList }
    var kind: Kind
    /// Of a list: the kind of its items.
    var item: Kind
    /// Bounds of an int or of a text's bytes; of a list, those of its items.
    var min: Int64
    var max: Int64
    /// Least and most items of a list.
    var minCount: Int32
    var maxCount: Int32
    var values: UnsafeBufferPointer<ByteView>
    var hosts: UnsafeBufferPointer<HostRuleImage>
    var absence: Absence
    /// The default as JSON, or `null` or `[]`.
    var absentJSON: ByteView
    /// The default as text, for an identity.
    var absentText: ByteView
    var modelName: ByteView
    var name: ByteView
}

/// Where the value of a field comes from.
struct BindingImage {
    enum Source: UInt8 { case path, query, rewrite, payload, fragment, constant }
    var field: Int32
    var source: Source
    /// Number of the capture's or rewrite's name.
    var name: Int32
    var query: QueryNameImage
    /// Number of the pointer into the payload, among the table's own.
    var place: Int32
    var constant: ByteView
    /// Whether every capture of that name is of the field's own type, so that it need not be read again.
    var trusted: Bool
    /// The number of what is read there, the same for all bindings that read the same; -1 where it is not kept.
    var reading: Int32
}

/// A part of a program: bytes as they are, or a value.
struct Op {
    enum Kind: UInt8 { case bytes, value, text, identityStart, identityEnd }
    var kind: Kind
    var field: Int32
    var bytes: ByteView
}

/// What is written for an entry or a whole stack.
struct Program {
    var ops: UnsafeBufferPointer<Op>
    /// Bytes of all constant parts, for one reservation.
    var constantBytes: Int
}

/// An entry of a stack: a screen as it is presented.
struct EntryImage {
    var screen: Int32
    var present: Presentation
    /// Which binding its data comes from: 0 is the route's own, others those of parent routes.
    var scope: UInt8
    var isParent: Bool
    var program: Program
}

/// A screen.
struct ScreenImage {
    var coordinator: Int32
    var name: ByteView
    /// Fields of the models that it needs.
    var fields: UnsafeBufferPointer<Int32>
    /// Those of them that it cannot do without.
    var required: UnsafeBufferPointer<Int32>
    var asksDevice: Bool
    var since: VersionImage?
    var until: VersionImage?
    var requires: UnsafeBufferPointer<Int32>
    var nav: Bool
    /// The screen as a path shows it.
    var entry: EntryImage
}

/// A coordinator.
struct CoordinatorImage {
    var name: ByteView
    /// The screen it stands for, or -1.
    var initial: Int32
    var parent: Int32
    var guarding: Int32
    var singleSlot: Bool
    /// The entries of `parents: initial` for a stack that begins with this coordinator, its own initial screen last.
    var ancestors: UnsafeBufferPointer<EntryImage>
}

/// A version with its bytes.
struct VersionImage { var version: Version }

/// A capability.
struct CapabilityImage {
    var name: ByteView
    var minApp: VersionImage?
    var minOS: VersionImage?
    var platforms: UnsafeBufferPointer<ByteView>
    var asksPlatform: Bool
    var listed: Bool
}

/// A comparison with a version.
struct VersionTestImage {
    var version: Version
    /// The orders of the device's version to this one that it takes: a bit each for lower, equal and higher.
    var orders: UInt8

    init(_ relation: TableSource.Condition.VersionTest.Relation, _ version: Version) {
        self.version = version
        orders =
            switch relation {
            case .below: 0b001
            case .equal: 0b010
            case .above: 0b100
            case .atMost: 0b011
            case .atLeast: 0b110
            }
    }
}

/// An attribute and its accepted texts.
struct AttributeImage {
    var name: ByteView
    var values: UnsafeBufferPointer<ByteView>
}

/// A `when`.
struct ConditionImage {
    var app: UnsafeBufferPointer<VersionTestImage>
    var os: UnsafeBufferPointer<VersionTestImage>
    var capabilities: UnsafeBufferPointer<Int32>
    var claims: UnsafeBufferPointer<ByteView>
    var platforms: UnsafeBufferPointer<ByteView>
    var asksPlatform: Bool
    var regions: UnsafeBufferPointer<ByteView>
    var asksRegion: Bool
    var locales: UnsafeBufferPointer<ByteView>
    var asksLocale: Bool
    var attributes: UnsafeBufferPointer<AttributeImage>
    var query: UnsafeBufferPointer<ConstraintImage>
    /// Whether anything but versions is asked for.
    var asksMore: Bool
}

/// A part of a URL or path template.
struct TemplateImage {
    enum Kind: UInt8 { case bytes, capture, query, segmentEnd }
    var kind: Kind
    var bytes: ByteView
    var name: Int32
    var query: QueryNameImage
}

/// Where a request leads.
struct TargetImage {
    enum Kind: UInt8 { case path, captured, external }
    enum Parents: UInt8 { case none, initial, route, list }
    var kind: Kind
    /// Mode, or `unsaid` for the default.
    var mode: LinkRequest.Mode
    var dismissModals: Bool
    /// The path's entries with their static parents before them.
    var entries: UnsafeBufferPointer<EntryImage>
    /// The number of the captured path's name.
    var name: Int32
    var template: UnsafeBufferPointer<TemplateImage>
    /// Parents that depend on the path or the device.
    var parents: Parents
    var parentRoute: Int32
    /// Everything from `"outcome"` to the end of `stack`, where nothing of the stack depends on the device.
    var program: Program
    var isStatic: Bool
    var asksDevice: Bool
    var isGuarded: Bool
    /// Whether `program` and `required` say all of it: nothing depends on the device, a guard or a parent route.
    var isLean = false
    /// Fields that its entries cannot do without, in their order.
    var required = UnsafeBufferPointer<Int32>(start: nil, count: 0)
}

/// A variant.
struct VariantImage {
    var condition: ConditionImage
    var isConditional: Bool
    var target: TargetImage
    var notice: NoticeImage
    /// `,"variant":N`, or empty.
    var json: ByteView
}

/// A path to show beside the result.
struct NoticeImage {
    /// The path in canonical print; empty for none.
    var path: ByteView
    var screens: UnsafeBufferPointer<Int32>
}

/// A route.
struct RouteImage {
    enum Action: UInt8 { case variants, redirectRoute, redirectTemplate, excludeExternal, excludeNone, excludeReject }
    enum Unsupported: UInt8 { case fallback, truncate, target }
    var id: ByteView
    /// `"table":"…","route":"…"`.
    var head: ByteView
    var action: Action
    var redirect: Int32
    var template: UnsafeBufferPointer<TemplateImage>
    var variants: UnsafeBufferPointer<VariantImage>
    var bindings: UnsafeBufferPointer<BindingImage>
    /// Whether it, or a route whose entries are its parents, binds from the payload.
    var bindsPayload: Bool
    var drops: Bool
    var requireAll: Bool
    var unknownScreen: TableSource.Route.UnknownScreen
    var unsupported: Unsupported
    var unsupportedTarget: Ref<TargetImage>?
    /// The first pattern, or -1 for a route that is reached by id only.
    var firstPattern: Int32
}

/// A guard.
struct GuardImage {
    var name: ByteView
    var claim: ByteView
    var target: TargetImage
    var resumes: Bool
    var ttlSeconds: Int64
    var once: Bool
}

/// A rule of the fallback for one reason.
struct FallbackImage {
    var outcome: TableSource.FallbackRule.Outcome
    var target: Ref<TargetImage>?
}

/// A whole table in plain values.
struct TableImage {
    /// A number that no other table of the process has.
    var serial: UInt64
    /// `"table":"id@version+hash"`.
    var head: ByteView
    var blocks: UnsafeBufferPointer<BlockImage>
    var schemes: UnsafeBufferPointer<SchemeImage>
    /// The block of `*`, or -1.
    var otherSchemes: Int32
    var foldsCase: Bool
    var maxBytes: Int
    var maxSegments: Int
    var maxQueryItems: Int
    var asksApp: Bool
    var asksOS: Bool
    var hasSingleSlots: Bool
    var literals: LiteralTable
    var trie: TrieImage
    var patterns: UnsafePointer<PatternImage>
    var routes: UnsafeBufferPointer<RouteImage>
    var fields: UnsafeBufferPointer<FieldImage>
    var screens: UnsafeBufferPointer<ScreenImage>
    var coordinators: UnsafeBufferPointer<CoordinatorImage>
    var guards: UnsafeBufferPointer<GuardImage>
    var capabilities: UnsafeBufferPointer<CapabilityImage>
    var externalSchemes: UnsafeBufferPointer<ByteView>
    var externalHosts: UnsafeBufferPointer<HostRuleImage>
    /// One per reason, in the order of `Reason.allCases`.
    var fallbacks: UnsafeBufferPointer<FallbackImage>
    /// Numbers of the pointers that look for a link, in the table's order.
    var payloadLinks: UnsafeBufferPointer<Int32>
    /// Numbers of the pointers to a route and its parameters, or -1.
    var payloadRoute: Int32
    var payloadParams: Int32
    /// The target of a `path` request.
    var plainTarget: Ref<TargetImage>
    /// How many bindings a stack can draw on at once: 1 and the longest chain of parent routes.
    var scopes: Int
    /// How many numbers of readings there are.
    var readings: Int
    /// Names of captures and rewrites, by number.
    var names: UnsafeBufferPointer<ByteView>
}
