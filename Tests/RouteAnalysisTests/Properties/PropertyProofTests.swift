import LinkCoordinator
import RouteAnalysis
import TableSupport
import Testing

@Suite("Proofs of properties")
struct PropertyProofTests {
    private func verdicts(_ table: RouteTable, _ file: [UInt8]) throws -> [(id: String, verdict: PropertyVerdict)] {
        let read = PropertyFile.read(file, about: table)
        let properties = try #require(read.file, "\(read.problems)").properties
        var search = PropertySearch(table, properties)
        return zip(properties.map(\.id.value), search.run()).map { ($0, $1) }
    }

    /// An edit of the sample table for each of its properties, which breaks it.
    static let edits: [(property: String, edits: [(String, String)])] = [
        ("account-needs-session", [(#""guard": "signedIn", "#, "")]),
        ("no-cover-on-android", [(#"["ios", "visionos"]"#, #"["ios", "android"]"#)]),
        ("tours-open", [(#""since": "4.0.0""#, #""since": "4.5.0""#)]),
        ("old-apps-go-to-the-web", [("https://tours.example/p/{id}", "https://www.tours.example/p/{id}")]),
        (
            "only-our-hosts",
            [
                (#""*.tours.example"] },"#, #""*.other.example"] },"#),
                ("https://www.tours.example", "https://x.other.example"),
            ]
        ),
        ("only-https", [(#""schemes": ["https"]"#, #""schemes": ["https", "tours"]"#)]),
        ("bookings-ask-to-sign-in", [(#""/account/booking", "parents""#, #""/tours/list", "parents""#)]),
        (
            "start-page-works",
            [(#""match": "/", "to": { "root": true }"#, #""match": "/", "exclude": { "outcome": "none" }"#)]
        ),
        (
            "admin-stays-out",
            [(#""/admin/{rest*}", "exclude": { "outcome": "none" }"#, #""/admin/{rest*}", "to": { "root": true }"#)]
        ),
        (
            "no-update-for-new-apps",
            [
                (
                    #""path": "/tours/tour", "parents": "initial" } }"#,
                    #""path": "/tours/tour" }, "notice": "/service/update" }"#
                )
            ]
        ),
    ]

    @Test("All properties of the sample table are proved")
    func sample() throws {
        let table = try RouteTable.checked(TableFiles.shared("config/samples/tours.json"))
        let all = try verdicts(table, TableFiles.shared("config/samples/tours-properties.json"))
        #expect(all.map(\.id) == Self.edits.map(\.property))
        for (id, verdict) in all { if case .proved = verdict {} else { Issue.record("\(id): \(verdict)") } }
    }

    @Test("An edit that breaks a property of the sample table is found, with a request and a device", arguments: edits)
    func edited(property: String, edits: [(String, String)]) throws {
        var text = String(decoding: try TableFiles.shared("config/samples/tours.json"), as: UTF8.self)
        for (old, new) in edits {
            #expect(text.contains(old))
            text = text.replacing(old, with: new)
        }
        let table = try #require(RouteTable.unchecked(Array(text.utf8)))
        let all = try verdicts(table, TableFiles.shared("config/samples/tours-properties.json"))
        let verdict = try #require(all.first { $0.id == property }).verdict
        guard case .refuted(let witness) = verdict else { throw Failure(text: "\(property): \(verdict)") }
        #expect(table.resolve(witness.request, device: witness.device) == witness.decision)
    }

    private struct Failure: Error, CustomStringConvertible {
        var text: String
        var description: String { text }
    }

    private static func table(_ members: String) throws -> RouteTable {
        let file = """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment" }, \(members) }
            """
        return try RouteTable(json: file.utf8)
    }

    private func answer(_ members: String, _ property: String) throws -> PropertyVerdict {
        let file = #"{ "schemaVersion": 1, "table": "t", "properties": [ { "id": "p", \#(property) } ] }"#
        return try #require(try verdicts(Self.table(members), Array(file.utf8)).first).verdict
    }

    private static let screens = #""coordinators": { "main": { "screens": { "x": {}, "y": {} } } }"#

    @Test("A redirect that can lead anywhere leaves a gap, which the reason names")
    func gap() throws {
        let routes = #"""
            "routes": [
              { "id": "far", "match": "/far/{rest+}", "redirect": "/{rest}/end" },
              { "id": "x", "match": "/a/b/c/d/{e}/end", "to": { "path": "/main/x" } },
              { "id": "y", "match": "/b", "to": { "path": "/main/y" } } ]
            """#
        let property = #""links": "/far/{r+}", "never": { "screens": "main.y" }"#
        let verdict = try answer(Self.screens + "," + routes, property)
        guard case .unproved(let gap) = verdict else { throw Failure(text: "\(verdict)") }
        #expect(gap.contains("`far`"))
    }

    /// The ways in which a route can fail without an item of its list.
    static let lists: [String] = [
        #"{ "id": "l", "match": "/l/{rest*}", "to": { "path": "/main/list" }, "#
            + #""bind": { "L": { "items": "path.rest" } } }"#,
        #"{ "id": "l", "match": "/l/{rest*}", "to": { "path": "/main/x" }, "requireAll": true, "#
            + #""bind": { "L": { "items": "path.rest" } } }"#,
        #"{ "id": "l", "match": "/l/{rest*}", "to": { "path": "/main/y", "parents": ["/guarded/list"] }, "#
            + #""bind": { "L": { "items": "path.rest" } } }"#,
    ]

    @Test("A list that needs an item can be missing, because `{rest*}` can be empty", arguments: lists)
    func emptyLists(route: String) throws {
        func verdict(_ type: String) throws -> PropertyVerdict {
            let members = #"""
                "models": { "L": { "items": "\#(type)" } },
                "guards": { "g": { "claim": "session", "else": { "to": { "path": "/main/x" } } } },
                "coordinators": {
                  "main": { "screens": { "x": {}, "y": {}, "list": { "needs": ["L"] } } },
                  "guarded": { "guard": "g", "screens": { "list": { "needs": ["L"] } } } },
                "routes": [ \#(route) ],
                "fallback": [
                  { "on": ["param_missing"], "outcome": "navigate", "to": { "path": "/main/y" } },
                  { "outcome": "reject" } ]
                """#
            let property = #""links": "/l/{r*}", "when": { "without": "session" }, "never": { "screens": "main.y" }"#
            return try answer(members, property)
        }
        guard case .refuted = try verdict("list<string>(1..64)") else { throw Failure(text: "not refuted") }
        guard case .proved = try verdict("list<string>(0..64)") else { throw Failure(text: "not proved") }
    }

    @Test("A route with too many kinds of devices leaves a property unproved, with little time and memory")
    func manyKinds() throws {
        let variants = (0..<600).map { number in
            #"{ "when": { "attributes": { "a\#(number)": ["x", "y"] }, "claim": "c\#(number)" }, "#
                + #""to": { "path": "/main/x" } }"#
        }
        let all = (variants + [#"{ "to": { "path": "/main/x" } }"#]).joined(separator: ", ")
        let routes = #""routes": [ { "id": "r", "match": "/r", "variants": [ \#(all) ] } ]"#
        let property = #""links": "/r", "never": { "screens": "main.y" }"#
        try expectTooManyKinds(Self.screens + "," + routes, property)
    }

    @Test("Screens that need many capabilities, in a chain of fallbacks, leave a property unproved with little memory")
    func manyCapabilities() throws {
        func names(_ screen: String) -> [String] { (0..<200).map { "\(screen)\($0)" } }
        let all = ["x", "y", "z"].flatMap(names).map { #""\#($0)": { "listed": true }"# }.joined(separator: ", ")
        let screens = ["x", "y", "z"].map { screen in
            #""\#(screen)": { "requires": [\#(names(screen).map { "\"\($0)\"" }.joined(separator: ", "))] }"#
        }
        let table =
            #""capabilities": { \#(all) }, "#
            + #""coordinators": { "main": { "screens": { \#(screens.joined(separator: ", ")) } } }, "#
            + #""routes": [ { "id": "r", "match": "/r", "to": { "path": "/main/x" }, "#
            + #""unsupported": { "to": { "path": "/main/y" } } } ], "#
            + #""fallback": [ { "outcome": "navigate", "to": { "path": "/main/z" } } ]"#
        try expectTooManyKinds(table, #""never": { "screens": "main.z", "outcome": "external" }"#)
    }

    @Test("A route whose parents have many kinds of other devices leaves a property unproved in little time")
    func manyParents() throws {
        func variants(_ name: String, _ first: String, _ last: String) -> String {
            let all = (0..<12).map { number in
                let one = "\(name)\(number)"
                return #"{ "when": { "attributes": { "\#(one)": "x", "\#(one)z": "x" } }, "to": { "root": true } }"#
            }
            return ([first] + all + [last]).joined(separator: ", ")
        }
        let parent = variants(
            "c", #"{ "when": { "app": "<2" }, "to": { "root": true } }"#, #"{ "to": { "path": "/main/x" } }"#)
        let route = variants(
            "a", #"{ "when": { "app": ">=2" }, "to": { "root": true } }"#,
            #"{ "to": { "path": "/main/x", "parents": "route:P" } }"#)
        let routes =
            #""routes": [ { "id": "P", "variants": [ \#(parent) ] }, "#
            + #"{ "id": "r", "match": "/r", "variants": [ \#(route) ] } ]"#
        try expectTooManyKinds(Self.screens + "," + routes, #""links": "/r", "never": { "screens": "main.y" }"#)
    }

    private func expectTooManyKinds(_ table: String, _ property: String) throws {
        let verdict = try answer(table, property)
        guard case .unproved(let gap) = verdict else { throw Failure(text: "\(verdict)") }
        #expect(gap.contains("too many kinds of devices"))
    }

    @Test("A property that covers no device is proved")
    func nobody() throws {
        let routes = #""routes": [ { "id": "y", "match": "/b", "to": { "path": "/main/y" } } ]"#
        let property = #""when": { "claim": "c", "without": "c" }, "never": { "screens": "main.y" }"#
        guard case .proved = try answer(Self.screens + "," + routes, property) else {
            throw Failure(text: "not proved")
        }
    }

    /// Forms in which the only way to a screen is found.
    static let forms: [(routes: String, property: String, request: String)] = [
        ("", #""never": { "screens": "main.x" }"#, "path /main/x"),
        (
            #"{ "id": "x", "to": { "path": "/main/x" } }"#,
            #""requests": ["link", "route"], "never": { "screens": "main.x" }"#, "route x with {}"
        ),
        (
            #"{ "id": "x", "match": "/x", "to": { "path": "/main/x" } }"#,
            #""requests": "link", "never": { "screens": "main.x" }"#, "s:///x"
        ),
        ("", #""requests": "payload", "never": { "outcome": "none" }"#, "payload {}"),
        ("", #""requests": "link", "never": { "outcome": "reject" }"#, ""),
    ]

    @Test("Each form of a request is searched", arguments: forms)
    func everyForm(routes: String, property: String, request: String) throws {
        let verdict = try answer(Self.screens + #", "routes": [ \#(routes) ]"#, property)
        guard case .refuted(let witness) = verdict else { throw Failure(text: "\(verdict)") }
        #expect(witness.request.text == request)
    }

    @Test("A proof that is ended is no proof")
    func ended() throws {
        let table = try RouteTable.checked(TableFiles.shared("config/samples/tours.json"))
        let file = try #require(
            PropertyFile.read(TableFiles.shared("config/samples/tours-properties.json"), about: table).file)
        var search = PropertySearch(table, file.properties) { true }
        for verdict in search.run() { if case .unproved = verdict {} else { Issue.record("\(verdict)") } }
    }
}
