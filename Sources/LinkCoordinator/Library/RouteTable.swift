internal import ByteStorage

/// A route table: it resolves links into decisions, the same on a server and in an app.
///
/// A table is loaded from the JSON of one file, checked and compiled; from then on it never changes and may be used
/// from any thread.
public struct RouteTable: Sendable {
    /// The table as its file says it.
    package let source: TableSource

    /// The table as the resolver reads it.
    package let compiled: CompiledTable

    /// Lower-case hexadecimal SHA-256 of the file's bytes: the table's identity.
    public let hash: String

    /// What was found that is no error.
    public let warnings: [TableProblem]

    init(source: TableSource, compiled: CompiledTable, hash: String, warnings: [TableProblem]) {
        self.source = source
        self.compiled = compiled
        self.hash = hash
        self.warnings = warnings
    }

    /// The table's id.
    public var id: String { source.id.value }

    /// The table's version, as its author writes it.
    public var version: String { source.version.value }

    /// How decisions name the table: id, version and the first 8 hexadecimal digits of the hash.
    public var identity: String { "\(id)@\(version)+\(hash.prefix(8))" }

    /// Loads a table from the bytes of its file: reads it, checks its structure, compiles it and runs its examples.
    ///
    /// That no two routes overlap and that every pattern has a link is proved by `RouteAnalysis`, when a table is
    /// built: a table that an app ships has been checked, so that the app loads it at once.
    ///
    /// - Parameter json: The bytes of the file.
    /// - Throws: `RouteTableError` with every problem that was found, worst first.
    public init(json: some Sequence<UInt8>) throws(RouteTableError) {
        let (table, problems) = TableLoader([UInt8](json)).finish()
        guard let table else { throw RouteTableError(problems: problems) }
        self = table
    }

    /// Makes a table of a file that may be refused, so that its witness links can be resolved; nil if it does not read.
    ///
    /// For tests and for tools that show what is wrong with a table: nothing else may use one that has errors.
    package static func unchecked(_ json: [UInt8]) -> RouteTable? {
        let reading = TableSource.read(json)
        guard let source = reading.source, !reading.problems.hasErrors else { return nil }
        let hash = SHA256.hex(json)
        let compiled = CompiledTable(source, hash: String(hash.prefix(8)))
        return RouteTable(source: source, compiled: compiled, hash: hash, warnings: [])
    }

    /// Resolves a link for a device.
    public func resolve(_ link: String, device: DeviceFacts = DeviceFacts()) -> Decision {
        resolve(.link(link), device: device)
    }

    /// Resolves a request for a device.
    ///
    /// Parameters or a payload that are no JSON object count as empty ones.
    public func resolve(_ request: LinkRequest, device: DeviceFacts = DeviceFacts()) -> Decision {
        Decision(compiled.resolve(request, device))
    }
}

/// The steps from a file's bytes to a table: reading, checks, then compiling and the examples.
package struct TableLoader {
    private let json: [UInt8]

    /// The table as far as it could be read; nil if the file is no object, or no JSON at all.
    package let source: TableSource?

    /// Which parts did not read whole.
    package let damage: TableDamage

    /// The problems so far; an error refuses the table.
    package var problems: ProblemList

    /// Reads a file and checks the table's structure.
    package init(_ json: [UInt8]) {
        self.json = json
        let reading = TableSource.read(json)
        source = reading.source
        damage = reading.damage
        problems = TableChecks.run(reading)
    }

    /// Compiles the table and runs its examples; without a table where there is an error.
    package consuming func finish() -> (table: RouteTable?, problems: [TableProblem]) {
        guard let source, !problems.hasErrors else { return (nil, problems.located(in: json)) }
        let hash = SHA256.hex(json)
        let compiled = CompiledTable(source, hash: String(hash.prefix(8)))
        ExampleRun.check(source, compiled, into: &problems)
        let found = problems.located(in: json)
        if problems.hasErrors { return (nil, found) }
        return (RouteTable(source: source, compiled: compiled, hash: hash, warnings: found), found)
    }
}

extension CompiledTable {
    /// The decision's bytes for a request of the library.
    package func resolve(_ request: LinkRequest, _ device: DeviceFacts) -> [UInt8] {
        var resolver = Resolver()
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        let written: Void? = device.withFacts { facts in
            request.withRequest { request in
                withUnsafePointer(to: facts) { facts in
                    withUnsafePointer(to: request) { request in
                        _ = resolver.resolve(request, facts, table: handle, head: nil, into: &arena)
                    }
                }
            }
        }
        withExtendedLifetime(self) {}
        if written == nil { return resolve(request.withoutObject, device) }
        return arena.finish().array
    }
}

extension LinkRequest {
    /// The request with an empty object in the place of a JSON text that is none.
    fileprivate var withoutObject: LinkRequest {
        switch self {
        case .link, .path: self
        case .route(let id, _): .route(id)
        case .payload: .payload("{}")
        }
    }
}

/// Why a table was refused.
public struct RouteTableError: Error, Sendable, CustomStringConvertible {
    /// Everything that was found, worst first.
    public let problems: [TableProblem]

    /// Makes the error of a table with problems, one of which is an error.
    package init(problems: [TableProblem]) { self.problems = problems }

    /// The problems as text for people, one after another.
    public var description: String { problems.map { $0.text(file: "table") }.joined(separator: "\n") }
}
