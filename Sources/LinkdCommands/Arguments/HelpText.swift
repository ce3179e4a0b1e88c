internal import LinkCoordinator
internal import RouteTools

/// `linkd help`: prints the help of all commands, or of one.
enum HelpCommand {
    static let command = Command(
        path: ["help"],
        summary: "Show the help of all commands, or of one",
        operands: Operands(
            name: "COMMAND", help: "The words of a command, such as `topics create`.", count: 0...2),
        examples: [
            "linkd help": "All commands.",
            "linkd help topics create": "One command, with its flags and examples.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let commands = call.commands
        let help = HelpText(call.console.out)
        if let command = Command.find(call.operands, among: commands),
            command.path.count == call.operands.count
        {
            call.console.out.write(help.of(command))
            return .success
        }
        let inside = commands.filter { $0.path.starts(with: call.operands) }
        guard !inside.isEmpty else {
            let typed = call.operands.joined(separator: " ")
            let groups = Set(commands.map { $0.path[0] }).sorted()
            let nearest = NearestName.of(typed, among: commands.map(\.name) + groups)
            throw CommandFailure(
                .usage, "there is no command `\(Escaping.visible(typed))`",
                advice: nearest.map { "use `linkd help \($0)`" } ?? "see `linkd help` for all commands")
        }
        call.console.out.write(help.overview(inside, path: call.operands))
        return .success
    }
}

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
    func of(_ command: Command) -> String {
        var lines = wrap(command.summary + ".", indent: 0) + [""]
        lines += [style.heading("Usage:") + " linkd \(command.name)\(command.operandUsage) [flags]"]
        for paragraph in command.discussion { lines += [""] + wrap(paragraph, indent: 0) }
        if let operands = command.operands {
            lines += ["", style.heading("Arguments:")] + entry(operands.name, operands.help)
        }
        lines += section("Flags:", command.flags)
        let settings =
            command.rows.map(Flag.init(setting:))
            + (command.readsSettings ? [Command.config] : [])
        lines += section(
            "Settings (also in the environment and the file, see `linkd config --reference`):", settings)
        lines += section("Flags of every command:", Command.common)
        lines += ["", style.heading("Examples:")]
        for example in command.examples {
            lines += ["  " + style.name(example.key)] + wrap(example.value, indent: 6)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The number of flags in a short help, which fits on one screen.
    private static let shortFlags = 13

    /// Returns the short help text of one command: the usage, the main flags, and an example.
    func short(of command: Command) -> String {
        var lines = wrap(command.summary + ".", indent: 0) + [""]
        lines += [style.heading("Usage:") + " linkd \(command.name)\(command.operandUsage) [flags]"]
        let flags = command.mainFlags.prefix(Self.shortFlags)
        if !flags.isEmpty { lines += ["", style.heading("Main flags:")] }
        for flag in flags {
            let value = flag.valueName.map { " " + $0 } ?? ""
            let labels = [flag.names.joined(separator: ", ") + value, flag.names[0] + value]
            let label = labels.first { DisplayWidth.width(of: $0) <= Self.indent - 4 } ?? flag.names[0]
            let words = flag.help.split(separator: ". ", maxSplits: 1)[0]
            let end = words.hasSuffix(".") ? words : words + "."
            let name = DisplayWidth.cut(label, to: Self.indent - 4)
            let gap = String(repeating: " ", count: Self.indent - 2 - DisplayWidth.width(of: name))
            lines.append("  " + style.name(name) + gap + DisplayWidth.cut(String(end), to: width - Self.indent))
        }
        if let example = command.examples.first {
            lines += ["", style.heading("Example:"), "  " + style.name(example.key)]
        }
        lines += ["", "`linkd \(command.name) --help` shows all flags, settings, and examples."]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the list of all commands, or of the group at `path`.
    func overview(_ commands: [Command], path: [String]) -> String {
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
            lines += section("Flags:", Command.program)
            lines += ["", "Start with `linkd demo`. It needs no broker."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ title: String, _ flags: [Flag]) -> [String] {
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
