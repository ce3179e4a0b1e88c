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
    private var chunk: Chunk
    private var full: [Chunk] = []
    private var spare: [Chunk] = []
    private var fullBytes = 0
    private let chunkBytes: Int

    private struct Chunk {
        var base: UnsafeMutablePointer<UInt8>
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
    public var bytesInUse: Int { fullBytes + (cursor - chunk.base) }

    /// Starts a record.
    @inlinable
    public mutating func begin() { recordStart = cursor }

    /// Ends the record and returns its bytes, which live until `reset`.
    @inlinable
    public mutating func finish() -> ByteView {
        let record = ByteView(start: UnsafePointer(recordStart), count: cursor - recordStart)
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
        assert(count >= 0 && count <= recordBytes)
        cursor = recordStart + count
    }

    /// What was written of the open record so far; moves with the next append.
    @inlinable
    public var openRecord: ByteView { ByteView(start: UnsafePointer(recordStart), count: cursor - recordStart) }

    /// Forgets all records; their memory is used again, all but a few chunks of ordinary size given back.
    public mutating func reset() {
        for other in full {
            if other.capacity == chunkBytes && spare.count < 64 {
                spare.append(other)
            } else {
                other.base.deallocate()
            }
        }
        full.removeAll(keepingCapacity: true)
        if chunk.capacity != chunkBytes {
            chunk.base.deallocate()
            chunk = spare.popLast() ?? Self.allocate(chunkBytes)
        }
        fullBytes = 0
        cursor = chunk.base
        recordStart = chunk.base
        limit = chunk.base + chunk.capacity
    }

    /// Makes sure that `bytes` more can be written without a check.
    @inlinable
    public mutating func reserve(_ bytes: Int) {
        if limit - cursor < bytes { grow(bytes) }
    }

    /// Moves the open record to a chunk that has room for `bytes` more.
    @inline(never)
    @usableFromInline
    mutating func grow(_ bytes: Int) {
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

    /// Appends a number as decimal text.
    @inlinable
    public mutating func append(decimal value: Int64) {
        reserve(20)
        if value < 0 {
            cursor.pointee = UInt8(ascii: "-")
            cursor += 1
        }
        var rest = value.magnitude
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20 && rest >= bound {
            digits &+= 1
            let (next, over) = bound.multipliedReportingOverflow(by: 10)
            if over { break }
            bound = next
        }
        var place = cursor + digits
        cursor = place
        repeat {
            place -= 1
            place.pointee = UInt8(truncatingIfNeeded: rest % 10) &+ UInt8(ascii: "0")
            rest /= 10
        } while rest != 0
    }

    /// Appends a JSON string with its quotes; only `"`, `\` and C0 controls are escaped (RFC 8259, section 7).
    @inlinable
    public mutating func appendString(_ text: ByteView) {
        append(byte: UInt8(ascii: "\""))
        appendEscaped(text)
        append(byte: UInt8(ascii: "\""))
    }

    /// Appends the inside of a JSON string: as `appendString`, without the quotes.
    @inlinable
    public mutating func appendEscaped(_ text: ByteView) {
        reserve(text.count &* 6)
        var index = 0
        var run = 0
        while index < text.count {
            if index &+ 8 <= text.count {
                let word = UnsafeRawPointer(text.start + index).loadUnaligned(as: UInt64.self)
                let stop = PlainText.stops(word)
                if stop == 0 {
                    index &+= 8
                    continue
                }
                index &+= stop.trailingZeroBitCount &>> 3
            } else {
                let byte = text.start[index]
                if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
                    index &+= 1
                    continue
                }
            }
            appendReserved(text.slice(run, index))
            escape(text.start[index])
            index &+= 1
            run = index
        }
        appendReserved(text.slice(run, index))
    }

    /// Appends ASCII text with its letters in capitals, as Foundation prints a UUID.
    @inlinable
    public mutating func appendUppercased(_ text: ByteView) {
        reserve(text.count)
        var index = 0
        while index &+ 8 <= text.count {
            let word = UnsafeRawPointer(text.start + index).loadUnaligned(as: UInt64.self)
            let low = word & 0x7F7F_7F7F_7F7F_7F7F
            let fromA = low &+ 0x1F1F_1F1F_1F1F_1F1F
            let pastZ = low &+ 0x0505_0505_0505_0505
            let small = fromA & ~pastZ & ~word & 0x8080_8080_8080_8080
            UnsafeMutableRawPointer(cursor + index).storeBytes(of: word & ~(small &>> 2), as: UInt64.self)
            index &+= 8
        }
        while index < text.count {
            let byte = text.start[index]
            cursor[index] = byte &- UInt8(ascii: "a") < 26 ? byte & 0xDF : byte
            index &+= 1
        }
        cursor += text.count
    }

    @inline(never)
    @usableFromInline
    mutating func escape(_ byte: UInt8) {
        let short: UInt8 =
            switch byte {
            case 0x08: UInt8(ascii: "b")
            case 0x09: UInt8(ascii: "t")
            case 0x0A: UInt8(ascii: "n")
            case 0x0C: UInt8(ascii: "f")
            case 0x0D: UInt8(ascii: "r")
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
            default: 0
            }
        append(byte: UInt8(ascii: "\\"))
        if short != 0 {
            append(byte: short)
            return
        }
        append("u00")
        let digits: StaticString = "0123456789abcdef"
        append(byte: digits.utf8Start[Int(byte >> 4)])
        append(byte: digits.utf8Start[Int(byte & 15)])
    }
}
