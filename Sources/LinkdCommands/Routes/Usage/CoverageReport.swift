internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

/// The report of a coverage, as a table and as JSON.
struct CoverageReport {
    private let table: RouteTable
    private let coverage: Coverage
    /// The number of lines that are not decisions.
    private let unreadable: Int

    /// Creates a report for a coverage of a table.
    init(_ table: RouteTable, _ coverage: Coverage, unreadable: Int) {
        self.table = table
        self.coverage = coverage
        self.unreadable = unreadable
    }

    /// A row of the report: a route, a variant, or a pattern.
    private struct Row {
        var route: String
        var part: String
        var count: Int
        /// A Boolean value that indicates whether the count is known.
        ///
        /// The count of a pattern requires decisions with a trace.
        var isKnown = true
    }

    /// Returns the rows of a route: the route itself, its variants, and its patterns.
    private func rows(_ index: Int) -> [Row] {
        let counted = coverage.routes[index]
        let source = table.source.routes[index]
        var rows = [Row(route: counted.id, part: "", count: counted.decisions + counted.redirected)]
        for (number, count) in counted.variants.enumerated() {
            let condition = source.variants[safe: number].map { ConditionText.text(of: $0.when) } ?? ""
            rows.append(Row(route: "", part: "variant \(number): \(condition)", count: count))
        }
        guard counted.patterns.count > 1 else { return rows }
        for pattern in counted.patterns {
            rows.append(Row(route: "", part: pattern.text, count: pattern.decisions, isKnown: coverage.withTrace > 0))
        }
        return rows
    }

    private var order: [Int] { coverage.routes.indices.sorted { coverage.routes[$0].id < coverage.routes[$1].id } }

    /// Prints the table, the reasons, and the routes that were never selected.
    func print(on out: Channel) {
        out.line(
            out.style.heading(Escaping.visible(table.identity)) + "  " + Counts.text(coverage.decisions, "decision")
                + (coverage.withoutRoute > 0 ? ", \(coverage.withoutRoute) without a route" : ""))
        var lines = TextTable([("ROUTE", .left), ("PATTERN OR VARIANT", .left), ("SELECTED", .right)])
        for index in order {
            for row in rows(index) {
                let role: Style.TextRole? = row.isKnown && row.count == 0 ? .bad : nil
                lines.add(
                    [Escaping.visible(row.route), Escaping.visible(row.part), row.isKnown ? "\(row.count)" : "?"],
                    [.name, role, role])
            }
        }
        for line in lines.lines(style: out.style) { out.line(line) }
        printReasons(on: out)
        for line in closing { out.line(line) }
    }

    private func printReasons(on out: Channel) {
        out.line()
        var lines = TextTable([("REASON", .left), ("DECISIONS", .right)])
        for (reason, count) in reasons { lines.add([reason, "\(count)"]) }
        for line in lines.lines(style: out.style) { out.line(line) }
    }

    /// The reasons that decisions of the table can have, in their order, and any other reason of a decision.
    private var reasons: [(reason: String, count: Int)] {
        let given = Dictionary(uniqueKeysWithValues: coverage.reasons.map { ($0.reason.rawValue, $0.decisions) })
        let known = RouteReasons(table)
        let possible = Set(
            table.source.routes.flatMap { known.reasons(of: $0).map(\.reason) } + [.noRoute, .scheme, .badEncoding])
        let listed = ReasonCode.allCases.filter { possible.contains($0) || given[$0.rawValue] != nil }.map(\.rawValue)
        let others = given.keys.filter { !listed.contains($0) }.sorted()
        return (listed + others).map { ($0, given[$0] ?? 0) }
    }

    /// The remarks that explain the counts.
    private var closing: [String] {
        var lines = [""]
        let never = neverSelected
        lines.append(
            never.isEmpty
                ? "Every route was selected."
                : "Never selected: " + never.map(Escaping.visible).joined(separator: ", ") + "."
        )
        if coverage.withTrace == 0, coverage.routes.contains(where: { $0.patterns.count > 1 }) {
            lines.append(
                "The counts of patterns require decisions with `explain`, as in `linkd resolve --explain --json`.")
        }
        if coverage.ofOtherVersions > 0 {
            lines.append(
                "Not counted for variants: \(Counts.text(coverage.ofOtherVersions, "decision")) of other versions of "
                    + "the table. A decision identifies its variant by number, which can differ between versions.")
        }
        if coverage.withUnknownRoute > 0 {
            lines.append("Not in this table: the routes of \(Counts.text(coverage.withUnknownRoute, "decision")).")
        }
        if coverage.ofOtherTables > 0 {
            lines.append("Not counted: \(Counts.text(coverage.ofOtherTables, "decision")) of other tables.")
        }
        if unreadable > 0 { lines.append("Skipped: \(Counts.text(unreadable, "line")) without a decision.") }
        return lines
    }

    /// The ids of the routes that no decision selected.
    var neverSelected: [String] { order.map { coverage.routes[$0] }.filter(\.isUnused).map(\.id) }

    /// The report as one JSON object.
    var json: String {
        return JSONText.object { json in
            json.text("table", table.identity)
            json.number("decisions", Int64(coverage.decisions))
            json.number("without_route", Int64(coverage.withoutRoute))
            json.number("traced", Int64(coverage.withTrace))
            json.number("unknown", Int64(coverage.withUnknownRoute))
            json.number("of_other_versions", Int64(coverage.ofOtherVersions))
            json.number("of_other_tables", Int64(coverage.ofOtherTables))
            json.number("unreadable", Int64(unreadable))
            json.objects("routes", of: order) { json, index in write(coverage.routes[index], to: &json) }
            json.beginObject("reasons")
            for (reason, count) in reasons { json.number(reason, Int64(count)) }
            json.endObject()
            json.texts("never", neverSelected)
        }
    }

    private func write(_ route: Coverage.Route, to json: inout JSONText) {
        json.text("id", route.id)
        json.number("decisions", Int64(route.decisions))
        json.number("redirected", Int64(route.redirected))
        json.numbers("variants", route.variants)
        json.objects("patterns", of: route.patterns) { json, pattern in
            json.text("pattern", pattern.text)
            json.number("decisions", coverage.withTrace > 0 ? Int64(pattern.decisions) : nil)
        }
    }
}
