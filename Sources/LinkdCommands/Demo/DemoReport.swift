internal import RouteTools
internal import StrictJSON

/// The output of `linkd demo`: decisions by table, dead letters, and counts.
struct DemoReport {
    private let out: Channel
    private let view: DecisionView
    /// The request of each record, by topic-partition-offset, which is the prefix of the ids of its decisions.
    private let requests: [String: String]

    /// Creates a report for a channel.
    ///
    /// - Parameter sent: The sent records, which contain the request of each decision.
    init(_ sent: [InspectedRecord], on out: Channel) {
        self.out = out
        view = DecisionView(style: out.style)
        requests = Dictionary(
            sent.map { ("\($0.topic)-\($0.partition)-\($0.offset)", Self.request($0)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns a short text of a record's request.
    private static func request(_ record: InspectedRecord) -> String {
        guard let event = record.json else { return String(decoding: record.value ?? [], as: UTF8.self) }
        if let link = event["link"]?.string { return link }
        if let path = event["path"]?.string { return "path \(path)" }
        if let route = event["route"]?.string { return "route \(route)" }
        return event["about"]?.string.map { "push: " + $0 } ?? "push"
    }

    private func request(of decision: JSONValue) -> String {
        let id = decision["decision"]?.string ?? ""
        let record = id.lastIndex(of: "-").map { String(id[..<$0]) } ?? id
        return requests[record] ?? ""
    }

    /// Prints the decisions, grouped by table.
    func print(decisions: [InspectedRecord]) {
        let read = decisions.compactMap { record in record.json }
        let tables = Set(read.compactMap { $0["table"]?.string }).sorted()
        let hasOthers = read.contains { $0["table"] == nil }
        for table in tables.map(Optional.some) + (hasOthers ? [nil] : []) {
            out.line()
            out.line(out.style.heading(table.map { Escaping.visible($0) } ?? "no table"))
            let group = read.filter { $0["table"]?.string == table }
                .sorted { Self.sortKey($0) < Self.sortKey($1) }
            print(group)
        }
    }

    /// Returns a key that sorts decisions by the ids of their events.
    ///
    /// Events without an id come last, in the order of the topic.
    private static func sortKey(_ decision: JSONValue) -> (Int, String, String) {
        let event = decision["event"]?.string ?? ""
        let id = decision["decision"]?.string ?? ""
        return (id.hasPrefix(event) ? 1 : 0, event, id)
    }

    private func print(_ decisions: [JSONValue]) {
        var rows: [(link: String, device: String, decision: JSONValue)] = []
        for decision in decisions {
            let text = request(of: decision).split(separator: " ").joined(separator: " ")
            let device = decision["device"]?.string ?? ""
            rows.append(
                (
                    DisplayWidth.cut(Escaping.visible(text), to: 48),
                    DisplayWidth.cut(Escaping.visible(device), to: 14), decision
                ))
        }
        let link = rows.map { DisplayWidth.width(of: $0.link) }.max() ?? 0
        let device = rows.map { DisplayWidth.width(of: $0.device) }.max() ?? 0
        for row in rows {
            let outcome = row.decision["outcome"]?.string ?? "?"
            let padded = DisplayWidth.pad(Escaping.visible(outcome), to: 8)
            let lines = DecisionLines(Array(row.decision.text.utf8), view)
            out.line(
                "  " + DisplayWidth.pad(row.link, to: link) + "  "
                    + out.style.paint(DisplayWidth.pad(row.device, to: device), .dim)
                    + "  " + out.style.paint(padded, DecisionView.role(of: outcome)) + "  " + lines.summary)
            let indent = String(repeating: " ", count: link + device + 16)
            for line in lines.data { out.line(indent + out.style.paint(line, .dim)) }
        }
    }

    /// Prints the dead letters with their reasons.
    func print(deadLetters: [InspectedRecord]) {
        guard !deadLetters.isEmpty else { return }
        out.line()
        out.line(out.style.heading("dead letters"))
        var table = TextTable([("REASON", .left), ("STAGE", .left), ("DETAIL", .left)])
        let rows = deadLetters.map { record in
            [record.header("dlq.reason") ?? "", record.header("dlq.stage") ?? "", record.header("dlq.detail") ?? ""]
        }
        for row in rows.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            table.add(row.map { Escaping.visible($0) }, [.bad, nil, .dim])
        }
        for line in table.lines(style: out.style) { out.line("  " + line) }
    }

    /// Prints the number of each outcome and reason.
    func printCounts(records: Int, decisions: [InspectedRecord], deadLetters: [InspectedRecord], seconds: Double) {
        var counts: [String: Int] = [:]
        for record in decisions {
            let json = record.json
            let reason = json?["reason"]?.string.map { " " + $0 } ?? ""
            counts[(json?["outcome"]?.string ?? "?") + reason, default: 0] += 1
        }
        for record in deadLetters { counts["dead letter " + (record.header("dlq.reason") ?? "?"), default: 0] += 1 }
        out.line()
        out.line(
            out.style.heading(Counts.text(records, "record"))
                + " became \(Counts.text(decisions.count, "decision")) and "
                + "\(Counts.text(deadLetters.count, "dead letter")), in \(Decimals.text(seconds)) s:"
        )
        var table = TextTable([("", .right), ("", .left)])
        for (name, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            table.add([String(count), Escaping.visible(name)])
        }
        for line in table.lines(style: out.style).dropFirst() { out.line("  " + line) }
    }
}
