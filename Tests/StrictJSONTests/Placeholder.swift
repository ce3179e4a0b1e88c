import StrictJSON
import Testing

@Suite struct ReaderSmokeTests {
    @Test(
        "a text is read into a tree",
        arguments: [
            (#"{"a":1,"b":[true,false,null,"x\n\u0041\ud83d\ude00"],"c":{"d":-0.5e10}}"#, true),
            (#"{"a":1,"a":2}"#, false), (#"[1,]"#, false), (#"{"x":{"a":1,"\u0061":2}}"#, false), ("[1]x", false),
            ("\"\\ud800\"", false), ("  [ ] ", true), ("", false),
            ("{,}", false), ("01", false), ("-", false), ("[", false), ("{\"a\":}", false), ("1e5", true),
            ("{\"a\" : 1 , \"b\":2 }", true),
        ]) func tree(text: String, good: Bool)
    {
        let v = try? JSONValue.parse(Array(text.utf8))
        #expect((v != nil) == good)
        var c = JSONCursor()
        let bytes = Array(text.utf8)
        let ok = bytes.withUnsafeBufferPointer { b in
            c.open(ByteView(b))
            do { try c.skip(); try c.finish(); return true } catch { return false }
        }
        #expect(ok == good)
    }
    @Test func places() {
        let t = Array("{\"a\":[1,\n  {\"b/c\":tru}]}".utf8)
        do { _ = try JSONValue.parse(t); Issue.record("read") } catch {
            let p = JSONPlace.locate(offset: error.offset, in: t)
            #expect(p == JSONPlace(line: 2, column: 10, pointer: "/a/1/b~1c"))
        }
    }
    @Test func shapes() throws {
        var c = JSONCursor()
        var shape = MemberShape(["id", "link", "device"])
        let t = Array(
            #"{"id":"e1","link":"https://shop.example/p/new","other":1,"zzz":{"q":1},"device":{"id":"d"}}"#.utf8)
        for _ in 0..<3 {
            var tags: [UInt8] = []
            try t.withUnsafeBufferPointer { b in
                c.open(ByteView(b))
                var o = try c.enterObject()
                while try c.nextMember(&o, &shape) { tags.append(o.tag); try c.skip() }
                try c.finish()
            }
            #expect(tags == [0, 1, 255, 255, 2])
        }
    }
}
