internal import ByteStorage
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import RouteTools

/// A check of events with route tables before they are sent, as a worker with these tables resolves them.
final class LinkCheck {
    /// The number of decisions with an outcome and a reason.
    struct Count: Equatable {
        /// The outcome, or `dead letter`.
        var outcome: String
        /// The reason, or nil for none.
        var reason: String?
        /// The number of decisions, or of dead letters.
        var count: Int
    }

    private struct Result: Hashable {
        var outcome: String
        var reason: String?
    }

    private var decider: Decider
    private let record: RecordFlags
    private var arena = OutputArena()
    private var tape = DecisionTape()
    private var counts: [Result: Int] = [:]
    /// The results of the last event.
    private var latest: [Result] = []

    /// Loads the tables.
    ///
    /// A refused table ends with exit code 65.
    init(
        _ paths: [String], _ settings: Settings, _ vendors: LoadedVendors, headers: [KeyValue], on console: Console
    ) throws(CommandFailure) {
        let tables = try LoadedTables(paths: paths) { file, problem in
            guard problem.severity == .error || !console.quiet else { return }
            console.warn(problem.text(file: file))
        }
        for conflict in tables.conflicts where !console.quiet { console.warn(Escaping.visible(conflict.text)) }
        record = RecordFlags(key: nil, headers: headers)
        decider = Decider(DeciderConfiguration(settings, tables.tables, vendors), devices: settings.emptyRegistry)
    }

    /// The number of decisions by outcome and reason, most frequent first.
    var outcomes: [Count] {
        counts.map { Count(outcome: $0.key.outcome, reason: $0.key.reason, count: $0.value) }
            .sorted { ($1.count, $0.outcome, $0.reason ?? "") < ($0.count, $1.outcome, $1.reason ?? "") }
    }

    /// Resolves an event, and returns the reason why nothing would open for it, or nil.
    ///
    /// An event is rejected if it would become a dead letter, or if it is rejected for all its devices.
    func fault(of value: ByteView, key: ByteView?) -> EventLine.Fault? {
        arena.reset()
        latest.removeAll(keepingCapacity: true)
        var rejections: [String] = []
        var decisions = 0
        let cause = decider.decide(value: value, key: key, headers: record.headers, into: &arena) {
            _, decision, outcome in
            decisions += 1
            let result = result(of: decision)
            count(result)
            if outcome == .reject {
                let detail = tape.string("detail").map { ": \(Escaping.visible($0.string))" } ?? ""
                rejections.append((result.reason ?? result.outcome) + detail)
            }
        }
        if let cause {
            for cause in cause.all { count(Result(outcome: "dead letter", reason: cause.reason.rawValue)) }
            let item = cause.item.map { "item \($0) is a " } ?? ""
            let pointer = InputPlace.text(pointer: cause.pointer, in: value.array)
            return EventLine.Fault(text: "\(item)dead letter: \(cause.reason.rawValue)\(pointer): \(cause.detail)")
        }
        guard let first = rejections.first, rejections.count == decisions else { return nil }
        return EventLine.Fault(
            text: "rejected for \(decisions == 1 ? "its device" : "all \(decisions) devices"): \(first)")
    }

    /// Removes the last event from the counts, because it was not sent.
    func withdrawLast() {
        for result in latest {
            let left = (counts[result] ?? 0) - 1
            counts[result] = left > 0 ? left : nil
        }
        latest.removeAll()
    }

    private func count(_ result: Result) {
        latest.append(result)
        counts[result, default: 0] += 1
    }

    private func result(of decision: ByteView) -> Result {
        tape.begin(decision)
        return Result(outcome: tape.string("outcome")?.string ?? "", reason: tape.string("reason")?.string)
    }

    /// The outcomes as a table.
    func lines(style: Style) -> [String] {
        var table = TextTable([("OUTCOME", .left), ("REASON", .left), ("COUNT", .right)])
        for item in outcomes { table.add([item.outcome, item.reason ?? "-", "\(item.count)"]) }
        return table.lines(style: style)
    }
}
