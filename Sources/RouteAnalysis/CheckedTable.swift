public import LinkCoordinator

extension RouteTable {
    /// Loads a table like `init(json:)`, and proves that every pattern can be selected and that no two routes overlap
    /// without declaring it.
    ///
    /// - Throws: `RouteTableError` with every problem that was found, the most severe first.
    public static func checked(_ json: [UInt8]) throws(RouteTableError) -> RouteTable {
        let (table, problems, _) = check(json)
        if let table { return table }
        throw RouteTableError(problems: problems)
    }

    /// Returns every problem of a table's file, the most severe first, as `linkd routes check` reports them.
    ///
    /// The list has at most 200 problems.
    ///
    /// These are the problems that `checked` finds, and warnings about constructs that are valid but probably not
    /// intended.
    public static func problems(in json: [UInt8]) -> [TableProblem] { check(json, includesAdvice: true).problems }

    /// Returns every problem of a table's file, the worst first, including those of an app whose library supports
    /// only an older schema version.
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
    public static func problems(in json: [UInt8], forSchemaVersion version: Int) -> [TableProblem] {
        check(json, includesAdvice: true, forSchemaVersion: version).problems
    }

    /// Loads and proves a table and returns all problems, including warnings.
    ///
    /// The table is nil if this library refuses it. The list is truncated if there are more errors than it has.
    ///
    /// - Parameters:
    ///   - json: The bytes of the file.
    ///   - includesAdvice: A Boolean value that indicates whether to look for constructs that are valid but probably
    ///     not intended. An author's check does this; a worker that starts does not.
    ///   - version: The newest schema version of an older library, whose problems with the table are added, or nil.
    package static func check(
        _ json: [UInt8], includesAdvice: Bool = false, forSchemaVersion version: Int? = nil
    ) -> (table: RouteTable?, problems: [TableProblem], isTruncated: Bool) {
        check(json, includesAdvice: includesAdvice, forSchemaVersion: version) { false } ?? (nil, [], true)
    }

    /// Loads and proves a table like `check(_:includesAdvice:forSchemaVersion:)`, or returns nil if the check is ended
    /// before its end.
    ///
    /// The problems that were found until then are not returned, because a part of the check that was left out can
    /// refuse the table.
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
        var loader = TableLoader(json)
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
