package import LinkCoordinator
internal import StrictJSON

/// A Markdown document of a table, with a section for each route in the order of the ids.
package struct RoutesDocument {
    private let table: RouteTable
    private let words: TargetWords
    private let reasons: RouteReasons
    private let examples: RouteExamples
    private var lines: [String] = []

    /// Returns the document.
    package static func text(_ table: RouteTable) -> String {
        var document = RoutesDocument(table)
        document.write()
        return document.lines.joined(separator: "\n") + "\n"
    }

    private init(_ table: RouteTable) {
        self.table = table
        words = TargetWords(table.source)
        reasons = RouteReasons(table)
        examples = RouteExamples(table)
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private mutating func write() {
        let routes = table.source.routes.sorted { $0.id.value < $1.id.value }
        lines += ["# Routes of \(Markup.markdown(table.id)), version \(Markup.markdown(table.version))", ""]
        lines.append(
            "Table \(Markup.code(table.identity)): \(Self.count(routes.count, "route")), "
                + "\(Self.count(table.source.coordinators.count, "coordinator")), "
                + "\(Self.count(table.source.examples.count, "example")). Written by `linkd routes docs`.")
        writeLinks()
        lines += ["", "| Route | Patterns | Leads to |", "|---|---|---|"]
        for route in routes {
            let patterns = RouteText.patterns(route).map { Markup.code($0, inCell: true) }
            lines.append(
                "| [\(Markup.markdown(route.id.value))](#\(Self.anchor(route))) "
                    + "| \(patterns.isEmpty ? "by id only" : patterns.joined(separator: "<br>")) "
                    + "| \(Markup.markdown(RouteText.target(route))) |")
        }
        for route in routes { write(route) }
        writeCoordinators()
        writeFallback()
    }

    /// Returns an explicit anchor, because Markdown renderers have different rules for anchors of headings.
    private static func anchor(_ route: TableSource.Route) -> String { "route-" + route.id.value }

    private mutating func writeLinks() {
        lines += ["", "## Links", ""]
        for block in table.source.blocks {
            var schemes = block.schemes.map { Markup.code($0.value) }
            if block.takesOtherSchemes { schemes.append("every other scheme") }
            let hosts = block.hosts.map { $0.value.text.isEmpty ? "no host" : Markup.code($0.value.text) }
            lines.append(
                "- " + schemes.joined(separator: ", ") + " with "
                    + (block.hostRole == .segment
                        ? "the host as the first segment" : "host " + hosts.joined(separator: ", ")))
            for rewrite in block.rewrites {
                let kept = rewrite.name.map { ", kept as " + Markup.code("rewrite.\($0)") } ?? ""
                lines.append("  - the prefix \(Markup.code(rewrite.text)) is removed\(kept)")
            }
        }
    }

    private mutating func write(_ route: TableSource.Route) {
        lines += ["", "<a id=\"\(Self.anchor(route))\"></a>", "", "## \(Markup.markdown(route.id.value))", ""]
        if let status = route.status {
            lines.append("Status: \(Markup.markdown(status))\(route.sunset.map { ", until \($0)" } ?? "").")
        } else if let sunset = route.sunset {
            lines.append("Until \(sunset).")
        }
        writePatterns(route)
        writeAction(route)
        writeData(route)
        let guards = Set(route.variants.flatMap { words.guards($0.to) }).sorted()
        for name in guards {
            guard let rule = table.source.guards.first(where: { $0.name.value == name }) else { continue }
            let resume = rule.resume.map { " The link may be resolved again for \($0.ttlSeconds) s." } ?? ""
            section(
                "Guard",
                [
                    "- \(Markup.code(name)) requires the claim \(Markup.code(rule.claim)); without it: "
                        + "\(Markup.markdown(words.of(rule.otherwise))).\(resume)"
                ])
        }
        section(
            "Can fail with",
            reasons.of(route).map { "- \(Markup.code($0.reason.rawValue)): \(Markup.markdown($0.why))" })
        writeExamples(route)
    }

    private mutating func section(_ title: String, _ content: [String]) {
        guard !content.isEmpty else { return }
        if lines.last?.isEmpty == false { lines.append("") }
        lines += ["**\(title)**", ""] + content
    }

    private mutating func writePatterns(_ route: TableSource.Route) {
        var content: [String] = []
        var seen: Set<String> = []
        for pattern in route.patterns where !pattern.leavesOptionalOut {
            let scheme = pattern.scheme.map { ", scheme \(Markup.code($0))" } ?? ""
            let host = pattern.host.map { ", host \(Markup.code($0.text))" } ?? ""
            let isOptional = route.patterns.contains { $0.form == pattern.form && $0.leavesOptionalOut }
            let line =
                "- \(Markup.code(route.written(pattern)))\(scheme)\(host)"
                + (isOptional ? ", the last segment is optional" : "") + (pattern.form == 0 ? "" : " (alias)")
            if seen.insert(line).inserted { content.append(line) }
        }
        if route.patterns.isEmpty { content.append("- none: reached by its id only") }
        for constraint in route.query {
            content.append("- only if \(Markup.markdown(ConditionWords.of(constraint)))")
        }
        section("Patterns", content)
    }

    private mutating func writeAction(_ route: TableSource.Route) {
        switch route.action {
        case .redirect(.route(let id)): section("Redirects", ["- to the route \(Markup.code(id.value))"])
        case .redirect(.template(let template)): section("Redirects", ["- to \(Markup.code(template.value.text))"])
        case .exclude(let outcome):
            section("Excluded", ["- nothing is shown: outcome \(Markup.code(outcome.rawValue))"])
        case .variants(let variants):
            var content: [String] = []
            for (index, variant) in variants.enumerated() {
                let condition = variants.count == 1 ? "" : "\(Markup.markdown(ConditionWords.of(variant.when))): "
                let manner = words.manner(variant.to).map { " (\($0))" } ?? ""
                let notice = variant.notice.map {
                    ", with the notice \(Markup.code("/" + $0.value.joined(separator: "/")))"
                }
                content.append(
                    (variants.count == 1 ? "- " : "\(index + 1). ") + condition
                        + Markup.code(words.of(variant.to)) + manner + (notice ?? ""))
            }
            switch route.unsupported {
            case .fallback: break
            case .truncate: content += ["", "Screens that a device lacks, and all screens above them, are omitted."]
            case .to(let target): content += ["", "If a device lacks a screen: \(Markup.code(words.of(target)))."]
            }
            section(variants.count == 1 ? "Leads to" : "Leads to the first variant that holds", content)
        }
    }

    private mutating func writeData(_ route: TableSource.Route) {
        var captures: [String] = []
        for pattern in route.patterns {
            for capture in pattern.path.captures where !captures.contains(capture.name) {
                captures.append(capture.name)
            }
        }
        var rows: [String] = []
        for binding in route.bindings {
            guard let field = reasons.field(of: binding) else { continue }
            rows.append(
                "| \(Markup.code("\(binding.model.value).\(binding.field.value)", inCell: true)) "
                    + "| \(Markup.code(field.type.text, inCell: true)) "
                    + "| \(Markup.code(binding.source.value.text, inCell: true)) "
                    + "| \(Markup.markdown(field.absence.words)) |"
            )
        }
        if !rows.isEmpty { section("Data", ["| Field | Type | From | If missing |", "|---|---|---|---|"] + rows) }
        let bound = Set(
            route.bindings.compactMap { if case .path(let name) = $0.source.value { name } else { nil } })
        let others = captures.filter { !bound.contains($0) }
        if !others.isEmpty {
            section("Captures that fill no field", ["- " + others.map { Markup.code($0) }.joined(separator: ", ")])
        }
    }

    private mutating func writeExamples(_ route: TableSource.Route) {
        let shown = examples.of(route)
        guard !shown.isEmpty else { return }
        var rows = ["| Link | Device | Becomes |", "|---|---|---|"]
        for example in shown {
            let decision = example.decision
            var becomes = [decision.outcome.rawValue]
            if let path = decision.path { becomes.append(Markup.code(path, inCell: true)) }
            if let url = decision.url { becomes.append(Markup.code(url, inCell: true)) }
            if let reason = decision.reason {
                becomes.append(Markup.code(reason + (decision.detail.map { ": \($0)" } ?? ""), inCell: true))
            }
            if let name = decision.guard { becomes.append("until " + Markup.code(name, inCell: true)) }
            rows.append(
                "| \(Markup.code(example.link, inCell: true))\(example.isGenerated ? " (generated)" : "") "
                    + "| \(example.device.map { Markup.code($0, inCell: true) } ?? "") "
                    + "| \(becomes.joined(separator: " ")) |"
            )
        }
        section("Examples", rows)
    }

    private mutating func writeCoordinators() {
        guard !table.source.coordinators.isEmpty else { return }
        lines += [
            "", "## Coordinators", "", "| Coordinator | Screen | Shown as | Needs | Device |", "|---|---|---|---|---|",
        ]
        for coordinator in table.source.coordinators {
            for screen in coordinator.screens {
                let needs = screen.needs.map { Markup.code($0.value, inCell: true) }.joined(separator: ", ")
                let mark = coordinator.initial == screen.name ? " (initial)" : ""
                let presents = screen.present.map(\.value.rawValue)
                lines.append(
                    "| \(Markup.code(coordinator.name.value)) | \(Markup.code(screen.name.value))\(mark) "
                        + "| \(presents.isEmpty ? "push" : presents.joined(separator: ", ")) | \(needs) "
                        + "| \(Markup.markdown(ConditionWords.of(screen) ?? "")) |")
            }
        }
    }

    private mutating func writeFallback() {
        lines += ["", "## Fallback", ""]
        for rule in table.source.fallback {
            let reasons = rule.on?.map { Markup.code($0.value.rawValue) }.joined(separator: ", ") ?? "every reason"
            let target = rule.to.map { ": " + Markup.markdown(words.of($0)) } ?? ""
            lines.append("- \(reasons): \(rule.outcome.rawValue)\(target)")
        }
        if table.source.fallback.last?.on != nil || table.source.fallback.isEmpty {
            lines.append("- every other reason: reject")
        }
    }
}

extension TableSource.Binding.Source {
    /// The source in the table's notation.
    var text: String {
        switch self {
        case .path(let name): "path.\(name)"
        case .query(let name): "query.\(name)"
        case .rewrite(let name): "rewrite.\(name)"
        case .payload(let pointer): "payload.\(pointer.text)"
        case .fragment: "fragment"
        case .constant(let value): "the constant \(value)"
        }
    }
}

extension TableSource.Field.Absence {
    /// The value of a field that is absent.
    var words: String {
        switch self {
        case .required: "param_missing"
        case .null: "null"
        case .value(let text): text
        case .emptyList: "empty list"
        }
    }
}
