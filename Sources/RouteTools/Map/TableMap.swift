package import LinkCoordinator
internal import StrictJSON

/// The map of a table as JSON: links, routes with their results, coordinators with their screens, guards, and the
/// fallback.
///
/// Screens have numbers, in the order in which the map lists them. A range of app versions is a pair of indices in the
/// list `versions`. A member without a value is omitted.
package struct TableMap {
    /// The size of the routes in bytes after which a map lists no more of them.
    package static let limitBytes = 8 << 20

    private let table: RouteTable
    private let source: TableSource
    private let names: TableNames
    private let targets: TargetText
    private let numbers: ScreenNumbers
    private let spans: VersionSpans
    private let limitBytes: Int

    /// Returns the map of a table as one JSON object.
    package static func json(_ table: RouteTable, limitBytes: Int = TableMap.limitBytes) -> String {
        var json = JSONText()
        json.beginObject()
        TableMap(table, limitBytes: limitBytes).write(to: &json)
        json.endObject()
        return json.finish()
    }

    private init(_ table: RouteTable, limitBytes: Int) {
        self.table = table
        self.limitBytes = limitBytes
        source = table.source
        names = TableNames(source)
        targets = TargetText(source)
        numbers = ScreenNumbers(source, names)
        let (all, names) = (source, names)
        let screens = all.coordinators.flatMap(\.screens).flatMap { all.versionTests(of: $0, names) }
        spans = VersionSpans(
            screens + all.routes.flatMap(\.variants).flatMap { all.versionTests(of: $0.when, names) })
    }

    private func write(to json: inout JSONText) {
        json.text("table", table.identity)
        json.text("id", table.id)
        json.text("version", table.version)
        json.texts("applications", source.applications.map(\.value))
        json.texts("versions", (0..<spans.count).map(spans.label))
        writeLinks(to: &json)
        json.objects("coordinators", of: numbers.order) { json, index in write(coordinator: index, to: &json) }
        json.objects("guards", of: source.guards) { json, rule in
            json.text("name", rule.name.value)
            json.text("claim", rule.claim)
            numbers.write(rule.otherwise, targets, to: &json)
            if let resume = rule.resume {
                json.number("seconds", resume.ttlSeconds)
                json.boolean("once", resume.once)
            }
        }
        json.number("screens", Int64(numbers.count))
        writeRoutes(to: &json)
        json.objects("fallback", of: source.fallback) { json, rule in
            if let reasons = rule.on { json.texts("on", reasons.map(\.value.rawValue)) }
            json.text("outcome", rule.outcome.rawValue)
            if let target = rule.to { numbers.write(target, targets, to: &json) }
        }
    }

    private func writeLinks(to json: inout JSONText) {
        json.objects("links", of: source.blocks) { json, block in
            json.texts("schemes", block.schemes.map(\.value))
            if block.acceptsOtherSchemes { json.boolean("others", true) }
            if block.hostRole == .authority { json.texts("hosts", block.hosts.map(\.value.text)) }
            if !block.rewrites.isEmpty { json.texts("rewrites", block.rewrites.map(\.text)) }
        }
    }

    private func write(coordinator index: Int, to json: inout JSONText) {
        let coordinator = source.coordinators[index]
        json.text("name", coordinator.name.value)
        if let parent = coordinator.parent.flatMap({ names.coordinators[$0.value] }),
            let position = numbers.position(ofCoordinator: parent)
        {
            json.number("parent", Int64(position))
        }
        if let initial = coordinator.initial.flatMap({ names.screens[index][$0.value] }) {
            json.number("initial", Int64(numbers.number(index, initial)))
        }
        if let rule = coordinator.guarding.flatMap({ names.guards[$0.value] }) { json.number("guard", Int64(rule)) }
        if coordinator.singleSlot { json.boolean("single", true) }
        json.objects("screens", of: coordinator.screens) { json, screen in
            json.text("name", screen.name.value)
            if !screen.present.isEmpty { json.texts("present", screen.present.map(\.value.rawValue)) }
            if !screen.needs.isEmpty { json.texts("needs", screen.needs.map(\.value)) }
            if let view = screen.view { json.text("view", view.value) }
            if let condition = ConditionText.text(of: screen) {
                json.text("requires", condition)
                write(spans.range(of: source.versionTests(of: screen, names)), to: &json)
            }
        }
    }

    private func writeRoutes(to json: inout JSONText) {
        let exits = RouteExits(table, names, spans)
        let sentence = RouteSentence(source, targets)
        var bytes = 0
        var listed = 0
        json.beginArray("routes")
        for route in source.routes.sorted(by: { $0.id.value < $1.id.value }) {
            var one = JSONText()
            one.beginObject()
            write(route, exits.exits(of: route), sentence, to: &one)
            one.endObject()
            let text = Array(one.finish().utf8)
            bytes += text.count + 1
            if bytes > limitBytes { break }
            json.raw(nil, text)
            listed += 1
        }
        json.endArray()
        json.number("routeCount", Int64(source.routes.count))
        json.boolean("isComplete", listed == source.routes.count)
    }

    private func write(
        _ route: TableSource.Route, _ exits: [RouteExits.Exit], _ sentence: RouteSentence, to json: inout JSONText
    ) {
        json.text("id", route.id.value)
        json.text("group", RouteGroup.name(of: route))
        json.texts("patterns", RouteText.patterns(route))
        json.text("kind", RouteExits.kind(exits).rawValue)
        json.text("summary", sentence.text(exits))
        let guards = Set(route.variants.flatMap { targets.guards(of: $0.to) })
        if !guards.isEmpty {
            json.beginArray("guards")
            for name in guards.sorted() { if let at = names.guards[name] { json.number(nil, Int64(at)) } }
            json.endArray()
        }
        if let status = route.status { json.text("status", status) }
        if let sunset = route.sunset { json.text("sunset", sunset) }
        json.objects("exits", of: exits) { json, exit in
            json.text("kind", exit.kind.rawValue)
            if let condition = exit.condition { json.text("when", condition) }
            write(exit.versions, to: &json)
            if let target = exit.target { numbers.write(target, targets, to: &json) }
            if let route = exit.route { json.text("route", route) }
            if let template = exit.template { json.text("template", template) }
        }
    }

    /// Writes a range of app versions: nothing for all of them, and an empty list for none.
    private func write(_ versions: ClosedRange<Int>?, to json: inout JSONText) {
        if versions == 0...(spans.count - 1) { return }
        json.beginArray("versions")
        if let versions {
            json.number(nil, Int64(versions.lowerBound))
            json.number(nil, Int64(versions.upperBound))
        }
        json.endArray()
    }
}

/// The group of a route in a map: the first segment of its first pattern.
enum RouteGroup {
    /// Returns `/word` for a literal, `/` for the empty path, `/{…}` for any other segment, or an empty text for a
    /// route without patterns.
    static func name(of route: TableSource.Route) -> String {
        guard let pattern = route.patterns.first else { return "" }
        switch pattern.path.matchers.first {
        case .literal(let text)?: return "/" + String(decoding: text, as: UTF8.self)
        case .end?, nil: return "/"
        default: return "/{…}"
        }
    }
}
