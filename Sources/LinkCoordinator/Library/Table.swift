internal import ByteStorage

/// A route table: it resolves links into decisions, the same on a server and in an app.
///
/// A table is loaded from the JSON of one file, checked and compiled; from then on it never changes and may be used
/// from any thread.
public struct Table: Sendable {
    /// The table as its file says it.
    package let source: TableSource

    /// The table as the resolver reads it.
    package let compiled: CompiledTable

    /// Lower-case hexadecimal SHA-256 of the file's bytes: the table's identity.
    public let hash: String

    /// What was found that is no error.
    public let warnings: [TableProblem]

    /// The table's id.
    public var id: String { source.id.value }

    /// The table's version, as its author writes it.
    public var version: String { source.version.value }

    /// How decisions name the table: id, version and the first 8 hexadecimal digits of the hash.
    public var identity: String { "\(id)@\(version)+\(hash.prefix(8))" }

    /// Loads a table from the bytes of its file: reads, checks, compiles and runs its examples.
    ///
    /// - Throws: `TableError` with every problem that was found, worst first.
    public static func load(_ json: [UInt8]) throws(TableError) -> Table {
        let (table, problems) = check(json)
        if let table { return table }
        throw TableError(problems: problems)
    }

    /// Returns every problem of a table's file, worst first, as `linkd routes check` tells them: all that `load`
    /// would find, and what is allowed but was hardly meant.
    public static func problems(in json: [UInt8]) -> [TableProblem] { check(json, advises: true).problems }

    /// Loads a table and tells all that was found, warnings too; without a table where one of them is an error.
    ///
    /// - Parameter advises: Whether to look for what is allowed but was hardly meant as well. That is work for an
    ///   author's check, not for an app that starts.
    package static func check(
        _ json: [UInt8], advises: Bool = false
    ) -> (table: Table?, problems: [TableProblem]) {
        let reading = TableSource.read(json)
        var list = TableChecks.run(reading)
        if advises, let source = reading.source { TableAdvice.run(source, into: &list) }
        guard let source = reading.source, !list.hasErrors else { return (nil, list.located(in: json)) }
        let hash = SHA256.hex(json)
        let compiled = CompiledTable(source, hash: String(hash.prefix(8)))
        ExampleRun.check(source, compiled, into: &list)
        let problems = list.located(in: json)
        if list.hasErrors { return (nil, problems) }
        return (Table(source: source, compiled: compiled, hash: hash, warnings: problems), problems)
    }

    /// Makes a table of a file that may be refused, so that its witness links can be resolved; nil if it does not read.
    ///
    /// For tests and for tools that show what is wrong with a table: nothing else may use one that has errors.
    package static func unchecked(_ json: [UInt8]) -> Table? {
        let reading = TableSource.read(json)
        guard let source = reading.source, !reading.problems.hasErrors else { return nil }
        let hash = SHA256.hex(json)
        let compiled = CompiledTable(source, hash: String(hash.prefix(8)))
        return Table(source: source, compiled: compiled, hash: hash, warnings: [])
    }

    /// Resolves a link for a device.
    public func resolve(_ link: String, device: Device = Device()) -> Decision {
        resolve(.link(link), device: device)
    }

    /// Resolves a request for a device.
    ///
    /// Parameters or a payload that are no JSON object count as empty ones.
    public func resolve(_ request: Request, device: Device = Device()) -> Decision {
        Decision(compiled.resolve(request, device))
    }
}

extension CompiledTable {
    /// The decision's bytes for a request of the library.
    func resolve(_ request: Request, _ device: Device) -> [UInt8] {
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

extension Request {
    /// The request with an empty object in the place of a JSON text that is none.
    fileprivate var withoutObject: Request {
        switch self {
        case .link, .path: self
        case .route(let id, _): .route(id)
        case .payload: .payload("{}")
        }
    }
}

/// Why a table was refused.
public struct TableError: Error, Sendable, CustomStringConvertible {
    /// Everything that was found, worst first.
    public let problems: [TableProblem]

    /// The problems as text for people, one after another.
    public var description: String { problems.map { $0.text(file: "table") }.joined(separator: "\n") }
}
