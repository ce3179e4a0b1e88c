internal import LinkCoordinator

// The values of a request, as far as a decision can fail for them.
extension PossibleResults {
    /// Returns the reasons for which the bindings of a route can fail.
    func bindingFailures(_ route: TableSource.Route) -> [ReasonCode] {
        var reasons: [ReasonCode] = []
        for binding in route.bindings {
            guard let field = field(binding) else { continue }
            let isDropped = route.onInvalid == .drop && field.absence != .required
            if !isDropped, !isValid(binding, field) { reasons.append(.paramInvalid) }
            if route.requireAll, field.absence == .required, !isPresent(binding, field.type) {
                reasons.append(.paramMissing)
            }
        }
        return reasons
    }

    private func field(_ binding: TableSource.Binding) -> TableSource.Field? {
        table.names.models[binding.model.value].flatMap { source.models[$0].field(named: binding.field.value) }
    }

    /// Returns a Boolean value that indicates whether every value that a link can have for a binding is valid.
    private func isValid(_ binding: TableSource.Binding, _ field: TableSource.Field) -> Bool {
        switch binding.source.value {
        case .constant: return true
        case .query, .rewrite, .payload, .fragment: return false
        case .path(let name):
            return arriving.allSatisfy { pattern in
                pattern.path.captures.first { $0.name == name }.map { accepts($0, field.type) } ?? true
            }
        }
    }

    private func accepts(_ capture: Capture, _ type: FieldType) -> Bool {
        switch (capture.matcher, type) {
        case (.uuid, .uuid), (.bool, .bool), (.date, .date): return true
        case (.int(let low, let high), .int(let min, let max)): return low >= min && high <= max
        case (.restStar, .list(.string(let low, let high), let min, let max)):
            return low <= 1 && high >= arrival.maxBytes && min == 0 && max >= source.limits.maxSegments
        case (.restPlus, .list(.string(let low, let high), let min, let max)):
            return low <= 1 && high >= arrival.maxBytes && min <= 1 && max >= source.limits.maxSegments
        case (_, .string(let min, let max)) where !capture.isTail: return min <= 1 && max >= arrival.maxBytes
        default:
            // One segment is a list with one item.
            if case .list(_, let min, let max) = type, min > 1 || max < 1 { return false }
            guard let texts = capture.matcher.finiteTexts else { return false }
            return texts.allSatisfy { text in
                capture.canonicalText(text, foldsCase: source.foldsPathCase).map {
                    type.canonicalText(String(decoding: $0, as: UTF8.self)) != nil
                } ?? false
            }
        }
    }

    /// Returns a Boolean value that indicates whether a binding always has a value for a type, valid or not.
    ///
    /// A route without patterns is requested by its id, with any parameters. A `{name*}` without segments is a value
    /// for a list that may be empty only. A name with several segments, which a redirect can pass on, is a value for a
    /// list only.
    private func isPresent(_ binding: TableSource.Binding, _ type: FieldType) -> Bool {
        switch binding.source.value {
        case .constant: return true
        case .path(let name):
            let isList = if case .list = type { true } else { false }
            let takesNothing = if case .list(_, min: 0, max: _) = type { true } else { false }
            return !arriving.isEmpty
                && arriving.allSatisfy { pattern in
                    pattern.path.captures.contains { capture in
                        capture.name == name && (isList || !capture.isTail)
                            && (takesNothing || capture.matcher != .restStar)
                    }
                }
        case .query, .rewrite, .payload, .fragment: return false
        }
    }

    func filling(of entry: Entry) -> Filling {
        var filling = Filling.sure
        for name in source.coordinators[entry.coordinator].screens[entry.screen].needs {
            guard let number = table.names.models[name.value] else { continue }
            for field in source.models[number].fields {
                let binding = entry.route.flatMap { route in
                    source.routes[route].bindings.first {
                        $0.model.value == name.value && $0.field.value == field.name.value
                    }
                }
                if case .constant? = binding?.source.value { continue }
                guard field.absence == .required else {
                    // An invalid value of a parent route removes its entry.
                    if entry.isOfParentRoute, binding != nil { filling = .maybe }
                    continue
                }
                guard let binding else { return .never }
                let isPresent = isPresent(binding, field.type)
                if entry.isOfParentRoute || !isPresent { filling = .maybe }
            }
        }
        return filling
    }

    /// Returns a Boolean value that indicates whether a URL of a template may have a segment `.` or `..`.
    func mayHaveDots(_ template: TableSource.ExternalTemplate) -> Bool {
        for part in template.parts {
            switch part {
            case .text(let text):
                let path = text.prefix { !"?#".contains($0) }
                // A name without a text can leave a period alone in its segment.
                if path.contains("/.") || [".", ".."].contains(path.prefix { $0 != "/" }) { return true }
                if path.count < text.count { return false }
            case .query: return true
            case .name(let name):
                // A whole segment of a link is never `.` or `..`.
                if !source.isWholeSegment(name.value, in: arriving) { return true }
            }
        }
        return false
    }
}
