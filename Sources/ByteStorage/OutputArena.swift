/// The one writer: appends bytes to memory that never moves until `reset`.
///
/// Records are written one after another, each contiguous, into chunks; when a record outgrows its chunk, what is
/// written of it moves to a new one. So the bytes of finished records may be lent to C until the next `reset`.
public struct OutputArena: ~Copyable {
    /// Where the next byte goes.
    @usableFromInline var cursor: UnsafeMutablePointer<UInt8>
    /// The end of the chunk.
    @usableFromInline var limit: UnsafeMutablePointer<UInt8>
    /// Where the open record begins.
    @usableFromInline var recordStart: UnsafeMutablePointer<UInt8>
    @usableFromInline var chunk: Chunk
    private var full: [Chunk] = []
    private var spare: [Chunk] = []
    @usableFromInline var fullBytes = 0
    private let chunkBytes: Int
    /// Of finished records, until `reset`.
    @usableFromInline let lender = ViewLender()
    /// Most bytes of one record.
    ///
    /// What is written beyond them is dropped and `overflowed` says so, so that a record takes no more memory than this
    /// and its largest single piece.
    public var recordLimit = Int.max
    /// A Boolean value that indicates whether bytes of the open record were dropped.
    @usableFromInline var hasDropped = false

    @usableFromInline
    struct Chunk {
        @usableFromInline var base: UnsafeMutablePointer<UInt8>
        var capacity: Int
    }

    /// Makes an arena whose chunks hold `chunkBytes` bytes (more where one record needs more).
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

    /// Bytes that finished records and the open one take.
    ///
    /// Inlined, since Swift 6.3 copies the whole arena for a getter that is called.
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

    /// A Boolean value that indicates whether the open record has passed `recordLimit`: it must not be used.
    @inlinable
    public var overflowed: Bool {
        @inline(__always) get { hasDropped || cursor - recordStart > recordLimit }
    }

    /// Ends the record and returns its bytes, which live until `reset`.
    @inlinable
    public mutating func finish() -> ByteView {
        let record = lender.lend(UnsafePointer(recordStart), count: cursor - recordStart)
        recordStart = cursor
        return record
    }

    /// Gives up what was written since `begin`.
    @inlinable
    public mutating func abandon() { cursor = recordStart }

    /// Bytes written since `begin`.
    @inlinable
    public var recordBytes: Int { cursor - recordStart }

    /// Takes back the bytes of the open record after its first `count`.
    @inlinable
    public mutating func truncateRecord(to count: Int) {
        if hasDropped { return }
        assert(count >= 0 && count <= recordBytes)
        cursor = recordStart + count
    }

    /// What was written of the open record so far; moves with the next append.
    @inlinable
    public var openRecord: ByteView { lender.lend(UnsafePointer(recordStart), count: cursor - recordStart) }

    /// Forgets all records and takes back what was lent.
    ///
    /// The memory is used again, all but a few chunks of ordinary size given back. Builds that check views give back
    /// all of it, so that a sanitizer sees later uses.
    public mutating func reset() {
        lender.revoke()
        // Asked first, since an array is kept alive while it is gone through, and allocates to be emptied.
        if !full.isEmpty { giveBack() }
        if chunk.capacity != chunkBytes || ViewLease.isChecked {
            chunk.base.deallocate()
            chunk = spare.popLast() ?? Self.allocate(chunkBytes)
        }
        fullBytes = 0
        cursor = chunk.base
        recordStart = chunk.base
        limit = chunk.base + chunk.capacity
    }

    /// Keeps full chunks of ordinary size for later and frees the others.
    @inline(never)
    private mutating func giveBack() {
        for other in full {
            if other.capacity == chunkBytes && spare.count < 64 && !ViewLease.isChecked {
                spare.append(other)
            } else {
                other.base.deallocate()
            }
        }
        full.removeAll(keepingCapacity: true)
    }

    /// Makes sure that `bytes` more can be written without a check.
    @inlinable
    public mutating func reserve(_ bytes: Int) {
        if limit - cursor < bytes { grow(bytes) }
    }

    /// Moves the open record to a chunk that has room for `bytes` more; one that has passed its limit is written over.
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

    /// Appends bytes as they are.
    @inlinable
    public mutating func append(_ bytes: ByteView) {
        reserve(bytes.count)
        appendReserved(bytes)
    }

    /// Appends bytes for which room was reserved.
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
