package import LinkCoordinator
import RouteAnalysis

extension TableSource {
    /// Reads and checks a table file without compiling it.
    package static func inspect(_ file: [UInt8]) -> (source: TableSource?, problems: [TableProblem]) {
        var loader = TableLoader(file, advisor: TableHint.advise)
        loader.prove()
        return (loader.source, loader.problems.located(in: file))
    }
}

/// Checks of the links that show problems of a table.
package enum ProblemWitnesses {
    /// Resolves the witness of every problem about patterns, and returns the problems that their witness does not show.
    package static func wrong(_ problems: [TableProblem], _ file: [UInt8]) -> [String] {
        let table = RouteTable.unchecked(file)
        return problems.filter { $0.code == .overlap || $0.code == .unreachable }.compactMap { problem in
            guard let link = problem.witness else {
                return problem.code == .unreachable && problem.routes.count == 1 ? nil : "no witness: \(problem)"
            }
            guard let table else { return "the table cannot be read" }
            return shows(problem, table.explain(.link(link))) ? nil : "\(link) does not show \(problem)"
        }
    }

    private static func shows(_ problem: TableProblem, _ explanation: Explanation) -> Bool {
        let routes = explanation.candidates.map(\.route)
        guard routes.contains(problem.routes[0]) else { return false }
        if problem.code == .overlap { return routes.contains(problem.routes[1]) }
        if problem.routes.count > 1 { return routes.first != problem.routes[0] }
        return routes.count { $0 == problem.routes[0] } > 1
    }
}
