package import Foundation
internal import LinkCoordinator
package import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import ShortLinks

/// An environment for a decider: tables, limits, and passthrough members.
package struct FuzzEnvironment: Sendable {
    package let name: String
    /// The configuration of the decider.
    package private(set) var configuration: DeciderConfiguration
    /// The words in the files of the tables.
    let words: Vocabulary

    init(
        _ name: String, files: [[UInt8]], limits: Limits = Limits(), passthrough: Passthrough = [],
        contextQuery: [String] = [], vendors: [UInt8]? = nil, platforms: LinkPlatforms? = nil,
        shortLinks: [ShortLinkRows.Row] = []
    ) throws {
        self.name = name
        configuration = DeciderConfiguration(
            tables: TableSet(try files.map { try RouteTable.checked($0) }), limits: limits, passthrough: passthrough,
            contextQuery: contextQuery, vendors: try vendors.map { try VendorTable(json: $0) }, platforms: platforms,
            shortLinks: shortLinks.isEmpty ? nil : ShortLinkSource(ShortLinkFile(shortLinks)))
        var words = Vocabulary(tables: files)
        if let vendors { words.add(vendors: vendors) }
        words.links += shortLinks.map { "https://" + String(decoding: $0.key, as: UTF8.self) }
        self.words = words
    }

    /// Returns the environment with another file of short links.
    func with(_ file: ShortLinkFile) -> FuzzEnvironment {
        var environment = self
        environment.configuration.shortLinks = ShortLinkSource(file)
        return environment
    }

    /// The directory of shipped tables and samples: `LINKD_HOME`, or `config` in the checkout.
    package static let home: URL = {
        if let home = ProcessInfo.processInfo.environment["LINKD_HOME"] { return URL(filePath: home) }
        return checkout.appending(path: "config")
    }()

    /// The checkout from which this program was built.
    package static let checkout = (0..<4).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent()
    }

    /// The directory with the corpus and earlier findings.
    static let corpus = checkout.appending(path: "Tests/LinkdFuzzTests/Corpus").path

    /// Returns the bytes of a file in `home`.
    ///
    /// - Throws: An error of Foundation if the file cannot be read.
    package static func file(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: home.appending(path: name)))
    }

    /// Creates all environments.
    ///
    /// Inputs identify an environment by its index.
    ///
    /// - Throws: An error if a file cannot be read or a table cannot be loaded.
    package static func all() throws -> [FuzzEnvironment] {
        let shop = try file("routes/shop.json")
        let seeds = try ["content-flow", "coordinator-demo", "easydev991", "trips-calendar"].map {
            try file("routes/seeds/\($0).json")
        }
        let vault = Array(FuzzTables.vault.utf8)
        let attic = Array(FuzzTables.attic.utf8)
        let parity = try ["coordinator-demo", "string-paths"].map { try file("parity/\($0).json") }
        return [
            try FuzzEnvironment("shop", files: [shop], contextQuery: ["count", "q", "tag", "\"", "%"]),
            try FuzzEnvironment("shop and seeds", files: [shop] + seeds, passthrough: ["campaign", "x", "aps"]),
            try FuzzEnvironment("vault", files: [vault], passthrough: ["campaign", "id", "device"]),
            try FuzzEnvironment("vault and attic", files: [vault, attic]),
            try FuzzEnvironment(
                "attic", files: [attic], limits: Limits(recordBytes: 1 << 20, depth: 16, devices: 40),
                passthrough: Passthrough((0..<16).map { "m\($0)" })),
            try FuzzEnvironment("all", files: [shop, vault, attic] + seeds, passthrough: ["кот", "campaign"]),
            try FuzzEnvironment("parity", files: [parity[0]]),
            try FuzzEnvironment("paths", files: [parity[1]]),
        ]
    }

    /// Returns the environment with a letter, `a` for the first one.
    ///
    /// Other bytes are taken modulo the number of environments.
    package static func named(_ byte: UInt8, of environments: [FuzzEnvironment]) -> FuzzEnvironment {
        environments[Int(byte &- UInt8(ascii: "a")) % environments.count]
    }

    /// Returns the letter of an environment.
    package static func name(of index: Int) -> UInt8 { UInt8(ascii: "a") + UInt8(index) }
}

/// Environments with the shipped vendors and link platforms, for the target `ingest` and the hostile benchmark.
extension FuzzEnvironment {
    /// Creates the environments of the target `ingest`.
    ///
    /// - Throws: An error if a file cannot be read or a table cannot be loaded.
    package static func ingest() throws -> [FuzzEnvironment] {
        let shop = try file("routes/shop.json")
        let vault = Array(FuzzTables.vault.utf8)
        let attic = Array(FuzzTables.attic.utf8)
        let vendors = try file("vendors.json")
        let platforms = try LinkPlatforms(file: try file("link-platforms.json"))
        return [
            try FuzzEnvironment(
                "vendors", files: [shop], contextQuery: QueryNames.campaign + ["link", "count"], vendors: vendors,
                platforms: platforms),
            try FuzzEnvironment(
                "vendors and several tables", files: [shop, vault, attic], passthrough: ["campaign", "x", "aps"],
                vendors: vendors, platforms: platforms, shortLinks: ShortLinkRows.forged),
            try FuzzEnvironment(
                "vendors and low limits", files: [shop],
                limits: Limits(recordBytes: 64 << 10, depth: 12, devices: 40), vendors: vendors,
                platforms: platforms),
            try FuzzEnvironment(
                "vendors with large forms", files: [shop, vault], vendors: Array(largeForms.utf8),
                platforms: platforms),
            try FuzzEnvironment(
                "short links without rules", files: [shop], contextQuery: QueryNames.campaign, vendors: vendors,
                shortLinks: ShortLinkRows.forged),
        ]
    }

    /// A vendor table whose forms have the maximum number of buttons, JSON in strings, and all kinds of conditions.
    private static let largeForms = #"""
        {"schemaVersion":1,"vendors":[{"id":"acme","name":"Acme","sources":[],"examples":[],"forms":[
        {"on":["apple"],"marks":[["/m"]],"embedded":["/a"],"links":["/a/url"],"message":["/a/id"],
        "buttons":[{"members":"/buttons","links":["/url"]}]},
        {"on":["android"],"marks":[["/m"]],"embedded":["/b"],"links":["/b/url"],"message":["/b/id"],
        "buttons":[{"numbered":{"from":0,"count":64},"id":"/b/{N}/id","links":["/b/{N}/url"]}]},
        {"on":["web"],"marks":[["/m"],["/"],[{"prefix":"~"}]],"embedded":["/c","/a/x"],"links":["//url","/c/url"]}
        ]}]}
        """#
}

/// Tables that make every record as expensive as possible, for the benchmark of hostile records.
extension FuzzEnvironment {
    /// Creates the environments that the benchmark adds to the others.
    ///
    /// Their letters follow the letters of the others.
    ///
    /// - Throws: An error if a table cannot be loaded.
    package static func hostile() throws -> [FuzzEnvironment] {
        let bound = Array(manyBindings.utf8)
        let params = Array(manyParameters.utf8)
        return [
            try FuzzEnvironment("many bindings", files: [bound]),
            try FuzzEnvironment("many parameters", files: [params]),
            try FuzzEnvironment("many routes", files: [Array(manyRoutes.utf8)]),
            try FuzzEnvironment(
                "hostile tables", files: [bound, params, Array(FuzzTables.vault.utf8), Array(FuzzTables.attic.utf8)]),
            try FuzzEnvironment("many parents", files: [Array(manyParents.utf8)]),
        ]
    }

    private static func list(_ count: Int, _ text: (Int) -> String) -> String {
        (0..<count).map(text).joined(separator: ",")
    }

    /// A model with 300 fields and 100 lists, each bound to a pointer into the payload, and 40 pointers to a link.
    private static let manyBindings = #"""
        { "schemaVersion": 1, "table": { "id": "bindings", "version": "1", "applications": ["com.example.bindings"] },
          "link": { "schemes": ["bind"], "host": "authority", "hosts": ["*"],
            "payload": { "link": ["/aps/link", "/a/0/b", "/a/0", "/a", \#(list(36) { "\"/x\($0)/y/z\"" })],
              "route": "/data/route", "params": "/data/params" } },
          "models": { "M": { \#(list(300) { "\"f\($0)\": \"string?\"" }),
            \#(list(100) { "\"l\($0)\": \"list<string>(0..128)\"" }) } },
          "coordinators": { "main": { "initial": "a", "screens": { "a": {}, "m": { "needs": ["M"] } } } },
          "guards": {},
          "routes": [
            { "id": "m", "match": "/m", "to": { "path": "/main/m" }, "bind": { "M": {
              \#(list(300) { "\"f\($0)\": \"payload./a/b/\($0)\"" }),
              \#(list(100) { "\"l\($0)\": \"payload./list\"" }) } } },
            { "id": "one", "match": "/one", "to": { "path": "/main/m" }, "bind": { "M": {
              \#(list(300) { "\"f\($0)\": \"payload./text\"" }) } } }
          ], "fallback": { "outcome": "reject" } }
        """#

    /// A model with 480 fields bound to query parameters, in a table that ignores the case of their names.
    private static let manyParameters = #"""
        { "schemaVersion": 1,
          "table": { "id": "parameters", "version": "1", "applications": ["com.example.parameters"] },
          "link": { "schemes": ["param"], "host": "segment", "repair": true,
            "query": { "names": "insensitive", "nulls": "erase", "duplicates": "last" },
            "limits": { "maxBytes": 65536, "maxSegments": 256, "maxQueryItems": 512 } },
          "models": { "M": { \#(list(400) { "\"f\($0)\": \"string?\"" }), \#(list(60) { "\"d\($0)\": \"date?\"" }),
            \#(list(20) { "\"l\($0)\": \"list<uuid>(0..128)\"" }) } },
          "coordinators": { "main": { "initial": "a", "screens": { "a": {}, "m": { "needs": ["M"] } } } },
          "routes": [
            { "id": "m", "match": "/m", "to": { "path": "/main/m" }, "onInvalid": "drop", "bind": { "M": {
              \#(list(400) { "\"f\($0)\": \"query.aaaaaaaaaaaaaaaa\($0)\"" }),
              \#(list(60) { "\"d\($0)\": \"query.day\($0)\"" }),
              \#(list(20) { "\"l\($0)\": \"query.tag\"" }) } } },
            { "id": "tail", "match": "/t/{rest*}", "to": { "path": "/main/m" },
              "bind": { "M": { "l0": "query.rest" } } }
          ], "fallback": { "outcome": "reject" } }
        """#

    /// A chain of 60 routes whose stacks are parents, each with a list and a number, a route with 100 lists of the same
    /// name, and a route with 100 values to repair.
    private static let manyParents = #"""
        { "schemaVersion": 1, "table": { "id": "parents", "version": "1", "applications": ["com.example.parents"] },
          "link": { "schemes": ["par"], "host": "segment", "repair": true },
          "models": { "U": { "u": "list<url(host in *.shop.example)>(0..128)" }, "N": { "n": "int" },
            "W": { \#(list(100) { "\"w\($0)\": \"list<url(host in *.shop.example)>(0..128)\"" }) },
            "D": { \#(list(100) { "\"d\($0)\": \"uuid?\"" }) } },
          "coordinators": { "home": { "initial": "leaf", "screens": { "leaf": {}, "p": { "needs": ["U", "N"] },
            "w": { "needs": ["W", "N"] }, "d": { "needs": ["D"] } } } },
          "routes": [
            \#(list(60) { number in
                let parents = number < 59 ? ", \"parents\": \"route:p\(number + 1)\"" : ""
                return "{ \"id\": \"p\(number)\", \"match\": \"/p\(number)\", "
                    + "\"to\": { \"path\": \"/home/p\"\(parents) }, "
                    + "\"bind\": { \"U\": { \"u\": \"query.u\" }, \"N\": { \"n\": \"query.n\" } } }"
            }),
            { "id": "w", "match": "/w", "to": { "path": "/home/w" }, "bind": { "N": { "n": "query.n" },
              "W": { \#(list(100) { "\"w\($0)\": \"query.u\"" }) } } },
            { "id": "d", "match": "/d", "to": { "path": "/home/d" }, "onInvalid": "drop", "bind": {
              "D": { \#(list(100) { "\"d\($0)\": \"query.d\($0)\"" }) } } },
            { "id": "m", "match": "/m", "to": { "path": "/home/leaf", "parents": "route:p0" } },
            { "id": "mw", "match": "/mw", "to": { "path": "/home/leaf", "parents": "route:w" } },
            { "id": "md", "match": "/md", "to": { "path": "/home/leaf", "parents": "route:d" } }
          ], "fallback": { "outcome": "reject" } }
        """#

    /// A table of 2,000 routes with 12 segments, in which each route remains a candidate up to the last segment.
    private static let manyRoutes = #"""
        { "schemaVersion": 1, "table": { "id": "routes", "version": "1", "applications": ["com.example.routes"] },
          "link": { "schemes": ["route"], "host": "segment" },
          "coordinators": { "main": { "initial": "a", "screens": { "a": {} } } },
          "routes": [\#(list(2_000) { number in
              let path = (0..<11).map { number >> $0 & 1 == 1 ? "/a" : "/{x\($0)}" }.joined()
              return "{ \"id\": \"r\(number)\", \"match\": \"\(path)/z\(number)\", \"to\": { \"path\": \"/main/a\" } }"
          })], "fallback": { "outcome": "reject" } }
        """#
}

/// Tables with the features that the shipped tables do not use, in files beside the corpus.
enum FuzzTables {
    /// A table with guards that use `resume`, conditions on every fact, payload bindings, rest captures, redirects, and
    /// exclusions.
    static let vault = text("vault")
    /// A table with long links, unusual settings of the link syntax, repairs, and coordinator paths.
    ///
    /// Its applications and links differ from the ones of `vault`.
    static let attic = text("attic")

    private static func text(_ name: String) -> String {
        (try? String(contentsOfFile: "\(FuzzEnvironment.corpus)/\(name).json", encoding: .utf8)) ?? ""
    }
}
