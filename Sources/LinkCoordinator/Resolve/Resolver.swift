package import ByteStorage

/// A decoded segment of the path.
package struct Segment: BitwiseCopyable {
    /// The text, decoded once, in NFC.
    package var text: ByteView
    /// The text to compare with literals, affixes, and enumerations.
    ///
    /// It is folded if the table folds case.
    var key: ByteView
    /// The first eight bytes of `key` as a word, padded with zeros.
    var head: UInt64

    init(text: ByteView, key: ByteView) {
        self.text = text
        self.key = key
        head = ByteScan.head(of: key)
    }

    /// Creates a segment whose text is its key, with the first word of the text.
    @inline(__always)
    init(plain text: ByteView, head: UInt64) {
        self.text = text
        key = text
        self.head = head
    }
}

/// The result of looking up a value.
package enum Found {
    /// The name is absent.
    case absent
    /// The name has no value.
    case null
    /// A decoded value.
    case text(ByteView)
    /// A value that cannot be decoded, or a name that occurs twice although duplicates are rejected.
    case invalid
}

/// A bound value.
struct BoundValue {
    enum State: UInt8 {
        /// There is no value.
        case missing
        /// A parent route binds a value of the wrong type.
        case invalid
        case text, plain, uuid, list

        /// A Boolean value that indicates whether there is no valid value.
        var isAbsent: Bool {
            @inline(__always)
            get { rawValue <= State.invalid.rawValue }
        }
    }
    /// The stamp of the resolution.
    ///
    /// Values with an older stamp are missing.
    var stamp: UInt32 = 0
    var state = State.missing
    /// The text, or the JSON of a number or Boolean value.
    var view: ByteView = .empty
    /// The position and number of the items of a list in `items`.
    var first: Int32 = 0
    var count: Int32 = 0
}

/// The five phases of a resolution and their scratch memory, which one lane reuses for every request.
///
/// The parts of a request that do not depend on the device are processed once. `resolveNext` then decides for further
/// devices.
///
/// A resolution is deterministic: the same request, facts, and table result in the same decision, byte for byte. Memory
/// is allocated only when scratch memory has to grow.
///
/// Every method is `mutating`, even without changes, because Swift 6.3 passes `self` to other methods as a copy of its
/// 900 bytes.
package struct Resolver: ~Copyable {
    // MARK: Results of the phases, which fallbacks, further devices, and explanations read
    /// The result of phase 1.
    package var link: NormalizedLink
    /// The result of phase 2, also while it runs.
    package var selection = Selection()
    /// The chosen variant of the selected route.
    package var variant: Ref<CompiledVariant>?

    // MARK: Table
    /// The compiled values of the table that resolves the request.
    package var image: Ref<CompiledTableData>
    /// The stamps of values that were bound for this request, and of those bound only for this device.
    var stamp: UInt32 = 0
    var deviceStamp: UInt32 = 0
    /// The last assigned stamp.
    var lastStamp: UInt32 = 0

    /// The pointers to read in payloads, and the positions of the table's own pointers among them.
    var pointers: Ref<PointerTrie> = .unset
    var pointerNumbers: UnsafePointer<Int32>?

    // MARK: Normalization
    var texts = ResolutionTexts(chunkBytes: 16 << 10, builtChunkBytes: 4 << 10)
    /// The segments of the path, preceded by those of each path before a redirect.
    package var segments = Growable<Segment>(capacity: 80)
    /// The query of the link.
    package var query = QueryReader()
    var rewrites = Growable<RewriteValue>(capacity: 8)
    var origins = OriginCache()

    // MARK: Selection
    /// The bit of the path's last segment, which excludes nodes from the search, or 0 before its first use.
    var lastBit: UInt64 = 0
    /// The indices of the routes that redirected.
    package var via = Growable<Int32>(capacity: 8)

    // MARK: Variant, stack, and values
    var device: Ref<DeviceView>
    var appVersion: UnsafePointer<Version>?
    var osVersion: UnsafePointer<Version>?
    /// Separate caches, because reading one version must not overwrite the other one.
    var appVersions = VersionCache()
    var osVersions = VersionCache()
    var versionsRead = false
    /// The composed stack, from the bottom to the top.
    package var stack = Growable<CompiledEntry>(capacity: 80)
    var values: Growable<BoundValue>
    var items = Growable<BoundValue>(capacity: 16)
    /// The parent routes of the composed stack, starting with that of scope 1.
    var parentRoutes = Growable<Int32>(capacity: 4)
    /// The notes that have been added.
    package var notes = Growable<Note>(capacity: 16)
    var request: Ref<RequestView>
    var head: Ref<DecisionHead>?
    /// The link, or the route and its parameters, that a payload contains.
    var payloadLink: ByteView = .empty
    var payloadRoute: ByteView = .empty
    var payloadParams: ByteView = .empty

    // MARK: Data read once for a record, regardless of its devices and tables
    /// A Boolean value that indicates whether any of the next three properties, or the shared part, has data.
    var hasReadings = false
    var recordTexts = RecordTexts()
    var payload = PayloadReading()
    /// The parameters of the request.
    package var params = ParamTable()
    /// A Boolean value that indicates whether parameters replace the query.
    package var usesParams = false
    /// The request as members of `resume`, after it was first written.
    var resumed: ByteView = .empty
    /// A Boolean value that indicates whether strictly validated data could not be read again.
    var isBroken = false
    /// The values of the request that other bindings and devices read again.
    var readings = Readings()
    /// The position in `items` at which the current list begins.
    var listStart = 0
    /// The most recent repair.
    var lastRepair = Repair.dash

    // The results that do not depend on the device, kept for further devices.
    var shared = SharedPart()

    /// Creates a resolver, which can be used with any number of tables.
    package init() {
        image = .unset
        link = NormalizedLink(block: .unset)
        values = Growable(capacity: 64)
        request = .unset
        device = .unset
    }
}

/// The value that a rewrite captured.
struct RewriteValue {
    var name: Int32
    var value: ByteView
}

extension Resolver {
    /// Resets the resolver for a request.
    ///
    /// The data of the record is removed unless `keepsReadings` is `true`.
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
        texts.reset()
        segments.removeAll()
        open(NormalizedLink(block: image.blocks.at(0)))
        rewrites.removeAll()
        via.removeAll()
        versionsRead = false
        variant = nil
        stack.removeAll()
        parentRoutes.removeAll()
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
        lastStamp = 1
    }

    /// Removes the data that was read from the last record.
    mutating func forgetRecord() {
        if hasReadings { forgetReadings(all: true) }
    }

    /// Removes the data that was read from a record.
    ///
    /// If the same record is resolved with another table, only the results of the previous table are removed.
    @inline(never)
    private mutating func forgetReadings(all: Bool) {
        params.forget()
        if shared.isKept { forgetShared() }
        if !all { return }
        payload.forget()
        recordTexts.forget()
        hasReadings = false
    }

    /// The segments of the current path: that of the link after rewrites, or that after a redirect.
    package var path: UnsafeBufferPointer<Segment> {
        mutating get {
            UnsafeBufferPointer(
                start: segments.base + selection.path.first, count: segments.count &- selection.path.first)
        }
    }
}
