internal import RouteTools

/// The writer of help texts, which are generated from the declarations.
struct HelpText {
    /// The style of headings and names.
    let style: Style
    /// The number of columns of a line.
    ///
    /// Names, values, and examples, which users copy, are not broken. A line with one of them can be longer.
    let width: Int

    /// The description of the program.
    static let description =
        "linkd reads deep links and push payloads from Kafka, resolves each into a navigation stack, and publishes one "
        + "decision per device, exactly once."

    private static let indent = 28

    /// Creates a writer for an output: as wide as its terminal, from 60 to 100 columns.
    init(_ channel: Channel) { self.init(style: channel.style, columns: channel.columns) }

    /// Creates a writer for a number of columns, or nil for an output that is no terminal.
    init(style: Style, columns: Int?) {
        self.style = style
        width = max(60, min(100, columns ?? 100))
    }

    /// Returns the help text of one command.
    func of(_ command: CommandDeclaration) -> String {
        var lines = wrap(command.summary + ".", indent: 0) + [""]
        lines += [style.heading("Usage:") + " linkd \(command.name)\(command.operandUsage) [flags]"]
        for paragraph in command.discussion { lines += [""] + wrap(paragraph, indent: 0) }
        if let operands = command.operands {
            lines += ["", style.heading("Arguments:")] + entry(operands.name, operands.help)
        }
        lines += section("Flags:", command.flags)
        let settings =
            command.rows.map(FlagDeclaration.init(setting:))
            + (command.readsSettings ? [CommandDeclaration.config] : [])
        lines += section(
            "Settings (also in the environment and the file, see `linkd config --reference`):", settings)
        lines += section("Flags of every command:", CommandDeclaration.common)
        lines += ["", style.heading("Examples:")]
        for example in command.examples {
            lines += ["  " + style.name(example.line)] + wrap(example.description, indent: 6)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the list of all commands, or of the group at `path`.
    func overview(_ commands: [CommandDeclaration], path: [String]) -> String {
        var lines: [String] = []
        if path.isEmpty {
            lines = wrap(Self.description, indent: 0)
        } else {
            lines = ["`linkd \(path.joined(separator: " "))` is a group of commands."]
        }
        let shown = commands.filter { $0.path.starts(with: path) }
        let words = path + ["COMMAND"]
        lines += [
            "", style.heading("Usage:") + " linkd \(words.joined(separator: " ")) [flags]", "",
            style.heading("Commands:"),
        ]
        for command in shown { lines += entry(command.name, command.summary + ".") }
        if path.isEmpty {
            lines += section("Flags:", CommandDeclaration.program)
            lines += ["", "Start with `linkd demo`. It needs no broker."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ title: String, _ flags: [FlagDeclaration]) -> [String] {
        guard !flags.isEmpty else { return [] }
        return [""] + wrap(title, indent: 0).map(style.heading)
            + flags.flatMap { flag in
                let value = flag.valueName.map { " " + $0 } ?? ""
                return entry(flag.names.joined(separator: ", ") + value, flag.description)
            }
    }

    private func entry(_ name: String, _ words: String) -> [String] {
        var lines = wrap(words, indent: Self.indent)
        let label = "  " + style.name(name)
        if DisplayWidth.width(of: name) + 4 > Self.indent || lines.isEmpty { return [label] + lines }
        lines[0] =
            label + String(repeating: " ", count: Self.indent - 2 - DisplayWidth.width(of: name))
            + lines[0].drop { $0 == " " }
        return lines
    }

    private func wrap(_ text: String, indent: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, DisplayWidth.width(of: line) + 1 + DisplayWidth.width(of: String(word)) > width - indent {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        if !line.isEmpty { lines.append(line) }
        return lines.map { String(repeating: " ", count: indent) + $0 }
    }
}
