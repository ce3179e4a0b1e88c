internal import StrictJSON

extension TableReader {
    /// Reads `routes`, and records those that cannot be read completely in `damage`.
    mutating func routes(_ value: JSONValue, models: [TableSource.Model]) -> [TableSource.Route] {
        var routes: [TableSource.Route] = []
        var seen = Set<String>()
        for (index, model) in models.enumerated() {
            let names = model.fields.map(\.name.value)
            let fields = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
            modelIndices[model.name.value] = (index, fields)
        }
        for element in list(value, "routes") ?? [] {
            let before = problems.count
            guard let members = object(element, "a route", .route),
                let id = members["id"].flatMap({ text($0, "id") })
            else {
                damage.routeIDs = true
                continue
            }
            name(id.value, at: id.offset, "a route", .path)
            if !seen.insert(id.value).inserted {
                problems.error(
                    .duplicate, at: id.offset, "the route `\(id.value)` occurs twice",
                    suggestion: "change the id of one of them, or make its pattern an alias of the other",
                    routes: [id.value])
            }
            routes.append(route(members, id: id, models: models))
            if problems.count > before { damage.routes.insert(element.offset) }
        }
        return routes
    }

    private mutating func route(
        _ members: Members, id: Located<String>, models: [TableSource.Model]
    ) -> TableSource.Route {
        var route = TableSource.Route(id: id, action: .variants([]), offset: members.value.offset)
        readPatterns(members, &route)
        route.query = members["query"].map { constraints($0) } ?? []
        if let priority = members["priority"] {
            route.priority = integer(priority, "priority", in: -1_000_000...1_000_000) ?? 0
        }
        route.overlaps = members["overlaps"].map { texts($0, "overlaps") } ?? []
        route.notice = members["notice"].flatMap { notice($0) }
        route.bindings = members["bind"].map { bindings($0, models: models) } ?? []
        route.onInvalid = choice(members["onInvalid"], "onInvalid", .reject)
        route.requireAll = bool(members["requireAll"], "requireAll", false)
        route.unknownScreen = choice(members["unknownScreen"], "unknownScreen", .reject)
        route.unsupported = members["unsupported"].map { unsupported($0) } ?? .fallback
        route.status = members["status"].flatMap { text($0, "status") }?.value
        route.sunset = members["sunset"].flatMap { date($0, "sunset") }
        route.listsVariants = members["variants"] != nil
        let names = Self.sharedNames(route.patterns)
        if let action = action(members, notice: route.notice, names: names) { route.action = action }
        return route
    }

    /// Returns the names that all of the patterns capture.
    private static func sharedNames(_ patterns: [TableSource.RoutePattern]) -> Set<String> {
        let all = patterns.filter { !$0.omitsOptionalPart }.map { Set($0.path.captures.map(\.name)) }
        return all.dropFirst().reduce(all.first ?? []) { $0.intersection($1) }
    }

    private mutating func action(
        _ members: Members, notice: Located<[String]>?, names: Set<String>
    ) -> TableSource.Route.Action? {
        guard let key = onlyKey(of: ["to", "variants", "redirect", "exclude"], in: members), let value = members[key]
        else { return nil }
        switch key {
        case "to":
            return target(value).map { target in
                .variants([TableSource.Variant(when: nil, to: target, notice: notice, offset: value.offset)])
            }
        case "variants":
            let elements = list(value, "variants") ?? []
            if elements.isEmpty {
                problems.error(
                    .badValue, at: value.offset, "variants must list at least one variant",
                    suggestion: "add a variant, or write \"to\": … for a route with a single target")
            }
            return .variants(elements.compactMap { variant($0, notice: notice) })
        case "redirect": return redirect(value, names).map { .redirect($0) }
        default:
            if case .object = value.kind {
            } else {
                var outcome = TableSource.Exclusion.none
                if case .string(let text) = value.kind { outcome = TableSource.Exclusion(rawValue: text) ?? .none }
                wrongType(
                    value, "exclude", "an object", suggestion: "write { \"outcome\": \"\(outcome.rawValue)\" }")
                return nil
            }
            guard let own = object(value, "exclude", .exclusion),
                let outcome = own["outcome"]
            else { return nil }
            return .exclude(choice(outcome, "exclude.outcome", .reject))
        }
    }

    private mutating func variant(_ value: JSONValue, notice: Located<[String]>?) -> TableSource.Variant? {
        guard let members = object(value, "a variant", .variant) else {
            return nil
        }
        let when = members["when"].flatMap { condition($0) }
        let own = members["notice"].flatMap { self.notice($0) }
        guard let target = members["to"].flatMap({ target($0) }) else { return nil }
        return TableSource.Variant(when: when, to: target, notice: own ?? notice, offset: value.offset)
    }

    /// Reads `redirect`.
    ///
    /// - Parameters:
    ///   - value: The value of the key.
    ///   - names: The names that all patterns of the route capture.
    private mutating func redirect(_ value: JSONValue, _ names: Set<String>) -> TableSource.Redirect? {
        guard let text = nonemptyText(value, "redirect") else { return nil }
        guard text.value.hasPrefix("/") else { return redirectByID(text, names).map { .route($0) } }
        do throws(TextError) {
            let template = try TemplateParser.path(text.value) { fileOffset(of: $0, in: text) }
            return .template(Located(template, at: text.offset))
        } catch {
            reportTextError(error, in: text, .badTemplate, .redirect(names: names))
            return nil
        }
    }

    /// Reads a route id, and reports a text that cannot be an id, with a suggestion.
    private mutating func redirectByID(_ text: Located<String>, _ names: Set<String>) -> Located<String>? {
        if NameRule.path.matches(text.value) { return text }
        let isURL = text.value.contains("://")
        let path = PathText(text: text.value, role: .redirect(names: names), foldsCase: foldsPathCase)
        problems.error(
            .badValue, at: text.offset, "redirect must be the id of a route or a path that begins with `/`",
            suggestion: isURL
                ? "write \"to\": { \"external\": \"\(text.value)\" } instead" : path.advice)
        return nil
    }

    private mutating func unsupported(_ value: JSONValue) -> TableSource.Route.Unsupported {
        if case .object = value.kind {
            let to = object(value, "unsupported", .unsupported)?["to"]
            return to.flatMap { target($0) }.map { .to($0) } ?? .fallback
        }
        guard case .string = value.kind, let text = text(value, "unsupported") else {
            wrongType(value, "unsupported", "`fallback`, `truncate`, or { \"to\": … }")
            return .fallback
        }
        if text.value == "truncate" { return .truncate }
        if text.value != "fallback" { badWord(text, "unsupported", ["fallback", "truncate"]) }
        return .fallback
    }

    private mutating func notice(_ value: JSONValue) -> Located<[String]>? {
        guard let path = text(value, "notice").flatMap({ staticPath($0) }) else { return nil }
        if path.value.isEmpty {
            problems.error(.badValue, at: path.offset, "notice must be the path of a screen")
            return nil
        }
        return path
    }

    private mutating func date(_ value: JSONValue, _ what: String) -> String? {
        guard let text = text(value, what) else { return nil }
        if FieldType.date.canonicalText(text.value) != nil { return text.value }
        problems.error(.badValue, at: text.offset, "\(what) must be a date, YYYY-MM-DD")
        return nil
    }
}

extension TableReader {
    /// Reads `match` and `alias`.
    private mutating func readPatterns(_ members: Members, _ route: inout TableSource.Route) {
        if let match = members["match"] { route.patterns += patterns(match, form: 0) }
        guard let alias = members["alias"] else { return }
        if members["match"] == nil {
            problems.error(
                .keyNotAllowed, at: alias.offset, "`alias` requires `match`",
                suggestion: "write the first pattern in `match`",
                routes: [route.id.value])
        }
        for (index, element) in (list(alias, "alias") ?? []).enumerated() {
            route.patterns += patterns(element, form: index + 1)
        }
    }

    private mutating func patterns(_ value: JSONValue, form: Int) -> [TableSource.RoutePattern] {
        if case .string = value.kind {
            guard let text = text(value, "a pattern") else { return [] }
            return patterns(text, isAnySegment: false, form: form)
        }
        guard case .object = value.kind else {
            let isList = if case .array = value.kind { true } else { false }
            wrongType(
                value, "a pattern", "a string or an object",
                suggestion: isList ? "write the first pattern in `match`, and the others in the list `alias`" : nil)
            return []
        }
        guard let members = object(value, "a pattern", .pattern),
            let key = onlyKey(of: ["path", "anySegment"], in: members),
            let text = members[key].flatMap({ text($0, key) })
        else { return [] }
        var read = patterns(text, isAnySegment: key == "anySegment", form: form)
        var scheme: String?
        if let own = members["scheme"].flatMap({ self.text($0, "scheme") }), own.value != "*" {
            checkScheme(own, exactCase: true)
            scheme = own.value
        }
        let host = members["host"].flatMap { self.text($0, "host") }.flatMap { hostRule($0) }
        for index in read.indices {
            read[index].scheme = scheme
            read[index].host = host == .any ? nil : host
            read[index].offset = value.offset
        }
        return read
    }

    private mutating func patterns(
        _ text: Located<String>, isAnySegment: Bool, form: Int
    ) -> [TableSource.RoutePattern] {
        if !isAnySegment { noteCaptureTypes(text) }
        do throws(TextError) {
            let paths =
                isAnySegment
                ? [try PatternParser.anySegment(text.value, foldsCase: foldsPathCase)]
                : try PatternParser.parse(text.value, foldsCase: foldsPathCase)
            return paths.enumerated().map { index, path in
                TableSource.RoutePattern(
                    path: path, scheme: nil, host: nil, form: form, omitsOptionalPart: index > 0, offset: text.offset)
            }
        } catch {
            reportTextError(error, in: text, .badPattern, isAnySegment ? nil : .pattern)
            return []
        }
    }
}
