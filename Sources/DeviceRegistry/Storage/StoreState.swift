/// The state of a store, which each transaction writes together with its changes.
struct StoreState: Sendable, Equatable {
    /// The version of the format of keys and values.
    static let format: UInt32 = 3

    /// The topic whose records the store holds.
    var source: RegistrySource
    /// The secret of the hashes of users.
    var key: UserKey
    /// The number of devices.
    var count = 0
    /// The sum of the checksums of all devices, by which a lost or old device is found.
    var digest: UInt64 = 0
    /// The time of the last batch in milliseconds since 1970.
    var updated: Int64
    /// The next offsets by partition.
    var positions: [Int32: Int64] = [:]
    /// The last records that were read, by partitions.
    var witnesses: [Int32: RegistryWitness] = [:]

    /// The bytes of the state: a checksum, the format, and the values.
    var encoded: [UInt8] {
        var writer = Writer()
        writer.add(Self.format)
        for text in [source.cluster, source.topic, source.topicID, source.members] { writer.add(text) }
        writer.add(key.low)
        writer.add(key.high)
        writer.add(count)
        writer.add(digest)
        writer.add(updated)
        writer.add(positions.count)
        for (partition, offset) in positions.sorted(by: { $0.key < $1.key }) {
            writer.add(partition)
            writer.add(offset)
        }
        writer.add(witnesses.count)
        for (partition, witness) in witnesses.sorted(by: { $0.key < $1.key }) {
            writer.add(partition)
            writer.add(witness.offset)
            writer.add(witness.timestamp)
            writer.add(witness.hash)
        }
        var whole = Writer()
        whole.add(writer.bytes.withUnsafeBytes { StoreHash.hash($0, seed: 0) })
        return whole.bytes + writer.bytes
    }

    /// Creates the state of an empty store, with a secret of its own.
    init(source: RegistrySource, updated: Int64) {
        self.source = source
        key = UserKey(low: .random(in: 0 ... .max), high: .random(in: 0 ... .max))
        self.updated = updated
    }

    /// Reads bytes that `encoded` has returned.
    ///
    /// - Throws: `.damaged` if they are not such bytes, and `.format` if their format is another one.
    init(_ bytes: UnsafeRawBufferPointer) throws(RegistryStore.DropReason) {
        var reader = Reader(bytes: bytes)
        let sum: UInt64 = try reader.number()
        let rest = UnsafeRawBufferPointer(rebasing: bytes[reader.at...])
        guard sum == StoreHash.hash(rest, seed: 0) else { throw .damaged }
        guard try reader.number() == Self.format else { throw .format }
        source = RegistrySource(
            cluster: try reader.text(), topic: try reader.text(), topicID: try reader.text(),
            members: try reader.text())
        key = UserKey(low: try reader.number(), high: try reader.number())
        count = try reader.number()
        digest = try reader.number()
        updated = try reader.number()
        for _ in 0..<(try reader.count()) {
            let partition: Int32 = try reader.number()
            positions[partition] = try reader.number()
        }
        for _ in 0..<(try reader.count()) {
            let partition: Int32 = try reader.number()
            witnesses[partition] = RegistryWitness(
                offset: try reader.number(), timestamp: try reader.number(), hash: try reader.number())
        }
    }

    private struct Writer {
        var bytes: [UInt8] = []

        mutating func add(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func add(_ text: String) {
            add(text.utf8.count)
            bytes.append(contentsOf: text.utf8)
        }
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var at = 0

        mutating func number<Number: FixedWidthInteger & BitwiseCopyable>() throws(RegistryStore.DropReason) -> Number {
            guard bytes.count - at >= MemoryLayout<Number>.size else { throw .damaged }
            defer { at += MemoryLayout<Number>.size }
            return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Number.self))
        }

        /// Reads a number of things that follow and have at least one byte each.
        mutating func count() throws(RegistryStore.DropReason) -> Int {
            let count: Int = try number()
            guard count >= 0, count <= bytes.count - at else { throw .damaged }
            return count
        }

        mutating func text() throws(RegistryStore.DropReason) -> String {
            let count = try count()
            defer { at += count }
            return String(decoding: bytes[at..<at + count], as: UTF8.self)
        }
    }
}
