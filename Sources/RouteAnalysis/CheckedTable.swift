public import LinkCoordinator

extension RouteTable {
    /// Loads a table as `load` does, and proves it: every pattern has a link, and no two routes overlap without
    /// declaring it.
    ///
    /// - Throws: `RouteTableError` with every problem that was found, worst first.
    public static func checked(_ json: [UInt8]) throws(RouteTableError) -> RouteTable {
        let (table, problems) = check(json)
        if let table { return table }
        throw RouteTableError(problems: problems)
    }

    /// Returns every problem of a table's file, worst first, as `linkd routes check` prints them: all that `checked`
    /// would find, and what is allowed but was hardly meant.
    public static func problems(in json: [UInt8]) -> [TableProblem] { check(json, advises: true).problems }

    /// Loads and proves a table and returns all problems, warnings included; without a table where one is an error.
    ///
    /// - Parameter advises: A Boolean value that indicates whether to look for what is allowed but was hardly meant as
    ///   well. That is work for an author's check, not for a worker that starts.
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
    /// Adds the errors that only a proof finds: patterns without a link, overlaps that are not declared.
    package mutating func prove() {
        guard let source, !problems.isFull else { return }
        TotalityProof.run(source, into: &problems) { [damage] in !damage.routes.contains($0.offset) }
        if damage.sparesPatterns { OverlapProof.run(source, into: &problems) }
    }
}
