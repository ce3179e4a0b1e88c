import ByteStorage
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@Suite("Values of payloads")
struct PayloadValueTests {
    private static let file = #"""
        { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
          "link": { "schemes": ["t"], "host": "authority", "hosts": ["*"],
                    "payload": { "link": ["/l", "/a/0/l", "/x~1y", "/a/1"], "route": "/r", "params": "/p" } },
          "models": { "M": { "s": "string?", "n": "int?", "all": "list<string>" } },
          "coordinators": { "c": { "screens": { "m": { "needs": ["M"], "identity": "x" } } } },
          "routes": [
            { "id": "m", "match": "/m", "to": { "path": "/c/m" },
              "bind": { "M": { "s": "payload./a/0/l", "n": "payload./n", "all": "payload./a" } } },
            { "id": "o", "match": "/o", "to": { "path": "/c/m" },
              "bind": { "M": { "s": "payload./x~1y", "n": "payload./p/n", "all": "payload./p/all" } } } ] }
        """#

    /// Returns a random object with members that pointers of the table lead to.
    private static func object(_ generator: inout SeededGenerator, depth: Int = 0) -> String {
        let names = ["l", "a", "x/y", "r", "p", "n", "all", "z", "\\u006c", "\\u0061"]
        let members = names.shuffled(using: &generator).prefix(Int.random(in: 0...6, using: &generator))
        // A name and its escaped form in one object would be a duplicate.
        let chosen = members.filter { name in
            !(name.hasPrefix("\\") && members.contains(name == "\\u006c" ? "l" : "a"))
        }
        return "{" + chosen.map { "\"\($0)\":" + value(&generator, depth: depth) }.joined(separator: ", ") + "}"
    }

    private static func value(_ generator: inout SeededGenerator, depth: Int) -> String {
        switch Int.random(in: 0..<(depth < 3 ? 12 : 9), using: &generator) {
        case 0: "null"
        case 1: "true"
        case 2: "12"
        case 3: #""t:///m""#
        case 4: #""t:\/\/\/o""#
        case 5: #""m""#
        case 6: #""o""#
        case 7: #""""#
        case 8: #""e\u0301""#
        case 9, 10:
            "["
                + (0..<Int.random(in: 0...3, using: &generator)).map { _ in value(&generator, depth: depth + 1) }
                .joined(separator: " ,") + "]"
        default: object(&generator, depth: depth + 1)
        }
    }

    private static func decide(_ resolver: inout Resolver, _ request: RequestView, _ table: RouteTable) -> String {
        var arena = OutputArena(chunkBytes: 4096)
        return withUnsafePointer(to: request) { request in
            withUnsafePointer(to: DeviceView()) { facts in
                arena.begin()
                _ = resolver.resolve(request, facts, table: table.compiled.handle, head: nil, into: &arena)
                return arena.finish().string
            }
        }
    }

    @Test("The values noted when a record is read are those of the text, for one root and two")
    func notedValues() throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        var generator = SeededGenerator(seed: 0xF00D)
        var tape = JSONTape(depth: 64)
        var resolver = Resolver()
        var routes = 0
        let roots = UnsafeMutablePointer<ByteView>.allocate(capacity: 2)
        defer { roots.deallocate() }
        for _ in 0..<20_000 {
            let text = "[" + Self.object(&generator) + "," + Self.object(&generator) + "]"
            try Array(text.utf8).withUnsafeBufferPointer { bytes in
                tape.clear()
                _ = try tape.append(strict: ByteView(bytes))
                let nodes = (tape.first(in: 0), tape.next(after: tape.first(in: 0)))
                roots.initialize(to: tape.nodes[Int(nodes.0)].text)
                (roots + 1).initialize(to: tape.nodes[Int(nodes.1)].text)
                var request = RequestView(form: .payload, text: .empty)
                request.payload = roots[0]
                request.roots = UnsafeBufferPointer(start: roots, count: Int.random(in: 1...2, using: &generator))
                let expected = Self.decide(&resolver, request, table)
                request.payloadNodes = UnsafePointer(tape.nodes)
                request.rootNodes = nodes
                #expect(Self.decide(&resolver, request, table) == expected, "\(text)")
                if expected.contains(#""outcome":"navigate""#) { routes += 1 }
            }
        }
        #expect(routes > 1000, "\(routes)")
    }
}
