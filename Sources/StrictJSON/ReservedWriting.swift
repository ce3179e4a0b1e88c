/// Writing into room that was reserved: no checks, and short runs without a call.
///
/// Beside the bytes to be written, `OutputArena.slack` more must have been reserved: copies are made in whole words.
extension OutputArena {
    /// Bytes behind the last one written that a copy in whole words may touch.
    public static let slack = 32

    /// Bytes that must be readable behind a run that `putPadded` copies.
    public static let padding = 32

    /// Writes one byte.
    @inlinable
    @inline(__always)
    public mutating func put(byte: UInt8) {
        cursor.pointee = byte
        cursor += 1
    }

    /// Writes a literal; its length is known to the compiler, so that this becomes a few stores.
    @inlinable
    @inline(__always)
    public mutating func put(_ literal: StaticString) {
        cursor.update(from: literal.utf8Start, count: literal.utf8CodeUnitCount)
        cursor += literal.utf8CodeUnitCount
    }

    /// Writes bytes behind which `padding` more can be read, as those of a table.
    @inlinable
    @inline(__always)
    public mutating func putPadded(_ bytes: ByteView) {
        if bytes.count <= 128 {
            let from = UnsafeRawPointer(bytes.start)
            let to = UnsafeMutableRawPointer(cursor)
            var index = 0
            while index < bytes.count {
                let low = (from + index).loadUnaligned(as: SIMD2<UInt64>.self)
                let high = (from + index + 16).loadUnaligned(as: SIMD2<UInt64>.self)
                (to + index).storeBytes(of: low, as: SIMD2<UInt64>.self)
                (to + index + 16).storeBytes(of: high, as: SIMD2<UInt64>.self)
                index &+= 32
            }
        } else {
            cursor.update(from: bytes.start, count: bytes.count)
        }
        cursor += bytes.count
    }

    /// Writes bytes of which none behind their end may be read.
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
        } else {
            var index = 0
            while index < count {
                cursor[index] = bytes.start[index]
                index &+= 1
            }
        }
        cursor += count
    }

    /// Writes ASCII text with its letters in capitals.
    @inlinable
    @inline(__always)
    public mutating func putUppercased(_ text: ByteView) {
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

    /// Writes the inside of a JSON string; six times its bytes must have been reserved.
    @inlinable
    @inline(__always)
    public mutating func putEscaped(_ text: ByteView) {
        var index = 0
        while index &+ 8 <= text.count {
            let word = UnsafeRawPointer(text.start + index).loadUnaligned(as: UInt64.self)
            UnsafeMutableRawPointer(cursor).storeBytes(of: word, as: UInt64.self)
            let stop = PlainText.stops(word)
            if stop == 0 {
                cursor += 8
                index &+= 8
                continue
            }
            let plain = stop.trailingZeroBitCount &>> 3
            cursor += plain
            index &+= plain
            escape(text.start[index])
            index &+= 1
        }
        while index < text.count {
            let byte = text.start[index]
            index &+= 1
            if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
                put(byte: byte)
            } else {
                escape(byte)
            }
        }
    }

    /// Writes the escape of a byte that may not stand in a string.
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
        put(byte: UInt8(ascii: "\\"))
        if short != 0 {
            put(byte: short)
            return
        }
        put("u00")
        let digits: StaticString = "0123456789abcdef"
        put(byte: digits.utf8Start[Int(byte >> 4)])
        put(byte: digits.utf8Start[Int(byte & 15)])
    }
}
