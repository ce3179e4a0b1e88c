import LinkCoordinator
import StrictJSON
import TableSupport
import Testing

/// Tests of single rules that no other test covers, each with a small table.
@Suite("Single rules") struct SemanticsTests {
    /// Returns a table with the usual members and additional parts.
    private func table(
        _ parts: String..., link: String = #""schemes":["t"],"host":"authority","hosts":["*"]"#, isList: Bool = false
    ) throws -> RouteTable {
        let blocks = isList ? "[{\(link)}]" : "{\(link)}"
        let head = #"{"schemaVersion":1,"table":{"id":"t","version":"1"},"link":\#(blocks),"#
        return try RouteTable(json: [UInt8]((head + parts.joined(separator: ",") + "}").utf8))
    }

    private let screens = #"""
        "models":{"Item":{"id":"string"},"Extra":{"note":"string?","day":"date?"}},
        "coordinators":{"home":{"initial":"feed","screens":{"feed":{},"item":{"needs":["Item"]},
                                                           "extra":{"needs":["Extra"]},"new":{"since":"9"}}},
                        "single":{"slot":"single","screens":{"a":{},"b":{}}}}
        """#

    @Test("A pattern can specify a scheme that the table lists only as `*`")
    func schemeUnderStar() throws {
        let table = try table(
            #""routes":[{"id":"q","match":{"path":"/{rest*}","scheme":"q"},"to":{"root":true}},"#
                + #"{"id":"other","match":"/{rest*}","to":{"root":true}}]"#, link: #""schemes":["*"],"host":"segment""#)
        #expect(table.resolve("q://a").route == "q")
        #expect(table.resolve("Q://a").route == "q")
        #expect(table.resolve("z://a").route == "other")
        let exact = try self.table(
            #""routes":[{"id":"s","match":{"path":"/{rest*}","scheme":"s"},"to":{"root":true}}]"#,
            link: #""schemes":["*"],"host":"segment"},{"schemes":["s"],"schemeCase":"exact","host":"segment""#,
            isList: true)
        #expect(exact.resolve("s://a").route == "s")
        #expect(exact.resolve("S://a").route == "s")
    }

    @Test("A resetting empty segment moves with a redirected tail and makes a relative path absolute")
    func reset() throws {
        let table = try table(
            screens,
            #""routes":[{"id":"p","match":"/go/{p:coordinatorPath}","to":{"path":"{p}"},"unknownScreen":"truncate"},"#
                + #"{"id":"old","match":"/old/{rest*}","redirect":"/go/{rest}"}]"#,
            link: #""schemes":["t"],"host":"segment","path":{"emptySegments":"reset"}"#)
        #expect(table.resolve("t://old/home/feed//single/a").path == "/single/a")
        #expect(table.resolve("t:old/home/feed").mode == .append)
        #expect(table.resolve("t:old/home/feed//feed").mode == .replace)
        #expect(table.resolve("t:old/home/feed//feed").path == "/home/feed")
        // The part that `truncate` removes does not reset the path.
        #expect(table.resolve("t://go/home/feed/x/").path == "/home/feed")
        #expect(table.resolve("t://go/home/feed/").path == "/")
        // A coordinator before the empty segment represents a screen that is removed.
        #expect(table.resolve("t://go/home//single/a").path == "/single/a")
        #expect(table.resolve(.path("single/a//b")).mode == .replace)
    }

    @Test("A coordinator with a single slot keeps its last entry in a requested path too")
    func slot() throws {
        let table = try table(screens, #""routes":[]"#)
        #expect(table.resolve(.path("/single/a/b")).path == "/single/b")
        #expect(table.resolve(.path("/single/a/home/feed/single/b")).path == "/home/feed/single/b")
    }

    @Test("The parents of a target of `unsupported` can come from a route")
    func unsupportedParents() throws {
        let table = try table(
            screens,
            #""routes":[{"id":"item","match":"/item/{id}","to":{"path":"/home/item"},"#
                + #""bind":{"Item":{"id":"path.id"}}},"#
                + #"{"id":"new","match":"/new/{id}","to":{"path":"/home/new"},"bind":{"Item":{"id":"path.id"}},"#
                + #""unsupported":{"to":{"path":"/home/feed","parents":"route:item"}}}]"#)
        let decision = table.resolve("t:///new/7", device: DeviceFacts(app: "1"))
        #expect(decision.path == "/home/item/feed")
        #expect(decision.value["stack"]?.array?.first?["data"]?.text == #"{"Item":{"id":"7"}}"#)
        #expect(decision.notes == ["unsupported:home.new"])
    }

    @Test("A null of an optional field is missing and not repaired")
    func nullIsNotRepaired() throws {
        let table = try table(
            screens,
            #""routes":[{"id":"e","match":"/e","to":{"path":"/home/extra"},"bind":{"Extra":{"note":"query.note"}}}]"#,
            link: #""schemes":["t"],"host":"authority","hosts":["*"],"repair":true"#)
        let decision = table.resolve("t:///e?note&%20note=x")
        #expect(decision.value["stack"]?.array?.first?["data"]?.text == #"{"Extra":{"note":null,"day":null}}"#)
        #expect(decision.notes == ["device.app unknown"])
    }

    @Test("An excluded link from a payload is opened unchanged")
    func excludedInPayload() throws {
        let table = try table(
            #""externals":{"hosts":["e.example"]}"#,
            #""routes":[{"id":"legal","match":"/legal/{rest*}","exclude":{"outcome":"external"}}]"#,
            link: #""schemes":["https"],"host":"authority","hosts":["e.example"],"payload":{"link":["/l"]}"#)
        let decision = table.resolve(.payload(.json(#"{"l":"https://e.example/legal/a?b"}"#)))
        #expect(decision.outcome == .external)
        #expect(decision.url == "https://e.example/legal/a?b")
    }

    @Test("A parameter for a trailing optional segment can be absent")
    func optionalParameter() throws {
        let table = try table(
            screens,
            #""routes":[{"id":"e","match":"/e/{note?}","to":{"path":"/home/extra"},"#
                + #""bind":{"Extra":{"note":"path.note"}}}]"#)
        let without = table.resolve(.route("e"))
        #expect(without.value["stack"]?.array?.first?["data"]?.text == #"{"Extra":{"note":null,"day":null}}"#)
        let with = table.resolve(.route("e", params: .json(#"{"note":5}"#)))
        #expect(with.value["stack"]?.array?.first?["data"]?.text == #"{"Extra":{"note":"5","day":null}}"#)
    }
}
