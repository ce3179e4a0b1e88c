package import ByteStorage
internal import StrictJSON

/// The result of reading a binding's value, kept for other bindings that read the same value.
struct Reading {
    /// The stamp of the request.
    ///
    /// Results with an older stamp are ignored.
    var stamp: UInt32 = 0
    /// A Boolean value that indicates whether the value or all items have the right type.
    var isValid = false
    /// The repair that made the value valid, plus 1, or 0 for none.
    ///
    /// See RouteTableReference, "Repair".
    var repair: UInt8 = 0
    /// The result for a field that is not a list.
    var value = BoundValue()
    /// The position and number of the items of a list in `items`.
    var first: Int32 = 0
    var count: Int32 = 0
}

/// The values that a parent route bound, kept for further devices.
struct ParentBinding {
    var route: Int32
    /// The positions of its first value and note.
    var firstValue: Int32
    var firstNote: Int32
    var noteCount: Int32
}

/// The values that are read once for a request, regardless of its bindings, parents, and devices.
struct Readings: ~Copyable {
    /// Four results for each number of a binding: one for the original query and one for each repair.
    var all = Growable<Reading>(capacity: 4)
    /// The stamp of current results.
    var stamp: UInt32 = 0
    var parents = Growable<ParentBinding>(capacity: 4)
    var parentValues = Growable<BoundValue>(capacity: 4)
    var parentNotes = Growable<Note>(capacity: 4)
    /// The most recent repair.
    var lastRepair = Repair.dash

    /// The number of results and values for which memory is kept for the next request.
    private static var retainedCapacity: Int { 1024 }

    /// Removes the values of parent routes, and invalidates all results with a new, greater stamp.
    mutating func forget(stamp: UInt32) {
        self.stamp = stamp
        if parents.isEmpty { return }
        parents.removeAll(keeping: Self.retainedCapacity)
        parentValues.removeAll(keeping: Self.retainedCapacity)
        parentNotes.removeAll(keeping: Self.retainedCapacity)
    }

    /// Resets all stamps.
    mutating func clear() {
        for index in 0..<all.count { all[index] = Reading() }
    }

    /// Returns the position of the result for a number, without a repair or with one.
    mutating func index(of number: Int32, repair: Repair?) -> Int {
        let index = Int(number) &* 4 &+ (repair.map { Int($0.rawValue) &+ 1 } ?? 0)
        while all.count <= index { all.append(Reading()) }
        return index
    }
}

/// The data that is read once for a record, for all of its devices and all tables.
package struct RecordReadings: ~Copyable {
    /// A Boolean value that indicates whether there is any data of the record, also among the results for further
    /// devices.
    var hasData = false
    /// The texts that the other properties refer to.
    var texts = RecordTexts()
    /// The values of a payload.
    var payload = PayloadReading()
    /// The parameters of a `route` request.
    package var params = ParamTable()
    /// The request as members of `resume`, after it was first written.
    var resumed: ByteView = .empty
    /// A Boolean value that indicates whether strictly validated data could not be read again.
    var isBroken = false

    /// Removes the data of the record.
    mutating func forget() {
        payload.forget()
        texts.forget()
        hasData = false
    }
}

/// The link, or the route and its parameters, that a payload contains.
struct PayloadRequest: BitwiseCopyable {
    /// The link, or empty if there is none.
    var link: ByteView = .empty
    /// The route's id.
    var route: ByteView = .empty
    /// The parameters as a JSON object, or empty if there are none.
    var params: ByteView = .empty
    /// The query of the wrappers around the link, or empty if there are none.
    var wrapperQuery: ByteView = .empty
}

/// The texts of a record that had to be created by resolving escapes or composing.
///
/// They are valid until `forget`, which a resolver calls for the next request, never between the devices of a record.
struct RecordTexts: ~Copyable {
    /// Only the cursor's memory for resolved escapes is used, which is valid until a text is opened.
    private var escapes = JSONCursor(maxDepth: 1)
    private var arena = OutputArena(chunkBytes: 4096)
    private var composer = Composer()

    /// Removes all texts.
    mutating func forget() {
        escapes.open(.empty)
        arena.reset()
    }

    /// Returns the text of a strictly validated JSON string with its quotes.
    mutating func text(quoted raw: ByteView) -> ByteView {
        let inner = raw.slice(1, raw.count &- 1)
        let hasEscape = ByteScan.first(UInt8(ascii: "\\"), in: inner, from: 0) < inner.count
        return escapes.unescaped(JSONString(raw: inner, hasEscape: hasEscape, hasNonASCII: true))
    }

    /// Returns the text in normalization form C (NFC), without a copy if it is already composed.
    ///
    /// See RouteTableReference, "Text".
    mutating func normalForm(_ text: ByteView) -> ByteView {
        if text.isSurelyComposed { return text }
        arena.begin()
        composer.append(text, to: &arena)
        return arena.finish()
    }

    /// Returns the NFC form of a text if that form is ASCII, or nil.
    ///
    /// Only three non-ASCII characters compose to ASCII, each by itself: U+212A (`K`), U+037E (`;`), and U+1FEF (a
    /// grave accent).
    mutating func composedASCII(_ text: ByteView) -> ByteView? {
        arena.begin()
        arena.reserve(text.count)
        var index = 0
        while index < text.count {
            let rest = text.dropFirst(index)
            if text[index] < 0x80 {
                arena.append(byte: text[index])
                index += 1
            } else if rest.hasPrefix(ByteView("\u{212A}")) {
                arena.append(byte: UInt8(ascii: "K"))
                index += 3
            } else if rest.hasPrefix(ByteView("\u{37E}")) {
                arena.append(byte: UInt8(ascii: ";"))
                index += 2
            } else if rest.hasPrefix(ByteView("\u{1FEF}")) {
                arena.append(byte: UInt8(ascii: "`"))
                index += 3
            } else {
                arena.abandon()
                return nil
            }
        }
        return arena.finish()
    }

    /// Returns a text that the closure writes.
    mutating func write<Failure: Error>(
        _ body: (inout OutputArena) throws(Failure) -> Void
    ) throws(Failure) -> ByteView {
        arena.begin()
        try body(&arena)
        return arena.finish()
    }
}

/// The results of a request that do not depend on the device, kept for the second and further devices.
struct SharedPart: ~Copyable {
    /// A Boolean value that indicates whether the results are kept because there was a second device.
    var isKept = false
    /// A second memory for texts.
    ///
    /// It is swapped with the memory of the resolver, so that one holds the texts of the request, and the other one the
    /// texts of the device.
    var texts = ResolutionTexts(chunkBytes: 4096, builtChunkBytes: 4096)
    /// The number of notes after the selection, and the reason if it failed.
    var notes = 0
    var failure: Rejection?
    /// A Boolean value that indicates whether the route's own values are bound, with the notes and the failure of the
    /// binding.
    var isBound = false
    var boundNotes = Growable<Note>(capacity: 4)
    var boundFailure: Rejection?
    /// The number of list items of the route's own values.
    var items = 0
}

// Resolves a request for further devices.
extension Resolver {
    /// Resolves the most recent request, which must not have changed, for another device.
    ///
    /// The request is not read, selected, or bound again. The decision equals the decision of `resolve`, byte for byte.
    /// Parents that are the entries of other routes depend on the device and are bound for each device.
    package mutating func resolveNext(
        _ device: UnsafePointer<DeviceView>, head: UnsafePointer<DecisionHead>?, into out: inout OutputArena
    ) -> DecisionSummary {
        if values.needsRestart {
            // Resetting the stamps also removes the bound values.
            return resolve(request.pointer, device, table: table, head: head, keepsReadings: true, into: &out)
        }
        if !shared.isKept { keepShared() }
        values.startDevice(keepingItems: shared.items)
        self.device.open(device)
        self.head = head.map { Ref($0) }
        texts.reset()
        notes.truncate(to: shared.notes)
        variant = nil
        stack.removeAll()
        parentRoutes.removeAll()
        if let failure = shared.failure { return fallBack(failure, &out) }
        return decide(selection, &out)
    }

    /// Completes the parts that do not depend on the device and stores their texts in memory that persists.
    @inline(never)
    private mutating func keepShared() {
        shared.isKept = true
        record.hasData = true
        notes.truncate(to: shared.notes)
        values.items.removeAll()
        readings.forget(stamp: values.nextStamp())
        // Results that would be made on first use by a device are made now, in the memory of the request.
        query.split(&texts)
        query.decodeAll(&texts)
        shared.isBound = false
        shared.boundFailure = nil
        shared.boundNotes.removeAll()
        if shared.failure == nil, let route = selection.route, route.action == .variants {
            do throws(Rejection) {
                try bindRoute(route)
            } catch {
                shared.boundFailure = error
            }
            for index in shared.notes..<notes.count { shared.boundNotes.append(notes[index]) }
            shared.isBound = true
        }
        closeShared()
    }

    /// Stores new texts in the memory of the request until `closeShared`.
    mutating func openShared() {
        query.isSealed = false
        swap(&texts, &shared.texts)
    }

    /// Keeps the list items of the request and stores new texts in the memory of the device again.
    mutating func closeShared() {
        shared.items = values.items.count
        query.isSealed = true
        swap(&texts, &shared.texts)
    }

    /// Repeats the notes and the failure of binding the route's own values.
    mutating func replayBinding() throws(Rejection) {
        for index in 0..<shared.boundNotes.count { notes.append(shared.boundNotes[index]) }
        if let failure = shared.boundFailure { throw failure }
    }

    /// Removes the kept results.
    mutating func forgetShared() {
        shared.isKept = false
        shared.isBound = false
        shared.texts.reset()
    }
}
