internal import RouteTools
internal import LinkCoordinator
internal import StrictJSON

/// A view of a decision for people, with outcome, route, and the stack from bottom to top.
struct DecisionView {
    /// The style of the text.
    let style: Style

    /// Returns the outcome in its color.
    ///
    /// A fallback is marked.
    func outcome(_ decision: JSONValue) -> String {
        let outcome = decision["outcome"]?.string ?? "?"
        if Decision.isFallback(decision) { return style.paint(Escaping.visible(outcome) + " by fallback", .warning) }
        return style.paint(Escaping.visible(outcome), Self.role(of: outcome))
    }

    /// Returns the role of an outcome in the output.
    static func role(of outcome: String) -> Style.TextRole {
        switch outcome {
        case "navigate", "external": .good
        case "deferred", "none": .warning
        default: .bad
        }
    }

    /// Returns the result in one line: the stack, the URL, or the reason.
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

    /// Returns the stack as `coordinator > screen > screen`.
    ///
    /// A coordinator is included where it changes, and a presentation other than push in brackets.
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

    /// Returns the data of the screens, one line for each screen that has any, such as `item: Product id=…, count=3`.
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
        return value.text
    }
}
