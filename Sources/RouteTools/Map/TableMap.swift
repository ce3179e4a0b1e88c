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
        return JSONText.object { json in
            TableMap(table, limitBytes: limitBytes).write(to: &json)
        }
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
            let text = Array(JSONText.object { write(route, exits.exits(of: route), sentence, to: &$0) }.utf8)
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
            json.numbers("guards", guards.sorted().compactMap { names.guards[$0] })
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
        json.numbers("versions", versions.map { [$0.lowerBound, $0.upperBound] } ?? [])
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

/// The coordinators of a table in the order of a map, and the numbers of their screens.
struct ScreenNumbers {
    /// The indices of the coordinators in the table, each after its parent.
    let order: [Int]
    /// The position of each coordinator in `order`, by its index in the table.
    private let positions: [Int: Int]
    /// The number of the first screen of each coordinator, by its index in the table.
    private let first: [Int: Int]
    /// The number of screens.
    let count: Int

    /// Numbers the screens of a table.
    init(_ source: TableSource, _ names: TableNames) {
        order = source.coordinatorsAfterParents(names)
        positions = Dictionary(uniqueKeysWithValues: zip(order, order.indices))
        var first: [Int: Int] = [:]
        var next = 0
        for index in order {
            first[index] = next
            next += source.coordinators[index].screens.count
        }
        self.first = first
        count = next
    }

    /// Returns the position of a coordinator.
    func position(ofCoordinator index: Int) -> Int? { positions[index] }

    /// Returns the number of a screen by the indices of its coordinator and of itself in the table.
    func number(_ coordinator: Int, _ screen: Int) -> Int { (first[coordinator] ?? 0) + screen }

    /// Writes the members of a target: its screens from bottom to top, and the way to show them.
    func write(_ target: TableSource.Target, _ targets: TargetText, to json: inout JSONText) {
        switch target.destination {
        case .external(let template): json.text("url", template.text)
        case .captured(let name): json.text("captured", name.value)
        case .root: json.boolean("root", true)
        case .path:
            guard let stack = targets.stack(of: target) else { return }
            json.numbers("stack", stack.entries.map { number($0.coordinator, $0.screen) })
            if let present = target.present { json.text("present", present.value.rawValue) }
            if let over = stack.over { json.text("over", over) }
        }
        if let mode = target.mode, mode != .replace { json.text("mode", mode.rawValue) }
        if target.dismissModals { json.boolean("dismissModals", true) }
    }
}

/// One sentence about what a route does.
struct RouteSentence {
    private let source: TableSource
    private let targets: TargetText

    /// Creates sentences for the routes of a table.
    init(_ source: TableSource, _ targets: TargetText) {
        self.source = source
        self.targets = targets
    }

    /// Returns what a route with these results does, such as `Opens catalog.item (app from 4.0.0); otherwise opens
    /// https://shop.example/p/{id}`.
    func text(_ exits: [RouteExits.Exit]) -> String {
        let parts = exits.map { exit in
            let own = text(exit)
            guard let condition = exit.condition else { return own }
            return condition == "otherwise" ? "otherwise \(own)" : "\(own) (\(condition))"
        }
        let sentence = parts.joined(separator: "; ")
        return sentence.prefix(1).uppercased() + sentence.dropFirst()
    }

    private func text(_ exit: RouteExits.Exit) -> String {
        switch exit.kind {
        case .none: "does nothing"
        case .reject: "rejects the link"
        case .outside: "opens the link itself outside the app"
        case .redirect:
            exit.template.map { "continues as \($0)" } ?? "continues with the route \(exit.route ?? "")"
        case .navigate, .external: exit.target.map(text) ?? "opens the app"
        }
    }

    private func text(_ target: TableSource.Target) -> String {
        switch target.destination {
        case .root: return "shows the root of the app"
        case .external(let template): return "opens \(template.text)"
        case .captured(let name): return "opens the screens that {\(name.value)} names"
        case .path:
            guard let stack = targets.stack(of: target), let top = stack.entries.last else {
                return "shows the root of the app"
            }
            let below = stack.entries.dropLast().last.map { " over \(name($0))" } ?? stack.over.map { " over \($0)" }
            let manner = top.present == .push ? "" : top.present == .alert ? " as an alert" : " in a \(top.present)"
            return "opens \(name(top))\(manner)\(below ?? "")"
        }
    }

    private func name(_ entry: StaticStack.Entry) -> String {
        let coordinator = source.coordinators[entry.coordinator]
        return "\(coordinator.name.value).\(coordinator.screens[entry.screen].name.value)"
    }
}

/// Descriptions of matchers for people who do not know the notation of a table.
enum MatcherWords {
    /// Returns the texts that a matcher accepts, such as `a whole number from 1 to 99`.
    static func text(_ matcher: Matcher) -> String {
        switch matcher {
        case .literal(let text): "the text \(string(text))"
        case .enumeration(let values): "one of \(list(values))"
        case .affix(let prefix, let inner, let suffix):
            [
                prefix.isEmpty ? nil : "\(string(prefix)), then", text(inner),
                suffix.isEmpty ? nil : "then \(string(suffix))",
            ].compactMap { $0 }.joined(separator: " ")
        case .int(let min, let max): integer(min, max)
        case .bool: "true, false, 1, or 0"
        case .date: "a date, YYYY-MM-DD"
        case .uuid: "a UUID"
        case .characters(let set, let min, let max):
            "\(min == max ? "" : "\(min) to ")\(max) \(max == 1 ? "character" : "characters") of \(ranges(set))"
        case .any: "any text"
        case .coordinatorPath: "a coordinator path: the name of a coordinator, then screens"
        case .anySegment(let text): "any path that contains the segment \(string(text))"
        case .restPlus: "one or more segments"
        case .end: "the end of the path"
        case .restStar: "any number of segments, or none"
        }
    }

    private static func integer(_ min: Int64, _ max: Int64) -> String {
        switch (min == .min, max == .max) {
        case (true, true): "a whole number"
        case (false, true): "a whole number from \(min)"
        case (true, false): "a whole number up to \(max)"
        case (false, false): "a whole number from \(min) to \(max)"
        }
    }

    private static func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func list(_ values: [[UInt8]]) -> String { values.map(string).joined(separator: ", ") }

    /// Returns the characters of a class as ranges, such as `a-z 0-9 _`.
    private static func ranges(_ set: CharacterClass) -> String {
        var parts: [String] = []
        var all = set.characters[...]
        while let first = all.first {
            var last = first
            all = all.dropFirst()
            while let next = all.first, next == last + 1, CharacterClass.kind(next) == CharacterClass.kind(first),
                CharacterClass.kind(first) != 0
            {
                last = next
                all = all.dropFirst()
            }
            let (a, b) = (String(UnicodeScalar(first)), String(UnicodeScalar(last)))
            parts.append(first == last ? a : last == first + 1 ? "\(a) \(b)" : "\(a)-\(b)")
        }
        return parts.joined(separator: " ")
    }
}
