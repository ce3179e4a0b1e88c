/// A manual page in the language of `man` for troff, in ASCII.
struct Roff {
    private var lines: [String] = []

    /// The text of the page.
    var text: String { lines.joined(separator: "\n") + "\n" }

    /// Begins a page of section 1.
    init(title: String, date: String, source: String) {
        lines.append(".TH " + [title, "1", date, source, "User Commands"].map(Self.argument).joined(separator: " "))
    }

    /// Begins a section.
    mutating func section(_ title: String) { lines.append(".SH " + Self.argument(title)) }

    /// Begins a part of a section.
    mutating func part(_ title: String) { lines.append(".SS " + Self.argument(title)) }

    /// Appends the line of the section NAME, which indexes read.
    mutating func name(_ name: String, _ summary: String) {
        lines.append(Self.escaped(name) + #" \- "# + Self.escaped(summary))
    }

    /// Appends a paragraph, in which texts in backquotes are bold.
    mutating func paragraph(_ text: String) { lines += [".PP", Self.marked(text)] }

    /// Appends a name in bold with a placeholder in italics, and its description.
    mutating func entry(_ names: [String], value: String? = nil, _ description: String) {
        let label = names.map { Self.bold(Self.escaped($0)) }.joined(separator: ", ")
        lines += [".TP", label + (value.map { " " + Self.italic(Self.breakable($0)) } ?? ""), Self.marked(description)]
    }

    /// Appends the usage of a command: its words in bold, and its operands in italics.
    mutating func usage(_ command: String, _ operands: String) {
        lines.append(Self.bold(Self.escaped(command)) + (operands.isEmpty ? "" : Self.italic(Self.escaped(operands))))
    }

    /// Appends a description and a line to copy, which is not broken.
    mutating func example(_ description: String, _ line: String) {
        lines += [".PP", Self.marked(description), ".PP", ".RS 4", ".nf", Self.bold(Self.escaped(line)), ".fi", ".RE"]
    }

    /// Returns the text as troff prints it unchanged.
    ///
    /// A text at the beginning of a line is no request.
    static func escaped(_ text: String) -> String { guarded(characters(text)) }

    /// Returns the text with bold words for pairs of backquotes.
    static func marked(_ text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).map { characters(String($0)) }
        guard parts.count % 2 == 1 else { return escaped(text) }
        return guarded(parts.enumerated().map { $0 % 2 == 1 ? bold($1) : $1 }.joined())
    }

    private static func guarded(_ line: String) -> String { line.hasPrefix(".") ? #"\&"# + line : line }

    private static func characters(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": #"\e"#
            case "-": #"\-"#
            case "'": #"\(aq"#
            case "\"": #"\(dq"#
            case "`": #"\(ga"#
            case "^": #"\(ha"#
            case "~": #"\(ti"#
            case "\n", "\t", "\r": " "
            case _ where scalar.value < 32 || scalar.value == 127: ""
            case _ where scalar.isASCII: String(scalar)
            default: #"\[u"# + hexadecimal(scalar) + "]"
            }
        }.joined()
    }

    /// Returns a list of choices that can be broken after each `|`.
    private static func breakable(_ text: String) -> String { escaped(text).replacing("|", with: #"|\:"#) }

    private static func bold(_ text: String) -> String { text.isEmpty ? "" : #"\fB"# + text + #"\fR"# }

    private static func italic(_ text: String) -> String { #"\fI"# + text + #"\fR"# }

    private static func argument(_ text: String) -> String { "\"" + escaped(text) + "\"" }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
