internal import ByteStorage
package import StrictJSON

extension TableReader {
    /// Reads `routes`, and records in `damage` which routes cannot be read completely.
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
        problems.error(
            .badValue, at: text.offset, "redirect must be the id of a route or a path that begins with `/`",
            suggestion: isURL ? "write \"to\": { \"external\": \"\(text.value)\" } instead" : nil,
            hints: isURL
                ? [] : [.path(PathText(text: text.value, role: .redirect(names: names), foldsCase: foldsPathCase))])
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

    /// Reads a pattern, which is a text or an object.
    package mutating func patterns(_ value: JSONValue, form: Int) -> [TableSource.RoutePattern] {
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

    /// Reads `to`.
    mutating func target(_ value: JSONValue) -> TableSource.Target? {
        if case .string(let text) = value.kind {
            let form = text == "/" ? "\"root\": true" : "\"\(text.contains("://") ? "external" : "path")\": \"\(text)\""
            wrongType(value, "a target", "an object", suggestion: "write { \(form) }")
            return nil
        }
        guard let members = object(value, "a target", .target), let destination = destination(members) else {
            return nil
        }
        let destinationValue = members["path"] ?? members["root"] ?? members["external"] ?? value
        var target = TableSource.Target(
            destination: destination, mode: nil, parents: .none, present: nil,
            dismissModals: bool(members["dismissModals"], "dismissModals", false), offset: value.offset,
            destinationOffset: destinationValue.offset)
        if let mode = members["mode"] { target.mode = choice(mode, "mode", .replace) }
        if let parents = members["parents"] { target.parents = self.parents(parents) }
        if let present = members["present"].flatMap({ text($0, "present") }) {
            target.present = presentation(present)
            if case .path = destination {
            } else {
                problems.error(.keyNotAllowed, at: present.offset, "`present` is only allowed with a static path")
            }
        }
        if case .external = destination {
            for key in ["mode", "parents", "dismissModals"] {
                guard let own = members[key] else { continue }
                problems.error(.keyNotAllowed, at: own.offset, "`\(key)` is not allowed with `external`")
            }
        }
        return target
    }

    private mutating func destination(_ members: Members) -> TableSource.Target.Destination? {
        guard let key = onlyKey(of: ["path", "root", "external"], in: members), let value = members[key] else {
            return nil
        }
        if key == "root" {
            if case .bool(true) = value.kind { return .root }
            problems.error(.badValue, at: value.offset, "root must be true")
            return nil
        }
        guard let text = nonemptyText(value, key) else { return nil }
        if key == "path" {
            if let name = Self.capturedName(text.value) { return .captured(Located(name, at: text.offset)) }
            return staticPath(text).map { .path(segments: $0.value) }
        }
        do throws(TextError) {
            return .external(try TemplateParser.external(text.value) { fileOffset(of: $0, in: text) })
        } catch {
            reportTextError(error, in: text, .badTemplate)
            return nil
        }
    }

    /// Returns the one of the keys that an object has, and reports an error if it has none or several.
    package mutating func onlyKey(of keys: [String], in members: Members) -> String? {
        let found = keys.filter { members[$0] != nil }
        let all = keys.map { "`\($0)`" }.joined(separator: ", ")
        if found.isEmpty {
            problems.error(.missingKey, at: members.value.offset, "\(members.what) needs one of \(all)")
        } else if found.count > 1 {
            problems.error(
                .keyNotAllowed, at: members.value.offset, "\(members.what) must have only one of \(all)",
                suggestion: "remove `\(found[1])` or `\(found[0])`")
        }
        return found.count == 1 ? found[0] : nil
    }

    /// Returns the name in a text of the form `{name}`, or nil.
    private static func capturedName(_ text: String) -> String? {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
        let name = String(text.dropFirst().dropLast())
        return NameRule.identifier.matches(name) ? name : nil
    }

    /// Reads a static coordinator path into segments.
    ///
    /// The path `/` has none.
    mutating func staticPath(_ text: Located<String>) -> Located<[String]>? {
        guard text.value.hasPrefix("/") else {
            problems.error(
                .badValue, at: text.offset, "a static path must begin with `/`", suggestion: "write `/\(text.value)`")
            return nil
        }
        if text.value == "/" { return Located([], at: text.offset) }
        let segments = text.value.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if segments.contains(where: \.isEmpty) {
            let segments = text.value.split(separator: "/").joined(separator: "/")
            problems.error(
                .badValue, at: text.offset, "a static path must not have empty segments",
                suggestion: "write `/\(segments)`")
            return nil
        }
        if text.value.contains("{") {
            problems.error(
                .badTemplate, at: text.offset, "a path must be static, or exactly the `{name}` of a coordinatorPath",
                suggestion:
                    "remove the value from the path, and bind it: \"bind\": { \"MODEL\": { \"FIELD\": \"path.NAME\" } }"
            )
            return nil
        }
        return Located(segments, at: text.offset)
    }

    private mutating func parents(_ value: JSONValue) -> TableSource.Target.Parents {
        if case .array(let elements) = value.kind {
            return .paths(
                elements.compactMap { element in
                    text(element, "an item of parents").flatMap { staticPath($0) }
                })
        }
        guard case .string = value.kind, let text = text(value, "parents") else {
            wrongType(value, "parents", "a string or a list of paths")
            return .none
        }
        switch text.value {
        case "none": return .none
        case "initial": return .initial
        default:
            if text.value.hasPrefix("route:") {
                return .route(Located(String(text.value.dropFirst(6)), at: text.offset))
            }
            if text.value.hasPrefix("/") {
                problems.error(
                    .badValue, at: text.offset, "the paths of parents must be in a list",
                    suggestion: "write [\"\(text.value)\"]")
            } else {
                badWord(text, "parents", ["none", "initial", "route:ID"])
            }
            return .none
        }
    }

    /// Reads `guards`.
    mutating func guards(_ value: JSONValue) -> [TableSource.Guard] {
        (members(value, "guards") ?? []).compactMap { member in
            name(member.name, at: member.nameOffset - 1, "a guard", .identifier)
            let what = "the guard `\(member.name)`"
            guard let own = object(member.value, what, .guardRule),
                let claim = own["claim"].flatMap({ nonemptyText($0, "claim") }),
                let otherwise = own["else"].flatMap({ object($0, "else", .guardTarget) }),
                let target = otherwise["to"].flatMap({ target($0) })
            else { return nil }
            return TableSource.Guard(
                name: Located(member.name, at: member.nameOffset - 1), claim: claim.value, otherwise: target,
                resume: otherwise["resume"].flatMap { resume($0) })
        }
    }

    private mutating func resume(_ value: JSONValue) -> TableSource.Guard.Resume? {
        guard let members = object(value, "resume", .resumeOptions) else { return nil }
        let once = bool(members["once"], "resume.once", true)
        guard let ttl = members["ttl"] else { return nil }
        if case .number(let number) = ttl.kind {
            wrongType(
                ttl, "resume.ttl", "a string with a unit",
                suggestion: "write \"\(number)s\" for seconds, or \"\(number)m\" for minutes")
            return nil
        }
        guard let text = text(ttl, "resume.ttl") else { return nil }
        guard text.value.utf8.count <= 10, !text.value.hasSuffix("ms"), let time = Durations.parse(text.value), time > 0
        else {
            problems.error(
                .badValue, at: text.offset,
                "resume.ttl must be a number greater than 0 with the unit `s`, `m`, `h`, or `d`",
                suggestion: "write a time such as `15m`", hints: [.time(text.value)])
            return nil
        }
        return TableSource.Guard.Resume(ttlSeconds: time / 1000, once: once)
    }

    /// Reads `bind` in the order of the models and their fields, with unknown names at the end.
    mutating func bindings(_ value: JSONValue, models: [TableSource.Model]) -> [TableSource.Binding] {
        var read: [(key: (Int, Int), binding: TableSource.Binding)] = []
        for model in members(value, "bind") ?? [] {
            let known = modelIndices[model.name]
            let locatedModel = Located(model.name, at: model.nameOffset - 1)
            for field in members(model.value, "bind of `\(model.name)`") ?? [] {
                guard let source = source(field.value) else { continue }
                read.append(
                    (
                        (known?.index ?? models.count, known?.fields[field.name] ?? .max),
                        TableSource.Binding(
                            model: locatedModel, field: Located(field.name, at: field.nameOffset - 1), source: source)
                    ))
            }
        }
        return read.sorted { $0.key < $1.key }.map(\.binding)
    }

    private mutating func source(_ value: JSONValue) -> Located<TableSource.Binding.Source>? {
        switch value.kind {
        case .number, .bool: return constant(value).map { Located(.constant($0), at: value.offset) }
        case .object:
            guard let members = object(value, "a constant", .constant),
                let inner = members["const"]
            else { return nil }
            return constant(inner).map { Located(.constant($0), at: value.offset) }
        case .string:
            guard let text = text(value, "a source") else { return nil }
            return source(text)
        default:
            wrongType(value, "a source", "a string, a number, true, false, or { \"const\": … }")
            return nil
        }
    }

    private mutating func constant(_ value: JSONValue) -> String? {
        switch value.kind {
        case .number(let text): return text
        case .bool(let truth): return truth ? "true" : "false"
        case .string: return text(value, "const")?.value
        default:
            wrongType(value, "const", "a string, a number, true, or false")
            return nil
        }
    }

    private mutating func source(_ text: Located<String>) -> Located<TableSource.Binding.Source>? {
        if text.value == "fragment" { return Located(.fragment, at: text.offset) }
        let halves = text.value.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = halves.count == 2 ? halves[1] : ""
        switch halves[0] {
        case "path" where NameRule.identifier.matches(name): return Located(.path(name), at: text.offset)
        case "rewrite" where NameRule.identifier.matches(name): return Located(.rewrite(name), at: text.offset)
        case "query" where !name.isEmpty:
            if NameRule.isReserved(name) {
                problems.error(
                    .reservedName, at: text.offset, "the query name `\(name)` is reserved",
                    suggestion: NameRule.reservedAdvice)
            }
            return Located(.query(name), at: text.offset)
        case "payload":
            if let path = JSONPath(name), !path.tokens.isEmpty { return Located(.payload(path), at: text.offset) }
            fallthrough
        default:
            let words = ["path", "query", "rewrite", "payload", "fragment"]
            problems.error(
                .badSource, at: text.offset, "`\(text.value)` is not a source of a value",
                suggestion:
                    "use `path.NAME`, `query.NAME`, `rewrite.NAME`, `payload./POINTER`, `fragment`, "
                    + "or { \"const\": … }",
                hints: [.source(text.value), .word(halves[0], known: words)])
            return nil
        }
    }

    /// Reads query constraints.
    ///
    /// The value is a text, `*` if the name must be present, or null if it must be absent.
    mutating func constraints(_ value: JSONValue) -> [TableSource.QueryConstraint] {
        var seen = Set<String>()
        return (members(value, "query") ?? []).compactMap { member in
            let name = nfc(member.name)
            let offset = member.nameOffset - 1
            if name.isEmpty { problems.error(.badName, at: offset, "a query name must not be empty") }
            if !seen.insert(name).inserted {
                problems.error(.duplicate, at: offset, "the query name `\(name)` occurs twice")
            }
            let locatedName = Located(name, at: offset)
            if member.value.isNull { return TableSource.QueryConstraint(name: locatedName, test: .absent) }
            guard case .string = member.value.kind, let text = text(member.value, "a query constraint") else {
                wrongType(member.value, "a query constraint", "a string, \"*\", or null")
                return nil
            }
            return TableSource.QueryConstraint(
                name: locatedName, test: text.value == "*" ? .present : .equals(text.value))
        }
    }

    /// Reads `when`, which can have further keys that are read by the caller.
    package mutating func condition(_ value: JSONValue, beside others: [String] = []) -> TableSource.Condition? {
        guard let members = object(value, "when", keys: TableObject.condition.keys + others) else { return nil }
        var condition = TableSource.Condition(offset: value.offset)
        condition.app = members["app"].map { versionTests($0, "app") } ?? []
        condition.os = members["os"].map { versionTests($0, "os") } ?? []
        condition.capabilities = members["capability"].map { textOrTexts($0, "capability") } ?? []
        condition.claims = members["claim"].map { textOrTexts($0, "claim") } ?? []
        condition.platforms = members["platform"].map { textOrTexts($0, "platform").map(\.value) }
        condition.regions = members["region"].map { textOrTexts($0, "region").map(\.value) }
        condition.locales = members["locale"].map { textOrTexts($0, "locale").map(\.value) }
        condition.query = members["query"].map { constraints($0) } ?? []
        if let attributes = members["attributes"] {
            condition.attributes = (self.members(attributes, "attributes") ?? []).map { member in
                TableSource.Condition.Attribute(
                    name: Located(nfc(member.name), at: member.nameOffset - 1),
                    values: textOrTexts(member.value, "the attribute `\(member.name)`").map(\.value))
            }
        }
        return condition
    }

    /// Reads comparisons such as `>=4.0.0 <6`.
    private mutating func versionTests(_ value: JSONValue, _ what: String) -> [TableSource.Condition.VersionTest] {
        guard let text = nonemptyText(value, what) else { return [] }
        var tests: [TableSource.Condition.VersionTest] = []
        for part in text.value.split(separator: " ", omittingEmptySubsequences: false) {
            let relation = TableSource.Condition.VersionTest.Relation.allCases.first { part.hasPrefix($0.rawValue) }
            if let relation, let version = VersionText(String(part.dropFirst(relation.rawValue.count))) {
                tests.append(TableSource.Condition.VersionTest(relation: relation, version: version))
                continue
            }
            problems.error(
                .badValue, at: text.offset, "\(what) must be comparisons with versions, separated by single spaces",
                suggestion: "write a comparison such as `>=4.0.0` or `>=4.0.0 <6`", hints: [.comparisons(text.value)])
            return []
        }
        return tests
    }
}
