import ByteStorage
import StrictJSON
import TestSupport
import Testing

@Suite("The memory of a record is limited")
struct ArenaLimitTests {
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

    @Test("A long text uses only the memory that it fills")
    func longText() {
        var arena = OutputArena(chunkBytes: 4096)
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        bytes.withUnsafeBufferPointer { text in
            arena.begin()
            arena.appendString(ByteView(text))
            let written = arena.finish()
            #expect(written.count == 1_000_002 && written.slice(1, 1_000_001) == ByteView(text))
        }
        // Repeated writes move to chunks that are larger by half.
        let inUse = arena.bytesInUse
        #expect(inUse < 4_000_000)
        let mixed = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 % 97 == 0 ? 10 : 97 + $0 % 26) }
        mixed.withUnsafeBufferPointer { text in
            arena.begin()
            arena.appendEscaped(ByteView(text))
            let parts = mixed.map { $0 == 10 ? Array("\\n".utf8) : [$0] }.flatMap { $0 }
            let written = arena.finish().array
            #expect(written == parts)
        }
    }

    @Test("A repeated name is found at its first repetition in objects of any size")
    func names() {
        var generator = SeededGenerator(seed: 0x7A3E)
        for round in 0..<400 {
            let count = [3, 16, 17, 18, 40, 300, 1023, 1024, 1025, 3000][round % 10]
            var seen = Set<String>()
            var text = "{"
            var wanted: Int?
            let space = round % 3 == 0 ? count * 40 : count * count * 50
            for index in 0..<count {
                let name = "\(Int.random(in: 0..<space, using: &generator))"
                text += index > 0 ? ",\"" : "\""
                if !seen.insert(name).inserted && wanted == nil { wanted = text.utf8.count }
                text += "\(name)\":\(index)"
            }
            let verdict = passed(Array((text + "}").utf8))
            let expected = wanted.map { Verdict.refused(JSONError(.duplicateName, at: $0)) } ?? .taken
            #expect(verdict == expected, "seed \(generator.seed) round \(round)")
        }
    }
}
