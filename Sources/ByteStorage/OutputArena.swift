/// A writer of records whose bytes do not move between `finish` and `reset`.
///
/// Records are written one after another into chunks, and each record is contiguous. If the open record outgrows its
/// chunk, its bytes move to a new chunk. Finished records do not move, so their bytes can be lent to C until the next
/// `reset`.
public struct OutputArena: ~Copyable {
    /// The address of the next byte.
    @usableFromInline var cursor: UnsafeMutablePointer<UInt8>
    /// The end of the chunk.
    @usableFromInline var limit: UnsafeMutablePointer<UInt8>
    /// The start of the open record.
    @usableFromInline var recordStart: UnsafeMutablePointer<UInt8>
    @usableFromInline var chunk: Chunk
    private var full: [Chunk] = []
    private var spare: [Chunk] = []
    @usableFromInline var fullBytes = 0
    private let chunkBytes: Int
    /// The lender of views of records, which `reset` revokes.
    @usableFromInline let lender = ViewLender()
    /// The maximum number of bytes of one record.
    ///
    /// Bytes beyond the limit are dropped and `overflowed` becomes true, so the memory of a record is bounded by this
    /// limit and its largest single piece.
    public var recordLimit = Int.max
    /// A Boolean value that indicates whether bytes of the open record were dropped.
    @usableFromInline var hasDropped = false

    @usableFromInline
    struct Chunk {
        @usableFromInline var base: UnsafeMutablePointer<UInt8>
        var capacity: Int
    }

    /// Creates an arena whose chunks have `chunkBytes` bytes, or more if one record needs more.
    public init(chunkBytes: Int = 1 << 20) {
        self.chunkBytes = max(chunkBytes, 4096)
        chunk = Self.allocate(self.chunkBytes)
        cursor = chunk.base
        recordStart = chunk.base
        limit = chunk.base + chunk.capacity
    }

    deinit {
        chunk.base.deallocate()
        for other in full { other.base.deallocate() }
        for other in spare { other.base.deallocate() }
    }

    private static func allocate(_ bytes: Int) -> Chunk {
        Chunk(base: .allocate(capacity: bytes), capacity: bytes)
    }

    /// The number of bytes of finished records and the open record.
    ///
    /// Inlined because Swift 6.3 copies the whole arena to call a getter.
    @inlinable
    public var bytesInUse: Int {
        @inline(__always) get { fullBytes &+ (cursor - chunk.base) }
    }

    /// Starts a record.
    @inlinable
    public mutating func begin() {
        recordStart = cursor
        hasDropped = false
    }

    /// A Boolean value that indicates whether the open record has exceeded `recordLimit` and must not be used.
    @inlinable
    public var overflowed: Bool {
        @inline(__always) get { hasDropped || cursor - recordStart > recordLimit }
    }

    /// Ends the record and returns its bytes, which are valid until `reset`.
    @inlinable
    public mutating func finish() -> ByteView {
        let record = lender.lend(UnsafePointer(recordStart), count: cursor - recordStart)
        recordStart = cursor
        return record
    }

    /// Discards the bytes written since `begin`.
    @inlinable
    public mutating func abandon() { cursor = recordStart }

    /// The number of bytes written since `begin`.
    @inlinable
    public var recordBytes: Int { cursor - recordStart }

    /// Discards the bytes of the open record after its first `count` bytes.
    @inlinable
    public mutating func truncateRecord(to count: Int) {
        if hasDropped { return }
        assert(count >= 0 && count <= recordBytes)
        cursor = recordStart + count
    }

    /// Discards all records and revokes all lent views.
    ///
    /// Up to 64 chunks of ordinary size are reused, and the others are freed. Builds that check views free all of them,
    /// so that a sanitizer detects later uses.
    public mutating func reset() {
        lender.revoke()
        // Check first: iterating over the array retains it, and removing its elements allocates.
        if !full.isEmpty { recycleChunks() }
        if chunk.capacity != chunkBytes || ViewLease.isChecked {
            chunk.base.deallocate()
            chunk = spare.popLast() ?? Self.allocate(chunkBytes)
        }
        fullBytes = 0
        cursor = chunk.base
        recordStart = chunk.base
        limit = chunk.base + chunk.capacity
    }

    /// Keeps full chunks of ordinary size as spare chunks and frees the others.
    @inline(never)
    private mutating func recycleChunks() {
        for other in full {
            if other.capacity == chunkBytes && spare.count < 64 && !ViewLease.isChecked {
                spare.append(other)
            } else {
                other.base.deallocate()
            }
        }
        full.removeAll(keepingCapacity: true)
    }

    /// Reserves space so that `bytes` more can be written without a check.
    @inlinable
    public mutating func reserve(_ bytes: Int) {
        if limit - cursor < bytes { grow(bytes) }
    }

    /// Moves the open record to a chunk with space for `bytes` more, or overwrites a record that is over its limit.
    @inline(never)
    @usableFromInline
    mutating func grow(_ bytes: Int) {
        if cursor - recordStart > recordLimit {
            hasDropped = true
            cursor = recordStart
            if limit - cursor >= bytes { return }
        }
        let written = cursor - recordStart
        let need = written + bytes
        let next =
            need <= chunkBytes
            ? (spare.popLast() ?? Self.allocate(chunkBytes)) : Self.allocate(max(chunkBytes, need + need / 2))
        next.base.update(from: recordStart, count: written)
        fullBytes += recordStart - chunk.base
        full.append(chunk)
        chunk = next
        recordStart = next.base
        cursor = next.base + written
        limit = next.base + next.capacity
    }

    /// Appends bytes.
    @inlinable
    public mutating func append(_ bytes: ByteView) {
        reserve(bytes.count)
        appendReserved(bytes)
    }

    /// Appends bytes for which space was reserved.
    @inlinable
    public mutating func appendReserved(_ bytes: ByteView) {
        assert(limit - cursor >= bytes.count)
        cursor.update(from: bytes.start, count: bytes.count)
        cursor += bytes.count
    }

    /// Appends a literal.
    @inlinable
    public mutating func append(_ literal: StaticString) { append(ByteView(literal)) }

    /// Appends an array.
    @inlinable
    public mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { append(ByteView($0)) }
    }

    /// Appends one byte.
    @inlinable
    public mutating func append(byte: UInt8) {
        reserve(1)
        cursor.pointee = byte
        cursor += 1
    }
}

extension OutputArena {
    /// Appends bytes after which at least `padding` more bytes are readable, such as bytes of a table.
    @inlinable
    public mutating func appendPadded(_ bytes: ByteView) {
        reserve(bytes.count &+ Self.slack)
        putPadded(bytes)
    }

    /// Appends a number as decimal text.
    @inlinable
    public mutating func append(decimal value: Int64) {
        reserve(20)
        if value >= 0 && value < 10 {
            put(byte: UInt8(truncatingIfNeeded: value) &+ UInt8(ascii: "0"))
            return
        }
        if value < 0 { put(byte: UInt8(ascii: "-")) }
        var rest = value.magnitude
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20 && rest >= bound {
            digits &+= 1
            // Overflows only at the twentieth digit, after which it is no longer used.
            bound = bound &* 10
        }
        var position = cursor + digits
        cursor = position
        repeat {
            position -= 1
            position.pointee = UInt8(truncatingIfNeeded: rest % 10) &+ UInt8(ascii: "0")
            rest /= 10
        } while rest != 0
    }

    /// Appends ASCII text with its letters in uppercase, the form in which Foundation prints a UUID.
    @inlinable
    public mutating func appendUppercased(_ text: ByteView) {
        reserve(text.count)
        putUppercased(text)
    }
}

/// Functions that write into reserved space without checks and, for short ranges, without a call.
///
/// They copy whole words. Reserve `OutputArena.slack` bytes more than you write.
extension OutputArena {
    /// The number of bytes after the last written one that a copy in whole words can modify.
    public static let slack = 32

    /// The number of bytes after a range that must be readable for `putPadded`.
    public static let padding = 32

    /// Writes one byte.
    @inlinable
    @inline(__always)
    public mutating func put(byte: UInt8) {
        cursor.pointee = byte
        cursor += 1
    }

    /// Writes a literal, whose length the compiler knows, so this becomes a few stores.
    @inlinable
    @inline(__always)
    public mutating func put(_ literal: StaticString) {
        cursor.update(from: literal.utf8Start, count: literal.utf8CodeUnitCount)
        cursor += literal.utf8CodeUnitCount
    }

    /// Writes bytes after which at least `padding` more bytes are readable, such as bytes of a table.
    @inlinable
    @inline(__always)
    public mutating func putPadded(_ bytes: ByteView) {
        let from = UnsafeRawPointer(bytes.start)
        let to = UnsafeMutableRawPointer(cursor)
        if bytes.count <= 128 {
            // An empty view has no memory.
            if bytes.count > 0 { Self.copy32(from, to) }
            if bytes.count > 32 {
                Self.copy32(from + 32, to + 32)
                if bytes.count > 64 {
                    Self.copy32(from + 64, to + 64)
                    if bytes.count > 96 { Self.copy32(from + 96, to + 96) }
                }
            }
        } else {
            to.copyMemory(from: from, byteCount: bytes.count)
        }
        cursor += bytes.count
    }

    @inlinable
    @inline(__always)
    static func copy32(_ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer) {
        let low = from.loadUnaligned(as: SIMD2<UInt64>.self)
        let high = (from + 16).loadUnaligned(as: SIMD2<UInt64>.self)
        to.storeBytes(of: low, as: SIMD2<UInt64>.self)
        (to + 16).storeBytes(of: high, as: SIMD2<UInt64>.self)
    }

    /// Writes bytes without reading past their end.
    @inlinable
    @inline(__always)
    public mutating func putShort(_ bytes: ByteView) {
        let from = UnsafeRawPointer(bytes.start)
        let to = UnsafeMutableRawPointer(cursor)
        let count = bytes.count
        if count > 32 {
            cursor.update(from: bytes.start, count: count)
        } else if count >= 16 {
            let last = (from + (count &- 16)).loadUnaligned(as: SIMD2<UInt64>.self)
            to.storeBytes(of: from.loadUnaligned(as: SIMD2<UInt64>.self), as: SIMD2<UInt64>.self)
            (to + (count &- 16)).storeBytes(of: last, as: SIMD2<UInt64>.self)
        } else if count >= 8 {
            let last = (from + (count &- 8)).loadUnaligned(as: UInt64.self)
            to.storeBytes(of: from.loadUnaligned(as: UInt64.self), as: UInt64.self)
            (to + (count &- 8)).storeBytes(of: last, as: UInt64.self)
        } else if count >= 4 {
            let last = (from + (count &- 4)).loadUnaligned(as: UInt32.self)
            to.storeBytes(of: from.loadUnaligned(as: UInt32.self), as: UInt32.self)
            (to + (count &- 4)).storeBytes(of: last, as: UInt32.self)
        } else if count > 0 {
            // The first, the middle, and the last of one to three bytes. Some of them can be the same.
            cursor[0] = bytes.start[0]
            cursor[count &>> 1] = bytes.start[count &>> 1]
            cursor[count &- 1] = bytes.start[count &- 1]
        }
        cursor += count
    }

    /// Writes ASCII text with its letters in uppercase.
    @inlinable
    @inline(__always)
    public mutating func putUppercased(_ text: ByteView) {
        var index = 0
        if text.count >= 16 {
            while index &+ 16 < text.count {
                uppercase16(text.start + index, at: index)
                index &+= 16
            }
            // Write the last sixteen bytes, some of them for the second time.
            uppercase16(text.start + (text.count &- 16), at: text.count &- 16)
            cursor += text.count
            return
        }
        while index < text.count {
            let byte = text.start[index]
            cursor[index] = byte &- UInt8(ascii: "a") < 26 ? byte & 0xDF : byte
            index &+= 1
        }
        cursor += text.count
    }

    @inlinable
    @inline(__always)
    mutating func uppercase16(_ from: UnsafePointer<UInt8>, at offset: Int) {
        // The type of the constants is explicit: with inferred types, Swift 6.3 chooses operators that work byte by
        // byte.
        let bytes = UnsafeRawPointer(from).loadUnaligned(as: SIMD16<Int8>.self)
        let fromA = unsafeBitCast(bytes .> SIMD16<Int8>(repeating: 0x60), to: SIMD2<UInt64>.self)
        let toZ = unsafeBitCast(bytes .< SIMD16<Int8>(repeating: 0x7B), to: SIMD2<UInt64>.self)
        let bits = fromA & toZ & SIMD2<UInt64>(repeating: 0x2020_2020_2020_2020)
        UnsafeMutableRawPointer(cursor + offset).storeBytes(
            of: unsafeBitCast(bytes, to: SIMD2<UInt64>.self) ^ bits, as: SIMD2<UInt64>.self)
    }

    /// Writes the first `count` bytes of a word.
    ///
    /// The next write overwrites its other bytes.
    @inlinable
    @inline(__always)
    public mutating func put(_ word: UInt64, count: Int) {
        UnsafeMutableRawPointer(cursor).storeBytes(of: word, as: UInt64.self)
        cursor += count
    }
}
