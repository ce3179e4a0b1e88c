internal import RouteTools
internal import StrictJSON

/// The result of a replay, or of a dry run.
struct ReplaySummary {
    /// The topics.
    var topics: DeadLetterTopics
    /// The topic for dead letters that are not replayed.
    var parking: String
    /// The chosen dead letters.
    var plan: ReplayPlan
    /// The result of the order check, or nil if the order was not checked.
    var order: OrderCheck.Result?
    /// A Boolean value that indicates whether nothing is sent.
    var isDryRun = false
    /// The duration in seconds.
    var seconds = 0.0

    /// The number of dead letters that were sent to the input.
    private var replayed: Int64 { Int64(plan.letters.count { $0.isDone && !$0.isByOther && !$0.isParked }) }
    /// The number of dead letters that were parked.
    private var parked: Int64 { Int64(plan.letters.count { $0.isDone && !$0.isByOther && $0.isParked }) }

    /// Prints the choice.
    func printChoice(on out: Channel) {
        if !plan.reasons.isEmpty {
            var table = TextTable([("REASON", .left), ("REPLAY", .right), ("PARK", .right)])
            let rows = plan.reasons.sorted { a, b in
                let (first, second) = (a.value.replay + a.value.park, b.value.replay + b.value.park)
                return first == second ? a.key < b.key : first > second
            }
            for (reason, count) in rows {
                table.add([reason, Counts.grouped(count.replay), Counts.grouped(count.park)])
            }
            for line in table.lines(style: out.style) { out.line(line) }
        }
        for line in notes { out.line(line) }
    }

    /// The lines about dead letters that are not replayed.
    private var notes: [String] {
        var lines: [String] = []
        for reason in ParkReason.allCases {
            guard let count = plan.parked[reason] else { continue }
            lines.append("to park: \(Counts.grouped(count)) \(reason.text)")
        }
        if plan.alreadyReplayed > 0 {
            lines.append("already replayed or parked: \(Counts.grouped(plan.alreadyReplayed)) by \(topics.ledger)")
        }
        for reason in ForeignReason.allCases {
            guard let count = plan.foreign[reason], let first = plan.firstForeign else { continue }
            lines.append("left alone: \(Counts.grouped(count)) \(reason.text); the first one left alone is \(first)")
        }
        if plan.beyondLimit > 0 {
            lines.append("not chosen: \(Counts.grouped(plan.beyondLimit)) more match, beyond --max")
        }
        return lines
    }

    /// The line about the result.
    var text: String {
        let chosen = Counts.grouped(Int64(plan.letters.count))
        if isDryRun {
            return "would replay \(Counts.grouped(Int64(plan.replayCount))) and park "
                + "\(Counts.grouped(Int64(plan.parkCount))) of \(chosen) chosen; nothing was sent"
        }
        return "replayed \(Counts.grouped(replayed)) and parked \(Counts.grouped(parked)) of \(chosen) chosen, "
            + (plan.otherCount > 0 ? "\(Counts.grouped(Int64(plan.otherCount))) by another replay, " : "")
            + "\(Counts.grouped(Int64(plan.leftCount))) left, in \(Decimals.text(seconds)) s"
    }

    /// The result as a JSON object.
    var json: String {
        var json = JSONText()
        json.beginObject()
        json.text("topic", topics.deadLetters)
        json.boolean("dry_run", isDryRun)
        json.number("chosen", Int64(plan.letters.count))
        json.number("to_replay", Int64(plan.replayCount))
        json.number("to_park", Int64(plan.parkCount))
        json.number("replayed", replayed)
        json.number("parked", parked)
        json.number("already_replayed", plan.alreadyReplayed + Int64(plan.otherCount))
        json.number("foreign", plan.foreignCount)
        json.number("beyond_max", plan.beyondLimit)
        json.number("left", Int64(plan.leftCount))
        json.beginObject("by_reason")
        for (reason, count) in plan.reasons.sorted(by: { $0.key < $1.key }) {
            json.number(reason, count.replay + count.park)
        }
        json.endObject()
        json.beginObject("parked_by")
        for reason in ParkReason.allCases where plan.parked[reason] != nil {
            json.number(reason.rawValue, plan.parked[reason])
        }
        json.endObject()
        json.beginObject("order")
        json.number("devices", order.map { Int64($0.devices) })
        json.number("later", order.map { Int64($0.later) })
        json.text("example", order?.example?.text)
        json.endObject()
        json.decimal("seconds", seconds)
        json.endObject()
        return json.finish()
    }
}
