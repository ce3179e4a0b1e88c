internal import ByteStorage
internal import LinkCoordinator
internal import StrictJSON

/// A view of a decision for people, with outcome, route, and the stack from bottom to top.
struct DecisionView {
    /// The style of the text.
    let style: Style

    /// Returns the role of an outcome in the output.
    static func role(of outcome: String) -> Style.TextRole {
        switch outcome {
        case "navigate", "external": .good
        case "deferred", "none": .warning
        default: .bad
        }
    }

    /// Appends the outcome in its color.
    ///
    /// A fallback is marked.
    func appendOutcome(_ decision: inout DecisionTape, to out: inout OutputArena) {
        let outcome = decision.string("outcome") ?? ByteView("?" as StaticString)
        let isFallback = Self.isFallback(outcome, decision.string("reason"))
        out.paint(isFallback ? .warning : Self.role(of: outcome.string), style) { out in
            out.append(visible: outcome)
            if isFallback { out.append(" by fallback") }
        }
    }

    private static func isFallback(_ outcome: ByteView, _ reason: ByteView?) -> Bool {
        guard let reason else { return false }
        let members = [("outcome", outcome), ("reason", reason)].map {
            JSONMember(name: $0.0, value: JSONValue(.string($0.1.string)))
        }
        return Decision.isFallback(JSONValue(.object(members)))
    }

    /// Appends the result in one line: the stack, the URL, or the reason.
    func appendSummary(_ decision: inout DecisionTape, to out: inout OutputArena) {
        let outcome = decision.string("outcome") ?? .empty
        if outcome.equals("navigate") || outcome.equals("deferred") {
            appendStack(&decision, to: &out)
            if let name = decision.string("guard") {
                out.append("  until ")
                out.append(visible: name)
            }
            if decision.string("reason") != nil {
                out.append("  (")
                appendReason(&decision, to: &out)
                out.append(")")
            }
            if let mode = decision.string("mode"), !mode.equals("replace") {
                out.append("  mode ")
                out.append(visible: mode)
            }
            if decision.member("dismissModals") >= 0 { out.append("  dismisses modals") }
        } else if outcome.equals("external") {
            out.append(visible: decision.string("url") ?? .empty)
        } else {
            appendReason(&decision, to: &out)
        }
        if let notice = decision.string("notice") {
            out.append("  notice ")
            out.append(visible: notice)
        }
    }

    /// Appends the stack as `coordinator > screen > screen`, or `root` if it is empty.
    ///
    /// A coordinator is included where it changes, and a presentation other than push in brackets.
    private func appendStack(_ decision: inout DecisionTape, to out: inout OutputArena) {
        var coordinator: ByteView?
        var isEmpty = true
        let range = decision.range(of: decision.member("stack"), .array)
        var entry = range.first
        while entry < range.end {
            let owner = decision.string("coordinator", of: entry)
            if let owner, coordinator.map({ $0 != owner }) ?? true {
                if !isEmpty { out.append(" > ") }
                out.paint(.dim, style) { $0.append(visible: owner) }
                isEmpty = false
            }
            coordinator = owner
            if !isEmpty { out.append(" > ") }
            isEmpty = false
            let screen = decision.string("screen", of: entry) ?? ByteView("?" as StaticString)
            out.paint(.heading, style) { $0.append(visible: screen) }
            if let present = decision.string("present", of: entry), !present.equals("push") {
                out.paint(.warning, style) { out in
                    out.append(" [")
                    out.append(visible: present)
                    out.append("]")
                }
            }
            entry = decision.next(after: entry)
        }
        if isEmpty { out.append("root") }
    }

    /// Appends the data of the screens, one line for each screen that has any, such as `item: Product id=…, count=3`.
    ///
    /// - Parameters:
    ///   - indent: The text before each line.
    ///   - role: The meaning of the lines.
    func appendData(
        _ decision: inout DecisionTape, indent: StaticString, _ role: Style.TextRole?, to out: inout OutputArena
    ) {
        let range = decision.range(of: decision.member("stack"), .array)
        var entry = range.first
        while entry < range.end {
            let data = decision.member("data", of: entry)
            let models = decision.range(of: data, .object)
            if models.first < models.end {
                out.append(indent)
                let screen = decision.string("screen", of: entry) ?? ByteView("?" as StaticString)
                out.paint(role, style) { out in
                    out.append(visible: screen)
                    out.append(": ")
                    appendModels(models, &decision, to: &out)
                }
                out.append("\n")
            }
            entry = decision.next(after: entry)
        }
    }

    private func appendModels(
        _ models: (first: Int32, end: Int32), _ decision: inout DecisionTape, to out: inout OutputArena
    ) {
        var model = models.first
        while model < models.end {
            if model > models.first { out.append("; ") }
            out.append(visible: decision.name(of: model))
            out.append(" ")
            let fields = decision.range(of: model, .object)
            var field = fields.first
            while field < fields.end {
                if field > fields.first { out.append(", ") }
                out.append(visible: decision.name(of: field))
                out.append("=")
                decision.withText(of: field) { out.append(visible: $0) }
                field = decision.next(after: field)
            }
            model = decision.next(after: model)
        }
    }

    private func appendReason(_ decision: inout DecisionTape, to out: inout OutputArena) {
        guard let reason = decision.string("reason") else { return }
        out.append(visible: reason)
        guard let detail = decision.string("detail") else { return }
        out.append(": ")
        out.append(visible: detail)
    }
}

/// The lines of a view of one decision.
struct DecisionLines {
    /// The outcome in its color.
    let outcome: String
    /// The result in one line, which can be empty.
    let summary: String
    /// The data of the screens, one line for each screen that has any.
    let data: [String]

    /// Creates the lines for a decision in JSON.
    init(_ decision: [UInt8], _ view: DecisionView) {
        (outcome, summary, data) = decision.withUnsafeBufferPointer { bytes in
            var tape = DecisionTape()
            tape.begin(ByteView(bytes))
            let outcome = OutputArena.text { view.appendOutcome(&tape, to: &$0) }
            let summary = OutputArena.text { view.appendSummary(&tape, to: &$0) }
            let data = OutputArena.text { view.appendData(&tape, indent: "", nil, to: &$0) }
            return (outcome, summary, data.split(separator: "\n").map(String.init))
        }
    }
}
