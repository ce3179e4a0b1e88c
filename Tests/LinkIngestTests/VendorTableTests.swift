import ByteStorage
import LinkIngest
import StrictJSON
import TestSupport
import Testing

@Suite("A vendor table is read strictly, and its problems have locations")
struct VendorTableTests {
    /// A table with one form of one vendor, whose members are given.
    static func table(_ form: String, examples: String = VendorTableTests.examples) -> String {
        #"{"schemaVersion":1,"vendors":[{"id":"a","name":"A","sources":["s"],"forms":[{"on":["apple"],"#
            + form + #"}],"examples":"# + examples + "}]}"
    }

    /// Examples that are well-formed.
    static let examples = #"[{"payload":{},"reason":"no_link"},{"payload":{},"reason":"no_link"}]"#

    /// Files with the code and the pointer of their problem.
    static let problems: [(String, RuleFileProblem.Code, String)] = [
        ("{", .json, ""),
        (#"{"schemaVersion":2,"vendors":[]}"#, .version, "/schemaVersion"),
        (#"{"schemaVersion":1}"#, .missingMember, ""),
        (#"{"schemaVersion":1,"vendors":{}}"#, .wrongType, "/vendors"),
        (#"{"schemaVersion":1,"vendors":[7]}"#, .wrongType, "/vendors/0"),
        (table(#""marks":[["/a"]],"markz":1"#), .unknownMember, "/vendors/0/forms/0/markz"),
        (table(#""marks":[]"#), .badValue, "/vendors/0/forms/0/marks"),
        (table(#""marks":[[]]"#), .badValue, "/vendors/0/forms/0/marks/0"),
        (table(#""marks":[["a"]]"#), .badValue, "/vendors/0/forms/0/marks/0/0"),
        (table(#""marks":[["/a~2"]]"#), .badValue, "/vendors/0/forms/0/marks/0/0"),
        (table(#""marks":[["/1/2/3/4/5/6/7/8/9"]]"#), .badValue, "/vendors/0/forms/0/marks/0/0"),
        (table(#""marks":[[{"at":"/a","is":"text"}]]"#), .badValue, "/vendors/0/forms/0/marks/0/0/is"),
        (table(#""marks":[[{"at":"/a","absent":true}]]"#), .badValue, "/vendors/0/forms/0/marks/0"),
        (table(#""marks":[["/a"]],"links":[{"when":[]}]"#), .missingMember, "/vendors/0/forms/0/links/0"),
        (table(#""marks":[["/a"]],"links":["/b{N}"]"#), .badValue, "/vendors/0/forms/0/links/0"),
        (table(#""marks":[["/a"]],"embedded":["/a","/a/b"]"#), .badValue, "/vendors/0/forms/0/embedded/1"),
        (
            table(#""marks":[["/a"]],"buttons":[{"numbered":{"from":0,"count":65},"id":"/b{N}"}]"#), .badValue,
            "/vendors/0/forms/0/buttons/0/numbered"
        ),
        (
            table(#""marks":[["/a"]],"buttons":[{"numbered":{"from":0,"count":2},"id":"/b"}]"#), .badValue,
            "/vendors/0/forms/0/buttons/0/id"
        ),
        (table(#""marks":[["/a"]],"envelope":"x""#), .unknownMember, "/vendors/0/forms/0/envelope"),
        (
            table(
                #""marks":[["/a"]],"links":["/a"]"#,
                examples: #"[{"payload":{"a":"b:c"},"link":"b:d"},{"payload":{"a":""},"reason":"no_link"}]"#),
            .example,
            "/vendors/0/examples/0/link"
        ),
        (
            table(
                #""marks":[["/a"]]"#,
                examples: #"[{"payload":{"b":1},"reason":"no_link"},{"payload":{"a":1},"reason":"no_link"}]"#),
            .example, "/vendors/0/examples/0"
        ),
        (table(#""marks":[["/a"]]"#, examples: "[]"), .badValue, "/vendors/0/examples"),
    ]

    @Test("A file with a problem is refused with the location of the value", arguments: problems)
    func refused(file: String, code: RuleFileProblem.Code, pointer: String) {
        let found = VendorTable.problems(of: Array(file.utf8))
        #expect(found.first?.code == code && found.first?.location.pointer == pointer, "\(found)")
    }

    @Test("The table that is shipped has no problems, and each of its examples opens what it states")
    func shipped() throws {
        #expect(VendorTable.problems(of: try VendorFixtureTests.bytes(of: "vendors.json")).isEmpty)
    }

    /// A vendor that the program does not know.
    static let added = table(
        #""marks":[["/our"]],"embedded":["/our"],"links":["/our/link"],"message":["/our/id"]"#)

    @Test("A vendor is added with a row, without a change of the program")
    func added() throws {
        var reader = EventReader(vendors: try VendorTable(json: Array(Self.added.utf8)))
        let event =
            #"{"device":{"id":"d","platform":"ios"},"payload":{"aps":{},"our":"{\"id\":7,\"link\":\"a:b\"}"}}"#
        let found = VendorFixtureTests.read(Array(event.utf8), nil, [], &reader).first
        #expect(found == ["vendor": "a", "link": "a:b", "pointer": "/our/link", "message": "7"])
    }
}
