import LinkCoordinator
import TableSupport
import Testing

@Suite("A store of the current table")
struct RouteTableStoreTests {
    private static func table(_ version: Int) throws -> RouteTable {
        try RouteTable(
            json: """
                {"schemaVersion": 1, "table": {"id": "t", "version": "\(version)"},
                 "link": {"schemes": ["app"], "host": "segment"},
                 "routes": [{"id": "a", "match": "/a", "to": {"root": true}}]}
                """.utf8)
    }

    @Test("A listener gets the current table, then each table that replaces it, and ends with the store")
    func listeners() async throws {
        var store: RouteTableStore? = RouteTableStore(try Self.table(0))
        var listener = try #require(store?.tables).makeAsyncIterator()
        #expect(await listener.next()?.version == "0")
        for version in 1...3 {
            let last = store?.replace(with: try Self.table(version))
            #expect(last?.version == "\(version - 1)")
            #expect(store?.table.version == "\(version)")
            #expect(await listener.next()?.version == "\(version)")
        }
        store = nil
        #expect(await listener.next() == nil)
    }

    @Test("A slow listener gets the newest table only")
    func slowListener() async throws {
        let store = RouteTableStore(try Self.table(0))
        var listener = store.tables.makeAsyncIterator()
        for version in 1...5 { store.replace(with: try Self.table(version)) }
        #expect(await listener.next()?.version == "5")
        var late = store.tables.makeAsyncIterator()
        #expect(await late.next()?.version == "5")
    }

    @Test("Concurrent readers see only rising versions while the table is replaced")
    func concurrentReaders() async throws {
        let store = RouteTableStore(try Self.table(0))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var newest = 0
                    while newest < 40 {
                        let table = store.table
                        let version = try #require(Int(table.version))
                        if version < newest || table.resolve("app://a").table != table.identity { return false }
                        newest = version
                        await Task.yield()
                    }
                    return true
                }
            }
            for version in 1...40 {
                store.replace(with: try Self.table(version))
                await Task.yield()
            }
            for try await isInOrder in group { #expect(isInOrder) }
        }
    }
}

@Suite("The contents of a table and of a decision, for apps")
struct TableContentsTests {
    @Test("A table lists its routes and its screens")
    func contents() throws {
        let table = try RouteTable(
            json: """
                {"schemaVersion": 1, "table": {"id": "t", "version": "1"},
                 "link": {"schemes": ["app"], "host": "segment"}, "models": {"Item": {"id": "string"}},
                 "coordinators": {"c": {"screens": {"list": {}, "item": {"needs": ["Item"], "view": "list"}}}},
                 "routes": [{"id": "a", "match": "/a", "alias": ["/b/{page:int?}"], "to": {"path": "/c/list"}},
                  {"id": "i", "match": "/i/{id}", "bind": {"Item": {"id": "path.id"}}, "to": {"path": "/c/item"}}]}
                """.utf8)
        #expect(table.routes.map(\.id) == ["a", "i"])
        #expect(table.routes.map(\.patterns) == [["/a", "/b/{page:int?}"], ["/i/{id}"]])
        #expect(table.screens.map(\.name) == ["list", "item"])
        #expect(table.screens.map(\.coordinator) == ["c", "c"])
        #expect(table.screens.map(\.view) == [nil, "list"])
        #expect(table.screens.map(\.models) == [[], ["Item"]])
    }

    /// Bytes that are not a decision, and a part of the error.
    private static let wrong = [
        ("", "not JSON"), ("{", "not JSON"), ("[]", "an object"), ("{}", "`outcome`"),
        (#"{"outcome":"navigate"}"#, "`table`"), (#"{"outcome":"later","table":"t@1+00000000"}"#, "`navigate`"),
        (#"{"outcome":1,"table":"t@1+00000000"}"#, "`outcome`"),
        (#"{"outcome":"navigate","table":"t@1+00000000"}"#, "`stack`"),
        (#"{"outcome":"navigate","table":"t@1+00000000","stack":"x"}"#, "`stack`"),
        (#"{"outcome":"deferred","table":"t@1+00000000","stack":[{"coordinator":"a"}]}"#, "`stack`"),
    ]

    @Test("Bytes that are not a decision are refused, with what was expected", arguments: wrong)
    func wrongDecisions(json: String, part: String) {
        do throws(DecisionError) {
            _ = try Decision(json: json.utf8)
            Issue.record("\(json) was read")
        } catch {
            #expect(error.description.contains(part), "\(error)")
        }
    }

    @Test("A table's decision is read back")
    func readBack() throws {
        let table = try RouteTable(json: TableFiles.shipped("shop"))
        for link in ["shop:///p/new", "shop:///nothing/here", "x"] {
            let decision = table.resolve(link)
            let read = try Decision(json: decision.json)
            #expect(read.json == decision.json && read.outcome == decision.outcome && read.table == decision.table)
        }
    }
}
