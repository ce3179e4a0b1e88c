internal import LinkCoordinator

/// The inputs that decide between variants: a device, and the query parameters that conditions read.
struct EvaluationContext: Hashable {
    /// The device.
    var device = DeviceFacts()
    /// The query parameters with their values; nil for a name that is absent.
    var query: [String: String?] = [:]
}

extension DeviceSpace {
    /// Returns every combination of values of the facts; in the first one all facts are unknown.
    ///
    /// If there would be more than `limit`, it returns combinations of any two facts up to about that limit, and
    /// `isWhole` is false.
    func contexts(limit: Int) -> (all: [EvaluationContext], isWhole: Bool) {
        let facts = values.sorted { "\($0.key)" < "\($1.key)" }
        var count = 1
        for (_, values) in facts { count = count > limit ? count : count * values.count }
        guard count > limit else { return (product(facts, from: [EvaluationContext()]), true) }
        var all = [EvaluationContext()]
        for (index, fact) in facts.enumerated() {
            for other in facts.dropFirst(index + 1) {
                if all.count > limit { break }
                all += product([fact, other], from: [EvaluationContext()])
            }
        }
        return (all, false)
    }

    private func product(
        _ facts: [(key: DeviceFact, value: [String?])], from start: [EvaluationContext]
    ) -> [EvaluationContext] {
        facts.reduce(start) { all, fact in
            all.flatMap { one in fact.value.map { self.with(fact.key, $0, one) } }
        }
    }

    /// Returns a context with another value of one fact.
    private func with(_ fact: DeviceFact, _ value: String?, _ one: EvaluationContext) -> EvaluationContext {
        var next = one
        if case .query(let name) = fact {
            next.query[name] = .some(value)
        } else if let value {
            set(fact, value, &next.device)
        }
        return next
    }
}
