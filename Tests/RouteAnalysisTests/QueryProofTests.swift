import LinkCoordinator
import RouteAnalysis
import Testing

@Suite("Proofs about query constraints") struct QueryProofTests {
    @Test(
        "A route is never selected if others match each of its queries, also if only several of them do",
        arguments: [
            // The value of `w` is also the name `q`.
            (true, [#"{ "w": "q" }"#, #"{ "q": "*", "w": "q" }"#], true),
            (true, [#"{ "w": "1" }"#, #"{ "q": "*", "w": "1" }"#], false),
            // Each query has a `q` or none.
            (false, [#"{ "w": "1" }"#, #"{ "q": "*", "w": "1" }"#, #"{ "q": null, "w": "1" }"#], true),
            (false, [#"{ "w": "1" }"#, #"{ "q": "*", "w": "1" }"#, #"{ "q": null, "w": "2" }"#], false),
            (false, [#"{ "w": "*" }"#, #"{ "q": "*", "w": "*" }"#, #"{ "q": null, "w": "*" }"#], true),
        ])
    func covered(flattens: Bool, queries: [String], isUnreachable: Bool) {
        let routes = queries.enumerated().map { index, query in
            #"{ "id": "r\#(index)", "match": { "path": "/a" }, "query": \#(query), "to": { "root": true } }"#
        }
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment",
                        "query": { "flatten": \#(flattens), "pairSeparators": "," } },
              "coordinators": { "c": { "screens": { "s": {} } } }, "routes": [ \#(routes.joined(separator: ", ")) ] }
            """#
        let unreachable = RouteTable.check([UInt8](file.utf8)).problems.filter { $0.code == .unreachable }
        #expect(unreachable.map { $0.routes.first } == (isUnreachable ? ["r0"] : []), "\(queries)")
    }
}
