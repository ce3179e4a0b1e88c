import ByteStorage
import TestSupport
import Testing

@Suite("The memory of records is limited and kept until the reset")
struct ArenaTests {
    @Test("A record can reach its limit, one more byte is reported, and memory stays near the limit")
    func limit() {
        for over in [0, 1, 100_000, 20_000_000] {
            var arena = OutputArena(chunkBytes: 4096)
            arena.recordLimit = 50_000
            for round in 0..<3 {
                arena.begin()
                for _ in 0..<(50_000 + over) / 4 { arena.append("abcd") }
                for _ in 0..<(50_000 + over) % 4 { arena.append(byte: UInt8(ascii: "z")) }
                let overflowed = arena.overflowed
                #expect(overflowed == (over > 0), "\(over) in round \(round)")
                let count = arena.finish().count
                #expect(overflowed || count == 50_000 + over)
                let inUse = arena.bytesInUse
                #expect(inUse <= 3 * 2 * 50_000)
            }
            arena.begin()
            arena.append("next")
            let next = (arena.overflowed, arena.finish())
            #expect(!next.0 && next.1.equals("next"))
        }
    }

    @Test("A mark from before the limit was exceeded is invalid")
    func marks() {
        var arena = OutputArena(chunkBytes: 4096)
        arena.recordLimit = 10_000
        arena.begin()
        for _ in 0..<9000 { arena.append(byte: 1) }
        let mark = arena.recordBytes
        for _ in 0..<30_000 { arena.append(byte: 2) }
        arena.truncateRecord(to: mark)
        let first = arena.overflowed
        arena.abandon()
        arena.begin()
        let next = (arena.recordBytes, arena.overflowed)
        #expect(first && next == (0, false))
    }

    @Test("Records keep their memory until the reset")
    func records() {
        var generator = SeededGenerator(seed: 0xA7E4A)
        var arena = OutputArena(chunkBytes: 4096)
        for _ in 0..<5 {
            var kept: [(ByteView, [UInt8])] = []
            var bytes = 0
            for round in 0..<300 {
                arena.begin()
                var expected: [UInt8] = []
                for _ in 0..<Int.random(in: 0...20, using: &generator) {
                    let size = Int.random(in: 0...(round % 50 == 0 ? 3000 : 40), using: &generator)
                    let piece = [UInt8](repeating: UInt8.random(in: 0x61...0x7A, using: &generator), count: size)
                    arena.append(piece)
                    expected += piece
                }
                #expect(arena.recordBytes == expected.count)
                if round % 11 == 0 {
                    arena.abandon()
                    continue
                }
                if round % 13 == 0 {
                    arena.truncateRecord(to: expected.count / 2)
                    expected.removeLast(expected.count - expected.count / 2)
                }
                kept.append((arena.finish(), expected))
                bytes += expected.count
            }
            #expect(arena.bytesInUse >= bytes)
            for (view, expected) in kept { #expect(view.array == expected, "seed \(generator.seed)") }
            arena.reset()
            #expect(arena.bytesInUse == 0)
        }
    }
}
