internal import LinkCoordinator

/// Warnings about parts of a table that are valid but probably not intended.
///
/// They concern the syntax of other routers, parts that nothing refers to, and conditions that never hold. Only
/// `RouteTable.problems(in:)` and `linkd routes check` look for them; loading a table does not.
struct TableAdvice {
    let source: TableSource
    let names: TableNames
    var problems: ProblemList
    let budget: WorkBudget

    /// For each screen that no device has, the indices of its coordinator and of the screen.
    var unavailableScreens: Set<[Int]> = []

    /// The number of device cells compared so far.
    var comparedCells = 0

    /// Adds warnings to the problems.
    ///
    /// If there are errors, it adds only warnings that cannot result from an error.
    ///
    /// - Parameters:
    ///   - source: The table.
    ///   - budget: The budget of the searches.
    ///   - problems: The list of problems.
    ///   - isOver: A function that returns true to end after the current kind of warnings.
    static func run(
        _ source: TableSource, _ budget: WorkBudget, into problems: inout ProblemList, until isOver: () -> Bool
    ) {
        if isOver() { return }
        var advice = TableAdvice(source: source, names: TableNames(source), problems: problems, budget: budget)
        advice.addSyntaxWarnings()
        if !problems.hasErrors { advice.addOtherWarnings(until: isOver) }
        problems = advice.problems
    }

    /// Adds the warnings that an error could cause.
    private mutating func addOtherWarnings(until isOver: () -> Bool) {
        let kinds: [(inout TableAdvice) -> Void] = [
            { $0.addUnusedWarnings() }, { $0.addConditionWarnings() }, { $0.addRejectionWarnings() },
            { $0.addRedirectWarnings() }, { $0.addRewriteWarnings() }, { $0.addFallbackWarnings() },
            { $0.addExampleWarnings() },
        ]
        for add in kinds where !isOver() { add(&self) }
    }
}

// MARK: Syntax of other routers

extension TableAdvice {
    /// Adds warnings about text that other routers read as a capture, a wildcard, or a query.
    private mutating func addSyntaxWarnings() {
        for block in source.blocks {
            for rewrite in block.rewrites { warn(of: path(rewrite.text, .prefix), "the prefix", at: rewrite.offset) }
        }
        for model in source.models {
            for field in model.fields {
                if case .enumeration(let values) = field.type { warn(ofValues: values, at: field.offset, []) }
            }
        }
        for route in source.routes {
            let routes = [route.id.value]
            for pattern in route.patterns where !pattern.omitsOptionalPart {
                if case .anySegment(let text) = pattern.path.matchers.first {
                    warn(ofSegment: String(decoding: text, as: UTF8.self), at: pattern.offset, routes)
                } else {
                    for capture in pattern.path.captures {
                        warn(ofValues: capture.spellings, at: pattern.offset, routes)
                    }
                    warn(of: path(route.written(pattern), .pattern), "the pattern", at: pattern.offset, routes)
                }
            }
            if case .redirect(.template(let template)) = route.action {
                let path = path(template.value.text, .redirect(names: namesInTemplates(of: route)))
                warn(of: path, "the redirect", at: template.offset, routes)
            }
            warn(of: route.query, routes)
            for variant in route.variants {
                if let when = variant.when { warn(of: when, routes) }
                if case .external(let template) = variant.to.destination {
                    warn(ofURL: template.text, of: route, at: variant.to.destinationOffset)
                }
            }
        }
    }

    private func path(_ text: String, _ role: PathText.Role) -> PathText {
        PathText(text: text, role: role, foldsCase: source.foldsPathCase)
    }

    /// Returns the names with a value in each template of a route.
    ///
    /// These are the names of rewrites, and the names that every pattern captures. A pattern in the syntax of another
    /// router counts with the captures of its suggested form.
    private func namesInTemplates(of route: TableSource.Route) -> Set<String> {
        let patterns = route.patterns.filter { !$0.omitsOptionalPart }.map { pattern -> Set<String> in
            var paths = [pattern.path]
            let own = path(pattern.path.text, .pattern)
            if let form = PathDraft(own).form, form != own.text {
                paths += (try? PatternParser.parse(form, foldsCase: source.foldsPathCase)) ?? []
            }
            return Set(paths.flatMap { $0.captures.map(\.name) })
        }
        let shared = patterns.dropFirst().reduce(patterns.first ?? []) { $0.intersection($1) }
        return shared.union(source.blocks.flatMap { $0.rewrites.compactMap(\.name) })
    }

    private mutating func warn(of path: PathText, _ subject: String, at offset: Int, _ routes: [String] = []) {
        guard let found = ForeignSyntax.find(in: path) else { return }
        problems.warning(
            .foreignSyntax, at: offset, "\(subject) `\(path.text)` treats `\(found.piece)` as plain text",
            suggestion: found.advice, routes: routes)
    }

    private mutating func warn(ofSegment text: String, at offset: Int, _ routes: [String]) {
        if text.contains("/") {
            problems.warning(
                .foreignSyntax, at: offset,
                "anySegment matches one segment, which contains a `/` only if the link has `%2F`",
                suggestion: "write a pattern in `match` or `path`", routes: routes)
        } else if text.contains("{") || ForeignSyntax.find(in: path("/" + text, .pattern)) != nil {
            problems.warning(
                .foreignSyntax, at: offset, "anySegment treats `\(text)` as plain text",
                suggestion: "write a pattern with a capture in `match` or `path`", routes: routes)
        }
    }

    private mutating func warn(ofURL text: String, of route: TableSource.Route, at offset: Int) {
        guard let found = ForeignSyntax.find(inURL: text, names: namesInTemplates(of: route)) else { return }
        problems.warning(
            .foreignSyntax, at: offset, "the URL `\(text)` contains `\(found.piece)` as plain text",
            suggestion: found.advice, routes: [route.id.value])
    }

    /// Adds warnings about enum values in quotes, with commas, or with spaces around them.
    private mutating func warn(ofValues values: [[UInt8]], at offset: Int, _ routes: [String]) {
        for value in values {
            let text = String(decoding: value, as: UTF8.self)
            let parts = text.split(separator: ",").map { ForeignSyntax.bare($0) }
            guard parts != [text], !text.isEmpty else { continue }
            let distinctValues = Self.distinct(parts)
            problems.warning(
                .foreignSyntax, at: offset, "the enum contains the literal value `\(text)`",
                suggestion: "write values without quotes and spaces, separated by `|`"
                    + (distinctValues.isEmpty ? "" : ": `\(distinctValues.joined(separator: "|"))`"),
                routes: routes)
        }
    }

    /// Returns the texts that are not empty, without duplicates.
    private static func distinct(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    /// Adds warnings about lists that are written as one text.
    private mutating func warn(of when: TableSource.Condition, _ routes: [String]) {
        warn(of: when.query, routes)
        let lists = [("platform", when.platforms), ("region", when.regions), ("locale", when.locales)]
        for (key, texts) in lists {
            for text in texts ?? [] {
                let parts = Self.distinct(text.split { ",|; ".contains($0) }.map(String.init))
                if parts.count < 2 { continue }
                problems.warning(
                    .foreignSyntax, at: when.offset, "`\(key)` requires the single text `\(text)`",
                    suggestion: "write [\(parts.map { "\"\($0)\"" }.joined(separator: ", "))]", routes: routes)
            }
        }
    }

    private mutating func warn(of constraints: [TableSource.QueryConstraint], _ routes: [String]) {
        for constraint in constraints {
            guard case .equals(let value) = constraint.test, ForeignName.isPlaceholder(value) else { continue }
            problems.warning(
                .foreignSyntax, at: constraint.name.offset,
                "the constraint on `\(constraint.name.value)` requires the plain text `\(value)`",
                suggestion: "write \"*\" for any value, and bind it with `query.\(constraint.name.value)`",
                routes: routes)
        }
    }
}
