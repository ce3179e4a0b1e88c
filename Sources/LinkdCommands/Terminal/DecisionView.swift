internal import RouteTools
internal import LinkCoordinator
internal import StrictJSON

/// Draws a decision for people: outcome, route, and the stack from its bottom to its top.
struct DecisionView {
    /// How to colour.
    let style: Style

    /// The outcome in its color; a fallback is called one.
    func outcome(_ decision: JSONValue) -> String {
        let outcome = decision["outcome"]?.string ?? "?"
        if Decision.isFallback(decision) { return style.paint(Escaping.visible(outcome) + " by fallback", .warning) }
        return style.paint(Escaping.visible(outcome), Self.paint(outcome))
    }

    /// The colour of an outcome.
    static func paint(_ outcome: String) -> Style.Paint {
        switch outcome {
        case "navigate", "external": .good
        case "deferred", "none": .warning
        default: .bad
        }
    }

    /// What is done, in one line: the stack, the URL, or the reason.
    func summary(_ decision: JSONValue) -> String {
        switch decision["outcome"]?.string {
        case "navigate", "deferred":
            let stack = stack(decision)
            let notes = reason(decision).map { "  (\($0))" } ?? ""
            return (stack.isEmpty ? "root" : stack) + guardText(decision) + notes
        case "external": return Escaping.visible(decision["url"]?.string ?? "")
        default: return reason(decision) ?? ""
        }
    }

    /// `coordinator > screen > screen`, a coordinator said when it changes, presentation other than a push in brackets.
    func stack(_ decision: JSONValue) -> String {
        var parts: [String] = []
        var coordinator: String?
        for entry in decision["stack"]?.array ?? [] {
            let owner = entry["coordinator"]?.string
            if owner != coordinator, let owner { parts.append(style.paint(Escaping.visible(owner), .dim)) }
            coordinator = owner
            let screen = style.heading(Escaping.visible(entry["screen"]?.string ?? "?"))
            let present = entry["present"]?.string ?? "push"
            parts.append(present == "push" ? screen : screen + style.paint(" [\(Escaping.visible(present))]", .warning))
        }
        return parts.joined(separator: " > ")
    }

    /// Data of the screens, a line for each that has any: `item: Product id=…, count=3`.
    func data(_ decision: JSONValue) -> [String] {
        (decision["stack"]?.array ?? []).compactMap { entry in
            guard let models = entry["data"]?.object, !models.isEmpty else { return nil }
            let texts = models.map { model in
                let fields = (model.value.object ?? []).map { "\($0.name)=\(Self.text($0.value))" }
                return "\(model.name) " + fields.joined(separator: ", ")
            }
            return Escaping.visible("\(entry["screen"]?.string ?? "?"): " + texts.joined(separator: "; "))
        }
    }

    private func reason(_ decision: JSONValue) -> String? {
        guard let reason = decision["reason"]?.string else { return nil }
        return Escaping.visible(reason + (decision["detail"]?.string.map { ": " + $0 } ?? ""))
    }

    private func guardText(_ decision: JSONValue) -> String {
        guard let name = decision["guard"]?.string else { return "" }
        return Escaping.visible("  until \(name)")
    }

    private static func text(_ value: JSONValue) -> String {
        if let string = value.string { return string }
        var json = JSONText()
        json.value(nil, value)
        return json.finish()
    }
}
