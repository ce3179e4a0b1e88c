import StrictJSON
import Testing

@Suite("Locations in a text are found")
struct LocationTests {
    /// A text with `^` before the byte of the offset, and the expected location.
    static let cases: [(String, Int, Int, String)] = [
        ("^1", 1, 1, ""), ("[^1]", 1, 2, "/0"), ("[1,^2]", 1, 4, "/1"), ("[1^,2]", 1, 3, ""), ("[1]^", 1, 4, ""),
        ("{^}", 1, 2, ""), ("{\"a\":^1}", 1, 6, "/a"), ("{\"^a\":1}", 1, 3, "/a"),
        ("{\"a\":1,\"b\":^[2]}", 1, 12, "/b"),
        ("{\"a\":{\"b\":[0,{\"c\":^1}]}}", 1, 19, "/a/b/1/c"), ("{\"a/b~c\":^1}", 1, 10, "/a~1b~0c"),
        ("{\"\\u0061\":^1}", 1, 11, "/a"), ("{\"\":^1}", 1, 5, "/"), ("[\n  ^1]", 2, 3, "/0"),
        ("[1,\n\n\"é日😀\",^2]", 3, 7, "/2"), ("{\"é\":\r\n ^1}", 2, 2, "/é"),
        ("{\"a\":\"x^y\"}", 1, 8, "/a"), ("{\"a\":tr^x}", 1, 8, "/a"), ("{\"a\":1 ^x}", 1, 8, ""),
        ("{\"a\":1,\"a\"^:2}", 1, 11, "/a"), ("[[[[^", 1, 5, "/0/0/0/0"), ("{\"a\":[1,2^", 1, 10, "/a"),
        ("^", 1, 1, ""),
        ("{\"a\":[1,{\"b\":\"x\\q^\"}]}", 1, 18, "/a/1/b"), ("[1,2,3] ^x", 1, 9, ""),
    ]

    @Test("A location has a line, a column in characters, and a pointer", arguments: cases)
    func locations(marked: String, line: Int, column: Int, pointer: String) throws {
        let bytes = Array(marked.utf8)
        let offset = try #require(bytes.firstIndex(of: UInt8(ascii: "^")))
        let text = bytes.filter { $0 != UInt8(ascii: "^") }
        let location = withExact(text) { JSONLocation.locate(offset: offset, in: $0) }
        #expect(location == JSONLocation(line: line, column: column, pointer: pointer))
        #expect(JSONLocation.locate(offset: offset, in: text) == location)
    }

    @Test(
        "An error has the location of the member at fault",
        arguments: [
            (#"{"a":{"b":1,"b":2}}"#, "/a/b"), (#"{"x":[1,{"y":tru}]}"#, "/x/1/y"), (#"{"x":"\ud800"}"#, "/x"),
            (#"{"x":[1,]}"#, "/x"), (#"{"x":01}"#, ""), (#"{"a":1,"b":}"#, "/b"), (#"{"x":{"y""#, "/x"),
            ("[1,[2,[3,#]]]", "/1/1/1"),
        ]) func faults(text: String, pointer: String)
    {
        guard case .failure(let error) = tree(Array(text.utf8)) else {
            Issue.record("read")
            return
        }
        #expect(JSONLocation.locate(offset: error.offset, in: Array(text.utf8)).pointer == pointer)
    }

    @Test("An offset outside the text is clamped, and the depth of the search is limited")
    func outside() {
        let text = Array("[1,\n2]".utf8)
        #expect(JSONLocation.locate(offset: -5, in: text) == JSONLocation(line: 1, column: 1, pointer: ""))
        #expect(JSONLocation.locate(offset: 99, in: text) == JSONLocation(line: 2, column: 3, pointer: ""))
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        let location = withExact(deep) { JSONLocation.locate(offset: 99_999, in: $0, maxDepth: 64) }
        #expect(location.column == 100_000)
        #expect(location.pointer == String(repeating: "/0", count: 64))
    }

    @Test("Every offset of every text in the corpus has a location")
    func everywhere() {
        for item in Corpus.items where item.bytes.count < 300 {
            for offset in 0...item.bytes.count {
                let location = withExact(item.bytes) { JSONLocation.locate(offset: offset, in: $0) }
                #expect(location.line >= 1 && location.column >= 1)
            }
        }
    }
}
