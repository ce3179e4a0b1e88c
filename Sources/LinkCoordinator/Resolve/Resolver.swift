package import ByteStorage

/// A segment of the path, decoded.
package struct Segment: BitwiseCopyable {
    /// The text: decoded once, in NFC.
    package var text: ByteView
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

/// What was found of a value.
package enum Found {
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
    enum State: UInt8 {
        /// There is none.
        case missing
        /// A parent route binds one that is not of its type.
        case invalid
        case text, plain, uuid, list

        /// Whether there is no value that fits.
        var isAbsent: Bool {
            @inline(__always)
            get { rawValue <= State.invalid.rawValue }
        }
    }
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
/// What of a request does not depend on the device is done once: `resolveNext` decides for its next device.
///
/// A resolution is pure: the same request, facts and table give the same decision, byte for byte. Nothing is allocated
/// per request but when scratch memory has to grow.
///
/// Every method is `mutating`, those too that change nothing: Swift 6.3 hands `self` to any other method as a copy of
/// all its 900 bytes.
package struct Resolver: ~Copyable {
    // The table of this resolution.
    /// The compiled values of the table that resolves the request.
    package var image: Ref<TableImage>
    /// Marks values that were bound for this request, and those that were bound for this device only.
    var stamp: UInt32 = 0
    var deviceStamp: UInt32 = 0
    /// The last stamp that was given out.
    var lastStamp: UInt32 = 0

    /// The pointers that payloads are read for, and the numbers among them of the table's own.
    var pointers: Ref<PointerTrie> = .unset
    var pointerNumbers: UnsafePointer<Int32>?

    // Normalise.
    var texts = OutputArena(chunkBytes: 16 << 10)
    var textsUsed = false
    var composer = Composer()
    /// What templates come to.
    var built = OutputArena(chunkBytes: 4 << 10)
    /// The link block that reads the link.
    package var block: Ref<BlockImage>
    /// The link's scheme.
    package var scheme: ByteView = .empty
    /// The number of the scheme in the table, or -1.
    package var schemeNumber: Int32 = -1
    /// The link's host, normalized.
    package var host: ByteView = .empty
    /// A Boolean value that indicates whether the link has a host that patterns may name.
    package var hasHost = false
    /// The link's port, or -1.
    package var port: Int32 = -1
    /// The segments of the path, and of each path that a redirect made before.
    package var segments = Growable<Segment>(capacity: 80)
    /// The index in `segments` where the current path begins.
    package var firstSegment = 0
    var isRelative = false
    /// Index of the segment after the last empty one where empty segments reset a coordinator path, or -1.
    var resetAt = -1
    var query: ByteView = .empty
    var hasQuery = false
    var queryIsSplit = false
    /// The pieces of the query.
    package var pieces = QueryPieces(capacity: 140)
    /// The pieces as the repairs `space` and `entity` read them, made once a resolution, when the first is tried.
    var trimmedPieces = QueryPieces(capacity: 4)
    var entityPieces = QueryPieces(capacity: 4)
    var trimStamp: UInt32 = 0
    var entityStamp: UInt32 = 0
    /// The link's fragment, decoded.
    package var fragment: ByteView = .empty
    /// A Boolean value that indicates whether the link has a fragment.
    package var hasFragment = false
    var rewrites = Growable<RewriteValue>(capacity: 8)
    var origins = OriginCache()

    // Select.
    /// Whether *normalise* and *select* are done.
    var isRouted = false
    /// The bit of the path's last segment, by which nodes are passed over; 0 until it is asked for.
    var lastBit: UInt64 = 0
    /// The number of the selected pattern, or -1.
    package var pattern = -1
    /// The index of the selected route, or -1.
    package var route = -1
    /// The indices of the routes that redirected.
    package var via = Growable<Int32>(capacity: 8)

    // Choose, compose, bind.
    var device: Ref<DeviceView>
    var appVersion: UnsafePointer<Version>?
    var osVersion: UnsafePointer<Version>?
    /// Apart, since what one of them lent must not be overwritten by the other's text.
    var appVersions = VersionCache()
    var osVersions = VersionCache()
    var versionsRead = false
    /// The index of the chosen variant, or -1.
    package var variant = -1
    /// The composed stack, from the bottom up.
    package var stack = Growable<EntryImage>(capacity: 80)
    var stackIsStatic = false
    var mode = RequestView.Mode.replace
    var values: Growable<BoundValue>
    var items = Growable<BoundValue>(capacity: 16)
    /// Parent routes of the composed stack, that of scope 1 first.
    var parentRoutes = Growable<Int32>(capacity: 4)
    /// The notes so far.
    package var notes = Growable<Note>(capacity: 16)
    var request: Ref<RequestView>
    var head: Ref<DecisionHead>?
    /// What a payload was found to ask: a link, or a route and its parameters.
    var payloadLink: ByteView = .empty
    var payloadRoute: ByteView = .empty
    var payloadParams: ByteView = .empty

    // What was read of the record: once, whatever its devices and tables are.
    /// Whether any of the next three holds something, or the shared part does.
    var hasReadings = false
    var recordTexts = RecordTexts()
    var payload = PayloadReading()
    /// The request's parameters.
    package var params = ParamTable()
    /// Whether parameters stand in the place of a query.
    package var usesParams = false
    /// The request as `resume` says it, once it was asked for.
    var resumed: ByteView = .empty
    /// Whether something that was read strictly did not read again.
    var isBroken = false
    /// What was read of the request and is read again by other bindings and for other devices.
    var readings = Readings()
    /// Where in `items` the list begins that is being read.
    var listStart = 0
    /// The repair that was used last.
    var lastRepair = Repair.dash

    // What a request comes to on any device, kept for those after the first.
    var shared = SharedPart()

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
    /// Forgets the last resolution, and unless `keepsReadings` what was read of its record.
    package mutating func start(
        _ request: UnsafePointer<RequestView>, _ device: UnsafePointer<DeviceView>, table: TableHandle,
        keepsReadings: Bool = false
    ) {
        image = table.image
        pointers = table.pointers
        pointerNumbers = table.numbers
        self.request = Ref(request)
        usesParams = false
        resumed = .empty
        isBroken = false
        if hasReadings { forgetReadings(all: !keepsReadings) }
        self.device = Ref(device)
        lastStamp &+= 1
        if lastStamp == 0 { clearValues() }
        stamp = lastStamp
        deviceStamp = lastStamp
        readings.forget(stamp: stamp)
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
        isRouted = false
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

    mutating func clearValues() {
        for index in 0..<values.count { values[index] = BoundValue() }
        readings.clear()
        trimStamp = 0
        entityStamp = 0
        lastStamp = 1
    }

    /// Forgets what was read of the last record, if anything was.
    mutating func forgetRecord() {
        if hasReadings { forgetReadings(all: true) }
    }

    /// Forgets what was read of a record; where it is the same record in another table, only what that table made.
    @inline(never)
    private mutating func forgetReadings(all: Bool) {
        params.forget()
        if shared.isKept { forgetShared() }
        if !all { return }
        payload.forget()
        recordTexts.forget()
        hasReadings = false
    }

    /// The path's segments after rewrites.
    package var path: UnsafeBufferPointer<Segment> {
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
