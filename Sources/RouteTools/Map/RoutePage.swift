internal import RouteAnalysis
package import LinkCoordinator
internal import StrictJSON

/// The page of one route as JSON: its patterns in words, examples, data, results by version, and relations to other
/// routes.
///
/// A member without a value is omitted, as in `TableMap`, whose numbers of screens it uses.
package struct RoutePage {
    /// The maximum number of examples.
    package static let maxExamples = 24

    let table: RouteTable
    let index: Int
    let route: TableSource.Route
    let names: TableNames
    let targets: TargetText
    let numbers: ScreenNumbers
    let timeline: VariantTimeline

    /// The number of decisions that a route made lately, as a reader of decisions counted them.
    package struct Taken: Sendable {
        /// The number of decisions.
        package var count: Int64
        /// The beginning of the counted time, in milliseconds since 1970.
        package var sinceMilliseconds: Int64

        /// Creates a count.
        package init(count: Int64, sinceMilliseconds: Int64) {
            self.count = count
            self.sinceMilliseconds = sinceMilliseconds
        }
    }

    /// Returns the page of a route as one JSON object, or nil if the table has no such route.
    ///
    /// - Parameters:
    ///   - id: The id of the route.
    ///   - table: The table.
    ///   - taken: The number of recent decisions, or nil if it is not known.
    package static func json(_ id: String, in table: RouteTable, taken: Taken? = nil) -> String? {
        guard let page = RoutePage(id, table) else { return nil }
        return JSONText.object { json in
            page.write(to: &json)
            if let taken {
                json.beginObject("taken")
                json.number("count", taken.count)
                json.number("since", taken.sinceMilliseconds)
                json.endObject()
            }
        }
    }

    private init?(_ id: String, _ table: RouteTable) {
        let names = TableNames(table.source)
        guard let index = names.routes[id] else { return nil }
        self.table = table
        self.index = index
        self.names = names
        route = table.source.routes[index]
        targets = TargetText(table.source)
        numbers = ScreenNumbers(table.source, names)
        timeline = VariantTimeline(route, table.source, names, targets)
    }

    private func write(to json: inout JSONText) {
        let exits = RouteExits(table, names, timeline.spans).exits(of: route)
        json.text("table", table.identity)
        json.text("route", route.id.value)
        json.text("group", RouteGroup.name(of: route))
        json.text("kind", RouteExits.kind(exits).rawValue)
        json.text("summary", RouteSentence(table.source, targets).text(exits))
        if let status = route.status { json.text("status", status) }
        if let sunset = route.sunset { json.text("sunset", sunset) }
        if route.priority != 0 { json.number("priority", route.priority) }
        writePatterns(to: &json)
        writeExamples(to: &json)
        writeModels(to: &json)
        writeVariants(to: &json)
        writeGuards(to: &json)
        writeFailures(to: &json)
        writeOverlaps(to: &json)
        writeRedirects(exits, to: &json)
    }

    private func writeExamples(to json: inout JSONText) {
        json.objects("examples", of: RouteExamples(table).examples(of: route).prefix(Self.maxExamples)) {
            json, example in
            json.text("link", example.link)
            if let device = example.device { json.raw("device", Array(device.utf8)) }
            json.boolean("isGenerated", example.isGenerated)
            json.raw("decision", example.decision.json)
        }
    }

    private func writeGuards(to json: inout JSONText) {
        let own = Set(route.variants.flatMap { targets.guards(of: $0.to) })
        json.objects("guards", of: table.source.guards.filter { own.contains($0.name.value) }) { json, rule in
            json.text("name", rule.name.value)
            json.text("claim", rule.claim)
            json.text("to", targets.text(of: rule.otherwise))
            if let resume = rule.resume { json.number("seconds", resume.ttlSeconds) }
        }
    }

    private func writeFailures(to json: inout JSONText) {
        json.objects("failures", of: RouteReasons(table).reasons(of: route)) { json, failure in
            json.text("reason", failure.reason.rawValue)
            json.text("cause", failure.cause)
            // An exclusion does not reach the fallback.
            let rule = table.source.fallback.first { rule in
                failure.reason != .excluded && failure.reason != .externalRefused
                    && rule.on?.contains { $0.value == failure.reason } ?? true
            }
            if let rule {
                json.text("outcome", rule.outcome.rawValue)
                if let target = rule.to { json.text("to", targets.text(of: target)) }
            } else if case .exclude(.none) = route.action {
                json.text("outcome", "none")
            } else {
                json.text("outcome", "reject")
            }
        }
    }

    private func writeOverlaps(to json: inout JSONText) {
        let found = RouteOverlaps(ofRoute: index, in: table)
        json.beginObject("overlaps")
        json.boolean("isComplete", found.isComplete)
        json.objects("routes", of: found.overlaps) { json, overlap in
            json.text("route", overlap.other)
            json.text("pattern", overlap.pattern)
            json.text("otherPattern", overlap.otherPattern)
            json.text("relation", overlap.relation.rawValue)
            json.boolean("isPreceded", overlap.isPreceded)
            json.text("link", overlap.link)
            if let selected = overlap.selected { json.text("selected", selected) }
        }
        json.endObject()
    }

    private func writeRedirects(_ exits: [RouteExits.Exit], to json: inout JSONText) {
        json.beginObject("redirects")
        if let exit = exits.first, exit.kind == .redirect {
            json.beginObject("to")
            if let route = exit.route { json.text("route", route) }
            if let template = exit.template { json.text("template", template) }
            json.endObject()
        }
        json.texts("from", table.source.routes.filter { redirects($0) }.map(\.id.value).sorted())
        json.endObject()
    }

    /// Returns a Boolean value that indicates whether another route redirects to this one.
    private func redirects(_ other: TableSource.Route) -> Bool {
        switch other.action {
        case .redirect(.route(let id)): id.value == route.id.value
        case .redirect(.template): SampleLinks.redirectTarget(of: other, in: table) == route.id.value
        case .variants, .exclude: false
        }
    }
}

// Patterns, models, and variants.
extension RoutePage {
    func writePatterns(to json: inout JSONText) {
        json.objects("patterns", of: route.patterns.filter { !$0.omitsOptionalPart }) { json, pattern in
            json.text("text", route.written(pattern))
            if let scheme = pattern.scheme { json.text("scheme", scheme) }
            if let host = pattern.host { json.text("host", host.text) }
            if pattern.form > 0 { json.boolean("isAlias", true) }
            let isOptional = route.patterns.contains { $0.form == pattern.form && $0.omitsOptionalPart }
            if isOptional { json.boolean("lastIsOptional", true) }
            json.objects("parts", of: pattern.path.matchers.indices.filter { pattern.path.matchers[$0] != .end }) {
                json, index in
                write(part: index, of: pattern.path, to: &json)
            }
        }
        json.texts("query", route.query.map(ConditionText.text(of:)))
    }

    private func write(part index: Int, of pattern: Pattern, to json: inout JSONText) {
        let matcher = pattern.matchers[index]
        json.text("text", WrittenPattern(pattern).segment(index, matcher))
        json.text("words", MatcherWords.text(matcher))
        guard let capture = pattern.captures.first(where: { $0.segment == index }) else { return }
        json.text("name", capture.name)
        if capture.isTail { json.boolean("isTail", true) }
        let fields = route.bindings.filter { $0.source.value.text == "path.\(capture.name)" }
        json.texts("fills", fields.map { "\($0.model.value).\($0.field.value)" })
    }

    func writeModels(to json: inout JSONText) {
        json.objects("models", of: RouteText.models(route)) { json, name in
            json.text("name", name)
            json.objects("fields", of: table.source.models.first { $0.name.value == name }?.fields ?? []) {
                json, field in
                json.text("name", field.name.value)
                json.text("type", field.type.text)
                json.text("words", FieldTypeWords.text(field.type))
                let binding = route.bindings.first { $0.model.value == name && $0.field == field.name }
                switch binding?.source.value {
                case .constant(let value)?: json.text("constant", value)
                case let source?: json.text("source", source.text)
                case nil: break
                }
                json.text("missing", Self.text(field.absence))
            }
        }
    }

    private static func text(_ absence: TableSource.Field.Absence) -> String {
        switch absence {
        case .required: "the link is rejected if a screen needs it"
        case .null: "null"
        case .value(let text): text
        case .emptyList: "an empty list"
        }
    }

    func writeVariants(to json: inout JSONText) {
        json.objects("variants", of: route.variants) { json, variant in
            if route.variants.count > 1 || variant.when != nil {
                json.text("when", ConditionText.text(of: variant.when))
            }
            json.text("to", targets.text(of: variant.to))
            if let manner = targets.presentationText(of: variant.to) { json.text("manner", manner) }
            if let notice = variant.notice { json.text("notice", "/" + notice.value.joined(separator: "/")) }
            numbers.write(variant.to, targets, to: &json)
            json.objects("screens", of: targets.stack(of: variant.to)?.entries ?? []) { json, entry in
                let coordinator = table.source.coordinators[entry.coordinator]
                json.text("coordinator", coordinator.name.value)
                json.text("screen", coordinator.screens[entry.screen].name.value)
                json.text("present", entry.present.rawValue)
            }
        }
        switch route.unsupported {
        case .fallback: break
        case .truncate: json.text("unsupported", "the screens that the app lacks, and all above them, are left out")
        case .to(let target): json.text("unsupported", targets.text(of: target))
        }
        guard !route.variants.isEmpty else { return }
        json.beginObject("timeline")
        json.texts("versions", (0..<timeline.spans.count).map(timeline.spans.label))
        json.objects("platforms", of: timeline.rows) { json, row in
            json.text("platform", row.platform)
            json.objects("cells", of: row.cells) { json, cell in
                json.number("from", Int64(cell.versions.lowerBound))
                json.number("to", Int64(cell.versions.upperBound))
                json.objects("choices", of: cell.choices) { json, choice in
                    json.number("variant", Int64(choice.variant))
                    if let condition = choice.condition { json.text("when", condition) }
                    if let screen = choice.lacks { json.text("lacks", screen) }
                }
            }
        }
        json.endObject()
    }
}
