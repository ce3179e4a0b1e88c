import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TableSupport
import Testing

/// Tests of binding: repairs, parents that bind, parameters, and payloads.
@Suite("Binding of values") struct BindingTests {
    private static let head = #"{"schemaVersion":1,"table":{"id":"t","version":"1"},"#

    private static func table(_ parts: String...) throws -> RouteTable {
        try RouteTable(json: [UInt8]((head + parts.joined(separator: ",") + "}").utf8))
    }

    /// A query with the expected data of the route's three lists, or the detail of `param_invalid`, and the expected
    /// note.
    struct Repaired: Sendable, CustomTestStringConvertible {
        let query: String
        let data: String
        let note: String?

        var testDescription: String { query }
    }

    private static let lists = #"""
        "link":{"schemes":["t"],"host":"authority","hosts":["*"],"repair":true},
        "models":{"L":{"ids":"list<uuid>","days":"list<date>(0..2)","tags":"list<int>(0..3)"},
                  "N":{"names":"list<string>(1..2)"}},
        "coordinators":{"c":{"screens":{"l":{"needs":["L"]},"n":{"needs":["N"]}}}},
        "routes":[{"id":"l","match":"/l","to":{"path":"/c/l"},
                   "bind":{"L":{"ids":"query.id","days":"query.day","tags":"query.tag"}}},
                  {"id":"n","match":"/n","to":{"path":"/c/n"},"bind":{"N":{"names":"query.name"}}}]
        """#

    private static let uuid = "B121D5E7-EA65-49F8-8B33-B3C43FA93866"
    private static let damaged = "B121D5E7%E2%80%93EA65%E2%80%9349F8%E2%80%938B33%E2%80%93B3C43FA93866"

    static let repaired: [Repaired] = [
        Repaired(query: "l?tag=%205&tag=6", data: #"{"L":{"ids":[],"days":[],"tags":[5,6]}}"#, note: "tag:space"),
        Repaired(query: "l?%20tag=5&tag=6", data: #"{"L":{"ids":[],"days":[],"tags":[6]}}"#, note: nil),
        Repaired(query: "l?tag=x&tag=6", data: "L.tags", note: nil),
        Repaired(query: "l?tag=1&tag=2&tag=3&tag=4", data: "L.tags", note: nil),
        Repaired(query: "l?tag", data: #"{"L":{"ids":[],"days":[],"tags":[]}}"#, note: nil),
        Repaired(
            query: "l?id=\(damaged)&id=\(uuid)", data: #"{"L":{"ids":["\#(uuid)","\#(uuid)"],"days":[],"tags":[]}}"#,
            note: "id:dash"),
        Repaired(
            query: "l?day=2025%E2%88%9201%E2%88%9231", data: #"{"L":{"ids":[],"days":["2025-01-31"],"tags":[]}}"#,
            note: "day:dash"),
        // The value needs two repairs, but each is tried alone.
        Repaired(query: "l?day=%202025%E2%88%9201%E2%88%9231", data: "L.days", note: nil),
        Repaired(
            query: "l?tag=1&tag=7%C2%B6&amp;tag=2", data: #"{"L":{"ids":[],"days":[],"tags":[1,7,2]}}"#,
            note: "tag:entity"),
        Repaired(query: "n?x=1&amp;name=a&amp;name=b", data: #"{"N":{"names":["a","b"]}}"#, note: "name:entity"),
        // The letters of an entity can be escaped without changing the meaning of the link.
        Repaired(query: "n?x=1&%61m%70;name=a", data: #"{"N":{"names":["a"]}}"#, note: "name:entity"),
        Repaired(query: "n?%20name=a", data: #"{"N":{"names":["a"]}}"#, note: "name:space"),
        Repaired(query: "n?name=a&name=b&name=c", data: "N.names", note: nil),
    ]

    @Test("Lists are repaired as single values are", arguments: repaired)
    func repairs(_ one: Repaired) throws {
        let decision = try Self.table(Self.lists).resolve("t:///" + one.query)
        #expect((decision.value["stack"]?.array?.first?["data"]?.text ?? decision.detail) == one.data)
        #expect(decision.notes == (one.note.map { ["repaired:query." + $0] } ?? []))
    }

    private static let parents = #"""
        "link":{"schemes":["t"],"host":"authority","hosts":["*"],"repair":true},
        "models":{"O":{"n":"int?","tags":"list<int>"},"P":{"p":"int?"}},
        "coordinators":{"c":{"screens":{"o":{"needs":["O"]},"p":{"needs":["P"]},"leaf":{},"new":{"since":"5"}}}},
        "routes":[{"id":"o","match":"/o","to":{"path":"/c/o/p"},"DROP"
                   "bind":{"O":{"n":"query.n","tags":"query.tag"},"P":{"p":"query.p"}}},
                  {"id":"leaf","match":"/leaf","to":{"path":"/c/leaf","parents":"route:o"}},
                  {"id":"new","match":"/new","to":{"path":"/c/new","parents":"route:o"},"unsupported":"truncate"},
                  {"id":"other","match":"/other","to":{"path":"/c/new","parents":"route:o"},
                   "unsupported":{"to":{"path":"/c/leaf"}}}]
        """#

    private static func parents(drops: Bool) throws -> RouteTable {
        try table(parents.replacing("\"DROP\"", with: drops ? #""onInvalid":"drop","# : ""))
    }

    @Test("An entry of a parent route with an invalid value is removed with a note, never the route's own entry")
    func invalidParents() throws {
        let table = try Self.parents(drops: false)
        let device = DeviceFacts(app: "6")
        #expect(table.resolve("t:///leaf", device: device).path == "/c/o/p/leaf")
        let single = table.resolve("t:///leaf?n=x", device: device)
        #expect(single.path == "/c/p/leaf" && single.notes == ["parent dropped:c.o"])
        let list = table.resolve("t:///leaf?tag=x&p=y", device: device)
        #expect(list.path == "/c/leaf" && list.notes == ["parent dropped:c.o", "parent dropped:c.p"])
        // The route itself is rejected for the same value.
        #expect(table.resolve("t:///o?n=x", device: device).detail == "O.n")
        // A failure of one link does not affect the next one.
        #expect(table.resolve("t:///leaf?n=1", device: device).notes.isEmpty)
    }

    @Test("Without a parent that lacks data, a stack must still keep the rules of presentation")
    func presentationWithoutParent() throws {
        let table = try Self.table(
            #"""
            "link":{"schemes":["t"],"host":"authority","hosts":["*"]}, "models":{"M":{"v":"int"}},
            "coordinators":{"a":{"screens":{
              "sheet":{"present":["sheet"]},"cover":{"present":["cover"],"nav":true,"needs":["M"]},"leaf":{}}}},
            "routes":[{"id":"r","match":"/r","bind":{"M":{"v":"query.v"}},
                       "to":{"path":"/a/leaf","parents":["/a/sheet","/a/cover"]}}]
            """#)
        #expect(table.resolve("t:///r?v=1").path == "/a/sheet/cover/leaf")
        let decision = table.resolve("t:///r")
        #expect(decision.reason == .presentation && decision.detail == "a.leaf", "\(decision)")
    }

    @Test("A parent route that drops invalid values keeps its entry")
    func droppingParents() throws {
        let decision = try Self.parents(drops: true).resolve("t:///leaf?n=x&p=3", device: DeviceFacts(app: "6"))
        #expect(decision.path == "/c/o/p/leaf" && decision.notes == ["dropped:O.n"])
        #expect(decision.value["stack"]?.array?.first?["data"]?.text == #"{"O":{"n":null,"tags":[]}}"#)
    }

    @Test("Parents bind together with the route, and notes are in the order of the phases")
    func order() throws {
        let table = try Self.parents(drops: false)
        let cut = table.resolve("t:///new?n=%205&p=x", device: DeviceFacts(app: "1"))
        #expect(cut.path == "/c/o")
        #expect(cut.notes == ["unsupported:c.new", "repaired:query.n:space", "parent dropped:c.p"])
        // The parents of a stack that is not shown bind nothing.
        let other = table.resolve("t:///other?n=%205&p=x", device: DeviceFacts(app: "1"))
        #expect(other.path == "/c/leaf" && other.notes == ["unsupported:c.new"])
        let trace = table.explain(.link("t:///leaf?n=x"), device: DeviceFacts(app: "6"))
        #expect(trace.failure == nil && trace.decision.path == "/c/p/leaf")
    }

    private static let payloads = #"""
        "link":{"schemes":["t"],"host":"authority","hosts":["*"],
                "payload":{"link":["/a","/b"],"route":"/r","params":"/p"}},
        "models":{"I":{"id":"string"},"L":{"tags":"list<int>"}},
        "guards":{"g":{"claim":"c","else":{"to":{"root":true},"resume":{"ttl":"1m"}}}},
        "coordinators":{"c":{"screens":{"i":{"needs":["I"]},"x":{},"l":{"needs":["L"]}}},
                        "d":{"guard":"g","screens":{"s":{"needs":["I"]}}}},
        "routes":[{"id":"x","match":"/x","to":{"path":"/c/x"}},
                  {"id":"byID","to":{"path":"/c/i"},"bind":{"I":{"id":"path.id"}}},
                  {"id":"old","match":"/old/{id}","redirect":"byID"},
                  {"id":"tail","to":{"path":"/c/l"},"bind":{"L":{"tags":"path.rest"}}},
                  {"id":"tags","match":"/tags/{rest+}","redirect":"tail"},
                  {"id":"s","match":"/s","to":{"path":"/d/s"},"bind":{"I":{"id":"query.id"}}}]
        """#

    @Test("Only a string in a payload is a link or route, and other values are skipped")
    func payloadStrings() throws {
        let table = try Self.table(Self.payloads)
        #expect(table.resolve(.payload(.json(#"{"a":5,"b":"t:///x"}"#))).route == "x")
        #expect(table.resolve(.payload(.json(#"{"a":true,"b":["t:///x"],"r":"x"}"#))).route == "x")
        #expect(table.resolve(.payload(.json(#"{"a":"","r":7}"#))).reason == "no_link")
        #expect(table.explain(.payload(.json(#"{"a":5,"b":"t:///x"}"#))).decision.route == "x")
    }

    @Test("A parameter replaces a capture of a route that is requested by its id")
    func parametersByID() throws {
        let table = try Self.table(Self.payloads)
        let data = #"{"I":{"id":"z"}}"#
        #expect(
            table.resolve(.route("byID", params: .json(#"{"id":"z"}"#))).value["stack"]?.array?.first?["data"]?.text
                == data)
        #expect(
            table.resolve(.route("old", params: .json(#"{"id":"z"}"#))).value["stack"]?.array?.first?["data"]?.text
                == data)
        let payload = table.resolve(.payload(.json(#"{"r":"byID","p":{"id":"z"}}"#)))
        #expect(payload.value["stack"]?.array?.first?["data"]?.text == data)
        #expect(table.resolve(.route("byID")).detail == "I.id")
        let tail = table.resolve(.route("tail", params: .json(#"{"rest":"1/%32//3"}"#)))
        #expect(tail.value["stack"]?.array?.first?["data"]?.text == #"{"L":{"tags":[1,2,3]}}"#)
        #expect(table.resolve(.route("tail", params: .json(#"{"rest":"1/../3"}"#))).detail == "L.tags")
        let trace = table.explain(.route("byID", params: .json(#"{"id":"z"}"#)))
        #expect(trace.bindings.first?.raw == ["z"])
        // The query of a link is not used for a capture.
        #expect(table.resolve("t:///old/a?id=z").value["stack"]?.array?.first?["data"]?.text == #"{"I":{"id":"a"}}"#)
    }

    @Test("The parameters of a deferred request are written without white space and unnecessary escapes")
    func compactResume() throws {
        let table = try Self.table(Self.payloads)
        let decision = table.resolve(.route("s", params: .json("{ \"id\" : \"z\\u0041\\/\" ,\n \"n\": 1.50 }")))
        #expect(decision.value["resume"]?["params"]?.text == #"{"id":"zA/","n":1.50}"#)
        #expect(decision.json.firstRange(of: [UInt8](#""params":{"id":"zA/","n":1.50}"#.utf8)) != nil)
    }

    @Test("A suffix rule of a pattern requires a label before the suffix, as that of a block does")
    func suffix() throws {
        let table = try Self.table(
            #""link":{"schemes":["t"],"host":"authority","hosts":["*"]},"#
                + #""routes":[{"id":"sub","match":{"path":"/","host":"*.a.example"},"to":{"root":true}},"#
                + #"{"id":"any","match":"/","to":{"root":true}}]"#)
        let hosts = ["b.a.example": "sub", "a.example": "any", "ba.example": "any", "c.b.a.example": "sub"]
        for (host, route) in hosts {
            #expect(table.resolve("t://\(host)/").route == route, "\(host)")
            #expect(table.explain(.link("t://\(host)/")).candidates.first?.route == route, "\(host)")
        }
        for host in [".a.example", "..a.example"] {
            #expect(table.resolve("t://\(host)/").detail == "syntax", "\(host)")
        }
    }
}
