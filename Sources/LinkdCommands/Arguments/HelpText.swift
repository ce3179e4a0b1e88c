internal import RouteTools
/// Help texts, generated from the declarations.
enum HelpText {
    private static let width = 100
    private static let indent = 28

    /// Returns the help text of one command.
    static func of(_ command: CommandDeclaration, style: Style) -> String {
        var lines = [command.summary + ".", ""]
        lines += [style.heading("Usage:") + " linkd \(command.name)" + usage(command) + " [flags]"]
        for paragraph in command.discussion { lines += [""] + wrap(paragraph, indent: 0) }
        if let operands = command.operands {
            lines += ["", style.heading("Arguments:")] + entry(operands.name, operands.help, style)
        }
        lines += section("Flags:", command.flags, style)
        let settings =
            command.rows.map(FlagDeclaration.init(setting:))
            + (command.readsSettings ? [CommandDeclaration.config] : [])
        lines += section(
            "Settings (also in the environment and the file, see `linkd config --reference`):", settings, style)
        lines += section("Flags of every command:", CommandDeclaration.common, style)
        lines += ["", style.heading("Examples:")]
        for example in command.examples {
            lines += ["  " + style.name(example.line)] + wrap(example.description, indent: 6)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the list of all commands, or of the group at `path`.
    static func overview(_ commands: [CommandDeclaration], path: [String], style: Style) -> String {
        var lines: [String] = []
        if path.isEmpty {
            lines = [
                "linkd reads deep links and push payloads from Kafka, resolves each into a navigation stack, and",
                "publishes one decision per device, exactly once.",
            ]
        } else {
            lines = ["`linkd \(path.joined(separator: " "))` is a group of commands."]
        }
        let shown = commands.filter { $0.path.starts(with: path) }
        let words = path + ["COMMAND"]
        lines += [
            "", style.heading("Usage:") + " linkd \(words.joined(separator: " ")) [flags]", "",
            style.heading("Commands:"),
        ]
        for command in shown { lines += entry(command.name, command.summary + ".", style) }
        if path.isEmpty {
            lines +=
                ["", style.heading("Flags:")] + entry("--version", "Show the versions of linkd and librdkafka.", style)
            lines += entry("--help, -h", "Show this help. `linkd COMMAND --help` shows the help of a command.", style)
            lines += ["", "Start with `linkd demo`. It needs no broker."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func usage(_ command: CommandDeclaration) -> String {
        guard let operands = command.operands else { return "" }
        let bounds = operands.count
        // A name of several words has one for each operand.
        let names = operands.name.split(separator: " ").count
        let several = bounds.upperBound > names && bounds.upperBound > bounds.lowerBound ? "…" : ""
        return operands.count.lowerBound == 0 ? " [\(operands.name)\(several)]" : " \(operands.name)\(several)"
    }

    private static func section(_ title: String, _ flags: [FlagDeclaration], _ style: Style) -> [String] {
        guard !flags.isEmpty else { return [] }
        return ["", style.heading(title)]
            + flags.flatMap { flag in
                let value = flag.isSwitch ? "" : " " + (flag.placeholder ?? flag.type.placeholder)
                let words = flag.defaultText.map { " (default: \($0))" } ?? ""
                let repetition =
                    splits(flag) ? " Repeat the flag, or separate values with commas." : " Can be repeated."
                let several = flag.repeats ? repetition : ""
                return entry(flag.names.joined(separator: ", ") + value, flag.help + several + words, style)
            }
    }

    private static func splits(_ flag: FlagDeclaration) -> Bool {
        SettingsTable.rows.contains { $0.flags == flag.names }
    }

    private static func entry(_ name: String, _ words: String, _ style: Style) -> [String] {
        var lines = wrap(words, indent: indent)
        let label = "  " + style.name(name)
        if DisplayWidth.width(of: name) + 4 > indent || lines.isEmpty { return [label] + lines }
        lines[0] =
            label + String(repeating: " ", count: indent - 2 - DisplayWidth.width(of: name))
            + lines[0].drop { $0 == " " }
        return lines
    }

    private static func wrap(_ text: String, indent: Int) -> [String] {
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
