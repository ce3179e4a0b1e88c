import ByteStorage
import CWideBytes
import Testing

@Suite("Bytes are searched for")
struct ByteScanTests {
    /// The length of a text without the byte, and the index at which the search starts.
    static let absentCases: [(count: Int, from: Int)] = [
        (0, 0), (0, 1), (3, 0), (3, 3), (3, 4), (8, 8), (8, 9), (9, 8), (17, 16), (17, 40),
    ]

    @Test("A search without a result returns the number of bytes, also after the end", arguments: absentCases)
    func absent(count: Int, from: Int) {
        Array(repeating: UInt8(ascii: "x"), count: count).withUnsafeBufferPointer { bytes in
            let view = ByteView(bytes)
            #expect(ByteScan.first(UInt8(ascii: "/"), in: view, from: from) == count)
            #expect(ByteScan.first(UInt8(ascii: "/"), or: UInt8(ascii: "?"), in: view, from: from) == count)
        }
    }

    @Test("A search returns the index of the first of two bytes at or after its start", arguments: 0..<24)
    func found(index: Int) {
        var text = Array(repeating: UInt8(ascii: "x"), count: 24)
        text[index] = UInt8(ascii: "/")
        text.withUnsafeBufferPointer { bytes in
            let view = ByteView(bytes)
            for from in 0...index {
                #expect(ByteScan.first(UInt8(ascii: "/"), in: view, from: from) == index)
                #expect(ByteScan.first(UInt8(ascii: "?"), or: UInt8(ascii: "/"), in: view, from: from) == index)
            }
            #expect(ByteScan.first(UInt8(ascii: "/"), in: view, from: index + 1) == 24)
        }
    }

    @Test("The first selected byte of a mask is found, with and without the instruction of the processor")
    func masks() {
        for first in 0...16 {
            for others in [UInt16(0), .max, 0x5AA5, 0x8000] {
                let selected = (0..<16).map { $0 == first || ($0 > first && others >> $0 & 1 == 1) }
                let bytes = SIMD16<UInt8>(selected.map { $0 ? 0xFF : 0 })
                let mask = unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
                let isNone = first == 16
                #expect(WideBytes.isNone(mask) == isNone && wide_is_none_plain(mask) == isNone, "\(bytes)")
                if !isNone { #expect(WideBytes.first(mask) == first && wide_first_plain(mask) == first, "\(bytes)") }
            }
        }
    }
}
