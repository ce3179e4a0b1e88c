internal import StrictJSON

extension TableReader {
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
            let nearest = words.contains(halves[0]) ? nil : NearestName.of(halves[0], among: words)
            problems.error(
                .badSource, at: text.offset, "`\(text.value)` is not a source of a value",
                suggestion: LikelySource.source(text.value) ?? nearest.map { "did you mean `\($0)`?" }
                    ?? "use `path.NAME`, `query.NAME`, `rewrite.NAME`, `payload./POINTER`, `fragment`, "
                    + "or { \"const\": … }"
            )
            return nil
        }
    }
}
