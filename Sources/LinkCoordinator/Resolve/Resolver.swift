internal import StrictJSON

/// A segment of the path, decoded.
struct Segment {
    /// The text: decoded once, in NFC.
    var text: ByteView
    /// The text to compare with literals, affixes and enums: folded where the table folds case.
    var key: ByteView
    /// The first eight bytes of `key` as a word, zeros behind its end.
    var head: UInt64

    init(text: ByteView, key: ByteView) {
        self.text = text
        self.key = key
        head = ByteScan.head(of: key)
    }

    /// A segment whose text is its key, with the word that it begins with.
    @inline(__always)
    init(plain text: ByteView, head: UInt64) {
        self.text = text
        key = text
        self.head = head
    }
}

/// A piece of the query.
struct QueryPiece {
    /// The name, decoded, once it was looked at.
    var name: ByteView
    /// The value as it came, not decoded.
    var value: ByteView
    /// First eight bytes of the name, folded.
    var key: UInt64
    /// Whether there is a `=`.
    var hasValue: Bool
    /// Whether the name does not decode and so matches nothing.
    var isBad: Bool
    /// Whether `value` is text already: a parameter of a `route` request.
    var isDecoded: Bool
    /// What a repair that is being tried does to the value when it is read.
    var repair: ValueRepair = .none
}

/// What a repair does to a value once it is decoded (N9).
enum ValueRepair: UInt8 { case none, hyphens, trim }

/// What was found of a value.
enum Found {
    /// Nothing of that name.
    case absent
    /// The name without a value.
    case null
    /// A value, decoded.
    case text(ByteView)
    /// A value that does not decode, or a name that stands twice where that is refused.
    case invalid
}

/// A bound value.
struct BoundValue {
    enum State: UInt8 { case missing, text, plain, uuid, list }
    /// Which resolution it was bound in; older ones count as missing.
    var stamp: UInt32 = 0
    var state = State.missing
    /// The text, or for a number or truth value the JSON of it.
    var view: ByteView = .empty
    /// Items of a list in `items`.
    var first: Int32 = 0
    var count: Int32 = 0
}

/// The five phases and their scratch memory; one per lane, used again for every request.
///
/// A resolution is pure: the same request, facts and table give the same decision, byte for byte. Nothing is allocated
/// per request but when scratch memory has to grow.
///
/// Every method is `mutating`, those too that change nothing: Swift 6.3 hands `self` to any other method as a copy of
/// all its 900 bytes.
package struct Resolver: ~Copyable {
    // The table of this resolution.
    var image: Ref<TableImage>
    var stamp: UInt32 = 0

    // Normalise.
    var texts = OutputArena(chunkBytes: 16 << 10)
    var textsUsed = false
    var composer = Composer()
    /// What templates come to.
    var built = OutputArena(chunkBytes: 4 << 10)
    var block: Ref<BlockImage>
    var scheme: ByteView = .empty
    var schemeNumber: Int32 = -1
    var host: ByteView = .empty
    var hasHost = false
    var port: Int32 = -1
    var segments = Growable<Segment>(capacity: 80)
    var firstSegment = 0
    var isRelative = false
    /// Index of the segment after the last empty one where empty segments reset a coordinator path, or -1.
    var resetAt = -1
    var query: ByteView = .empty
    var hasQuery = false
    var queryIsSplit = false
    var pieces = Growable<QueryPiece>(capacity: 140)
    /// The pieces as the repairs `space` and `entity` read them, made once a resolution, when the first is tried.
    var trimmedPieces = Growable<QueryPiece>(capacity: 4)
    var entityPieces = Growable<QueryPiece>(capacity: 4)
    var trimStamp: UInt32 = 0
    var entityStamp: UInt32 = 0
    var fragment: ByteView = .empty
    var hasFragment = false
    var rewrites = Growable<RewriteValue>(capacity: 8)
    var origins = OriginCache()

    // Select.
    var pattern = -1
    var route = -1
    var via = Growable<Int32>(capacity: 8)

    // Choose, compose, bind.
    var device: Ref<DeviceFacts>
    var appVersion: UnsafePointer<Version>?
    var osVersion: UnsafePointer<Version>?
    /// Apart, since what one of them lent must not be overwritten by the other's text.
    var appVersions = VersionCache()
    var osVersions = VersionCache()
    var versionsRead = false
    var variant = -1
    var stack = Growable<EntryImage>(capacity: 80)
    var stackIsStatic = false
    var mode = LinkRequest.Mode.replace
    var values: Growable<BoundValue>
    var items = Growable<BoundValue>(capacity: 16)
    /// Parent routes of the composed stack, that of scope 1 first.
    var parentRoutes = Growable<Int32>(capacity: 4)
    /// Where a parent route found a value that is not of its type.
    var invalidSlots = Growable<Int32>(capacity: 4)
    var notes = Growable<Note>(capacity: 16)
    var request: Ref<LinkRequest>
    var head: Ref<DecisionHead>?
    /// What a payload was found to ask: a link, or a route and its parameters.
    var payloadLink: ByteView = .empty
    var payloadRoute: ByteView = .empty
    var payloadParams: ByteView = .empty
    var payloadCursor = JSONCursor(maxDepth: 512)

    /// Makes a resolver; it serves any number of tables.
    package init() {
        image = .unset
        block = .unset
        values = Growable(capacity: 64)
        request = .unset
        device = .unset
    }
}

/// What a rewrite took off.
struct RewriteValue {
    var name: Int32
    var value: ByteView
}

extension Resolver {
    /// Forgets the last resolution.
    mutating func start(
        _ request: UnsafePointer<LinkRequest>, _ device: UnsafePointer<DeviceFacts>, image: Ref<TableImage>
    ) {
        self.image = image
        self.request = Ref(request)
        self.device = Ref(device)
        stamp &+= 1
        if stamp == 0 { clearValues() }
        if textsUsed {
            texts.reset()
            textsUsed = false
        }
        if built.bytesInUse != 0 { built.reset() }
        block = image.blocks.at(0)
        scheme = .empty
        schemeNumber = -1
        host = .empty
        hasHost = false
        port = -1
        segments.removeAll()
        firstSegment = 0
        isRelative = false
        resetAt = -1
        query = .empty
        hasQuery = false
        queryIsSplit = false
        pieces.removeAll()
        fragment = .empty
        hasFragment = false
        rewrites.removeAll()
        pattern = -1
        route = -1
        via.removeAll()
        versionsRead = false
        variant = -1
        stack.removeAll()
        stackIsStatic = false
        items.removeAll()
        notes.removeAll()
        payloadLink = .empty
        payloadRoute = .empty
        payloadParams = .empty
        let needed = image.fields.count &* image.scopes
        while values.count < needed { values.append(BoundValue()) }
    }

    private mutating func clearValues() {
        for index in 0..<values.count { values[index] = BoundValue() }
        trimStamp = 0
        entityStamp = 0
        stamp = 1
    }

    /// The path's segments after rewrites.
    var path: UnsafeBufferPointer<Segment> {
        mutating get {
            UnsafeBufferPointer(start: segments.base + firstSegment, count: segments.count &- firstSegment)
        }
    }

    /// A copy of a text that is padded for `WideScan`.
    @inline(never)
    mutating func padded(_ text: ByteView) -> ByteView {
        textsUsed = true
        texts.begin()
        texts.reserve(text.count &+ WideScan.behind)
        texts.appendReserved(text)
        return texts.finish()
    }

    /// Copies text of the open record of `texts` into NFC where that changes it, and returns it.
    mutating func finishText(hasNonASCII: Bool) -> ByteView {
        textsUsed = true
        let text = texts.finish()
        return hasNonASCII ? normalForm(text) : text
    }

    /// The text in NFC: itself, unless it has a byte over 0x7F (rule N5).
    @inline(never)
    mutating func normalForm(_ text: ByteView) -> ByteView {
        if text.isSurelyComposed { return text }
        textsUsed = true
        texts.begin()
        composer.append(text, to: &texts)
        return texts.finish()
    }

    /// The text with ASCII capitals in lower case.
    mutating func folded(_ text: ByteView) -> ByteView {
        textsUsed = true
        texts.begin()
        texts.reserve(text.count)
        for index in 0..<text.count { texts.append(byte: ByteScan.foldASCII(text[index])) }
        return texts.finish()
    }
}
