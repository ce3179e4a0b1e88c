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

    /// Writes a literal; the compiler knows its length, so this becomes a few stores.
    @inlinable
    @inline(__always)
    public mutating func put(_ literal: StaticString) {
        cursor.update(from: literal.utf8Start, count: literal.utf8CodeUnitCount)
        cursor += literal.utf8CodeUnitCount
    }

    /// Writes bytes that are followed by at least `padding` readable bytes, such as those of a table.
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
            // The first, the middle, and the last of one to three bytes, some of which can be the same.
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

    /// Writes the first `count` bytes of a word; the next write overwrites its other bytes.
    @inlinable
    @inline(__always)
    public mutating func put(_ word: UInt64, count: Int) {
        UnsafeMutableRawPointer(cursor).storeBytes(of: word, as: UInt64.self)
        cursor += count
    }
}
