package import ByteStorage

/// How links of some schemes are read.
package struct BlockImage: BitwiseCopyable {
    var hostIsSegment: Bool
    var hosts: UnsafeBufferPointer<HostRuleImage>
    var schemesAreExact: Bool
    var emptySegments: TableSource.LinkBlock.EmptySegments
    var separators: UnsafeBufferPointer<UInt8>
    /// A Boolean value that indicates whether names of the query are compared without regard to ASCII case.
    package var namesFold: Bool
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
package struct FieldImage: BitwiseCopyable {
    enum Kind: UInt8 { case uuid, int, string, bool, double, date, enumeration, url, list }
    /// The result for a field without a value.
    package enum Absence: UInt8, BitwiseCopyable { case required, null, value, emptyList }
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
    /// The result where the field has no value.
    package var absence: Absence
    /// The default as JSON, or `null` or `[]`.
    var absentJSON: ByteView
    /// The default as text, for an identity.
    var absentText: ByteView
    /// The model's name.
    package var modelName: ByteView
    /// The field's name.
    package var name: ByteView
}

/// Where the value of a field comes from.
package struct BindingImage: BitwiseCopyable {
    enum Source: UInt8 { case path, query, rewrite, payload, fragment, constant }
    /// The index of the field in the table.
    package var field: Int32
    var source: Source
    /// Number of the capture's or rewrite's name.
    package var name: Int32
    /// The name in the query that the value comes from.
    package var query: QueryNameImage
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
package struct EntryImage: BitwiseCopyable {
    /// The index of the screen in the table.
    package var screen: Int32
    /// The presentation of the entry.
    package var present: Presentation
    /// Which binding its data comes from: 0 is the route's own, others those of parent routes.
    var scope: UInt8
    /// A Boolean value that indicates whether the entry comes from a route's parents.
    package var isParent: Bool
    var program: Program
}

/// A screen.
package struct ScreenImage: BitwiseCopyable {
    /// The index of the coordinator in the table.
    package var coordinator: Int32
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
package struct CoordinatorImage: BitwiseCopyable {
    /// The coordinator's name.
    package var name: ByteView
    /// The screen it stands for, or -1.
    var initial: Int32
    var parent: Int32
    /// The index of the guard of the coordinator, or -1.
    package var guarding: Int32
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
package struct ConditionImage: BitwiseCopyable {
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
package struct TemplateImage: BitwiseCopyable {
    enum Kind: UInt8 { case bytes, capture, query, segmentEnd }
    var kind: Kind
    var bytes: ByteView
    var name: Int32
    var query: QueryNameImage
}

/// Where a request leads.
package struct TargetImage: BitwiseCopyable {
    /// The form of a target.
    package enum Kind: UInt8, BitwiseCopyable { case path, captured, external }
    enum Parents: UInt8 { case none, initial, route, list }
    /// The form of the target.
    package var kind: Kind
    /// Mode, or `unsaid` for the default.
    var mode: RequestView.Mode
    var dismissModals: Bool
    /// The path's entries with their static parents before them.
    var entries: UnsafeBufferPointer<EntryImage>
    /// The number of the captured path's name.
    var name: Int32
    /// The parts of the URL of an external target.
    package var template: UnsafeBufferPointer<TemplateImage>
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
package struct VariantImage: BitwiseCopyable {
    var condition: ConditionImage
    var isConditional: Bool
    /// The variant's target.
    package var target: TargetImage
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
package struct RouteImage: BitwiseCopyable {
    /// What a route does with a request that selects it.
    package enum Action: UInt8, BitwiseCopyable {
        case variants, redirectRoute, redirectTemplate, excludeExternal, excludeNone, excludeReject
    }
    enum Unsupported: UInt8 { case fallback, truncate, target }
    var id: ByteView
    /// `"table":"…","route":"…"`.
    var head: ByteView
    /// What the route does with a request that selects it.
    package var action: Action
    var redirect: Int32
    var template: UnsafeBufferPointer<TemplateImage>
    /// The route's variants, in the table's order.
    package var variants: UnsafeBufferPointer<VariantImage>
    /// The route's bindings.
    package var bindings: UnsafeBufferPointer<BindingImage>
    /// Whether it, or a route whose entries are its parents, binds from the payload.
    var bindsPayload: Bool
    /// A Boolean value that indicates whether a value that is not of its field's type is dropped (`onInvalid: drop`).
    package var drops: Bool
    var requireAll: Bool
    /// The result for a captured path that names an unknown screen.
    package var unknownScreen: TableSource.Route.UnknownScreen
    var unsupported: Unsupported
    var unsupportedTarget: Ref<TargetImage>?
    /// The first pattern, or -1 for a route that is reached by id only.
    package var firstPattern: Int32
}

/// A guard.
package struct GuardImage: BitwiseCopyable {
    /// The guard's name.
    package var name: ByteView
    /// The claim that satisfies the guard.
    package var claim: ByteView
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
package struct TableImage: BitwiseCopyable {
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
    /// The patterns, by their number.
    package var patterns: UnsafePointer<PatternImage>
    /// The routes, in the table's order.
    package var routes: UnsafeBufferPointer<RouteImage>
    /// The fields of all models.
    package var fields: UnsafeBufferPointer<FieldImage>
    /// The screens of all coordinators.
    package var screens: UnsafeBufferPointer<ScreenImage>
    /// The coordinators, in the table's order.
    package var coordinators: UnsafeBufferPointer<CoordinatorImage>
    /// The guards, in the table's order.
    package var guards: UnsafeBufferPointer<GuardImage>
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
    package var plainTarget: Ref<TargetImage>
    /// How many bindings a stack can draw on at once: 1 and the longest chain of parent routes.
    var scopes: Int
    /// How many numbers of readings there are.
    var readings: Int
    /// Names of captures and rewrites, by number.
    package var names: UnsafeBufferPointer<ByteView>
}
