internal import ByteStorage
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The first byte of a key, which says what the record is.
enum StoreKey {
    /// The state of the store, whose key is this byte alone.
    static let state: UInt8 = 0
    /// A device: the id follows, and the value is a `StoredDevice`.
    static let device: UInt8 = 1
    /// A device of a user: the hash of the user and the id follow, and the value is empty.
    ///
    /// The user itself is only in the value of the device, so keys have at most 265 bytes. LMDB allows 511.
    static let link: UInt8 = 2
    /// The number of bytes before the id in the key of a link.
    static let linkHead = 9

    /// Returns the order of two keys, byte by byte, as a negative number, zero, or a positive number.
    static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let shared = min(a.count, b.count)
        if shared > 0, let a = a.baseAddress, let b = b.baseAddress {
            let order = memcmp(a, b, shared)
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }
}

/// The value of a device: a checksum, the timestamp, the length of the user, the user, and the facts.
///
/// Numbers have the order of bytes of the machine, as in LMDB's own pages.
struct StoredDevice {
    /// The number of bytes before the user.
    static let headBytes = 14
    /// The greatest number of bytes of an id, and of a user.
    static let nameLimit = 256
    /// The greatest number of bytes of the facts.
    static let factsLimit = 4096

    let checksum: UInt32
    let timestamp: Int64
    let user: UnsafeRawBufferPointer
    let facts: UnsafeRawBufferPointer

    /// Reads the value of a device, or returns nil if it is not what was written for this id.
    @inline(__always)
    init?(_ value: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) {
        let limit = Self.headBytes + Self.nameLimit + Self.factsLimit
        guard value.count >= Self.headBytes, value.count <= limit else { return nil }
        checksum = value.loadUnaligned(as: UInt32.self)
        guard checksum == Self.checksum(value, id: id) else { return nil }
        timestamp = value.loadUnaligned(fromByteOffset: 4, as: Int64.self)
        let end = Self.headBytes + Int(value.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
        guard end <= value.count else { return nil }
        user = UnsafeRawBufferPointer(rebasing: value[Self.headBytes..<end])
        facts = UnsafeRawBufferPointer(rebasing: value[end...])
    }

    /// The hash of the user by which links are sorted, or nil if there is no user.
    var userHash: UInt64? { user.isEmpty ? nil : StoreHash.hash(user, seed: 1) }

    /// Returns the checksum of an id and of a value after its first four bytes.
    @inline(__always)
    static func checksum(_ value: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) -> UInt32 {
        let rest = UnsafeRawBufferPointer(rebasing: value[4...])
        return UInt32(truncatingIfNeeded: StoreHash.hash(rest, seed: StoreHash.hash(id, seed: 0)))
    }
}

/// A fast hash, which is neither keyed nor cryptographic.
enum StoreHash {
    /// Returns the hash of bytes.
    ///
    /// Each step is a bijection, so two inputs that differ in one word have different hashes of 64 bits.
    @inline(__always)
    static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var hash = (seed ^ UInt64(truncatingIfNeeded: bytes.count)) &* 0x9E37_79B9_7F4A_7C15
        var at = 0
        while at &+ 8 <= bytes.count {
            hash = step(hash, bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            at &+= 8
        }
        if at < bytes.count, let base = bytes.baseAddress {
            let tail = (base + at).assumingMemoryBound(to: UInt8.self)
            hash = step(hash, ByteScan.short(tail, bytes.count &- at))
        }
        hash = (hash ^ hash &>> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash &>> 27) &* 0x94D0_49BB_1331_11EB
        return hash ^ hash &>> 31
    }

    @inline(__always)
    private static func step(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* 0xA076_1D64_78BD_642F
        return product ^ product &>> 32
    }
}

/// Memory in which keys are put together.
struct KeyBuffer: ~Copyable {
    private let start = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 8)

    deinit { start.deallocate() }

    /// Returns the key of a device, which is valid until the next call, or nil if there is no such id.
    func device(_ id: ByteView) -> UnsafeRawBufferPointer? {
        guard id.count > 0, id.count <= StoredDevice.nameLimit else { return nil }
        start.storeBytes(of: StoreKey.device, as: UInt8.self)
        (start + 1).copyMemory(from: id.start, byteCount: id.count)
        return UnsafeRawBufferPointer(start: start, count: 1 + id.count)
    }

    /// Returns the key of a link, which is valid until the next call, or the start of a user's keys without an id.
    func link(_ hash: UInt64, id: UnsafeRawBufferPointer?) -> UnsafeRawBufferPointer {
        start.storeBytes(of: StoreKey.link, as: UInt8.self)
        (start + 1).storeBytes(of: hash.bigEndian, as: UInt64.self)
        if let id, let bytes = id.baseAddress {
            (start + StoreKey.linkHead).copyMemory(from: bytes, byteCount: id.count)
        }
        return UnsafeRawBufferPointer(start: start, count: StoreKey.linkHead + (id?.count ?? 0))
    }
}
