/// Parts of a table as texts: equal ones have equal texts, wherever they stand in the file.
enum Pieces {
    /// All that a value holds but the places in the file, member by member.
    static func of(_ value: some Any) -> [String] {
        var pieces: [String] = []
        add(value, "", to: &pieces)
        return pieces
    }

    /// The same in one text.
    static func line(_ value: some Any) -> String { of(value).joined(separator: ", ") }

    private static func add(_ value: Any, _ name: String, to pieces: inout [String]) {
        if let convertible = value as? any PieceConvertible {
            pieces.append((name.isEmpty ? "" : name + " ") + convertible.piece)
            return
        }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            if let some = mirror.children.first { add(some.value, name, to: &pieces) }
            return
        }
        if mirror.children.isEmpty {
            // An empty list says nothing; a case of an enum, a number or a text is what it is.
            if mirror.displayStyle != .collection { pieces.append((name.isEmpty ? "" : name + " ") + "\(value)") }
            return
        }
        for (index, child) in mirror.children.enumerated() {
            let isOne = mirror.children.count == 1
            let label = child.label ?? (mirror.displayStyle == .collection && !isOne ? "\(index)" : "")
            if label == "offset" || label == "destinationOffset" { continue }
            let isPlain = label == "value" || label == "_value" || label.isEmpty
            add(child.value, isPlain ? name : name.isEmpty ? label : "\(name).\(label)", to: &pieces)
        }
    }
}

/// A part of a table that its file writes as one text.
protocol PieceConvertible {
    /// The text.
    var piece: String { get }
}

extension Pattern: PieceConvertible {
    var piece: String { text }
}

extension HostRule: PieceConvertible {
    var piece: String { text.isEmpty ? "\"\"" : text }
}

extension FieldType: PieceConvertible {
    var piece: String { text }
}

extension VersionText: PieceConvertible {
    var piece: String { text }
}

extension JSONPath: PieceConvertible {
    var piece: String { text }
}

extension TableSource.ExternalTemplate: PieceConvertible {
    var piece: String { text }
}

extension TableSource.PathTemplate: PieceConvertible {
    var piece: String { text }
}

extension TableSource.Binding.Source: PieceConvertible {
    var piece: String { if case .constant(let text) = self { "const \(text)" } else { text } }
}

extension TableSource.Target: PieceConvertible {
    var piece: String {
        var words: [String] = []
        switch destination {
        case .path(let segments): words.append("/" + segments.joined(separator: "/"))
        case .captured(let name): words.append("{\(name.value)}")
        case .root: words.append("the root")
        case .external(let template): words.append(template.text)
        }
        switch parents {
        case .none: break
        case .initial: words.append("parents initial")
        case .route(let id): words.append("parents route:\(id.value)")
        case .paths(let paths): words += paths.map { "parents /" + $0.value.joined(separator: "/") }
        }
        if let mode { words.append("mode \(mode.rawValue)") }
        if let present { words.append("present \(present.value.rawValue)") }
        if dismissModals { words.append("dismissModals") }
        return words.joined(separator: ", ")
    }
}

extension TableSource.Condition.VersionTest: PieceConvertible {
    var piece: String { "\(relation.rawValue)\(version.text)" }
}

extension TableSource.QueryConstraint: PieceConvertible {
    var piece: String { name(holding: true) }
}

extension TableSource.Screen: PieceConvertible {
    var piece: String {
        var words = ["screen \(name.value)"]
        if !needs.isEmpty { words.append("needs " + needs.map(\.value).joined(separator: ", ")) }
        if !present.isEmpty { words.append("present " + present.map(\.value.rawValue).joined(separator: ", ")) }
        if nav { words.append("nav") }
        if let identity { words.append("identity " + Pieces.line(identity)) }
        if let view { words.append("view \(view.value)") }
        if let since { words.append("since \(since.text)") }
        if let until { words.append("until \(until.text)") }
        if !requires.isEmpty { words.append("requires " + requires.map(\.value).joined(separator: ", ")) }
        return words.joined(separator: " ")
    }
}

extension TableSource.Route {
    /// The parts of the route but its id and what only tools read.
    var pieces: [String] {
        var pieces = patterns.filter { !$0.leavesOptionalOut }.map { "match \($0.text)" }
        pieces += query.map { "query \($0.piece.dropFirst("query.".count))" }
        if priority != 0 { pieces.append("priority \(priority)") }
        switch action {
        case .variants(let variants):
            for variant in variants {
                var words = variant.when.map { "when " + Pieces.line($0) + " " } ?? ""
                words += "to " + variant.to.piece
                if let notice = variant.notice { words += ", notice /" + notice.value.joined(separator: "/") }
                pieces.append(words)
            }
        case .redirect(let redirect): pieces.append("redirect \(redirect.text)")
        case .exclude(let outcome): pieces.append("exclude \(outcome.rawValue)")
        }
        pieces += bindings.map { "bind \($0.model.value).\($0.field.value) \($0.source.value.piece)" }
        if onInvalid != .reject { pieces.append("onInvalid \(onInvalid.rawValue)") }
        if requireAll { pieces.append("requireAll") }
        if unknownScreen != .reject { pieces.append("unknownScreen \(unknownScreen.rawValue)") }
        switch unsupported {
        case .fallback: break
        case .truncate: pieces.append("unsupported truncate")
        case .to(let target): pieces.append("unsupported to \(target.piece)")
        }
        return pieces
    }
}

extension TableSource.LinkBlock {
    var schemeTexts: [String] {
        schemes.map(\.value) + (takesOtherSchemes ? ["*"] : []) + (schemeCase == .exact ? ["in their case"] : [])
    }

    var hostTexts: [String] {
        hostRole == .segment ? ["the host is the first segment"] : hosts.map(\.value.piece)
    }

    var rewriteTexts: [String] {
        rewrites.map { rule in
            let own = rule.pattern.captures.first?.name
            return rule.text + (rule.name == own ? "" : " as \(rule.name ?? "")")
        }
    }

    var description: String { (schemeTexts + hostTexts + rewriteTexts).joined(separator: ", ") + ", " + words }
}

extension TableSource.QueryDialect {
    var pieces: [String] {
        [
            "pairSeparators \(String(decoding: pairSeparators, as: UTF8.self))", "names \(names.rawValue)",
            "duplicates \(duplicates.rawValue)", "decode \(decode.rawValue)", "plus \(plus.rawValue)",
            "nulls \(nulls.rawValue)", "flatten \(flatten)",
        ]
    }
}

extension TableSource.PayloadPointers {
    var pieces: [String] {
        [
            "link " + link.map(\.value.text).joined(separator: ", "), "route " + (route?.value.text ?? "nowhere"),
            "params " + (params?.value.text ?? "nowhere"),
        ]
    }
}

extension TableSource.LinkLimits {
    var pieces: [String] {
        ["maxBytes \(maxBytes)", "maxSegments \(maxSegments)", "maxQueryItems \(maxQueryItems)"]
    }
}

extension TableSource.Externals {
    var pieces: [String] { schemes + hosts.map(\.piece) }
}

extension TableSource.FallbackRule {
    var piece: String {
        let reasons = on.map { $0.map(\.value.rawValue).joined(separator: ", ") } ?? "any reason"
        return "\(reasons): \(outcome.rawValue)" + (to.map { " " + $0.piece } ?? "")
    }
}

extension TableSource.Model {
    var pieces: [String] {
        fields.map { field in
            switch field.absence {
            case .required, .emptyList: "\(field.name.value) \(field.type.text)"
            case .null: "\(field.name.value) \(field.type.text)?"
            case .value(let text): "\(field.name.value) \(field.type.text)=\(text)"
            }
        }
    }
}

extension TableSource.Coordinator {
    var pieces: [String] {
        var own: [String] = []
        if let initial { own.append("initial \(initial.value)") }
        if let parent { own.append("parent \(parent.value)") }
        if let guarding { own.append("guard \(guarding.value)") }
        if singleSlot { own.append("slot single") }
        return own + screens.map(\.piece)
    }
}
