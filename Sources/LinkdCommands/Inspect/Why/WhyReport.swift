internal import ByteStorage
internal import LinkCoordinator
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// The answer of `linkd inspect --why`: a decision, its event, its table, and the explanation.
struct WhyReport {
    /// A member of the decision that resolving again does not yield.
    struct Difference: Equatable {
        /// The name of the member.
        var member: String
        /// The text of the decided value, or nil if the decision does not have the member.
        var decided: String?
        /// The text of the value now, or nil.
        var now: String?
    }

    /// The record of the decision.
    var decision: InspectedRecord
    /// The number of records with the id of the decision.
    var count: Int
    /// The record of the event, or nil if it no longer exists.
    var input: InspectedRecord?
    /// The topic of the event if events are not read from it.
    var foreignTopic: String?
    /// The identity of the table that decided, or nil if the decision has none.
    var identity: String?
    /// The table, or nil if it is not at hand.
    var table: WhyTables.Entry?
    /// The configuration of the archive that was taken, or nil for none.
    var archived: ConfigurationArchive.Entry?
    /// The reason why another configuration of the archive could not be used, or nil.
    var archiveProblem: String?
    /// The identities of the tables at hand.
    var atHand: [String]
    /// The decision that resolving the event again yields, or nil if it could not be resolved.
    var again: [UInt8]?
    /// The explanation, or nil.
    var explanation: Explainer.DeviceExplanation?

    /// The decisions that older versions of linkd would have published for the event, each with what they leave out.
    var older: [(json: [UInt8], missing: String)] = []

    /// The item of the event's record that was decided, or nil for a record with one message.
    private var item: Int? { decision.json?["decision"]?.string.flatMap(DecisionID.init)?.place.item }

    /// The message that was decided, as a record of its own, or nil if the record no longer exists or has no such item.
    private var message: InspectedRecord? { input?.item(item) }

    /// A Boolean value that indicates whether resolving again yields the same bytes, or nil if that is unknown.
    ///
    /// A decision of an older version has the bytes without the members that this version did not publish.
    var isSame: Bool? { input == nil ? nil : again == decision.value || missing != nil }

    /// The members that the decision does not have because an older version published it, or nil.
    var missing: String? {
        again == decision.value ? nil : older.first { $0.json == decision.value }?.missing
    }

    /// A Boolean value that indicates whether the event had expired before a table was asked.
    var isExpired: Bool { isNone("expired") }

    private func isNone(_ reason: String) -> Bool {
        let json = decision.json
        return json?["outcome"]?.string == "none" && json?["reason"]?.string == reason
    }

    /// The first members that differ, at most 20.
    var differences: [Difference] {
        guard isSame == false, let again, let then = decision.json?.object,
            let now = (try? JSONValue.parse(again, maxDepth: DecisionTape.depth))?.object
        else { return [] }
        var result: [Difference] = []
        for name in then.map(\.name) + now.map(\.name).filter({ name in !then.contains { $0.name == name } }) {
            let values = [then, now].map { members in members.first { $0.name == name }?.value.text }
            if values[0] != values[1] { result.append(Difference(member: name, decided: values[0], now: values[1])) }
        }
        return Array(result.prefix(20))
    }

    /// The reasons why the explanation may not explain this decision, each with the next step.
    var warnings: [String] { warnings(hasValues: true) }

    /// Returns the warnings.
    ///
    /// - Parameter hasValues: A Boolean value that indicates whether they contain values of the decision.
    func warnings(hasValues: Bool) -> [String] {
        var result: [String] = []
        if count > 1 { result.append("\(count) records have this id, and this is the last one") }
        if let foreignTopic {
            result.append("the event is in \(foreignTopic), which is not an input topic of these settings (--input)")
            return result
        }
        if input == nil {
            result.append("the event's record no longer exists, so the decision cannot be resolved again")
            return result
        }
        if let archiveProblem, isSame != true { result.append(archiveProblem) }
        if let identity, table == nil {
            let others = atHand.isEmpty ? "no table is" : "these tables are: " + atHand.joined(separator: ", ")
            result.append("table \(identity) is not at hand (--tables-topic, --state-dir, --table); \(others)")
        }
        if let missing {
            result.append(
                "an older version of linkd, or one with `passthrough: none`, published the decision: it has no "
                    + "\(missing), and is the same otherwise")
        }
        if let archived, isSame == true, !archived.isUsed(at: decision.timestamp) {
            result.append("the configuration \(archived.hash.prefix(8)) was not known to be in use at that time")
        }
        guard isSame == false else { return result }
        let differences = differences
        for difference in differences.prefix(5) {
            guard hasValues else {
                result.append("\(difference.member) differs")
                continue
            }
            let values = [difference.decided, difference.now].map { DisplayWidth.cut($0 ?? "nothing", to: 60) }
            result.append("\(difference.member) was \(values[0]) and is now \(values[1])")
        }
        if again == nil { result.append("the event cannot be resolved with these tables and settings") }
        if let archived {
            result.append(
                "no configuration of the archive gives this decision; \(archived.hash.prefix(8)) was in use last"
                    + (archived.configuration.version == LinkdVersion.text
                        ? "" : ", with linkd \(archived.configuration.version)"))
            return result
        }
        let names = Set(differences.map(\.member))
        if names.contains("context") { result.append("pass the worker's settings `passthrough` and `context.query`") }
        if !names.isDisjoint(with: ["stack", "url", "route", "outcome"]), table != nil {
            result.append("pass the worker's settings `vendors` and `link.platforms`")
        }
        return result
    }

    /// Prints the report for people.
    func print(on console: Console) {
        let out = console.out
        var printer = RecordPrinter(.readable, on: out)
        decision.withViews { record in
            var tape = DecisionTape()
            tape.begin(record.value)
            printer.print(record, &tape)
        }
        let place = archived.map { ", configuration \($0.hash.prefix(8))" } ?? ""
        let source = table.map { entry in "  (\(entry.source), \(Escaping.visible(entry.path))\(place))" } ?? ""
        out.line("table: " + Escaping.visible(identity ?? "none") + source)
        if let input = message {
            let time = input.timestamp < 0 ? "no time" : UTCDateTime.text(milliseconds: input.timestamp)
            let place = "\(input.topic)-\(input.partition)-\(input.offset)" + (item.map { ".\($0)" } ?? "")
            out.line("event: \(time)  \(Escaping.visible(place))")
            out.line("    " + DisplayWidth.cut(Escaping.visible(input.value ?? []), to: 2000))
        }
        for warning in warnings { console.warn("warning: " + Escaping.visible(warning)) }
        if isExpired {
            out.line(out.style.heading("the reason:"))
            let expiry = message?.json?["expires"]?.string.map { " at " + Escaping.visible($0) } ?? ""
            out.line("    expired    the event expires\(expiry), and the time of its record is later")
        }
        if isNone("no_device") {
            out.line(out.style.heading("the reason:"))
            out.line("    no_device    the registry of devices knew no device of the event's user")
            return
        }
        if let facts = decision.json?["facts"]?.text {
            out.line("facts from the registry: " + DisplayWidth.cut(Escaping.visible(facts), to: 2000))
        }
        guard let explanation else { return }
        let heading =
            isExpired
            ? "without an expiry, these tables would decide:"
            : isSame == true ? "the reason:" : "these tables would decide:"
        out.line(out.style.heading(heading))
        for line in explanation.envelope.lines { out.line("    " + Escaping.visible(line)) }
        for line in (explanation.decision?.text ?? "").split(separator: "\n") {
            out.line("    " + line)
        }
    }
}

/// The JSON text of the report.
extension WhyReport {
    /// Prints the report as one JSON object.
    func printJSON(on out: Channel) {
        out.json { json in
            write(to: &json)
        }
    }

    /// Writes the members of the report.
    ///
    /// - Parameters:
    ///   - json: The text.
    ///   - mask: The replacement of what identifies people, or nil for none.
    func write(to json: inout JSONText, mask: RecordMask? = nil) {
        let mask = mask.flatMap { $0.isOn ? $0 : nil }
        if let mask {
            json.value("decision", mask.decision(decision.json ?? JSONValue(.null)))
        } else {
            json.raw("decision", decision.value ?? Array("null".utf8))
        }
        json.object("record") { json in Self.writePosition(decision, &json) }
        writeInput(mask, &json)
        json.text("identity", identity)
        json.object("table", of: table) { json, table in
            json.text("identity", table.table.identity)
            json.text("source", table.source)
            json.text("path", table.path)
            if let archived { json.text("configuration", archived.hash) }
        }
        if let isSame { json.boolean("same", isSame) } else { json.text("same", nil) }
        json.objects("differences", of: differences) { json, difference in
            json.text("member", difference.member)
            json.text(
                "decided", mask == nil ? difference.decided : difference.decided.map { _ in RecordMask.replacement })
            json.text("now", mask == nil ? difference.now : difference.now.map { _ in RecordMask.replacement })
        }
        json.texts("warnings", warnings(hasValues: mask == nil))
        json.boolean("expired", isExpired)
        // The phases of an explanation contain the parts of the link.
        let explain = mask == nil ? explanation?.decision?.json : nil
        json.raw("explain", explain ?? Array("null".utf8))
    }

    private func writeInput(_ mask: RecordMask?, _ json: inout JSONText) {
        if let item { json.number("item", Int64(item)) }
        guard let input = message else { return json.text("input", nil) }
        if let mask {
            json.beginObject("input")
            Self.writePosition(input, &json)
            json.text("key", input.key.map { mask.id(String(decoding: $0, as: UTF8.self)) })
            json.beginObject("headers")
            for header in input.headers {
                let name = String(decoding: header.name, as: UTF8.self)
                json.text(name, header.value.map { mask.header(name, String(decoding: $0, as: UTF8.self)) })
            }
            json.endObject()
            json.value("value", mask.event(input.json ?? JSONValue(.null)))
            json.endObject()
            return
        }
        let envelope = input.withViews { record in
            var tape = DecisionTape()
            tape.begin(record.value)
            return OutputArena.text { RecordPrinter.appendEnvelope(record, &tape, to: &$0) }
        }
        json.raw("input", Array(envelope.utf8))
    }

    private static func writePosition(_ record: InspectedRecord, _ json: inout JSONText) {
        json.text("topic", record.topic)
        json.number("partition", Int64(record.partition))
        json.number("offset", record.offset)
        json.number("timestamp", record.timestamp < 0 ? nil : record.timestamp)
    }
}
