public import LinkCoordinator

extension RouteTable {
    /// Loads a table like `init(json:)`, and proves that every pattern can be selected and that no two routes overlap
    /// without declaring it.
    ///
    /// - Throws: `RouteTableError` with every problem that was found, the most severe first.
    public static func checked(_ json: some Sequence<UInt8>) throws(RouteTableError) -> RouteTable {
        let (table, problems, _) = check([UInt8](json))
        if let table { return table }
        throw RouteTableError(problems: problems)
    }

    /// Returns every problem of a table's file, the most severe first, as `linkd routes check` reports them.
    ///
    /// The list has at most 200 problems.
    ///
    /// These are the problems that `checked` finds, and warnings about constructs that are valid but probably not
    /// intended. Their suggestions include what the author may have meant, which an error of `RouteTable(json:)` lacks.
    public static func problems(in json: some Sequence<UInt8>) -> [TableProblem] {
        check([UInt8](json), includesAdvice: true).problems
    }

    /// Returns every problem of a table's file, the worst first, including the problems of an app whose library
    /// supports only an older schema version.
    ///
    /// Use it in the build of a table, as long as apps with an older library are in use:
    ///
    /// ```swift
    /// #expect(RouteTable.problems(in: json, forSchemaVersion: 1) == [])
    /// ```
    ///
    /// - Parameters:
    ///   - json: The bytes of the file.
    ///   - version: The newest schema version that the library of the app supports.
    public static func problems(in json: some Sequence<UInt8>, forSchemaVersion version: Int) -> [TableProblem] {
        check([UInt8](json), includesAdvice: true, forSchemaVersion: version).problems
    }

    /// Loads and proves a table and returns all problems, including warnings.
    ///
    /// The table is nil if this library refuses it. The list is truncated if there are more errors than it has.
    ///
    /// - Parameters:
    ///   - json: The bytes of the file.
    ///   - includesAdvice: A Boolean value that indicates whether to look for constructs that are valid but probably
    ///     not intended. An author's check does this. A worker that starts does not.
    ///   - version: The newest schema version of an older library, whose problems with the table are added, or nil.
    package static func check(
        _ json: [UInt8], includesAdvice: Bool = false, forSchemaVersion version: Int? = nil
    ) -> (table: RouteTable?, problems: [TableProblem], isTruncated: Bool) {
        check(json, includesAdvice: includesAdvice, forSchemaVersion: version) { false } ?? (nil, [], true)
    }

    /// Loads and proves a table like `check(_:includesAdvice:forSchemaVersion:)`, or returns nil if the check is ended
    /// before its end.
    ///
    /// It does not return the problems that were found until then, because the rest of the check could refuse the
    /// table.
    ///
    /// - Parameters:
    ///   - json: The bytes of the file.
    ///   - includesAdvice: A Boolean value that indicates whether to look for constructs that are valid but probably
    ///     not intended.
    ///   - version: The newest schema version of an older library, whose problems with the table are added, or nil.
    ///   - isOver: A function that returns true to end the check after the current search.
    package static func check(
        _ json: [UInt8], includesAdvice: Bool, forSchemaVersion version: Int? = nil,
        until isOver: @escaping @Sendable () -> Bool
    ) -> (table: RouteTable?, problems: [TableProblem], isTruncated: Bool)? {
        var loader = TableLoader(json, advisor: TableHint.advise)
        let budget = WorkBudget(isOver: isOver)
        loader.prove(budget, until: isOver)
        if includesAdvice, let source = loader.source {
            TableAdvice.run(source, budget, into: &loader.problems, until: isOver)
        }
        let older = version.map { loader.schema.problems(for: $0) }
        let (table, problems, isTruncated) = loader.finish(until: isOver)
        if isOver() { return nil }
        let errors = problems.filter { $0.severity == .error }
        return (
            table, (older?.located(in: json) ?? []) + errors + problems.dropFirst(errors.count),
            isTruncated || older?.isFull == true
        )
    }
}

extension TableLoader {
    /// Adds the errors that only a proof finds: patterns that no link can select, and overlaps that are not declared.
    ///
    /// - Parameters:
    ///   - budget: The budget of the searches.
    ///   - isOver: A function that returns true to end the proofs. The problems are not complete then.
    package mutating func prove(_ budget: WorkBudget = WorkBudget(), until isOver: () -> Bool = { false }) {
        guard let source, !problems.isFull else { return }
        TotalityProof.run(source, into: &problems, until: isOver) { [damage] in !damage.routes.contains($0.offset) }
        if damage.hasAllPatterns { OverlapProof.run(source, budget: budget, into: &problems) }
    }
}

/// A conflict between two tables of a set that claim the same events.
///
/// Neither table serves such an event.
package struct TableConflict: Sendable, Equatable {
    /// The claim that both tables make.
    package enum Claim: Sendable, Equatable {
        /// An application id. Events that name it become dead letters.
        case application(String)
        /// Links of a scheme and host, with an example. Such events become dead letters unless they name an
        /// application.
        case link(String)
    }

    /// The indices of the two tables in the set, the smaller first.
    package var tables: (first: Int, second: Int)

    /// The ids of the two tables, in the same order.
    package var names: (first: String, second: String)

    /// The claim that both tables make.
    package var claim: Claim

    /// The byte offsets of an application in the files of the two tables, or nil for links.
    package var offsets: (first: Int, second: Int)?

    /// The conflict as one sentence without a period.
    package var text: String {
        switch claim {
        case .application(let id):
            "the tables `\(names.first)` and `\(names.second)` both serve the application `\(id)`"
        case .link(let link): "the tables `\(names.first)` and `\(names.second)` both read links such as \(link)"
        }
    }

    /// Returns a Boolean value that indicates whether two conflicts are equal.
    package static func == (a: TableConflict, b: TableConflict) -> Bool {
        a.tables == b.tables && a.names == b.names && a.claim == b.claim
    }
}

extension TableSet {
    /// The conflicts between any two of the tables.
    package var conflicts: [TableConflict] { TableConflict.all(among: tables) }
}

extension TableConflict {
    /// Returns all conflicts of a list of tables: for each pair, the common applications and a link that both read.
    static func all(among tables: [RouteTable]) -> [TableConflict] {
        var conflicts: [TableConflict] = []
        for (second, b) in tables.enumerated() {
            for (first, a) in tables.enumerated().prefix(second) {
                func add(_ claim: Claim, at offsets: (Int, Int)? = nil) {
                    conflicts.append(
                        TableConflict(tables: (first, second), names: (a.id, b.id), claim: claim, offsets: offsets))
                }
                let own = Dictionary(b.source.applications.map { ($0.value, $0.offset) }) { first, _ in first }
                for application in a.source.applications {
                    guard let offset = own[application.value] else { continue }
                    add(.application(application.value), at: (application.offset, offset))
                }
                if let link = sharedLink(a.source, b.source) { add(.link(link)) }
            }
        }
        return conflicts
    }

    /// Returns a link that both tables read, or nil if there is none.
    private static func sharedLink(_ a: TableSource, _ b: TableSource) -> String? {
        let blocks = a.blocks + b.blocks
        let named = blocks.flatMap { $0.schemes.map(\.value) }
        let other = UnusedText.first("any") { !named.contains($0) }
        let hosts = OriginHosts.samples(blocks.flatMap { $0.hosts.map(\.value) } + [.empty, .any])
        for scheme in named + [other] {
            for (host, port) in hosts {
                let read = port == OriginHosts.defaultPort(of: scheme) ? nil : port
                guard a.block(for: scheme, host, read) != nil, b.block(for: scheme, host, read) != nil else { continue }
                return "\(scheme)://\(String(decoding: host, as: UTF8.self))\(read.map { ":\($0)" } ?? "")/"
            }
        }
        return nil
    }
}
