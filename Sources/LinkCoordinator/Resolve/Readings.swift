internal import ByteStorage
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
