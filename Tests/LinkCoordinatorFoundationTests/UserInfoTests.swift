import Foundation
import LinkCoordinator
import LinkCoordinatorFoundation
import Testing

@Suite("URLs and push notifications of the system") struct UserInfoTests {
    static let table = #"""
        {"schemaVersion":2,"table":{"id":"t","version":"1"},
         "link":{"schemes":["t"],"host":"authority","hosts":["*"],"payload":{"link":["/data/link"]}},
         "coordinators":{"a":{"screens":{"s":{}}}},
         "routes":[{"id":"s","match":"/s","to":{"path":"/a/s"}}]}
        """#

    @Test("A dictionary becomes a payload with the same values")
    func values() throws {
        let request = try LinkRequest(userInfo: [
            "aps": ["alert": ["title": "Hi"], "badge": 3, "content-available": 1] as [String: Any],
            "on": true, "off": NSNumber(value: false), "one": NSNumber(value: 1), "ratio": 2.5, "none": NSNull(),
            "list": [1, "x", [true]] as [Any], "big": NSNumber(value: UInt64.max),
            "exact": NSDecimalNumber(string: "0.10"),
        ])
        #expect(
            request
                == .payload([
                    "aps": ["alert": ["title": "Hi"], "badge": 3, "content-available": 1], "on": true, "off": false,
                    "one": 1, "ratio": 2.5, "none": .null, "list": [1, "x", [true]],
                    "big": .number("18446744073709551615"), "exact": .number("0.1"),
                ]))
    }

    @Test("A dictionary of a parsed push is the same request as its JSON")
    func parsed() throws {
        let json = #"{"data":{"link":"t:///s","n":5,"b":true,"f":1.5,"l":[null,{"x":"y"}]},"aps":{}}"#
        let parsed = try JSONSerialization.jsonObject(with: Data(json.utf8))
        let request = try LinkRequest(userInfo: try #require(parsed as? [String: Any]))
        #expect(request == .payload(try LinkRequest.Object(json: json.utf8)))
        let table = try RouteTable(json: Self.table.utf8)
        #expect(table.resolve(request).route == "s")
    }

    @Test("A value that JSON does not have is refused with its position and without the value")
    func refused() {
        func error(_ userInfo: [AnyHashable: Any]) -> String? {
            do throws(LinkRequestError) {
                _ = try LinkRequest(userInfo: userInfo)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(error(["a/b": ["c": Data([1])]])?.hasPrefix("the value at `/a~1b/c` has the type") == true)
        #expect(error(["a": [1, Date()]])?.hasPrefix("the value at `/a/1` has the type") == true)
        #expect(error(["a": Double.infinity])?.contains("is not finite") == true)
        #expect(error([5: "x"])?.contains("has a name that is not a text") == true)
        var deep: Any = "x"
        for _ in 0..<70 { deep = ["a": deep] }
        #expect(error(["a": deep])?.contains("nested deeper than 64 levels") == true)
        var list: Any = "x"
        for _ in 0..<70 { list = [list] }
        #expect(error(["a": list])?.contains("nested deeper than 64 levels") == true)
    }

    @Test("A dictionary that contains the same array many times is refused at the limit of bytes, in bounded time")
    func shared() {
        var shared: Any = String(repeating: "x", count: 2000)
        for _ in 0..<50 { shared = [shared, shared] }
        let error = #expect(throws: LinkRequestError.self) { try LinkRequest(userInfo: ["a": shared]) }
        #expect(error?.description == "the object is larger than 1048576 bytes")
        let long = String(repeating: "x", count: LinkRequest.Object.maxBytes)
        #expect(throws: LinkRequestError.self) { try LinkRequest(userInfo: ["a": long]) }
        #expect(throws: LinkRequestError.self) { try LinkRequest(userInfo: [long: 1]) }
    }

    @Test("Texts keep their characters, and numbers of one byte are numbers")
    func texts() throws {
        let text = String(String.UnicodeScalarView((0..<0x300).compactMap(Unicode.Scalar.init))) + "\u{1F468}\u{FFFF}"
        let request = try LinkRequest(userInfo: [text: [text, Int8(5), NSNumber(value: Int8(1)), 1e21] as [Any]])
        let items: LinkRequest.Value = [.string(text), 5, 1, .number("1e+21")]
        let object = LinkRequest.Object([(text, items)])
        #expect(request == .payload(object))
        guard case .payload(let read) = request else { return }
        #expect(read.json == object.json)
    }

    @Test("A URL is a request, an external decision has one, and a table is loaded from a file")
    func urls() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(Self.table.utf8).write(to: file)
        let table = try RouteTable(contentsOf: file)
        let url = try #require(URL(string: "t:///s?a=b%20c"))
        #expect(LinkParameters(url)["A"] == "b c")
        #expect(LinkRequest(url: url) == .link("t:///s?a=b%20c"))
        #expect(table.resolve(url).route == "s" && table.resolve(url).externalURL == nil)
        let external = try Decision(
            json: #"{"table":"t@1+0","outcome":"external","url":"https://e.example/a%20b"}"#.utf8)
        #expect(external.externalURL?.absoluteString == "https://e.example/a%20b")
        #expect(throws: (any Error).self) { try RouteTable(contentsOf: file.appendingPathExtension("gone")) }
    }
}
