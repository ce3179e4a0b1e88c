internal import LinkCoordinator
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// The report of a difference of two tables over all links and devices, cause by cause.
struct SetsReport {
    let difference: TableDifference
    /// The devices of a census that the changes concern, or nil without a census.
    var census: CensusDifference?

    /// The limits of printed effects for each cause, and of printed values for each witness.
    private static let (maxEffects, maxValues) = (6, 8)

    /// The changes of a group with the same outcome before and the same outcome after.
    struct Effect {
        /// The side of the old decisions.
        var old: TrafficDifference.Side
        /// The side of the new decisions.
        var new: TrafficDifference.Side
        /// The changes, breaking ones first.
        var changes: [TableDifference.Change]

        /// Returns the effects of a group, breaking ones first, then the most frequent.
        static func all(_ group: TableDifference.Group) -> [Effect] {
            var effects: [Effect] = []
            for change in group.changes {
                let (old, new) = (TrafficDifference.Side(change.old.value), TrafficDifference.Side(change.new.value))
                if let index = effects.firstIndex(where: { $0.old == old && $0.new == new }) {
                    effects[index].changes.append(change)
                } else {
                    effects.append(Effect(old: old, new: new, changes: [change]))
                }
            }
            return effects.enumerated().sorted { a, b in
                let (x, y) = (a.element, b.element)
                if x.isBreaking != y.isBreaking { return x.isBreaking }
                return x.changes.count != y.changes.count ? x.changes.count > y.changes.count : a.offset < b.offset
            }.map(\.element)
        }

        /// A Boolean value that indicates whether any of the changes removes a working result.
        var isBreaking: Bool { changes.contains(where: \.isBreaking) }

        /// A Boolean value that indicates whether an added route or screen refuses the requests.
        var isRefusal: Bool { !["navigate", "external", "deferred"].contains(new.outcome) && !isOther }

        private var isOther: Bool { changes.contains { !$0.isAddition } }

        /// The number of the changes: of links, or of requests if not all of them are links.
        var countText: String {
            let isLinks = changes.allSatisfy { if case .link = $0.request { true } else { false } }
            return Counts.text(changes.count, isLinks ? "link" : "request")
        }
    }

    /// The number of causes with breaking changes.
    var breaking: Int { difference.groups.count(where: \.isBreaking) }

    /// Prints each cause with its effects, a request and a device that show it, and the changed values.
    func print(on out: Channel) {
        let (changed, others) = (difference.changedSets, difference.otherChanges)
        out.line(
            "all links and devices: \(changed) of \(Counts.text(difference.comparedSetCount, "set")) of links changed"
                + (others == 0 ? "" : ", and \(Counts.text(others, "change")) of other requests"))
        for line in limits { out.line(line) }
        printCensus(on: out)
        for (index, group) in difference.groups.enumerated() {
            out.line()
            let mark = group.isAddition ? "added" : "compatible"
            let title = group.causes.map(\.text).joined(separator: " and ")
            let painted = out.style.paint(group.isBreaking ? "breaking" : mark, group.isBreaking ? .bad : .good)
            out.line(painted + "  " + out.style.name(Escaping.visible(DisplayWidth.cut(title, to: 200))))
            if let census { out.line("  " + census.text(census.groups[index])) }
            printEffects(of: group, on: out)
            for loss in group.losses { out.line("  " + Escaping.visible(loss)) }
            if let witness = group.changes.first { printWitness(witness, on: out) }
        }
    }

    private func printCensus(on out: Channel) {
        guard let census else { return }
        out.line(
            "another decision about one of the requests below: " + census.text(census.changed)
                + (census.isWhole ? "" : " at least, because not all requests were tried"))
        if census.merged > 0 {
            out.line("not among them: \(Counts.grouped(Int64(census.merged))) devices that the census has merged")
        }
    }

    private func printEffects(of group: TableDifference.Group, on out: Channel) {
        let effects = Effect.all(group)
        var table = TextTable([("", .right), ("", .left), ("", .left), ("", .left)])
        for effect in effects.prefix(Self.maxEffects) {
            let mark = effect.isRefusal ? "refused by what was added" : ""
            table.add(
                [
                    effect.countText + ":", Escaping.visible(effect.old.text),
                    "-> " + Escaping.visible(effect.new.text),
                    group.isBreaking && effect.isBreaking ? "breaking" : mark,
                ])
        }
        for line in table.lines(style: out.style).dropFirst() { out.line("  " + line) }
        let others = effects.dropFirst(Self.maxEffects)
        if !others.isEmpty {
            out.line(
                "  and \(Counts.text(others.reduce(0) { $0 + $1.changes.count }, "change")) of "
                    + Counts.text(others.count, "other kind"))
        }
    }

    private func printWitness(_ change: TableDifference.Change, on out: Channel) {
        let device = change.device.json
        let request = Shortening.of(Escaping.visible(change.request.text))
        let example =
            "for example \(request)" + (device == "{}" ? "" : " on " + Shortening.of(Escaping.visible(device)))
        out.line("  " + out.style.paint(example, .dim))
        if let breakage = change.breakage { out.line("    " + Escaping.visible(breakage)) }
        ValueLines.print(ChangedValues.between(change.old.value, change.new.value), limit: Self.maxValues, on: out)
    }

    /// The lines for the sets that were compared only in part.
    private var limits: [String] {
        let lines = difference.incompletelyComparedSets.map { pair in
            "compared only in part, other links can differ: "
                + Escaping.visible(Self.links(old: pair.old, new: pair.new))
        }
        return lines
            + difference.sampledSets.map { pair in
                "compared for only some kinds of devices, others can differ: "
                    + Escaping.visible(Self.links(old: pair.old, new: pair.new))
            }
    }

    /// Returns the patterns that a set of links selects, as one text if both tables select the same pattern.
    private static func links(old: TableDifference.Choice?, new: TableDifference.Choice?) -> String {
        if old == nil && new == nil { return "links without a route, and requests other than links" }
        let (a, b) = (old?.pattern ?? "no route", new?.pattern ?? "no route")
        return a == b ? a : "\(a) -> \(b)"
    }

    /// Writes the members of the report, with an object for each group.
    func write(to json: inout JSONText) {
        json.beginObject("difference")
        json.number("sets", Int64(difference.comparedSetCount))
        json.boolean("all_devices", difference.sampledSets.isEmpty)
        for (name, pairs) in [("unproved", difference.incompletelyComparedSets), ("sampled", difference.sampledSets)] {
            json.objects(name, of: pairs) { json, pair in
                write("old", pair.old, to: &json)
                write("new", pair.new, to: &json)
            }
        }
        json.number("changes", Int64(difference.changes.count))
        json.number("breaking", Int64(breaking))
        if let census {
            json.beginObject("census")
            json.number("devices", Int64(census.total))
            json.number("changed", Int64(census.changed))
            json.number("merged", Int64(census.merged))
            json.boolean("whole", census.isWhole)
            json.endObject()
        }
        json.objects("groups", of: difference.groups.enumerated()) { json, group in
            write(group.element, devices: census?.groups[group.offset], to: &json)
        }
        json.endObject()
    }

    private func write(_ group: TableDifference.Group, devices: Int?, to json: inout JSONText) {
        json.objects("causes", of: group.causes) { json, cause in
            json.text("place", cause.location)
            json.text("old", cause.old)
            json.text("new", cause.new)
        }
        json.boolean("breaking", group.isBreaking)
        json.boolean("added", group.isAddition)
        json.number("changes", Int64(group.changes.count))
        if let devices { json.number("devices", Int64(devices)) }
        if !group.losses.isEmpty { json.texts("losses", group.losses) }
        if let witness = group.changes.first { Self.write(witness, to: &json) }
        json.objects("effects", of: Effect.all(group)) { json, effect in
            json.number("count", Int64(effect.changes.count))
            effect.old.write("old", to: &json)
            effect.new.write("new", to: &json)
            json.boolean("breaking", effect.isBreaking)
            json.boolean("refused", effect.isRefusal)
            Self.write(effect.changes[0], to: &json)
        }
    }

    /// Writes the request of a change under its own name, and the device.
    static func writeRequest(of change: TableDifference.Change, to json: inout JSONText) {
        switch change.request {
        case .link(let link): json.text("link", link)
        case .path(let path, _): json.text("path", path)
        case .route(let id, let params):
            json.text("route", id)
            json.raw("params", Array(params.json.utf8))
        case .payload(let payload): json.raw("payload", Array(payload.json.utf8))
        }
        json.raw("device", Array(change.device.json.utf8))
    }

    /// Writes the witness of a change: the request, the device, and the values.
    static func write(_ change: TableDifference.Change, to json: inout JSONText) {
        writeRequest(of: change, to: &json)
        if let breakage = change.breakage { json.text("breaks", breakage) }
        ValueLines.write(ChangedValues.between(change.old.value, change.new.value), to: &json)
    }

    private func write(_ name: String, _ choice: TableDifference.Choice?, to json: inout JSONText) {
        json.beginObject(name)
        json.text("route", choice?.route)
        json.text("pattern", choice?.pattern)
        json.endObject()
    }
}

/// The report of a difference of two tables over recorded links.
struct DifferenceReport {
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
            lines.add(
                [
                    "\(group.count)", Self.share(group.count, of: difference.total),
                    Escaping.visible(group.old.text), Escaping.visible(group.new.text),
                    group.breakage == nil ? "compatible" : "breaking",
                    Escaping.visible(group.members.joined(separator: ", ")),
                ], [nil, nil, .name, .name])
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

/// Shortening of requests in output for people, because the start of a long link identifies it.
enum Shortening {
    /// The limit of printed characters.
    private static let limit = 200

    /// Returns the text, or its start and the number of omitted characters, such as `a:b... 7,800 more characters`.
    static func of(_ text: String) -> String {
        let omittedCount = text.count - limit
        guard omittedCount > 0 else { return text }
        let noun = omittedCount == 1 ? "character" : "characters"
        return "\(text.prefix(limit))... \(Counts.grouped(Int64(omittedCount))) more \(noun)"
    }
}

/// The changed values of decisions, for people and as JSON.
enum ValueLines {
    /// Prints a line for each value, with the member, the old value, and the new one.
    static func print(_ values: [ChangedValues.Value], limit: Int, on out: Channel) {
        let width = values.prefix(limit).map { DisplayWidth.width(of: Escaping.visible($0.member)) }.max() ?? 0
        for value in values.prefix(limit) {
            let member = Escaping.visible(value.member)
            let space = String(repeating: " ", count: max(0, width - DisplayWidth.width(of: member)))
            out.line("    \(member)\(space)  \(text(value.old)) -> \(text(value.new))")
        }
        if values.count > limit { out.line("    and \(Counts.text(values.count - limit, "more value"))") }
    }

    private static func text(_ value: String?) -> String {
        value.map { DisplayWidth.cut(Escaping.visible($0), to: 100) } ?? "(absent)"
    }

    /// Writes the member `values`, with old and new values as JSON.
    ///
    /// An absent value is omitted.
    static func write(_ values: [ChangedValues.Value], to json: inout JSONText) {
        json.objects("values", of: values) { json, value in
            json.text("member", value.member)
            if let old = value.old { json.raw("old", Array(old.utf8)) }
            if let new = value.new { json.raw("new", Array(new.utf8)) }
        }
    }
}

extension TableDifference.Cause {
    /// The cause in one line: the location in the table, and the old and the new value.
    var text: String {
        switch (old, new) {
        case (nil, nil): location
        case (nil, let new?): "\(location) added: \(new)"
        case (let old?, nil): "\(location) removed: \(old)"
        case (let old?, let new?): "\(location): \(old) -> \(new)"
        }
    }
}

/// The devices of a census for which two tables decide differently about the requests of a difference.
struct CensusDifference {
    /// The limit of the requests that are tried.
    private static let maxRequests = 1_000

    /// The number of devices.
    let total: Int
    /// The number of devices whose kinds were merged in the census, which are not among the changed ones.
    let merged: Int
    /// The number of devices for which a request is decided differently.
    private(set) var changed = 0
    /// The numbers of devices by group of the difference.
    private(set) var groups: [Int] = []
    /// A Boolean value that indicates whether all requests were tried.
    private(set) var isWhole = true

    /// Tries the requests of each group on a device of each kind.
    init(_ difference: TableDifference, _ old: RouteTable, _ new: RouteTable, _ census: DeviceCensus) {
        total = census.devices + census.merged
        merged = census.merged
        let devices = census.entries.map { census.kinds.facts(of: $0.kind) }
        var found: [String: [Bool]] = [:]
        var all = devices.map { _ in false }
        func count(_ marks: [Bool]) -> Int { zip(marks, census.entries).reduce(0) { $0 + ($1.0 ? $1.1.count : 0) } }
        for group in difference.groups {
            var own = devices.map { _ in false }
            for change in group.changes {
                let request = change.request
                if found[request.text] == nil {
                    guard found.count < Self.maxRequests else {
                        isWhole = false
                        break
                    }
                    found[request.text] = devices.map { device in
                        Self.rest(old.resolve(request, device: device), of: old)
                            != Self.rest(new.resolve(request, device: device), of: new)
                    }
                }
                for (index, isChanged) in (found[request.text] ?? []).enumerated() where isChanged { own[index] = true }
            }
            groups.append(count(own))
            for (index, isChanged) in own.enumerated() where isChanged { all[index] = true }
        }
        changed = count(all)
    }

    /// Returns a decision without the name of its table.
    private static func rest(_ decision: Decision, of table: RouteTable) -> ArraySlice<UInt8> {
        let start = Array(#"{"table":"\#(table.identity)""#.utf8)
        guard decision.json.starts(with: start) else { return Array(decision.comparable.utf8)[...] }
        return decision.json[start.count...]
    }

    /// Returns a number of devices with the number of all, and its share.
    func text(_ count: Int) -> String {
        let share = total == 0 ? 0 : Int((Double(count) * 10_000 / Double(total)).rounded())
        let percent =
            count > 0 && share == 0 ? "less than 0.01" : "\(share / 100).\(share % 100 < 10 ? "0" : "")\(share % 100)"
        return "\(Counts.grouped(Int64(count))) of \(Counts.grouped(Int64(total))) devices, \(percent) %"
    }
}

/// The changes that end `linkd routes diff` with exit code 1.
enum FailureCondition: Equatable {
    case any, breaking, none
    /// More than this many millionths of the devices of a census.
    case devices(millionths: Int)

    /// Reads the value of `--fail-on`, such as `breaking` or `devices:0.1%`, or returns nil for another text.
    init?(_ text: String) {
        switch text {
        case "any": self = .any
        case "breaking": self = .breaking
        case "none": self = .none
        default:
            let prefix = "devices:"
            guard text.hasPrefix(prefix), text.hasSuffix("%") else { return nil }
            let parts = text.dropFirst(prefix.count).dropLast().split(separator: ".", omittingEmptySubsequences: false)
            guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isWholeNumber) }),
                let whole = Int(parts[0]), whole <= 100, (parts.last?.count ?? 0) <= 4
            else { return nil }
            let fraction = parts.count == 2 ? String(parts[1]) : "0"
            guard let digits = Int(fraction + String(repeating: "0", count: 4 - fraction.count)) else { return nil }
            self = .devices(millionths: whole * 10_000 + digits)
        }
    }

    /// Returns a Boolean value that indicates whether so many devices are too many.
    func isExceeded(by census: CensusDifference) -> Bool {
        guard case .devices(let millionths) = self, census.changed > 0 else { return false }
        return Double(census.changed) * 1_000_000 > Double(millionths) * Double(census.total)
    }
}
