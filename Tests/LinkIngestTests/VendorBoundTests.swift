import LinkIngest
import Testing

@Suite("A table within the documented bounds is accepted, and a larger one is refused")
struct VendorBoundTests {
    private static func isAccepted(_ members: String, marks: String = #"[["/m"]]"#) -> Bool {
        let form = #"{"on":["apple"],"marks":\#(marks)\#(members)}"#
        let table =
            #"{"schemaVersion":1,"vendors":[{"id":"a","name":"A","sources":[],"examples":[],"forms":[\#(form)]}]}"#
        return (try? VendorTable(json: Array(table.utf8))) != nil
    }

    private static func list(_ count: Int, _ element: String) -> String {
        "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
    }

    @Test(
        "The number of parts is limited",
        arguments: [
            ("links", 16, #""/a""#), ("message", 16, #""/a""#), ("campaign", 16, #""/a""#), ("silent", 16, #"["/a"]"#),
            ("opensApp", 16, #"["/a"]"#), ("buttons", 8, #"{"members":"/a"}"#),
        ])
    func parts(name: String, most: Int, element: String) {
        #expect(Self.isAccepted(#","\#(name)":\#(Self.list(most, element))"#))
        #expect(!Self.isAccepted(#","\#(name)":\#(Self.list(most + 1, element))"#))
    }

    @Test("The size of marks is limited")
    func marks() {
        for (count, isAccepted) in [(16, true), (17, false)] {
            #expect(Self.isAccepted("", marks: Self.list(count, #"["/a"]"#)) == isAccepted)
            #expect(Self.isAccepted("", marks: "[\(Self.list(count, #""/a""#))]") == isAccepted)
        }
        for (count, isAccepted) in [(64, true), (65, false)] {
            let prefix = String(repeating: "p", count: count)
            #expect(Self.isAccepted("", marks: #"[[{"prefix":"\#(prefix)"}]]"#) == isAccepted)
        }
    }
}
