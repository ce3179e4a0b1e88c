/// The user's choice of color.
enum ColorChoice: String, CaseIterable {
    case auto, always, never

    /// Returns a Boolean value that indicates whether an output uses color.
    ///
    /// `auto` uses it on a terminal unless `NO_COLOR` is set (no-color.org).
    func enabled(terminal: Bool, environment: [String: String]) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto:
            terminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        }
    }
}

/// The colors of an output.
///
/// Without color a text stays unchanged.
struct Style: Sendable {
    /// A Boolean value that indicates whether color is used.
    var enabled: Bool

    /// The meaning of a text, which determines its color.
    enum TextRole: String, Sendable {
        /// A heading.
        case heading = "1"
        /// Less important text.
        case dim = "2"
        /// A success.
        case good = "32"
        /// A warning.
        case warning = "33"
        /// An error.
        case bad = "31"
        /// A name that the user can type.
        case name = "36"
    }

    /// Returns the text in the color of its meaning, or unchanged for nil.
    func paint(_ text: String, _ role: TextRole?) -> String {
        guard enabled, let role, !text.isEmpty else { return text }
        return "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m"
    }

    /// Returns the text as a heading.
    func heading(_ text: String) -> String { paint(text, .heading) }
    /// Returns the text as a name that the user can type.
    func name(_ text: String) -> String { paint(text, .name) }
}
