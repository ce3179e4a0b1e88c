import ByteStorage
import StrictJSON
import Testing

#if DEBUG || CHECKED_VIEWS
@Suite("A view from a cursor that is read after its memory was revoked ends the process")
struct CursorLeaseTests {
    @Test("An unescaped string after its cursor has opened another text, and the text of a stale view")
    func cursor() async {
        await #expect(processExitsWith: .failure) {
            var cursor = JSONCursor()
            cursor.open(ByteView(#""a\u0062c""#))
            guard let string = try? cursor.string() else { return }
            let text = cursor.unescaped(string)
            cursor.open(ByteView("1"))
            print(text.string)
        }
        await #expect(processExitsWith: .failure) {
            var arena = OutputArena()
            arena.begin()
            arena.append(#"{"name":"value"}"#)
            var cursor = JSONCursor()
            cursor.open(arena.finish())
            guard var scope = try? cursor.enterObject(), (try? cursor.nextMember(&scope)) == true,
                let value = try? cursor.skip()
            else { return }
            arena.reset()
            print(value.string)
        }
    }
}
#endif
