internal import RouteAnalysis
internal import DispatchWorker
package import Foundation
package import LinkCoordinator
package import LinkIngest

/// What a processor serves: some tables, bounds and the members that are passed through.
package struct World: Sendable {
    /// The name.
    package let name: String
    /// The tables.
    package let tables: TableSet
    /// Bounds of a record.
    package let limits: IngestLimits
    /// Members that are passed through.
    package let passthrough: [String]
    /// What the tables' files say.
    package let words: Vocabulary

    init(_ name: String, files: [[UInt8]], limits: IngestLimits = IngestLimits(), passthrough: [String] = []) throws {
        self.name = name
        tables = TableSet(try files.map { try Table.checked($0) })
        self.limits = limits
        self.passthrough = passthrough
        words = Vocabulary(tables: files)
    }

    /// The directory that the shipped tables and samples stand in: `LINKD_HOME`, or that of the checkout.
    package static let home: URL = {
        if let home = ProcessInfo.processInfo.environment["LINKD_HOME"] { return URL(filePath: home) }
        return checkout.appending(path: "config")
    }()

    /// The checkout that this was built from.
    package static let checkout = (0..<4).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent()
    }

    /// The bytes of a file under `home`.
    ///
    /// - Throws: What Foundation throws where it cannot be read.
    package static func file(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: home.appending(path: name)))
    }

    /// Makes all worlds; inputs name them by their place.
    ///
    /// - Throws: Errors of files that cannot be read and of tables that do not load.
    package static func all() throws -> [World] {
        let shop = try file("routes/shop.json")
        let seeds = try ["content-flow", "coordinator-demo", "easydev991", "trips-calendar"].map {
            try file("routes/seeds/\($0).json")
        }
        let vault = Array(FuzzTables.vault.utf8)
        let attic = Array(FuzzTables.attic.utf8)
        let parity = try ["coordinator-demo", "string-paths"].map { try file("parity/\($0).json") }
        return [
            try World("shop", files: [shop]),
            try World("shop and seeds", files: [shop] + seeds, passthrough: ["campaign", "x", "aps"]),
            try World("vault", files: [vault], passthrough: ["campaign", "id", "device"]),
            try World("vault and attic", files: [vault, attic]),
            try World(
                "attic", files: [attic], limits: IngestLimits(recordBytes: 1 << 20, depth: 16, devices: 40),
                passthrough: (0..<16).map { "m\($0)" }),
            try World("all", files: [shop, vault, attic] + seeds, passthrough: ["кот", "campaign"]),
            try World("parity", files: [parity[0]]),
            try World("paths", files: [parity[1]]),
        ]
    }

    /// Returns the world that a byte of an input names: `a` the first, and so on; others count round.
    package static func named(_ byte: UInt8, of worlds: [World]) -> World {
        worlds[Int(byte &- UInt8(ascii: "a")) % worlds.count]
    }

    /// The byte that names a world.
    package static func name(of index: Int) -> UInt8 { UInt8(ascii: "a") + UInt8(index) }
}
