package import ByteStorage

/// The state of a device in a store.
///
/// The views are valid until the snapshot's `end`.
package struct RegistryRecord {
    /// The timestamp of the record in milliseconds since 1970.
    package let timestamp: Int64
    /// The user, or an empty view if the device has none.
    package let user: ByteView
    /// The facts.
    package let facts: ByteView
}

/// A reader of a store that sees one state between `begin` and `end`, while the writer goes on.
///
/// It belongs to one thread at a time. While a state is read, its pages are not used again, so the file grows if a
/// state is read for long.
package final class RegistrySnapshot {
    /// The result of a lookup.
    package enum Lookup {
        /// There is no device with the id.
        case absent
        /// The device.
        case found(RegistryRecord)
        /// The device's bytes are not what was written. Call `RegistryStore.markDamaged`.
        case damaged
    }

    /// The reader is released before the store, so that LMDB closes after its readers.
    private let reader: StoreReader
    private let key: UserKey
    private let buffer = KeyBuffer()
    private let lender = ViewLender()
    private var search = PageSearch()
    private var pages: PageSearch.Pages?
    private var isOpen = false

    /// Creates a snapshot of a store, which it keeps open.
    package init(of store: RegistryStore) {
        reader = StoreReader(store.environment)
        key = store.key
    }

    /// Begins to read the newest state.
    ///
    /// - Throws: `.tooManySnapshots`, or `.failed` with an error of LMDB.
    package func begin() throws(RegistryStoreError) {
        if isOpen { end() }
        try reader.begin()
        pages = reader.pages()
        isOpen = true
    }

    /// Ends the reading, and releases the state and all its views.
    package func end() {
        lender.revoke()
        search.removeAll()
        pages = nil
        reader.end()
        isOpen = false
    }

    /// The number of ids that `lookAhead` takes.
    package static var lookAheadLimit: Int { PageSearch.limit }

    /// Looks up the devices that `find` is probably called with next, which is faster for several at once.
    ///
    /// Call it between `begin` and `end`. It changes no result of `find`.
    package func lookAhead(_ ids: UnsafeBufferPointer<ByteView>) {
        assert(isOpen)
        if let pages { search.run(ids, in: pages) }
    }

    /// Returns what is known about a device.
    ///
    /// Call it between `begin` and `end`.
    package func find(_ id: ByteView) -> Lookup {
        assert(isOpen)
        let known = search.value(of: id)
        guard let value = known ?? buffer.device(id).flatMap(reader.find) else { return .absent }
        guard let device = StoredDevice(value, id: UnsafeRawBufferPointer(id.buffer)) else { return .damaged }
        return .found(
            RegistryRecord(
                timestamp: device.timestamp, user: lender.lend(ByteView(device.user)),
                facts: lender.lend(ByteView(device.facts))))
    }

    /// Calls a function with the ids of a user's devices in the order of their bytes, and returns their number.
    ///
    /// Call it between `begin` and `end`. The function can call `find`, which reports a damaged device.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - limit: The greatest number of ids with which the function is called.
    ///   - body: The function, which gets views that are valid until `end`.
    /// - Returns: The number of devices, or `limit + 1` if there are more than the limit.
    package func devices(of user: ByteView, limit: Int, _ body: (ByteView) -> Void) -> Int {
        assert(isOpen)
        guard !user.isEmpty, limit >= 0 else { return 0 }
        let hash = key.hash(UnsafeRawBufferPointer(user.buffer))
        var found = reader.seek(buffer.link(hash, id: nil))
        var count = 0
        while let key = found, count <= limit {
            guard key.count > StoreKey.linkHead, key[0] == StoreKey.link,
                UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self)) == hash
            else { break }
            let id = lender.lend(ByteView(UnsafeRawBufferPointer(rebasing: key[StoreKey.linkHead...])))
            if belongs(id, to: user) {
                count += 1
                if count <= limit { body(id) }
            }
            found = reader.next()
        }
        return count
    }

    /// Calls a function with each device in the order of the bytes of their ids, until it returns false.
    ///
    /// Call it between `begin` and `end`. The views are valid until `end`.
    ///
    /// - Returns: False if the bytes of a device are not what was written. Call `RegistryStore.markDamaged`.
    package func forEach(_ body: (_ id: ByteView, _ device: RegistryRecord) -> Bool) -> Bool {
        assert(isOpen)
        var found = withUnsafeBytes(of: StoreKey.device) { reader.seek($0) }
        while let key = found, key[0] == StoreKey.device {
            let id = UnsafeRawBufferPointer(rebasing: key[1...])
            guard let value = reader.value(), let device = StoredDevice(value, id: id) else { return false }
            let record = RegistryRecord(
                timestamp: device.timestamp, user: lender.lend(ByteView(device.user)),
                facts: lender.lend(ByteView(device.facts)))
            if !body(lender.lend(ByteView(id)), record) { return true }
            found = reader.next()
        }
        return true
    }

    /// Returns a Boolean value that indicates whether a device has a user, because two users can have the same hash.
    private func belongs(_ id: ByteView, to user: ByteView) -> Bool {
        switch find(id) {
        case .found(let record): record.user == user
        case .damaged: true
        case .absent: false
        }
    }
}
