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
    func write(to json: inout JSONText) {
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
            if let device = problem.device { json.raw("device", Array(device.utf8)) }
            guard let table, witnesses < Self.maxWitnesses else { return }
            witnesses += 1
            let device = problem.device.flatMap { try? JSONValue.parse(Array($0.utf8), maxDepth: 16) }
            let explanation = table.explain(.link(link), device: device.map { DeviceFacts($0) } ?? DeviceFacts())
            DecisionSentence(explanation.decision.value, explanation: nil, table: table).write("sentence", to: &json)
            json.raw("decision", explanation.decision.json)
            json.raw("explain", explanation.json)
        }
        json.boolean("isTruncated", checked.isTruncated)
    }
}
