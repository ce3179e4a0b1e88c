internal import RouteAnalysis
package import Foundation
internal import LinkCoordinator
package import LinkDecider
internal import LinkIngest
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
