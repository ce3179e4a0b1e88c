import LinkCoordinator
import StrictJSON
import TableSupport
import TestSupport
import Testing

@Suite("Reading of tables")
struct TableReadingTests {
    private func source(_ text: String) throws -> TableSource {
        let (source, problems) = TableSource.inspect(Array(text.utf8))
        #expect(problems.map { $0.text(file: "table") } == [])
        return try #require(source)
    }

    @Test("The shipped tables are accepted without problems", arguments: TableFiles.seeds + ["shop"])
    func shippedTables(name: String) throws {
        let file = try TableFiles.shipped(name == "shop" ? name : "seeds/\(name)")
        let (source, problems) = TableSource.inspect(file)
        #expect(problems.map { $0.text(file: name) } == [])
        #expect(source?.id.value == name)
    }

    @Test("The table of the anchor features is accepted without problems")
    func anchorFeatures() throws {
        let file = try TableFiles.fixture("anchor-features.json")
        let (read, problems) = TableSource.inspect(file)
        #expect(problems.map { $0.text(file: "anchor") } == [])
        let source = try #require(read)
        #expect(
            source.routes.map(\.id.value) == ["item", "new-items", "order", "old-order", "search", "legal", "home"])
        #expect(source.routes[0].patterns.map(\.path.text) == ["/p/{id:uuid}", "/product/{id:uuid}"])
        #expect(source.externals.hosts.map(\.text) == ["shop.example", "*.shop.example"])
        #expect(source.guards.first?.resume?.ttlSeconds == 900)
        #expect(source.capabilities.map(\.listed) == [true, false])
        #expect(source.examples.count == 7)
        #expect(source.routes[0].variants[0].notice == nil)
        #expect(source.routes[0].variants[2].notice?.value == ["system", "update"])
    }

    @Test("All 36 examples are present")
    func exampleCount() throws {
        let seeds = try TableFiles.seeds.map { TableSource.read(try TableFiles.shipped("seeds/\($0)")).source }
        let anchor = TableSource.read(try TableFiles.fixture("anchor-features.json")).source
        #expect((seeds + [anchor]).reduce(0) { $0 + ($1?.examples.count ?? 0) } >= 36)
    }

    @Test("The defaults are the strictest values")
    func defaults() throws {
        let source = try source(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "coordinators": { "main": { "screens": { "home": {} } } },
              "routes": [ { "id": "a", "match": "/a", "to": { "path": "/main/home" } } ] }
            """)
        let block = source.blocks[0]
        #expect(block.query == TableSource.QueryDialect())
        #expect(block.query.pairSeparators == Array("&".utf8))
        #expect(block.emptySegments == .collapse)
        #expect(block.schemeCase == .lower)
        #expect(!block.repair && !source.foldsPathCase)
        #expect(source.limits == TableSource.LinkLimits())
        #expect(source.fallback.isEmpty)
        let route = source.routes[0]
        #expect(route.onInvalid == .reject && route.unknownScreen == .reject && !route.requireAll)
        #expect(route.priority == 0)
        #expect(route.variants[0].to.mode == nil && !route.variants[0].to.dismissModals)
        #expect(source.coordinators[0].screens[0].defaultPresentation == .push)
    }

    @Test("Vars are replaced before parsing, and only where they are allowed")
    func vars() throws {
        let source = try source(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "<brand>" },
              "vars": { "brand": "shop", "ids": "{id:int}" },
              "link": { "schemes": ["<brand>"], "host": "authority", "hosts": ["<brand>.example"] },
              "models": { "M": { "id": "int" } },
              "routes": [ { "id": "<brand>-a", "match": "/<brand>/<ids>", "to": { "root": true },
                            "bind": { "M": { "id": "path.id" } } } ] }
            """)
        #expect(source.version.value == "<brand>")
        #expect(source.blocks[0].schemes.map(\.value) == ["shop"])
        #expect(source.blocks[0].hosts.map(\.value.text) == ["shop.example"])
        #expect(source.routes[0].id.value == "shop-a")
        #expect(source.routes[0].patterns[0].path.text == "/shop/{id:int}")
    }

    @Test("A text with `<` that is not a var is unchanged")
    func noVars() throws {
        let source = try source(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "routes": [ { "id": "a", "match": "/a", "variants": [
                { "when": { "app": ">=4.0.0 <6" }, "to": { "root": true } }, { "to": { "root": true } } ] } ] }
            """)
        let tests = try #require(source.routes[0].variants[0].when).app
        #expect(tests.map { $0.relation.rawValue + $0.version.text } == [">=4.0.0", "<6"])
    }

    @Test("Texts are brought into NFC, except the links of examples")
    func normalForm() throws {
        let source = try source(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "routes": [ { "id": "a", "match": "/cafe\\u0301", "to": { "root": true },
                            "query": { "e\\u0301": "e\\u0301" } } ],
              "examples": [ { "link": "t://cafe\\u0301?e\\u0301=1", "outcome": "reject", "detail": "e\\u0301" } ] }
            """)
        let route = source.routes[0]
        #expect(route.patterns[0].path.matchers == [.literal(Array("caf\u{E9}".utf8)), .end])
        #expect(Array(route.query[0].name.value.utf8) == Array("\u{E9}".utf8))
        guard case .link(let link) = source.examples[0].request else { throw TestFailure.unexpected }
        #expect(Array(link.utf8) == Array("t://cafe\u{301}?e\u{301}=1".utf8))
        #expect(
            source.examples[0].expectations.map { Array(($0.value.string ?? "").utf8) }.last == Array("\u{E9}".utf8))
    }

    @Test("Bindings are in the order of models and fields, regardless of the file")
    func bindOrder() throws {
        let source = try source(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "models": { "B": { "y": "int?", "x": "int?" }, "A": { "z": "int?" } },
              "routes": [ { "id": "a", "match": "/a", "to": { "root": true },
                            "bind": { "A": { "z": "query.z" }, "B": { "x": 5, "y": "query.y" } } } ] }
            """)
        #expect(source.routes[0].bindings.map { "\($0.model.value).\($0.field.value)" } == ["B.y", "B.x", "A.z"])
    }

    @Test("A table may name its JSON schema, as a string only")
    func schemaReference() throws {
        func file(_ schema: String) -> String {
            """
            { "$schema": \(schema), "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "routes": [ { "id": "a", "match": "/a", "to": { "root": true } } ] }
            """
        }
        #expect(try source(file("\"../schemas/table.schema.json\"")).routes.count == 1)
        let (_, problems) = TableSource.inspect(Array(file("1").utf8))
        #expect(problems.map(\.code) == [.wrongType])
        #expect(problems.first?.pointer == "/$schema")
    }

    @Test("A file that is not a table has one problem", arguments: ["", "[]", "{", "null", "{\"a\":1}x"])
    func noTable(text: String) {
        let (source, problems) = TableSource.inspect(Array(text.utf8))
        #expect(source == nil)
        #expect(problems.count == 1)
        #expect(problems[0].severity == .error)
    }

    @Test("Mutated tables are read without a trap")
    func mutations() throws {
        var generator = SeededGenerator(seed: 4711)
        let files =
            try TableFiles.seeds.map { try TableFiles.shipped("seeds/\($0)") } + [
                try TableFiles.fixture("anchor-features.json")
            ]
        let bytes = Array("{}[]\"\\/:,.*?+-<>|=()0129azAZ_~é ".utf8)
        var refused = 0
        for round in 0..<600 {
            var file = files[round % files.count]
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let at = Int.random(in: 0..<file.count, using: &generator)
                let byte = bytes[Int.random(in: 0..<bytes.count, using: &generator)]
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: file[at] = byte
                case 1: file.insert(byte, at: at)
                default: file.remove(at: at)
                }
            }
            if TableSource.inspect(file).problems.contains(where: { $0.severity == .error }) { refused += 1 }
        }
        #expect(refused > 100, "seed \(generator.seed)")
    }
}

/// An error for an unexpected value.
enum TestFailure: Error { case unexpected }
