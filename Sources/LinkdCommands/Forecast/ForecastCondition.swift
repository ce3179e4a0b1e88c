internal import RouteAnalysis

/// The search for what distinguishes the devices of the rows of a forecast.
struct ForecastCondition {
    /// The kinds of each row whose answers are changed, to find the questions that matter.
    private static let maxTries = 16
    /// The limit of alternatives in a condition.
    private static let maxParts = 3

    private let forecast: LinkForecast
    private let census: DeviceCensus
    /// The numbers of the questions that matter.
    private let questions: [Int]

    /// Finds the questions that matter: those of which another answer changes what opens.
    ///
    /// - Parameter decide: A function that returns what the link opens for devices of some kinds.
    init(_ forecast: LinkForecast, _ census: DeviceCensus, _ decide: ([DeviceKinds.Kind]) -> [ForecastDestination]) {
        self.forecast = forecast
        self.census = census
        let rows = forecast.rows
        questions = census.kinds.questions.indices.filter { question in
            let answers = Set(census.entries.map { $0.kind[question] })
            guard answers.count > 1, rows.count > 1 else { return false }
            return rows.contains { row in
                row.kinds.prefix(Self.maxTries).contains { number in
                    let changed = answers.map { answer in
                        var kind = census.entries[number].kind
                        kind[question] = answer
                        return kind
                    }
                    return decide(changed).contains { $0 != row.destination }
                }
            }
        }
    }

    /// Returns what distinguishes the devices of a row from those of the other rows, or nil if no short text does.
    func text(of row: LinkForecast.Row) -> String? {
        let others = forecast.rows.filter { $0.destination != row.destination }.flatMap(\.kinds)
        guard !others.isEmpty, !row.kinds.isEmpty else { return nil }
        if let text = conjunction(row.kinds, others) { return text }
        for question in questions {
            let parts = Dictionary(grouping: row.kinds) { census.entries[$0].kind[question] }
            guard (2...Self.maxParts).contains(parts.count) else { continue }
            let texts = parts.sorted { $0.key < $1.key }.map { conjunction($0.value, others) }
            if texts.allSatisfy({ $0 != nil }) { return texts.compactMap(\.self).joined(separator: "; or ") }
        }
        return nil
    }

    /// Returns a condition that all kinds of a row meet and no others, or nil if no such one was found.
    private func conjunction(_ own: [Int], _ others: [Int]) -> String? {
        func answers(_ kinds: [Int], _ question: Int) -> Set<UInt16> {
            Set(kinds.map { census.entries[$0].kind[question] })
        }
        let all = questions.map { (question: $0, own: answers(own, $0), others: answers(others, $0)) }
        if let single = all.first(where: { $0.own.isDisjoint(with: $0.others) }) {
            return census.kinds.questions[single.question].words(single.own, among: single.others)
        }
        var needed = all.filter { !$0.others.isSubset(of: $0.own) }
        func isExact(_ parts: [(question: Int, own: Set<UInt16>, others: Set<UInt16>)]) -> Bool {
            !others.contains { number in
                parts.allSatisfy { $0.own.contains(census.entries[number].kind[$0.question]) }
            }
        }
        guard !needed.isEmpty, isExact(needed) else { return nil }
        for part in needed {
            let rest = needed.filter { $0.question != part.question }
            if !rest.isEmpty, isExact(rest) { needed = rest }
        }
        return needed.map { part in
            census.kinds.questions[part.question].words(part.own, among: part.others.subtracting(part.own))
        }.joined(separator: ", ")
    }
}
