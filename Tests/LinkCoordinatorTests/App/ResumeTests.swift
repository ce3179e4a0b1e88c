import LinkCoordinator
import TableSupport
import Testing

@Suite("Requests that a deferred decision resumes") struct ResumeTests {
    private static let file = #"""
        {"schemaVersion":1,"table":{"id":"t","version":"1"},
         "link":{"schemes":["t"],"host":"authority","hosts":["*"],
                 "payload":{"link":["/l"],"route":"/r","params":"/p"}},
         "models":{"I":{"id":"string"},"X":{"x":"string?"}},
         "guards":{"g":{"claim":"c","else":{"to":{"path":"/login/form"},"resume":{"ttl":"15m","once":true}}},
                   "h":{"claim":"d","else":{"to":{"root":true},"resume":{"ttl":"2h","once":false}}},
                   "n":{"claim":"e","else":{"to":{"root":true}}}},
         "coordinators":{"a":{"guard":"g","screens":{"s":{"needs":["I"]},"p":{},"x":{"needs":["X"]}}},
                         "b":{"guard":"h","screens":{"s":{}}},"n":{"guard":"n","screens":{"s":{}}},
                         "login":{"screens":{"form":{"present":["sheet"]}}}},
         "routes":[{"id":"s","match":"/s/{id}","to":{"path":"/a/s"},"bind":{"I":{"id":"path.id"}}},
                   {"id":"x","match":"/x","to":{"path":"/a/x"},"bind":{"X":{"x":"payload./x/0"}}},
                   {"id":"b","match":"/b","to":{"path":"/b/s"}},{"id":"n","match":"/n","to":{"path":"/n/s"}},
                   {"id":"open","match":"/open","to":{"root":true}}]}
        """#

    static let requests: [(LinkRequest, LinkRequest)] = [
        (.link("t:///s/a%20b?q=1#f"), .link("t:///s/a%20b?q=1#f")),
        (.path("a/p"), .path("a/p")),
        (.path("/a/p", mode: .reuse), .path("/a/p", mode: .reuse)),
        (.route("s", params: .json("{ \"id\" : 5 }")), .route("s", params: .json(#"{"id":5}"#))),
        (.payload(.json(#"{"l":"t:///s/z","other":1}"#)), .link("t:///s/z")),
        (.payload(.json(#"{"r":"s","p":{"id":"z"}}"#)), .route("s", params: .json(#"{"id":"z"}"#))),
        // The route binds from the payload, so the whole payload is resumed.
        (.payload(.json(#"{"l":"t:///x","x":["v"]}"#)), .payload(.json(#"{"l":"t:///x","x":["v"]}"#))),
    ]

    @Test("The request keeps its form, and with the claim it leads to its destination")
    func forms() throws {
        let table = try RouteTable(json: [UInt8](Self.file.utf8))
        for (request, expected) in Self.requests {
            let decision = table.resolve(request, device: DeviceFacts(claims: []))
            #expect(decision.outcome == .deferred && decision.path == "/login/form")
            let resume = try #require(decision.resume, "\(request)")
            #expect(resume.claim == "c" && resume.ttl == .seconds(900) && resume.once)
            #expect(resume.request == expected)
            let device = DeviceFacts(claims: [resume.claim])
            let again = table.resolve(resume.request, device: device)
            #expect(again.outcome == .navigate && again.resume == nil)
            #expect(again.json == table.resolve(request, device: device).json)
            // A decision that was read back has the same request.
            #expect((try? Decision(json: decision.json))?.resume == resume)
        }
    }

    @Test("The guard determines `once` and the time, and no other outcome resumes a request")
    func others() throws {
        let table = try RouteTable(json: [UInt8](Self.file.utf8))
        let hours = try #require(table.resolve("t:///b").resume)
        #expect(hours.ttl == .seconds(7200) && !hours.once && hours.claim == "d")
        #expect(table.resolve("t:///n").outcome == .deferred && table.resolve("t:///n").resume == nil)
        #expect(table.resolve("t:///open").resume == nil && table.resolve("t:///nope").resume == nil)
    }
}
