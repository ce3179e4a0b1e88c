internal import ByteStorage

/// The devices of a topic in an LMDB file: a cache that can be deleted at any time and read from the topic again.
///
/// One thread calls `apply`, and each lane reads through its own `RegistrySnapshot`. The changes of a batch and the
/// positions after it are one transaction, except while the store is restored. A store that was not closed is used
/// again if only its process has ended. It is deleted if the machine has stopped, because a transaction does not wait
/// for the disk.
package final class RegistryStore: Sendable {
    private struct Current: Sendable {
        var state: StoreState
        var isClosed = false
        var isDamaged = false
    }

    /// The reason why the store of an earlier run was deleted, or nil if it is used or if there was none.
    package let droppedBecause: DropReason?
    let environment: StoreEnvironment
    /// The secret of the hashes of users, which never changes.
    let key: UserKey
    private let maxDevices: Int
    /// The limit of devices while deletions can follow that are not compacted yet: twice `devices.max`.
    private var maxAtOnce: Int { maxDevices.multipliedReportingOverflow(by: 2).overflow ? .max : 2 * maxDevices }
    private let current: Lock<Current>

    private init(
        _ environment: StoreEnvironment, _ state: StoreState, maxDevices: Int, droppedBecause: DropReason?
    ) {
        self.environment = environment
        key = state.key
        self.maxDevices = maxDevices
        self.droppedBecause = droppedBecause
        current = Lock(Current(state: state))
    }

    /// Opens the store of a directory, or creates an empty one.
    ///
    /// It reads all of an existing store once, which takes about 0.1 s for a million devices in the page cache. It
    /// deletes a store that cannot be used.
    ///
    /// - Throws: `.inUse` if it is open elsewhere, and `.unusable` or `.noSpace` if its files cannot be used.
    package static func open(
        _ configuration: RegistryStoreConfiguration
    ) throws(RegistryStoreError) -> RegistryStore {
        let directory = try StoreDirectory(path: configuration.directory)
        let mark = directory.readMark()
        let examined = try directory.withData { examine($0, mark, configuration) }
        var found: StoreState?
        var reason: DropReason?
        switch examined {
        case .success(let state): found = state
        case .failure(let failure): reason = failure
        case nil: break
        }
        if found == nil { directory.removeStore() }
        try directory.write(.open(bootID: configuration.bootID))
        let environment = try StoreEnvironment(directory, mapBytes: configuration.mapBytes)
        var state = found ?? StoreState(source: configuration.source, updated: configuration.now)
        state.source.addIDs(of: configuration.source)
        if found == nil {
            do throws(RegistryStoreError) {
                let writer = try StoreWriter(environment)
                try put(state, writer)
                try writer.commit()
            } catch {
                // A file without a state would count as damaged.
                directory.removeStore()
                throw error
            }
        }
        return RegistryStore(environment, state, maxDevices: configuration.maxDevices, droppedBecause: reason)
    }

    /// Returns the state of a store that can be used, or the reason why it cannot.
    private static func examine(
        _ data: UnsafeRawBufferPointer, _ mark: StoreDirectory.Mark, _ configuration: RegistryStoreConfiguration
    ) -> Result<StoreState, DropReason> {
        switch mark {
        case .none: break
        case .damaged: return .failure(.damaged)
        case .open(let bootID): if bootID.isEmpty || bootID != configuration.bootID { return .failure(.crashed) }
        }
        do throws(DropReason) {
            let state = try StoreCheck.run(data)
            guard state.source.isSame(as: configuration.source) else { return .failure(.foreign) }
            if let limit = configuration.maxAgeSeconds {
                // A time in the future is as wrong as one in the past.
                let (age, isFar) = configuration.now.subtractingReportingOverflow(state.updated)
                if isFar || age.magnitude / 1000 > UInt64(max(limit, 0)) { return .failure(.stale) }
            }
            return .success(state)
        } catch {
            return .failure(error)
        }
    }

    /// The number of devices.
    package var count: Int { current.withLock { $0.state.count } }

    /// The size of the part of the file that is in use, in bytes.
    package var bytes: Int { environment.bytes }

    /// The time of the last batch, or of the creation of the store, in milliseconds since 1970.
    package var updated: Int64 { current.withLock { $0.state.updated } }

    /// Returns the next offsets by partition, as of the last batch.
    package func positions() -> [Int32: Int64] { current.withLock { $0.state.positions } }

    /// Returns the last records that were read, by partitions.
    package func witnesses() -> [Int32: RegistryWitness] { current.withLock { $0.state.witnesses } }

    /// Throws `.tooManyDevices` if there are more devices than the limit.
    package func checkCount() throws(RegistryStoreError) {
        if count > maxDevices { throw .tooManyDevices(limit: maxDevices) }
    }

    /// Makes the next opening delete the store, such as after a snapshot has found a damaged device.
    ///
    /// If the mark cannot be written, the next opening checks the store itself.
    package func markDamaged() {
        current.withLock { $0.isDamaged = true }
        try? environment.directory.write(.damaged)
    }

    /// Writes everything to the disk, and marks the store as closed.
    ///
    /// The directory can be opened again when this object and its snapshots are released. If the disk fails, the store
    /// counts as one that was not closed.
    package func close() {
        let before = current.withLock { current in
            defer { current.isClosed = true }
            return current
        }
        guard !before.isClosed, !before.isDamaged, (try? environment.sync()) != nil else { return }
        environment.directory.removeMark()
    }
}

/// The application of batches.
extension RegistryStore {
    /// A device that a user gains or loses.
    private struct Link {
        var user: UInt64
        /// The range of the id in the bytes of the batch.
        var id: Range<Int>
        var isAdded: Bool
    }

    /// The number of changes in a transaction while the store is restored.
    ///
    /// A transaction keeps the pages that it changes in memory, and LMDB keeps the memory of the largest one.
    private static let restoredChanges = 4_000

    /// Applies all changes of a batch, and its positions.
    ///
    /// They are one transaction. After an error nothing has changed, and the store can be used as before, except after
    /// `.damaged` and `.failed`.
    ///
    /// While the topic has later records, a batch is large and its changes are in many transactions, in the order of
    /// the ids, so that each page is written about once. Only the last one has the positions. After an error, or if the
    /// process ends before, the earlier ones stay, and all records of the batch have to be read again. The topic still
    /// has those that delete devices, for `delete.retention.ms` after the store was created, and an older store is not
    /// used.
    ///
    /// - Parameters:
    ///   - batch: The batch, which is not changed.
    ///   - now: The time in milliseconds since 1970, from which the age of the store is counted.
    ///   - isRestoring: A Boolean value that indicates whether the topic has later records, which can delete devices.
    ///     Then there may be twice as many devices as the limit, and `checkCount` compares them at the end.
    ///   - afterEach: A function that is called after each transaction.
    /// - Throws: `.noSpace`, `.mapFull`, `.tooManyDevices`, or `.tooManyAtOnce`, `.damaged` if LMDB finds damaged
    ///   pages, and `.closed`.
    package func apply(
        _ batch: RegistryBatch, now: Int64, isRestoring: Bool = false, afterEach: () -> Void = {}
    ) throws(RegistryStoreError) {
        var state = current.withLock { $0.state }
        let limit = max(isRestoring ? maxAtOnce : maxDevices, state.count)
        try batch.bytes.withUnsafeBufferPointer { (bytes) throws(RegistryStoreError) in
            let bytes = UnsafeRawBufferPointer(bytes)
            let changes = batch.lastChanges(bytes)
            let step = isRestoring ? Self.restoredChanges : max(changes.count, 1)
            var first = 0
            repeat {
                guard !current.withLock({ $0.isClosed }) else { throw .closed }
                let end = min(first + step, changes.count)
                let writer = try StoreWriter(environment)
                do throws(RegistryStoreError) {
                    let links = try write(changes[first..<end], bytes, writer, &state)
                    try write(links, bytes, writer)
                    guard state.count <= limit else {
                        throw isRestoring ? .tooManyAtOnce(limit: maxAtOnce) : .tooManyDevices(limit: maxDevices)
                    }
                    if end == changes.count {
                        state.updated = now
                        state.positions.merge(batch.positions) { $1 }
                        state.witnesses.merge(batch.witnesses) { $1 }
                    }
                    try Self.put(state, writer)
                    try writer.commit()
                } catch {
                    if case .damaged = error { markDamaged() }
                    throw error
                }
                current.withLock { [state] in $0.state = state }
                first = end
                afterEach()
            } while first < changes.count
        }
    }

    /// Writes devices in the order of their ids, and returns the changes of links.
    private func write(
        _ changes: ArraySlice<RegistryBatch.Change>, _ bytes: UnsafeRawBufferPointer, _ writer: borrowing StoreWriter,
        _ state: inout StoreState
    ) throws(RegistryStoreError) -> [Link] {
        var links: [Link] = []
        for change in changes {
            let id = UnsafeRawBufferPointer(rebasing: bytes[change.id])
            let key = UnsafeRawBufferPointer(rebasing: bytes[change.key])
            let value = UnsafeRawBufferPointer(rebasing: bytes[change.value])
            let isDeletion = value.isEmpty
            let found = try isDeletion ? writer.find(key) : writer.insert(key, value)
            let new = isDeletion ? nil : StoredDevice(value, id: id)
            var old: StoredDevice?
            if let found {
                if StoreKey.compare(found, value) == 0 { continue }
                old = StoredDevice(found, id: id)
                guard old != nil else { throw .damaged(directory: environment.directory.path) }
            }
            // The old value is not read after the write, which can move it.
            let (oldUser, oldChecksum) = (old?.userHash(state.key), old?.checksum)
            if found != nil { try isDeletion ? writer.remove() : writer.replace(key, value) }
            state.count += (new == nil ? 0 : 1) - (found == nil ? 0 : 1)
            state.digest = state.digest &+ UInt64(new?.checksum ?? 0) &- UInt64(oldChecksum ?? 0)
            let newUser = new?.userHash(state.key)
            if oldUser == newUser { continue }
            if let oldUser { links.append(Link(user: oldUser, id: change.id, isAdded: false)) }
            if let newUser { links.append(Link(user: newUser, id: change.id, isAdded: true)) }
        }
        return links
    }

    /// Writes links in the order of their keys.
    private func write(
        _ links: [Link], _ bytes: UnsafeRawBufferPointer, _ writer: borrowing StoreWriter
    ) throws(RegistryStoreError) {
        let buffer = KeyBuffer()
        // The ids are in order already, so most links of one user are too. The rest is left to LMDB.
        for link in links.sorted(by: { $0.user < $1.user }) {
            let key = buffer.link(link.user, id: UnsafeRawBufferPointer(rebasing: bytes[link.id]))
            if link.isAdded {
                try writer.put(key, UnsafeRawBufferPointer(start: nil, count: 0))
            } else {
                guard try writer.find(key) != nil else { throw .damaged(directory: environment.directory.path) }
                try writer.remove()
            }
        }
    }

    private static func put(_ state: StoreState, _ writer: borrowing StoreWriter) throws(RegistryStoreError) {
        try state.encoded.withUnsafeBufferPointer { (value) throws(RegistryStoreError) in
            try withUnsafeBytes(of: StoreKey.state) { (key) throws(RegistryStoreError) in
                try writer.put(key, UnsafeRawBufferPointer(value))
            }
        }
    }
}
