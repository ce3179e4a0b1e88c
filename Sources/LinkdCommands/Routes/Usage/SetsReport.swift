internal import LinkCoordinator

/// The difference of two tables over all links and devices, for people and for programs.
struct SetsReport {
    let difference: TableDifference

    /// Prints each change with its set of links, a link and a device.
    func print(on out: Channel) {
        let sets = Set(difference.changes.map { [$0.oldChoice, $0.newChoice] }).count
        out.line("all links and devices: \(sets) of \(difference.sets) sets of links are decided differently")
        for line in limits { out.line(line) }
        guard !difference.changes.isEmpty else { return }
        out.line()
        var lines = TextTable([("LINKS", .left), ("OLD", .left), ("NEW", .left), ("DIFFERS IN", .left)])
        for change in difference.changes {
            lines.add([
                TextTable.Cell(Escaping.visible(Self.links(change)), .name),
                TextTable.Cell(Escaping.visible(side(change.old).text)),
                TextTable.Cell(Escaping.visible(side(change.new).text)),
                TextTable.Cell(Escaping.visible(members(change).joined(separator: ", "))),
            ])
        }
        let rows = lines.lines(style: out.style)
        out.line(rows[0])
        for (row, change) in zip(rows.dropFirst(), difference.changes) {
            out.line(row)
            let device = change.device.json
            let words = "for example \(change.request.text)" + (device == "{}" ? "" : " on \(device)")
            out.line("       " + out.style.paint(Escaping.visible(words), .dim))
        }
    }

    /// Writes the members of the report.
    func write(to json: inout JSONText) {
        json.beginObject("difference")
        json.number("sets", Int64(difference.sets))
        json.boolean("all_devices", difference.sampled.isEmpty)
        for (name, pairs) in [("unproved", difference.unproved), ("sampled", difference.sampled)] {
            json.beginArray(name)
            for pair in pairs {
                json.beginObject()
                write("old", pair.old, nil, to: &json)
                write("new", pair.new, nil, to: &json)
                json.endObject()
            }
            json.endArray()
        }
        json.beginArray("changes")
        for change in difference.changes {
            json.beginObject()
            write("old", change.oldChoice, change.old, to: &json)
            write("new", change.newChoice, change.new, to: &json)
            json.beginArray("members")
            for member in members(change) { json.text(nil, member) }
            json.endArray()
            write(change.request, to: &json)
            json.raw("device", Array(change.device.json.utf8))
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }

    /// What was not looked at whole.
    private var limits: [String] {
        let lines = difference.unproved.map { pair in
            "not looked at whole, it would have taken too much work: "
                + Escaping.visible(Self.links(old: pair.old, new: pair.new))
        }
        return lines
            + difference.sampled.map { pair in
                "the conditions tell too many devices apart to try all, others may differ too: "
                    + Escaping.visible(Self.links(old: pair.old, new: pair.new))
            }
    }

    /// Writes the request that shows a change: `link`, or another form under its own name.
    private func write(_ request: Request, to json: inout JSONText) {
        switch request {
        case .link(let link): json.text("link", link)
        case .path(let path, _): json.text("path", path)
        case .route(let id, let params):
            json.text("route", id)
            json.raw("params", Array(params.utf8))
        case .payload(let payload): json.raw("payload", Array(payload.utf8))
        }
    }

    private func side(_ decision: Decision) -> TrafficDifference.Side { TrafficDifference.Side(decision.value) }

    private func members(_ change: TableDifference.Change) -> [String] {
        TrafficDifference.difference(change.old.value, change.new.value)
    }

    private static func links(_ change: TableDifference.Change) -> String {
        links(old: change.oldChoice, new: change.newChoice)
    }

    /// The patterns that a set of links chooses: one text where both tables choose the same.
    private static func links(old: TableDifference.Choice?, new: TableDifference.Choice?) -> String {
        let (a, b) = (old?.pattern ?? "no route", new?.pattern ?? "no route")
        return a == b ? a : "\(a) -> \(b)"
    }

    private func write(
        _ name: String, _ choice: TableDifference.Choice?, _ decision: Decision?, to json: inout JSONText
    ) {
        json.beginObject(name)
        json.text("route", choice?.route)
        json.text("pattern", choice?.pattern)
        if let decision {
            json.text("outcome", decision.outcome.rawValue)
            json.text("reason", decision.reason)
        }
        json.endObject()
    }
}
