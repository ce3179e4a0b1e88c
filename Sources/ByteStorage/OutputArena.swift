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

    /// The bytes of the open record so far, which the next append can move.
    @inlinable
    public var openRecord: ByteView { lender.lend(UnsafePointer(recordStart), count: cursor - recordStart) }

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

    /// Moves the open record to a chunk with space for `bytes` more; a record over its limit is overwritten instead.
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
