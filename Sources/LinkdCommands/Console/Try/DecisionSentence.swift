internal import LinkCoordinator
internal import RouteTools
internal import StrictJSON

/// A decision in one sentence, for people who do not know the table.
struct DecisionSentence {
    /// A part of the sentence.
    struct Part: Equatable {
        /// The role of a part.
        enum Kind: String {
            /// Words of the sentence.
            case text
            /// The name of a screen.
            case screen
            /// A URL.
            case url
            /// A field of a model, a parameter, or another name of the table.
            case name
            /// The outcome.
            case outcome
        }

        /// The role.
        var kind: Kind
        var text: String
    }

    /// The parts in their order, without a period at the end.
    private(set) var parts: [Part] = []

    /// The sentence as plain text.
    var text: String { parts.map(\.text).joined() }

    /// Creates the sentence of a decision.
    ///
    /// - Parameters:
    ///   - decision: The members of the decision.
    ///   - explanation: The explanation, which has the value at fault, or nil.
    ///   - table: The table, which has the limits of a value, or nil.
    init(_ decision: JSONValue, explanation: JSONValue?, table: RouteTable?) {
        let reason = decision["reason"]?.string
        switch decision["outcome"]?.string {
        case "navigate":
            if let reason { add(.text, "\(Self.sentence(of: reason)), so the app ") }
            addStack(decision["stack"]?.array ?? [], opens: reason == nil ? "Opens" : "opens")
        case "deferred":
            add(.text, "Waits for ")
            add(.name, decision["resume"]?["claim"]?.string ?? decision["guard"]?.string ?? "a claim")
            add(.text, ", and ")
            addStack(decision["stack"]?.array ?? [], opens: "shows")
            add(.text, " until then")
        case "external":
            if let reason { add(.text, "\(Self.sentence(of: reason)), so it ") }
            add(.text, reason == nil ? "Opens " : "opens ")
            add(.url, decision["url"]?.string ?? "a URL")
            add(.text, " outside the app")
        case "none":
            add(.outcome, "Opens nothing")
            add(.text, ": \(Self.words[reason ?? ""] ?? reason ?? "there is nothing to open")")
        default:
            add(.outcome, "Rejected")
            add(.text, ": ")
            addFailure(decision, explanation, table)
        }
    }

    /// Creates the sentence of a dead letter.
    init(deadLetter reason: String, detail: String) {
        add(.outcome, "Dead letter")
        add(.text, ": \(reason): \(detail)")
    }

    /// Writes the parts as a member.
    func write(_ name: String, to json: inout JSONText) {
        json.objects(name, of: parts) { json, part in
            json.text("kind", part.kind.rawValue)
            json.text("text", part.text)
        }
    }

    private mutating func add(_ kind: Part.Kind, _ text: String) { parts.append(Part(kind: kind, text: text)) }

    /// Adds the screen on top, the way it is presented, and the screen below it.
    private mutating func addStack(_ stack: [JSONValue], opens: String) {
        guard let top = stack.last else { return add(.text, "\(opens) the app at its start") }
        add(.text, "\(opens) ")
        add(.screen, Self.title(of: top))
        switch top["present"]?.string {
        case "sheet": add(.text, " in a sheet")
        case "cover": add(.text, " as a full-screen cover")
        case "alert": add(.text, " as an alert")
        default: break
        }
        guard stack.count > 1 else { return }
        add(.text, top["present"]?.string == "push" ? " on top of " : " over ")
        add(.screen, Self.title(of: stack[stack.count - 2]))
    }

    /// Returns the title of a screen: its id with spaces, and a capital letter at the start.
    static func title(of entry: JSONValue) -> String {
        let id = entry["screen"]?.string ?? "?"
        var words = ""
        var wasLower = false
        for character in id {
            if character == "-" || character == "_" || character == "." {
                words.append(" ")
            } else {
                if character.isUppercase && wasLower { words.append(" ") }
                words.append(words.isEmpty ? Character(character.uppercased()) : character)
            }
            wasLower = character.isLowercase
        }
        return words
    }

    private mutating func addFailure(_ decision: JSONValue, _ explanation: JSONValue?, _ table: RouteTable?) {
        let reason = decision["reason"]?.string ?? ""
        let detail = decision["detail"]?.string
        let bindings = explanation?["bind"]?.array ?? []
        let at = bindings.first { $0["field"]?.string == detail || $0["source"]?.string == detail }
        let field = at?["field"]?.string ?? detail ?? ""
        if reason == "param_invalid" || reason == "param_missing", let type = Self.type(of: field, in: table) {
            let source = at?["source"]?.string ?? field
            let name = source.split(separator: ".", maxSplits: 1).last.map(String.init) ?? field
            add(.name, name)
            add(.text, reason == "param_missing" ? " is missing; it must be " : " must be ")
            return add(.text, FieldTypeWords.text(type))
        }
        if let text = explanation?["failed"]?["text"]?.string { return add(.text, text) }
        add(.text, Self.words[reason] ?? reason)
        if let detail { add(.text, " (\(detail))") }
    }

    /// Returns the type of a field, such as `Product.count`, or nil.
    private static func type(of field: String, in table: RouteTable?) -> FieldType? {
        let names = field.split(separator: ".", maxSplits: 1).map(String.init)
        guard names.count == 2, let model = table?.source.models.first(where: { $0.name.value == names[0] }) else {
            return nil
        }
        return model.fields.first { $0.name.value == names[1] }?.type
    }

    private static func sentence(of reason: String) -> String {
        let text = words[reason] ?? reason
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// The reasons in words.
    private static let words = [
        "budget": "the link or the stack is larger than a limit", "bad_encoding": "the link is not encoded correctly",
        "scheme": "the table does not list the link's scheme", "host": "the table does not list the link's host",
        "empty_segment": "the path has an empty segment", "dot_segment": "the path has a segment of dots",
        "no_route": "no route matches the link", "redirect_limit": "the redirects do not end",
        "excluded": "the route is excluded", "external_refused": "the table does not allow this URL outside the app",
        "unknown_screen": "the link names a screen that does not exist",
        "unsupported": "this device does not have the screen", "param_invalid": "a parameter has a wrong value",
        "param_missing": "a parameter is missing", "presentation": "the screen cannot be presented there",
        "no_link": "the message contains neither a link nor a route", "internal": "an internal error occurred",
        "expired": "the event has expired", "open_app": "the button only opens the app",
        "needs_resolution": "the link is a short link, which only its platform can resolve",
        "no_device": "the registry knows no device of the user",
    ]
}
