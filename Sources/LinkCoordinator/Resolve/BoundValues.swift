internal import ByteStorage

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

/// The result of phase 5: the values of the fields of a table, with those of parent routes in scopes of their own.
///
/// A value belongs to the current request, or to the current device, if it has that stamp. No value has to be removed
/// for another one.
package struct BoundValues: ~Copyable {
    private var values = Growable<BoundValue>(capacity: 64)
    /// The items of lists.
    var items = Growable<BoundValue>(capacity: 16)
    /// The position in `items` at which the current list begins.
    var listStart = 0
    /// The number of fields in a scope.
    private var fieldCount = 0
    /// The stamps of values that were bound for this request, and of those bound only for this device.
    private(set) var stamp: UInt32 = 0
    private var deviceStamp: UInt32 = 0
    /// The last assigned stamp.
    private var lastStamp: UInt32 = 0

    /// Begins a request for a table with this number of fields.
    ///
    /// Returns `false` if the stamps begin again, so that results with old stamps must be removed.
    @inline(__always)
    mutating func start(fields: Int, scopes: Int) -> Bool {
        fieldCount = fields
        lastStamp &+= 1
        let isNew = lastStamp != 0
        if !isNew { clear() }
        stamp = lastStamp
        deviceStamp = lastStamp
        items.removeAll()
        let needed = fields &* scopes
        while values.count < needed { values.append(BoundValue()) }
        return isNew
    }

    @inline(never)
    private mutating func clear() {
        for index in 0..<values.count { values[index] = BoundValue() }
        lastStamp = 1
    }

    /// A Boolean value that indicates whether there are no stamps for another device.
    var needsRestart: Bool { mutating get { lastStamp >= .max - 2 } }

    /// Begins another device of the request, and keeps the first items.
    mutating func startDevice(keepingItems count: Int) {
        lastStamp &+= 1
        deviceStamp = lastStamp
        items.truncate(to: count)
    }

    /// Returns a new stamp.
    mutating func nextStamp() -> UInt32 {
        lastStamp &+= 1
        return lastStamp
    }

    /// Returns the position of a field's value in a scope.
    @inline(__always)
    mutating func slot(_ field: Int, scope: UInt8) -> Int { Int(scope) &* fieldCount &+ field }

    /// Returns the stamp of values in a scope.
    ///
    /// The values of parent routes depend on the device.
    @inline(__always)
    mutating func stamp(of scope: UInt8) -> UInt32 { scope == 0 ? stamp : deviceStamp }

    /// The address of the first value.
    var base: UnsafeMutablePointer<BoundValue> {
        @inline(__always)
        mutating get { values.base }
    }

    /// Accesses the value at a position that `slot` returned.
    subscript(position: Int) -> BoundValue {
        @inline(__always)
        mutating get { values[position] }
        @inline(__always)
        set { values[position] = newValue }
    }

    /// Returns a Boolean value that indicates whether a field has no value in a scope.
    @inline(__always)
    mutating func isMissing(_ field: Int, scope: UInt8) -> Bool {
        let value = values.base + slot(field, scope: scope)
        return value.pointee.stamp != stamp(of: scope) || value.pointee.state.isAbsent
    }

    /// Returns a Boolean value that indicates whether a parent route binds a value of the wrong type to a field.
    mutating func isInvalid(_ field: Int, scope: UInt8) -> Bool {
        let value = values.base + slot(field, scope: scope)
        return value.pointee.stamp == stamp(of: scope) && value.pointee.state == .invalid
    }

    /// Returns a Boolean value that indicates whether the route has no value for one of the fields.
    @inline(__always)
    mutating func lacksAny(_ fields: UnsafeBufferPointer<Int32>) -> Bool {
        for field in fields where isMissing(Int(field), scope: 0) { return true }
        return false
    }
}
