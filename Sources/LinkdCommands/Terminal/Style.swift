/// When to colour.
enum ColorChoice: String, CaseIterable {
    case auto, always, never

    /// Whether to colour, for one output: `auto` colours a terminal unless `NO_COLOR` is set (no-color.org).
    func enabled(terminal: Bool, environment: [String: String]) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto:
            terminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        }
    }
}

/// Colours by their meaning; without colour the text stays as it is.
struct Style: Sendable {
    /// Whether anything is coloured.
    var enabled: Bool

    /// What a piece of text means.
    enum Paint: String, Sendable {
        /// A heading.
        case heading = "1"
        /// What steps back.
        case dim = "2"
        /// What is well.
        case good = "32"
        /// What needs a look.
        case warning = "33"
        /// What is wrong.
        case bad = "31"
        /// A name that can be typed.
        case name = "36"
    }

    /// The text in the colour of its meaning; nil is plain.
    func paint(_ text: String, _ paint: Paint?) -> String {
        guard enabled, let paint, !text.isEmpty else { return text }
        return "\u{1B}[\(paint.rawValue)m\(text)\u{1B}[0m"
    }

    /// A heading.
    func heading(_ text: String) -> String { paint(text, .heading) }
    /// A name that can be typed.
    func name(_ text: String) -> String { paint(text, .name) }
}
