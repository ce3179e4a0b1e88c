@testable import LinkCoordinator
import Testing

@Suite("Precedence of patterns")
struct OrderTests {
    private func pattern(_ text: String) throws -> Pattern {
        try #require(try PatternParser.parse(text, foldsCase: false).first)
    }

    /// Patterns in the order of precedence.
    ///
    /// Each precedes every later one.
    private static let ascending = [
        "/a", "/b", "/{n:enum(z)}", "/{n:enum(a|b)}", "/{n:enum(a|c)}", "/{n:enum(a|b|c)}", "/abc{n}", "/ab{n}c",
        "/a{n:enum(b|c)}b", "/a{n:int}b", "/a{n}b", "/a{n}c", "/b{n}c", "/{n}ab", "/a{n:int}", "/a{n}", "/{n}a",
        "/{n:int(5..5)}", "/{n:int(1..10)}", "/{n:int(2..11)}", "/{n:int(1..100)}", "/{n:int(0..)}", "/{n:int(..9)}",
        "/{n:int}", "/{n:bool}", "/{n:date}", "/{n:uuid}", "/{n:[a-c]{1,2}}", "/{n:[0-9]{2,3}}", "/{n:[0-9]{1,3}}",
        "/{n:[a-z]{1,3}}", "/{n:[a-z0-9]{3,8}}", "/{n:[a-z0-9]{2,8}}", "/{n}/a", "/{n}/{m}", "/{n}/{r+}", "/{n}",
        "/{n}/{r*}", "/{p:coordinatorPath}", "/{r+}", "/", "/{r*}",
    ]

    @Test("Patterns are ordered by rank and by the keys within a rank")
    func ranks() throws {
        let patterns = try Self.ascending.map { try pattern($0) }
        for (i, a) in patterns.enumerated() {
            for (j, b) in patterns.enumerated() {
                #expect(Pattern.compare(a, b).signum() == (i - j).signum(), "\(a.text) and \(b.text)")
            }
        }
    }

    @Test("anySegment is between a coordinator path and a tail")
    func anySegment() throws {
        let any = try PatternParser.anySegment("x", foldsCase: false)
        #expect(Pattern.compare(try pattern("/{p:coordinatorPath}"), any) < 0)
        #expect(Pattern.compare(any, try pattern("/{r+}")) < 0)
        #expect(Pattern.compare(any, try pattern("/")) < 0)
    }

    @Test("Names of captures have no effect")
    func names() throws {
        #expect(Pattern.compare(try pattern("/{a}/{b:int}"), try pattern("/{x}/{y:int}")) == 0)
    }

    @Test("The order has no cycle where inclusion would have one")
    func cycle() throws {
        let a = try pattern("/{a:int(1..10)}/{n}")
        let b = try pattern("/{b:int(1..100)}/x")
        let c = try pattern("/{c:int(5..200)}/{e:enum(x|y)}")
        #expect(Pattern.compare(a, b) < 0 && Pattern.compare(b, c) < 0 && Pattern.compare(a, c) < 0)
    }

    /// From the best to the last by scheme, host, constraints, priority, and id.
    @Test("Scheme, host, constraints, priority, and id are compared in this order")
    func steps() throws {
        let path = try pattern("/a")
        let host = Array("shop.example".utf8)
        func key(
            scheme: String? = nil, host: HostRule? = nil, constraints: Int = 0, valued: Int = 0, priority: Int64 = 0,
            route: String = "m"
        ) -> Precedence {
            Precedence(
                scheme: scheme, host: host, path: path, constraints: constraints, valuedConstraints: valued,
                priority: priority, route: route)
        }
        let ascending = [
            key(scheme: "shop", host: .exact(host: host, port: 8080)), key(scheme: "shop"),
            key(host: .exact(host: host, port: 8080)), key(host: .exact(host: host, port: nil)),
            key(host: .suffix(Array("shop.example".utf8))), key(host: .suffix(Array("example".utf8))),
            key(constraints: 2, valued: 1, priority: -5), key(constraints: 2), key(constraints: 1, valued: 1),
            key(priority: 7), key(priority: 1, route: "z"), key(route: "a"), key(), key(route: "mm"), key(priority: -1),
        ]
        for (i, a) in ascending.enumerated() {
            for (j, b) in ascending.enumerated() {
                #expect(Precedence.compare(a, b).signum() == (i - j).signum(), "\(i) and \(j)")
            }
        }
    }

    @Test("A pattern that matches strictly fewer links precedes, with known exceptions")
    func narrower() throws {
        let pairs = [
            ("/a", "/{n:enum(a|b)}"), ("/a7", "/a{n:int}"), ("/a{n:int}", "/a{n}"), ("/a{n}", "/{n}"),
            ("/{n:int}", "/{n}"),
            ("/{n:int(1..10)}", "/{n:int}"), ("/{n:[a-z]{1,2}}", "/{n:[a-z0-9]{1,8}}"), ("/{n}", "/{r+}"),
            ("/{r+}", "/{r*}"),
            ("/", "/{r*}"), ("/a/{r*}", "/{r*}"), ("/{n}/{m}", "/{n}/{r*}"),
        ]
        for (narrow, wide) in pairs {
            #expect(Pattern.compare(try pattern(narrow), try pattern(wide)) < 0, "\(narrow) and \(wide)")
        }
        #expect(Pattern.compare(try pattern("/{n:int(10..19)}"), try pattern("/1{n}")) > 0)
    }
}
