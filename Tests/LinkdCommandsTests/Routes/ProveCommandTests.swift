internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite("linkd routes prove")
struct ProveCommandTests {
    private let folder: TableFolder

    init() throws {
        folder = try TableFolder()
        let routes = #"""
            [ { "id": "far", "match": "/far/{rest+}", "redirect": "/{rest}/end" },
              { "id": "end", "match": "/a/b/c/{d}/end", "to": { "root": true } },
              { "id": "no", "match": "/no", "exclude": { "outcome": "reject" } } ], "fallback": { "outcome": "none" } }
            """#
        let head = TableFolder.text("a", version: 1).components(separatedBy: #"[ { "id""#)[0]
        try folder.write("a.json", head + routes)
    }

    private func prove(_ properties: String, _ flags: String...) throws -> (out: String, err: String, code: Int32) {
        try folder.write("p.json", #"{ "schemaVersion": 1, "table": "a", "properties": [ \#(properties) ] }"#)
        let result = try LinkdProcess.run(["routes", "prove", folder.path("a.json"), folder.path("p.json")] + flags)
        return (result.out, result.err, result.code)
    }

    private static let proved = #"{ "id": "yes", "links": "/no", "always": { "outcome": "reject" } }"#
    private static let refuted = #"{ "id": "no", "links": "/no", "never": { "outcome": "reject" } }"#
    private static let unproved = #"{ "id": "far", "links": "/far/{r+}", "never": { "outcome": "reject" } }"#

    @Test("A refuted property ends with 1, and an unproved one only with --strict")
    func codes() throws {
        #expect(try prove(Self.proved).code == 0)
        #expect(try prove(Self.refuted).code == 1)
        #expect(try prove(Self.unproved).code == 0)
        let strict = try prove(Self.unproved, "--strict")
        #expect(strict.code == 1 && strict.err.contains("1 property is unproved"), "\(strict)")
        let wrong = try prove(#"{ "id": "x", "nver": {} }"#)
        #expect(wrong.code == 65 && wrong.out.contains("p.json:1:") && wrong.out.contains("unknown_key"), "\(wrong)")
    }

    @Test("JSON has the verdict of each property, with the request, the device, and the decision, or the reason")
    func json() throws {
        let result = try prove([Self.proved, Self.refuted, Self.unproved].joined(separator: ", "), "--json")
        let json = try JSONValue.parse(Array(result.out.utf8))
        let all = try #require(json["properties"]?.array)
        #expect(all.compactMap { $0["id"]?.string } == ["yes", "no", "far"])
        #expect(all.compactMap { $0["verdict"]?.string } == ["proved", "refuted", "unproved"])
        #expect(all[1]["request"]?.string == "a:///no" && all[1]["device"]?.string == "{}")
        #expect(all[1]["decision"]?.string?.contains(#""outcome":"reject""#) == true)
        #expect(all[2]["reason"]?.string?.contains("`far`") == true)
    }

    /// Properties that cover nothing, because no device, no query, or no link meets what they require.
    static let empty = [
        #""when": { "app": ">=5 <4" }, "never": { "outcome": "none" }"#,
        #""when": { "claim": "a", "without": "a" }, "never": { "outcome": "none" }"#,
        #""links": { "path": "/no", "scheme": "https" }, "never": { "outcome": "reject" }"#,
    ]

    @Test("A property that covers nothing is proved with a note", arguments: empty)
    func coversNothing(property: String) throws {
        let own = #"{ "id": "none", \#(property) }"#
        let text = try prove(own)
        #expect(text.code == 0 && text.out.contains("note: it covers nothing: no "), "\(text)")
        let json = try JSONValue.parse(Array(try prove([own, Self.proved].joined(separator: ", "), "--json").out.utf8))
        let notes = json["properties"]?.array?.map { $0["note"]?.string?.hasPrefix("it covers nothing: no ") }
        #expect(notes == [true, nil])
    }
}
