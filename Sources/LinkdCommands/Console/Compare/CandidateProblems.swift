internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

/// The problems of a candidate, with the decision about each link that shows one.
struct CandidateProblems {
    /// The maximum number of problems with a decision.
    private static let maxWitnesses = 20

    private let checked: CheckedTable
    /// The table that explains the witnesses, even if it is refused.
    private let table: RouteTable?

    /// Creates the problems of a file.
    init(_ checked: CheckedTable) {
        self.checked = checked
        table = checked.table ?? checked.unchecked
    }

    /// Writes the member `problems`, and `isTruncated` if there are more.
    ///
    /// - Parameters:
    ///   - json: The text.
    ///   - isOver: A function that returns true if no further decision is added.
    func write(to json: inout JSONText, until isOver: () -> Bool) {
        var witnesses = 0
        json.objects("problems", of: checked.problems) { json, problem in
            json.text("severity", problem.severity.text)
            json.text("code", problem.code.rawValue)
            json.text("message", problem.message)
            json.number("line", Int64(problem.line))
            json.number("column", Int64(problem.column))
            json.text("pointer", problem.pointer)
            if let suggestion = problem.suggestion { json.text("suggestion", suggestion) }
            if !problem.routes.isEmpty { json.texts("routes", problem.routes) }
            guard let link = problem.witness else { return }
            json.text("link", link)
            let device = device(of: problem)
            if let device { json.value("device", device) }
            guard let table, witnesses < Self.maxWitnesses, !isOver() else { return }
            witnesses += 1
            let explanation = table.explain(.link(link), device: device.map { DeviceFacts($0) } ?? DeviceFacts())
            DecisionSentence(explanation.decision.value, explanation: nil, table: table).write("sentence", to: &json)
            json.raw("decision", explanation.decision.json)
            json.raw("explain", explanation.json)
        }
        json.boolean("isTruncated", checked.isTruncated)
    }

    /// Returns the device that shows a problem: that of the problem, or of the example that does not hold.
    private func device(of problem: TableProblem) -> JSONValue? {
        if let text = problem.device { return try? JSONValue.parse(Array(text.utf8), maxDepth: 16) }
        let parts = problem.pointer.split(separator: "/")
        guard problem.code == .example, parts.first == "examples", parts.count > 1, let index = Int(parts[1]),
            let examples = table?.source.examples, examples.indices.contains(index)
        else { return nil }
        return examples[index].device
    }
}
