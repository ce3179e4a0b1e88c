/// A segment of another router's path, converted to the syntax of patterns.
enum ConvertedSegment {
    /// A capture with the text around it.
    struct Capture {
        /// The name in the other router's path.
        var name: String
        /// The sign or type after the name: `?`, `*`, `:int`.
        var type: String
        /// The text before the braces.
        var before: Substring
        /// The text after the braces.
        var after: Substring
    }

    /// The segment is left out.
    case nothing
    /// Text, or a capture that is already correct.
    case text(String)
    /// A capture.
    case capture(Capture)

    /// Returns the segment of a capture.
    static func capture(
        _ name: String, _ type: String = "", before: Substring = "", after: Substring = ""
    ) -> ConvertedSegment {
        .capture(Capture(name: name, type: type, before: before, after: after))
    }
}

/// The names for captures.
///
/// A pattern uses each name once and no reserved name. A template repeats the names of patterns.
struct CaptureNames {
    private let isTemplate: Bool
    private var usedNames: Set<String> = []

    /// Creates the names for a path, which differ from those that it already has in braces.
    init(for path: String, isTemplate: Bool) {
        self.isTemplate = isTemplate
        for piece in path.split(separator: "{").dropFirst() {
            usedNames.insert(String(piece.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }))
        }
    }

    /// Returns the segment of a capture with an unused name.
    mutating func text(of capture: ConvertedSegment.Capture) -> String {
        let inside = isTemplate ? capture.name : free(capture.name) + capture.type
        return "\(capture.before){\(inside)}\(capture.after)"
    }

    /// Returns the name, or a modified one if it is reserved, too long, or already used.
    private mutating func free(_ name: String) -> String {
        let own = Self.allowed(name)
        var result = own
        var number = 2
        while !usedNames.insert(result).inserted {
            result = own + String(number)
            number += 1
        }
        return result
    }

    /// Returns the name, or a modified one if it is reserved or too long.
    static func allowed(_ name: String) -> String {
        if NameRule.isReserved(name) { return "\(name.drop { $0 == "_" })Name" }
        return name.utf8.count > NameRule.maxBytes ? String(name.prefix(NameRule.maxBytes - 4)) : name
    }
}
