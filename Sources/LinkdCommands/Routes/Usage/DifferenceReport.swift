internal import RouteTools
internal import LinkCoordinator
internal import StrictJSON

/// The report of a difference of two tables over recorded links.
struct DifferenceReport {
    /// The difference.
    let difference: TrafficDifference
    /// The number of lines that are neither a link nor an event.
    let unreadable: Int

    /// Prints the groups, breaking ones first, each with a witness.
    func print(on out: Channel) {
        let groups = difference.groups
        let changed = difference.total - difference.same
        out.line("recorded traffic: \(changed) of \(Counts.text(difference.total, "decision")) changed")
        if unreadable > 0 { out.line("\(Counts.text(unreadable, "line")) without a link or event of these tables") }
        guard !groups.isEmpty else { return }
        out.line()
        var lines = TextTable([
            ("COUNT", .right), ("SHARE", .right), ("OLD", .left), ("NEW", .left), ("", .left), ("CHANGED", .left),
        ])
        for group in groups {
            lines.add([
                TextTable.Cell("\(group.count)"), TextTable.Cell(Self.share(group.count, of: difference.total)),
                TextTable.Cell(Escaping.visible(group.old.text), .name),
                TextTable.Cell(Escaping.visible(group.new.text), .name),
                TextTable.Cell(group.breakage == nil ? "compatible" : "breaking"),
                TextTable.Cell(Escaping.visible(group.members.joined(separator: ", "))),
            ])
        }
        let rows = lines.lines(style: out.style)
        out.line(rows[0])
        for (row, group) in zip(rows.dropFirst(), groups) {
            out.line(row)
            out.line(
                "       "
                    + out.style.paint("for example " + Shortening.of(Escaping.visible(group.witness)), .dim))
            if let breakage = group.breakage { out.line("         " + Escaping.visible(breakage)) }
            ValueLines.print(group.values, limit: 8, on: out)
        }
    }

    /// Returns a percentage with one decimal place.
    private static func share(_ count: Int, of total: Int) -> String {
        let tenths = Int((Double(count) * 1000 / Double(max(1, total))).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// Writes the member `traffic`.
    func write(to json: inout JSONText) {
        json.beginObject("traffic")
        json.number("decisions", Int64(difference.total))
        json.number("same", Int64(difference.same))
        json.number("breaking", Int64(difference.breaking))
        json.number("unreadable", Int64(unreadable))
        json.objects("groups", of: difference.groups) { json, group in
            json.number("count", Int64(group.count))
            group.old.write("old", to: &json)
            group.new.write("new", to: &json)
            json.boolean("breaking", group.breakage != nil)
            if let breakage = group.breakage { json.text("breaks", breakage) }
            json.texts("members", group.members)
            json.text("witness", group.witness)
            ValueLines.write(group.values, to: &json)
        }
        json.endObject()
    }
}
