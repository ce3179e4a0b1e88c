internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

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
