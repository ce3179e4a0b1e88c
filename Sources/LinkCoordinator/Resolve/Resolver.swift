package import ByteStorage

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
    // MARK: Input
    /// The table that resolves the request.
    var table: TableHandle
    var request: Ref<RequestView>
    var head: Ref<DecisionHead>?
    /// The facts about the device.
    var device = DeviceReader()
    /// The data of the record.
    package var record = RecordReadings()

    // MARK: Results, which fallbacks, further devices, and explanations read
    /// The result of phase 1, also while it runs.
    package var link: NormalizedLink
    /// The result of phase 2, also while it runs.
    package var selection = Selection()
    /// The variant that phase 3 chose.
    package var variant: Ref<CompiledVariant>?
    /// The result of phase 5.
    var values = BoundValues()
    /// The notes of all phases.
    package var notes = Growable<Note>(capacity: 16)
    /// The results that do not depend on the device, kept for further devices.
    var shared = SharedPart()

    // MARK: Memory of all phases
    var texts = ResolutionTexts(chunkBytes: 16 << 10, builtChunkBytes: 4 << 10)

    // MARK: Memory of phase 1, normalization
    /// The segments of the path, preceded by those of each path before a redirect.
    package var segments = Growable<Segment>(capacity: 80)
    /// The query of the link.
    package var query = QueryReader()
    var rewrites = Growable<RewriteValue>(capacity: 8)
    var origins = OriginCache()
    /// The request that a payload contains.
    var requested = PayloadRequest()
    /// The cause why a payload opens no link.
    var refusal = RequestOpening.Kind.unknown
    /// A Boolean value that indicates whether parameters replace the query.
    package var usesParams = false

    // MARK: Memory of phase 2, selection
    /// The bit of the path's last segment, which excludes nodes from the search, or 0 before its first use.
    var lastBit: UInt64 = 0
    /// The indices of the routes that redirected.
    package var via = Growable<Int32>(capacity: 8)

    // MARK: Memory of phase 4, composition
    /// The composed stack, from the bottom to the top.
    package var stack = Growable<CompiledEntry>(capacity: 80)
    /// The parent routes of the composed stack, starting with that of scope 1.
    var parentRoutes = Growable<Int32>(capacity: 4)

    // MARK: Memory of phase 5, binding
    /// The values of the request that other bindings and devices read again.
    var readings = Readings()

    /// Creates a resolver, which can be used with any number of tables.
    package init() {
        table = TableHandle(data: .unset, pointers: .unset, numbers: nil)
        link = NormalizedLink(block: .unset)
        request = .unset
    }
}

extension Resolver {
    /// Resets the resolver for a request.
    ///
    /// The data of the record is removed unless `keepsReadings` is `true`.
    package mutating func start(
        _ request: UnsafePointer<RequestView>, _ device: UnsafePointer<DeviceView>, table: TableHandle,
        keepsReadings: Bool = false
    ) {
        self.table = table
        self.request = Ref(request)
        usesParams = false
        record.resumed = .empty
        record.isBroken = false
        if record.hasData { forgetReadings(all: !keepsReadings) }
        self.device.open(device)
        if !values.start(fields: tableData.fields.count, scopes: tableData.scopes) { readings.clear() }
        readings.forget(stamp: values.stamp)
        texts.reset()
        segments.removeAll()
        link.reset(block: tableData.blocks.at(0))
        query.reset(link.block)
        selection = Selection()
        rewrites.removeAll()
        via.removeAll()
        variant = nil
        stack.removeAll()
        parentRoutes.removeAll()
        notes.removeAll()
        requested = PayloadRequest()
        refusal = .unknown
    }

    /// Removes the data that was read from the last record.
    mutating func forgetRecord() {
        if record.hasData { forgetReadings(all: true) }
    }

    /// Removes the data that was read from a record.
    ///
    /// If the same record is resolved with another table, only the results of the previous table are removed.
    @inline(never)
    private mutating func forgetReadings(all: Bool) {
        record.params.forget()
        if shared.isKept { forgetShared() }
        if all { record.forget() }
    }

    /// The compiled values of the table.
    package var tableData: Ref<CompiledTableData> {
        @inline(__always)
        mutating get { table.data }
    }

    /// The segments of the current path: that of the link after rewrites, or that after a redirect.
    package var path: UnsafeBufferPointer<Segment> {
        mutating get {
            UnsafeBufferPointer(
                start: segments.base + selection.path.first, count: segments.count &- selection.path.first)
        }
    }
}
