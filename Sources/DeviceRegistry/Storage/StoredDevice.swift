internal import ByteStorage
internal import CLibrary

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

    /// Returns the hash of the user by which links are sorted, or nil if there is no user.
    func userHash(_ key: UserKey) -> UInt64? { user.isEmpty ? nil : key.hash(user) }

    /// Returns the checksum of an id and of a value after its first four bytes.
    @inline(__always)
    static func checksum(_ value: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) -> UInt32 {
        let rest = UnsafeRawBufferPointer(rebasing: value[4...])
        return UInt32(truncatingIfNeeded: StoreHash.hash(rest, seed: StoreHash.hash(id, seed: 0)))
    }
}

/// The secret of a store, from which the hashes of users are computed (SipHash-2-4).
///
/// A look-up of a user visits all devices whose users have its hash. Without a secret, somebody who chooses the names
/// of users could give thousands of them one hash.
struct UserKey: Sendable, Equatable {
    var low: UInt64
    var high: UInt64

    /// Returns the hash of a user.
    func hash(_ user: UnsafeRawBufferPointer) -> UInt64 {
        var state = SIMD4<UInt64>(
            low ^ 0x736F_6D65_7073_6575, high ^ 0x646F_7261_6E64_6F6D, low ^ 0x6C79_6765_6E65_7261,
            high ^ 0x7465_6462_7974_6573)
        let whole = user.count & ~7
        for at in stride(from: 0, to: whole, by: 8) {
            Self.add(UInt64(littleEndian: user.loadUnaligned(fromByteOffset: at, as: UInt64.self)), to: &state)
        }
        var last = UInt64(truncatingIfNeeded: user.count) &<< 56
        for at in whole..<user.count { last |= UInt64(user[at]) &<< UInt64(8 * (at - whole)) }
        Self.add(last, to: &state)
        state[2] ^= 0xFF
        for _ in 0..<4 { Self.mix(&state) }
        return state[0] ^ state[1] ^ state[2] ^ state[3]
    }

    private static func add(_ word: UInt64, to state: inout SIMD4<UInt64>) {
        state[3] ^= word
        mix(&state)
        mix(&state)
        state[0] ^= word
    }

    private static func mix(_ state: inout SIMD4<UInt64>) {
        func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 { value &<< bits | value &>> (64 - bits) }
        state[0] &+= state[1]
        state[1] = rotate(state[1], 13) ^ state[0]
        state[0] = rotate(state[0], 32)
        state[2] &+= state[3]
        state[3] = rotate(state[3], 16) ^ state[2]
        state[0] &+= state[3]
        state[3] = rotate(state[3], 21) ^ state[0]
        state[2] &+= state[1]
        state[1] = rotate(state[1], 17) ^ state[2]
        state[2] = rotate(state[2], 32)
    }
}

/// A fast hash for checksums, which is neither keyed nor cryptographic.
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
