package import ByteStorage

/// Changes of devices and of positions that a store applies in one transaction.
///
/// The bytes are copied. A later change of a device in the same batch replaces an earlier one.
package struct RegistryBatch: Sendable {
    /// A change of a device: where its key and its value are in `bytes`.
    struct Change: Sendable {
        /// The first eight bytes of the id as a number, by which most ids are ordered.
        var head: UInt64
        /// The start of the key.
        var offset: Int
        /// The number of bytes of the id.
        var idCount: UInt16
        /// The number of bytes of the value, which is 0 for a deletion.
        var valueCount: UInt16

        /// The range of the key in `bytes`.
        var key: Range<Int> { offset..<offset + 1 + Int(idCount) }
        /// The range of the id in `bytes`.
        var id: Range<Int> { offset + 1..<key.upperBound }
        /// The range of the value in `bytes`.
        var value: Range<Int> { key.upperBound..<key.upperBound + Int(valueCount) }
    }

    private(set) var bytes: [UInt8] = []
    private var changes: [Change] = []
    private(set) var positions: [Int32: Int64] = [:]
    private(set) var witnesses: [Int32: RegistryWitness] = [:]

    /// Creates an empty batch.
    package init() {}

    /// The number of changes of devices.
    package var count: Int { changes.count }

    /// A Boolean value that indicates whether the batch has enough changes while a store is restored.
    ///
    /// Devices in a row of the topic have different pages of the store. With more changes in a batch, more of them have
    /// one page, which is then written once. The limits are 256,000 changes, and 32 MiB for their bytes.
    package var isFull: Bool { changes.count >= 256_000 || bytes.count >= 32 << 20 }

    /// A Boolean value that indicates whether there are neither changes nor positions.
    package var isEmpty: Bool { changes.isEmpty && positions.isEmpty }

    /// Adds a device, or replaces it.
    ///
    /// - Parameters:
    ///   - id: The id, 1 to 256 bytes.
    ///   - user: The user, at most 256 bytes, or an empty view for none.
    ///   - timestamp: The timestamp of the record in milliseconds since 1970.
    ///   - facts: The facts, at most 4,096 bytes.
    /// - Returns: False if a length is outside of its limits. Then nothing was added.
    @discardableResult
    package mutating func put(id: ByteView, user: ByteView, timestamp: Int64, facts: ByteView) -> Bool {
        guard user.count <= StoredDevice.nameLimit, facts.count <= StoredDevice.factsLimit else { return false }
        let count = StoredDevice.headBytes + user.count + facts.count
        guard let change = add(id, valueCount: count) else { return false }
        withUnsafeBytes(of: UInt32(0)) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: timestamp) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt16(user.count)) { bytes.append(contentsOf: $0) }
        if !user.isEmpty { bytes.append(contentsOf: user.buffer) }
        if !facts.isEmpty { bytes.append(contentsOf: facts.buffer) }
        bytes.withUnsafeMutableBytes { all in
            let value = UnsafeMutableRawBufferPointer(rebasing: all[change.value])
            let id = UnsafeRawBufferPointer(rebasing: all[change.id])
            value.storeBytes(of: StoredDevice.checksum(UnsafeRawBufferPointer(value), id: id), as: UInt32.self)
        }
        return true
    }

    /// Adds the deletion of a device, which need not exist.
    ///
    /// - Returns: False if the id does not have 1 to 256 bytes. Then nothing was added.
    @discardableResult
    package mutating func delete(id: ByteView) -> Bool { add(id, valueCount: 0) != nil }

    /// Sets the next offset of a partition.
    package mutating func setPosition(_ partition: Int32, _ nextOffset: Int64) { positions[partition] = nextOffset }

    /// Sets the last record that was read of a partition.
    package mutating func setWitness(_ partition: Int32, _ witness: RegistryWitness) {
        witnesses[partition] = witness
    }

    /// Removes all changes, positions, and witnesses.
    package mutating func removeAll(keepingCapacity: Bool = true) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        changes.removeAll(keepingCapacity: keepingCapacity)
        positions.removeAll(keepingCapacity: keepingCapacity)
        witnesses.removeAll(keepingCapacity: keepingCapacity)
    }

    private mutating func add(_ id: ByteView, valueCount: Int) -> Change? {
        guard id.count > 0, id.count <= StoredDevice.nameLimit else { return nil }
        let change = Change(
            head: ByteScan.head(of: id).byteSwapped, offset: bytes.count, idCount: UInt16(id.count),
            valueCount: UInt16(valueCount))
        changes.append(change)
        bytes.append(StoreKey.device)
        bytes.append(contentsOf: id.buffer)
        return change
    }

    /// Returns the last change of each device, in the order of the ids.
    ///
    /// - Parameter bytes: The bytes of the batch.
    func lastChanges(_ bytes: UnsafeRawBufferPointer) -> [Change] {
        func order(_ a: Change, _ b: Change) -> Int {
            if a.head != b.head { return a.head < b.head ? -1 : 1 }
            return StoreKey.compare(
                UnsafeRawBufferPointer(rebasing: bytes[a.id]), UnsafeRawBufferPointer(rebasing: bytes[b.id]))
        }
        var result = changes.sorted { a, b in
            let order = order(a, b)
            return order == 0 ? a.offset < b.offset : order < 0
        }
        var count = 0
        for (index, change) in result.enumerated() {
            if index + 1 < result.count, order(change, result[index + 1]) == 0 { continue }
            result[count] = change
            count += 1
        }
        result.removeLast(result.count - count)
        return result
    }
}
