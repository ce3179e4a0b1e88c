public import LinkCoordinator

extension RouteTable {
    /// Loads a table like `init(json:)`, and proves that every pattern can be selected and that no two routes overlap
    /// without declaring it.
    ///
    /// - Throws: `RouteTableError` with every problem that was found, the most severe first.
    public static func checked(_ json: [UInt8]) throws(RouteTableError) -> RouteTable {
        let (table, problems) = check(json)
        if let table { return table }
        throw RouteTableError(problems: problems)
    }

    /// Returns every problem of a table's file, the most severe first, as `linkd routes check` reports them.
    ///
    /// The list has at most 200 problems.
    ///
    /// These are the problems that `checked` finds, and warnings about constructs that are valid but probably not
    /// intended.
    public static func problems(in json: [UInt8]) -> [TableProblem] { check(json, advises: true).problems }

    /// Loads and proves a table and returns all problems, including warnings.
    ///
    /// The table is nil if one of the problems is an error.
    ///
    /// - Parameter advises: A Boolean value that indicates whether to look for constructs that are valid but probably
    ///   not intended. `linkd routes check` does this; a worker that starts does not.
    package static func check(
        _ json: [UInt8], advises: Bool = false
    ) -> (table: RouteTable?, problems: [TableProblem]) {
        var loader = TableLoader(json)
        loader.prove()
        if advises, let source = loader.source { TableAdvice.run(source, into: &loader.problems) }
        return loader.finish()
    }
}

extension TableLoader {
    /// Adds the errors that only a proof finds: patterns that no link can select, and overlaps that are not declared.
    package mutating func prove() {
        guard let source, !problems.isFull else { return }
        TotalityProof.run(source, into: &problems) { [damage] in !damage.routes.contains($0.offset) }
        if damage.sparesPatterns { OverlapProof.run(source, into: &problems) }
    }
}
