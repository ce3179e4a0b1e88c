import LinkCoordinator
import TableSupport
import Testing

@Suite("Links of routes") struct LinkTests {
    static let uuid = "B121D5E7-EA65-49F8-8B33-B3C43FA93866"

    @Test("The links of the shipped tables have their usual form")
    func shipped() throws {
        let demo = try RouteTable(json: TableFiles.shipped("seeds/coordinator-demo"))
        #expect(try demo.link(route: "root") == "coordinator:///")
        #expect(
            try demo.link(route: "product", models: ["Product": ["id": .text(Self.uuid), "count": 5]])
                == "coordinator://product?id=\(Self.uuid)&count=5")
        #expect(
            try demo.link(
                route: "path", models: ["Product": ["id": .text(Self.uuid.lowercased()), "count": 7]],
                captures: ["path": "/auth/a/products/merch"])
                == "coordinator://auth/a/products/merch?id=\(Self.uuid)&count=7")
        let trips = try RouteTable(json: TableFiles.shipped("seeds/trips-calendar"))
        #expect(
            try trips.link(route: "details", models: ["TripRef": ["reference": "55091-231959"]])
                == "tcal:///details?reference=55091-231959")
        let flow = try RouteTable(json: TableFiles.shipped("seeds/content-flow"))
        #expect(
            try flow.link(route: "first", models: ["FirstText": ["text": "Some param"]])
                == "content://first?text=Some%20param")
        #expect(try flow.link(route: "first") == "content://first")
    }

    @Test(
        "A link of `anySegment` has a further segment if another route matches the path without it",
        arguments: [
            (["/items"], "s:///any/items"), (["/items", "/{x}/items"], "s:///items/any"),
            (["/items", "/{x}/items", "/items/{x}"], "s:///any/any/items"), ([], "s:///items"),
            (["/items/{x?}", "/{x}/items", "/{x}/{y}/items"], "s:///items/any/any"),
        ])
    func fillers(others: [String], link: String) throws {
        let routes = others.enumerated().map {
            #",{"id":"r\#($0.offset)","match":"\#($0.element)","to":{"root":true}}"#
        }
        let table = try Self.table(
            link: #"{"schemes":["s"],"host":"authority","hosts":[""]}"#,
            routes: #"{"id":"any","match":{"anySegment":"items"},"to":{"root":true}}"# + routes.joined())
        #expect(try table.link(route: "any") == link)
        #expect(table.resolve(link).route == "any")
    }

    @Test("A rewrite's prefix, an optional segment, a query constraint, a fragment, and a host rule are written")
    func everything() throws {
        let table = try Self.table(
            link: #"""
                {"schemes":["s"],"host":"authority","hosts":["*.a.example","b.example:81"],
                 "rewrites":[{"stripPrefix":"/v{n:int}","as":"api"},{"stripPrefix":"/{l:enum(en|ru)}"}],
                 "query":{"plus":"space"}}
                """#,
            routes: #"""
                {"id":"full","match":{"path":"/x{id:int}y/{tail?}","host":"b.example"},
                 "query":{"kind":"a b","flag":"*","off":null},"to":{"path":"/c/m"},
                 "bind":{"M":{"id":"path.id","tail":"path.tail","locale":"rewrite.l","mark":"fragment","tags":"query.t",
                 "n":"query.n"}}}
                """#)
        #expect(
            try table.link(
                route: "full",
                models: [
                    "M": [
                        "id": 7, "tail": "a/b", "locale": "ru", "mark": "é#", "tags": ["x+y", "&"], "n": 2,
                    ]
                ])
                == "s://b.example:81/ru/x7y/a%2Fb?kind=a%20b&flag&t=x%2By&t=%26&n=2#%C3%A9%23")
        #expect(
            try table.link(route: "full", models: ["M": ["id": 7, "locale": "en", "mark": "m", "n": 1]])
                == "s://b.example:81/en/x7y?kind=a%20b&flag#m")
    }

    static func table(link: String, routes: String) throws -> RouteTable {
        try RouteTable(
            json: [UInt8](
                #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":\#(link),
                 "models":{"M":{"id":"int(1..99)","tail":"string?","locale":"string","mark":"string(1..)",
                           "tags":"list<string>","n":"int=1"}},
                 "coordinators":{"c":{"screens":{"m":{"needs":["M"]},"plain":{}}}},
                 "routes":[\#(routes)]}
                """#.utf8))
    }

    @Test(
        "Links are written so that each dialect decodes them to the same values",
        arguments: [
            (#"{"decode":"before"}"#, "a&b=c%", "s://h/p?q=a%2526b%253Dc%2525"),
            (#"{"decode":"none","pairSeparators":","}"#, "a&b=c%", "s://h/p?q=a&b=c%"),
            (#"{"pairSeparators":";&"}"#, "a;b", "s://h/p?q=a%3Bb"),
            (#"{"flatten":true}"#, "a=b", "s://h/p?q=a%3Db"),
            (#"{"duplicates":"last","plus":"space"}"#, "a b+c", "s://h/p?q=a%20b%2Bc"),
        ])
    func dialects(dialect: String, value: String, link: String) throws {
        let table = try Self.dialect(dialect)
        #expect(try table.link(route: "p", models: ["Q": ["q": .text(value)]]) == link)
        let decision = table.resolve(link)
        #expect(decision.stack.last?.models["Q"] == ["q": .text(value)])
    }

    static func dialect(_ query: String) throws -> RouteTable {
        try RouteTable(
            json: [UInt8](
                #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},
                 "link":{"schemes":["s"],"host":"authority","hosts":["h"],"query":\#(query)},
                 "models":{"Q":{"q":"string"}},
                 "coordinators":{"c":{"screens":{"m":{"needs":["Q"]},"plain":{}}}},
                 "routes":[{"id":"p","match":"/p","to":{"path":"/c/m"},"bind":{"Q":{"q":"query.q"}}},
                           {"id":"special","match":"/x/special","to":{"path":"/c/plain"}},
                           {"id":"any","match":"/x/{what}","to":{"path":"/c/plain"}},
                           {"id":"away","match":"/away","redirect":"/x/special"},
                           {"id":"inner","to":{"path":"/c/plain"}}]}
                """#.utf8))
    }

    @Test(
        "A value that no link can carry is a typed error that names its position",
        arguments: [
            ("p", ["Q": [:]], [:], LinkError.Code.missing, "Q.q"), ("p", [:], [:], .missing, "Q.q"),
            ("p", ["Q": ["q": 5]], [:], .value, "Q.q"), ("p", ["Q": ["q": "x,y"]], [:], .unwritable, "query.q"),
            ("p", ["Q": ["r": "x"]], [:], .unknownName, "Q.r"), ("p", ["R": [:]], [:], .unknownName, "R"),
            ("p", ["Q": ["q": "x"]], ["what": "x"], .unknownName, "path.what"),
            ("any", [:], [:], .missing, "path.what"), ("any", [:], ["what": ".."], .value, "path.what"),
            ("any", [:], ["what": "special"], .notRoundTripped, "route special"),
            ("any", ["Q": ["q": "x"]], [:], .unwritable, "Q.q"),
            ("away", [:], [:], .redirects, "/x/special"), ("inner", [:], [:], .noPattern, "inner"),
            ("none", [:], [:], .unknownRoute, "none"),
        ] as [(String, Models, [String: String], LinkError.Code, String)])
    func refused(route: String, models: Models, captures: [String: String], code: LinkError.Code, position: String)
        throws
    {
        let table = try Self.dialect(#"{"decode":"none","pairSeparators":","}"#)
        let error = #expect(throws: LinkError.self) {
            try table.link(route: route, models: models, captures: captures)
        }
        #expect(error?.code == code)
        #expect(error?.position == position)
    }

    private static let odd = #"""
        {"schemaVersion":1,"table":{"id":"t","version":"1"},
         "link":{"schemes":["s"],"host":"segment",
                 "rewrites":[{"stripPrefix":"/v1"},{"stripPrefix":"/{l:enum(en|ru)}","as":"loc"},
                             {"stripPrefix":"/v1"}]},
         "models":{"M":{"id":"string","flag":"bool?","code":"uuid?","note":"string?"},"L":{"loc":"string?"}},
         "coordinators":{"c":{"screens":{"m":{"needs":["M"]},"l":{"needs":["L"]},"plain":{}}}},
         "routes":[{"id":"bare","match":"/q","query":{"mode":null,"ref":null},"to":{"path":"/c/plain"}},
                   {"id":"other","match":"/q","to":{"path":"/c/plain"}},
                   {"id":"digit","match":"/d/{f:[01]{1,1}}","to":{"path":"/c/m"},
                    "bind":{"M":{"id":{"const":"x"},"flag":"path.f"}}},
                   {"id":"small","match":"/u/{u:[0-9a-f-]{36,36}}","to":{"path":"/c/m"},
                    "bind":{"M":{"id":{"const":"x"},"code":"path.u"}}},
                   {"id":"twice","match":"/t/{x}","to":{"path":"/c/m"},"bind":{"M":{"id":"path.x","note":"path.x"}}},
                   {"id":"both","match":"/b/{x}","to":{"path":"/c/m"},"bind":{"M":{"id":"path.x","flag":"path.x"}}},
                   {"id":"version","match":"/v1/en/v1","to":{"path":"/c/plain"}},
                   {"id":"locale","match":"/v1/loc","to":{"path":"/c/l"},"bind":{"L":{"loc":"rewrite.loc"}}}]}
        """#

    @Test(
        "Other spellings, names without values, and repeated prefixes are written if they are needed",
        arguments: [
            ("other", [:], "s://q?mode&ref"), ("bare", [:], "s://q"),
            ("digit", ["M": ["id": "x", "flag": true]], "s://d/1"),
            ("digit", ["M": ["id": "x", "flag": false]], "s://d/0"),
            ("small", ["M": ["id": "x", "code": .text(uuid)]], "s://u/\(uuid.lowercased())"),
            // The note has no given value, so it gets the value of its capture.
            ("twice", ["M": ["id": "a"]], "s://t/a"), ("twice", ["M": ["id": "a", "note": "a"]], "s://t/a"),
            ("both", ["M": ["id": "0", "flag": false]], "s://b/0"),
            ("both", ["M": ["id": "true", "flag": true]], "s://b/true"),
            ("version", [:], "s://v1/v1/v1/en/v1"), ("locale", [:], "s://v1/v1/v1/loc"),
            ("locale", ["L": ["loc": "ru"]], "s://ru/v1/v1/loc"),
        ] as [(String, Models, String)])
    func spelled(route: String, models: Models, link: String) throws {
        let table = try RouteTable(json: [UInt8](Self.odd.utf8))
        #expect(try table.link(route: route, models: models) == link)
        #expect(table.resolve(link).route == route)
    }

    @Test("Contradicting values for one capture are an error that names the field")
    func contradicting() throws {
        let table = try RouteTable(json: [UInt8](Self.odd.utf8))
        for (models, code, position) in [
            (["M": ["id": "a", "note": "b"]], LinkError.Code.conflict, "M.note"),
            (["M": ["id": "a", "note": .null]], .notRoundTripped, "another value of M.note"),
        ] as [(Models, LinkError.Code, String)] {
            let error = #expect(throws: LinkError.self) { try table.link(route: "twice", models: models) }
            #expect(error?.code == code && error?.position == position)
        }
        let error = #expect(throws: LinkError.self) { try table.link(route: "both", models: ["M": ["id": "a"]]) }
        #expect(error?.code == .notRoundTripped && error?.position == "param_invalid M.flag")
    }

    @Test(
        "Empty segments of a tail are written only if they reset the path",
        arguments: [
            ("reset", "auth/a//profile/b", "s://p/auth/a//profile/b", "/profile/b"),
            ("reset", "/auth/a/b/", "s://p/auth/a/b/", "/"), ("reset", "auth/a", "s://p/auth/a", "/auth/a"),
            ("collapse", "auth/a//profile/b/", "s://p/auth/a/profile/b", "/auth/a/profile/b"),
            ("reject", "//auth//a", "s://p/auth/a", "/auth/a"),
        ])
    func resets(empties: String, tail: String, link: String, path: String) throws {
        let table = try RouteTable(
            json: [UInt8](
                #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},
                 "link":{"schemes":["s"],"host":"segment","path":{"emptySegments":"\#(empties)"}},
                 "coordinators":{"auth":{"screens":{"a":{},"b":{}}},"profile":{"screens":{"b":{}}}},
                 "routes":[{"id":"p","match":"/p/{path:coordinatorPath}","to":{"path":"{path}"}}]}
                """#.utf8))
        #expect(try table.link(route: "p", captures: ["path": tail]) == link)
        #expect(table.resolve(link).path == path)
        // The same parameter of a request by id has the same meaning.
        if empties != "reject" {
            #expect(table.resolve(.route("p", params: .json(#"{"path":"\#(tail)"}"#))).path == path)
        }
    }

    private static let origins = #"""
        {"schemaVersion":1,"table":{"id":"t","version":"1"},
         "link":[{"schemes":["https","http"],"host":"authority","hosts":["a.example","*.b.example","c.example:81"]},
                 {"schemes":["own"],"host":"segment"},{"schemes":["*"],"host":"authority","hosts":["", "h"]}],
         "routes":[{"id":"root","match":"/","to":{"root":true}},
                   {"id":"any","match":"/x","to":{"root":true}},
                   {"id":"own","match":{"path":"/y","scheme":"own"},"to":{"root":true}},
                   {"id":"b","match":{"path":"/z","host":"*.b.example"},"to":{"root":true}}]}
        """#

    @Test(
        "A link has the requested scheme and host, or an error lists those that there are",
        arguments: [
            ("any", nil, nil, "https://a.example/x"), ("any", "http", nil, "http://a.example/x"),
            ("any", "HTTP", "A.Example", "http://a.example/x"), ("any", nil, "c.example:81", "https://c.example:81/x"),
            ("any", "https", "m.b.example", "https://m.b.example/x"), ("any", "own", nil, "own://x"),
            ("any", "free", nil, "free:///x"), ("any", "free", "h", "free://h/x"), ("any", nil, "", "app:///x"),
            ("own", nil, nil, "own://y"), ("b", nil, "m.b.example", "https://m.b.example/z"),
            ("any", "own", "a.example", nil), ("any", nil, "c.example", nil), ("any", nil, "*.b.example", nil),
            ("any", "https", "", nil), ("any", "not a scheme", nil, nil), ("own", "https", nil, nil),
            ("b", nil, "a.example", nil), ("root", nil, "a.example#", nil), ("root", "https", "u@a.example", nil),
        ] as [(String, String?, String?, String?)])
    func origin(route: String, scheme: String?, host: String?, link: String?) throws {
        let table = try RouteTable(json: [UInt8](Self.origins.utf8))
        guard let link else {
            let error = #expect(throws: LinkError.self) { try table.link(route: route, scheme: scheme, host: host) }
            #expect(error?.code == .origin && error?.position == route)
            let known = route == "own" ? "`own://`" : route == "b" ? "`https://www.b.example`" : "`https://a.example`, "
            #expect(error?.expected.hasPrefix("a scheme and host that the route accepts, such as \(known)") == true)
            return
        }
        #expect(try table.link(route: route, scheme: scheme, host: host) == link)
        #expect(table.resolve(link).route == route)
    }

    @Test("A model of the app is written into a link and decoded from its decision")
    func ownModel() throws {
        struct Product: LinkModel, Encodable, Equatable {
            var id: String
            var count: Int
        }
        let demo = try RouteTable(json: TableFiles.shipped("seeds/coordinator-demo"))
        let product = Product(id: Self.uuid, count: 5)
        let decision = demo.resolve(try demo.link(route: "product", models: Models(product)))
        #expect(try decision.stack[0].model(Product.self) == product)
    }

    @Test("Paths are written canonically and read back, and a single slot keeps one entry")
    func paths() throws {
        let demo = try RouteTable(json: TableFiles.shipped("seeds/coordinator-demo"))
        #expect(demo.path(for: []) == "/")
        let relative = try demo.stack(atPath: "auth/a/auth/b/")
        #expect(demo.path(for: relative) == "/auth/a/b")
        #expect(try demo.stack(atPath: "c", from: "auth").map(\.screen) == ["c"])
        #expect(demo.resolve(.path("auth/c")).mode == .append)
        #expect(throws: PathError(reason: "unknown_screen", detail: "x")) { try demo.stack(atPath: "/auth/x") }
        let flow = try RouteTable(json: TableFiles.shipped("seeds/content-flow"))
        #expect(flow.path(for: try flow.stack(atPath: "/content/third/notice")) == "/content/notice")
        #expect(flow.resolve(.path("/content/third/notice")).path == "/content/notice")
    }
}
