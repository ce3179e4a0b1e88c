internal import StrictJSON

/// What a binding read, kept for others that read the same.
struct Reading {
    /// Which request it belongs to; older ones count as not read.
    var stamp: UInt32 = 0
    /// A Boolean value that indicates whether all that was read is of its type.
    var isValid = false
    /// The repair that made a value valid, or 0 (N9).
    var repair: UInt8 = 0
    /// A single value.
    var value = BoundValue()
    /// The items of a list in `items`.
    var first: Int32 = 0
    var count: Int32 = 0
}

/// What a route whose entries are parents bound, for the devices after the first.
struct ParentBinding {
    var route: Int32
    /// Where its values and notes stand.
    var firstValue: Int32
    var firstNote: Int32
    var noteCount: Int32
}

/// What is read once for a request, whatever its bindings, parents and devices are.
struct Readings: ~Copyable {
    /// By a binding's number, and for each the four ways to read a query: as it is, and as each repair does.
    var all = Growable<Reading>(capacity: 4)
    /// The stamp of readings that count.
    var stamp: UInt32 = 0
    var parents = Growable<ParentBinding>(capacity: 4)
    var parentValues = Growable<BoundValue>(capacity: 4)
    var parentNotes = Growable<Note>(capacity: 4)

    /// Most readings and values whose memory is kept for the next request.
    private static var kept: Int { 1024 }

    /// Forgets what was read; a greater stamp begins.
    mutating func forget(stamp: UInt32) {
        self.stamp = stamp
        if parents.isEmpty { return }
        parents.removeAll(keeping: Self.kept)
        parentValues.removeAll(keeping: Self.kept)
        parentNotes.removeAll(keeping: Self.kept)
    }

    /// Forgets the stamps, which begin anew.
    mutating func clear() {
        for index in 0..<all.count { all[index] = Reading() }
    }

    /// Where the reading of a number stands: as it is, or by a repair.
    mutating func place(_ number: Int32, _ repair: Repair?) -> Int {
        let place = Int(number) &* 4 &+ (repair.map { Int($0.rawValue) &+ 1 } ?? 0)
        while all.count <= place { all.append(Reading()) }
        return place
    }
}

extension Resolver {
    /// Binds a value that several bindings of the route read alike.
    @inline(never)
    mutating func bindAgain(_ binding: Ref<BindingImage>, scope: UInt8) -> Bool {
        let target = slot(Int(binding.field), scope: scope)
        let place = readings.place(binding.reading, nil)
        if readings.all[place].stamp != readings.stamp {
            let notesBefore = notes.count
            let isValid = bindSingle(binding, scope: scope)
            var reading = Reading(stamp: readings.stamp, isValid: isValid, value: values[target])
            if notes.count > notesBefore { reading.repair = lastRepair.rawValue &+ 1 }
            readings.all[place] = reading
            return isValid
        }
        let reading = readings.all[place]
        values[target] = reading.value
        values[target].stamp = stamp(of: scope)
        if reading.repair > 0, let repair = Repair(rawValue: reading.repair &- 1) { note(repair, binding) }
        return reading.isValid
    }

    /// Reads the items that stand at a binding's source, all of them and each once; of a list that is too long or has
    /// an item which is not of its type, none.
    mutating func readList(
        _ binding: Ref<BindingImage>, _ field: Ref<FieldImage>, _ repair: Repair? = nil
    ) -> Reading {
        // A constant is read where it stands.
        let place = binding.reading < 0 ? -1 : readings.place(binding.reading, repair)
        if place >= 0 && readings.all[place].stamp == readings.stamp { return readings.all[place] }
        listStart = items.count
        let isValid = addItems(binding, field)
        if !isValid { items.truncate(to: listStart) }
        let reading = Reading(
            stamp: readings.stamp, isValid: isValid, first: Int32(truncatingIfNeeded: listStart),
            count: Int32(truncatingIfNeeded: items.count &- listStart))
        if place >= 0 { readings.all[place] = reading }
        return reading
    }
}
