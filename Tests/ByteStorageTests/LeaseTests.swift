import ByteStorage
import Testing

#if DEBUG || CHECKED_VIEWS
@Suite("A view that is read after its memory was revoked ends the process")
struct LeaseTests {
    /// A view of an arena from before its reset.
    private static func stale() -> ByteView {
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        arena.append("bytes of a record")
        let view = arena.finish()
        arena.reset()
        return view
    }

    @Test("Reading a record after its arena was reset or destroyed ends the process")
    func arena() async {
        await #expect(processExitsWith: .failure) { print(Self.stale().array) }
        await #expect(processExitsWith: .failure) { print(Self.stale()[0]) }
        await #expect(processExitsWith: .failure) { print(Self.stale() == ByteView("bytes of a record")) }
        await #expect(processExitsWith: .failure) {
            var arena = OutputArena()
            arena.begin()
            arena.append("bytes")
            let part = arena.finish().slice(1, 3)
            arena.reset()
            print(part.string)
        }
        await #expect(processExitsWith: .failure) {
            var part = ByteView.empty
            do {
                var arena = OutputArena()
                arena.begin()
                arena.append("bytes")
                part = arena.finish()
            }
            print(part.string)
        }
    }

    @Test("Views that are valid can be read")
    func inTime() {
        var arena = OutputArena(chunkBytes: 4096)
        var views: [ByteView] = []
        for _ in 0..<1000 {
            arena.begin()
            arena.append("bytes of a record")
            views.append(arena.finish())
        }
        #expect(views.allSatisfy { $0.equals("bytes of a record") })
        arena.reset()
        arena.begin()
        arena.append("others")
        let other = arena.finish()
        #expect(other.equals("others") && ByteView("literal").equals("literal"))
        #expect(ViewLease.isChecked)
    }
}
#else
@Suite("A view has no cost in a release build")
struct LeaseTests {
    @Test("A view consists of a start and a length")
    func size() { #expect(MemoryLayout<ByteView>.size == 16 && !ViewLease.isChecked) }
}
#endif
