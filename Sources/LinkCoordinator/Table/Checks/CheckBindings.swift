extension TableChecks {
    /// Checks the bindings of one route: names, sources, and types.
    mutating func checkBindings(_ index: Int) {
        if damage.models { return }
        let route = source.routes[index]
        for binding in route.bindings {
            guard let model = names.models[binding.model.value] else {
                unknown(
                    .unknownModel, binding.model, "model", among: names.models.keys, routes: [route.id.value])
                continue
            }
            guard let field = names.fields[model][binding.field.value] else {
                unknown(
                    .unknownField, binding.field,
                    message: "the model `\(binding.model.value)` has no field `\(binding.field.value)`",
                    among: source.models[model].fields.map(\.name.value), routes: [route.id.value])
                continue
            }
            check(binding, source.models[model].fields[field], of: index)
        }
        warnOfUnboundFields(route)
    }

    private mutating func check(_ binding: TableSource.Binding, _ field: TableSource.Field, of index: Int) {
        let id = source.routes[index].id.value
        let offset = binding.source.offset
        let isList = if case .list = field.type { true } else { false }
        switch binding.source.value {
        case .path(let name): checkPath(name, at: offset, field, of: index)
        case .rewrite(let name): checkRewrite(name, at: offset, field, id)
        case .fragment where isList:
            problems.error(
                .incompatibleTypes, at: offset,
                "the fragment is a single text, but the field `\(field.name.value)` is a list",
                routes: [id])
        case .constant(let text):
            if isList || field.type.canonicalText(text) == nil {
                problems.error(
                    .incompatibleTypes, at: offset,
                    "the constant `\(text)` is not a value of the type `\(field.type.text)`",
                    routes: [id])
            }
        case .fragment, .query, .payload: break
        }
    }

    private mutating func checkPath(_ name: String, at offset: Int, _ field: TableSource.Field, of index: Int) {
        let id = source.routes[index].id.value
        let patterns = patterns(capturingFor: index)
        let captures = patterns.compactMap { $0.path.capture(named: name) }
        if captures.isEmpty {
            let known = patterns.flatMap { $0.path.captures.map(\.name) }
            problems.error(
                .uncapturedSource, at: offset, "no pattern of the route `\(id)` captures `\(name)`",
                suggestion: NearestName.of(name, among: known).map { "did you mean `path.\($0)`?" }
                    ?? "add the capture `{\(name)}` to the pattern", routes: [id])
            return
        }
        if field.absence == .required, let lacking = patterns.first(where: { $0.path.capture(named: name) == nil }) {
            problems.error(
                .uncapturedSource, at: offset,
                "the pattern `\(lacking.path.text)` does not capture `{\(name)}`, to which the required field "
                    + "`\(field.name.value)` is bound",
                suggestion: "add the capture to the pattern, make the field optional, or give it a default",
                routes: [id])
        }
        if let unfit = captures.first(where: { !field.type.fits($0.matcher) }) {
            problems.error(
                .incompatibleTypes, at: offset,
                "the capture `{\(name)}` is \(unfit.matcher.typeText), but the field `\(field.name.value)` "
                    + "has the type `\(field.type.text)`", routes: [id])
        }
    }

    private mutating func checkRewrite(_ name: String, at offset: Int, _ field: TableSource.Field, _ id: String) {
        if damage.link { return }
        let rewrites = source.blocks.flatMap(\.rewrites).filter { $0.name == name }
        if rewrites.isEmpty {
            let known = source.blocks.flatMap { $0.rewrites.compactMap(\.name) }
            unknown(.unknownRewrite, Located(name, at: offset), "rewrite", among: known, routes: [id])
        }
        for capture in rewrites.compactMap(\.pattern.captures.first) where !field.type.fits(capture.matcher) {
            problems.error(
                .incompatibleTypes, at: offset,
                "the rewrite `\(name)` captures \(capture.matcher.typeText), but the field "
                    + "`\(field.name.value)` has the type `\(field.type.text)`", routes: [id])
            return
        }
    }

    /// Warns about required fields that a static target needs and the route never binds.
    ///
    /// Such a target is never shown.
    private mutating func warnOfUnboundFields(_ route: TableSource.Route) {
        if damage.coordinators { return }
        let bound = Set(route.bindings.map { "\($0.model.value).\($0.field.value)" })
        var warned = Set<String>()
        for variant in route.variants {
            guard case .path(let segments) = variant.to.destination,
                let stack = try? StaticStack.compose(segments, in: source, names: names)
            else { continue }
            for entry in stack.entries {
                let screen = source.coordinators[entry.coordinator].screens[entry.screen]
                for model in screen.needs.compactMap({ names.models[$0.value] }).map({ source.models[$0] }) {
                    for field in model.fields where field.absence == .required {
                        let name = "\(model.name.value).\(field.name.value)"
                        guard !bound.contains(name), warned.insert(name).inserted else { continue }
                        problems.warning(
                            .unboundField, at: variant.to.destinationOffset,
                            "the screen `\(screen.name.value)` needs `\(name)`, which the route "
                                + "`\(route.id.value)` does not bind",
                            suggestion: "bind the field, make it optional, or give it a default",
                            routes: [route.id.value])
                    }
                }
            }
        }
    }

    /// Warns about captures that no binding, template, or redirect uses.
    ///
    /// Tails are exempt, and so are captures named `any`, optionally with a number, which accept any segment.
    mutating func checkUnusedCaptures(_ index: Int) {
        let route = source.routes[index]
        var warned = Set<String>()
        for pattern in route.patterns where !pattern.omitsOptionalPart {
            for capture in pattern.path.captures where !capture.isTail && warned.insert(capture.name).inserted {
                if Self.isAnything(capture.name) || source.uses(capture.name, index, names) { continue }
                problems.warning(
                    .unusedCapture, at: pattern.offset, "the capture `{\(capture.name)}` is not used",
                    suggestion: "bind it with `path.\(capture.name)`, or name it `any` if every segment is accepted",
                    routes: [route.id.value])
            }
        }
    }

    private static func isAnything(_ name: String) -> Bool {
        name.hasPrefix("any") && name.utf8.dropFirst(3).allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
    }
}

extension TableSource {
    /// Returns a Boolean value that indicates whether a route, or one that it redirects to by name, uses a capture.
    package func uses(_ name: String, _ index: Int, _ names: TableNames) -> Bool {
        uses(name, index, names, visited: [])
    }

    private func uses(_ name: String, _ index: Int, _ names: TableNames, visited: [Int]) -> Bool {
        let route = routes[index]
        let isBound = route.bindings.contains {
            if case .path(let own) = $0.source.value { own == name } else { false }
        }
        if isBound || visited.contains(index) { return isBound }
        switch route.action {
        // An excluded route uses captures only as wildcards.
        case .exclude: return true
        case .redirect(.template(let template)):
            return template.value.segments.contains { Self.names(name, $0) }
        case .redirect(.route(let id)):
            // Captures are carried over within the limit of redirects. An unknown destination is reported elsewhere.
            if visited.count >= TableChecks.maxRedirects { return true }
            return names.routes[id.value].map { uses(name, $0, names, visited: visited + [index]) } ?? true
        case .variants(let variants):
            return variants.contains { variant in
                switch variant.to.destination {
                case .captured(let own): own.value == name
                case .external(let template): Self.names(name, template.parts)
                case .path, .root: false
                }
            }
        }
    }

    private static func names(_ name: String, _ parts: [TableSource.TemplatePart]) -> Bool {
        parts.contains { if case .name(let own) = $0 { own.value == name } else { false } }
    }
}

extension FieldType {
    /// Returns a Boolean value that indicates whether a capture can be bound to a field of this type.
    ///
    /// Both have the same kind, or one of them is text. Tails can be bound to lists only, and nothing else can be bound
    /// to a list.
    func fits(_ capture: Matcher) -> Bool {
        switch (self, capture) {
        case (.list, _): capture.isTerminal
        case (_, _) where capture.isTerminal: false
        case (.string, _), (_, .any), (_, .characters): true
        case (.uuid, .uuid), (.int, .int), (.bool, .bool), (.date, .date), (.enumeration, .enumeration): true
        default: false
        }
    }
}

extension Matcher {
    /// The kind of the captured text, for messages.
    var typeText: String {
        switch self {
        case .enumeration: "an enum"
        case .int: "an int"
        case .bool: "a bool"
        case .date: "a date"
        case .uuid: "a uuid"
        case .coordinatorPath, .restPlus, .restStar: "a tail of segments"
        default: "text"
        }
    }
}
