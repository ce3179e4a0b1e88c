internal import ByteStorage
internal import LinkCoordinator
internal import RouteTools

/// `linkd manual`: prints the manual pages, or writes them to a directory.
enum ManualCommand {
    static let command = Command(
        path: ["manual"],
        summary: "Print a manual page, or write all of them",
        discussion: [
            "The pages are for `man`, and have the same content as the help of the commands. Without a command, the "
                + "page is the overview linkd.1."
        ],
        flags: [
            Flag("--directory", .directory, "Write the pages of all commands to this directory.")
        ],
        operands: Operands(
            name: "COMMAND", help: "The words of a command, such as `topics create`.", count: 0...2),
        examples: [
            "linkd manual inspect | man -l -": "Shows one page.",
            "linkd manual --directory /usr/local/share/man/man1":
                "Installs all pages, such as linkd.1 and linkd-inspect.1.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let commands = call.commands
        if let directory = call.text("directory") {
            guard call.operands.isEmpty else {
                throw CommandFailure(
                    .usage, "--directory writes all pages, and a command is given",
                    advice: "remove the command, or remove --directory to print its page")
            }
            try write([], ManualPage.overview(commands), directory)
            for command in commands { try write(command.path, ManualPage.of(command), directory) }
            call.console.note("\(commands.count + 1) pages written to \(Escaping.visible(directory))")
            return .success
        }
        guard !call.operands.isEmpty else {
            call.console.out.write(ManualPage.overview(commands))
            return .success
        }
        guard let command = commands.first(where: { $0.path == call.operands }) else {
            let typed = call.operands.joined(separator: " ")
            let nearest = NearestName.of(typed, among: commands.map(\.name))
            throw CommandFailure(
                .usage, "there is no command `\(Escaping.visible(typed))`",
                advice: nearest.map { "use `linkd manual \($0)`" } ?? "see `linkd help` for all commands")
        }
        call.console.out.write(ManualPage.of(command))
        return .success
    }

    private static func write(_ path: [String], _ text: String, _ directory: String) throws(CommandFailure) {
        let file = directory + "/" + ManualPage.name(path) + ".1"
        guard let error = Platform.writeFile(file, Array(text.utf8), mode: 0o666) else { return }
        throw CommandFailure(
            .configuration, "\(Escaping.visible(file)) cannot be written: \(error.text)",
            advice: "specify a directory that exists and that this user can write to")
    }
}

/// The manual pages, generated from the declarations: `linkd.1`, and one page for each command.
enum ManualPage {
    /// The exit codes and their meaning, in the order of the codes.
    static let exitCodes: [(codes: [ExitCode], meaning: String)] = [
        ([.success], "Success."),
        ([.finding], "The command worked and found a problem, or a record was not delivered."),
        ([.usage], "An unknown command or flag, or a flag with an invalid value."),
        ([.badData], "Invalid data, such as a table or an input line, or data loss."),
        ([.unavailable], "No broker answered in time."),
        ([.internalError], "An internal error."),
        ([.temporary], "The worker gave up for now. A supervisor should restart it."),
        ([.refused], "The broker denied authentication or authorization."),
        ([.configuration], "A file, a topic, or a value from a file or the environment is missing or invalid."),
        ([.fenced], "Another process uses the instance name."),
        ([.forced], "The watchdog or a second signal ended the process."),
        ([.deadLetterLimit], "A limit of dead letters was exceeded."),
        ([.interrupted, .terminated], "The command was ended with Ctrl-C or SIGTERM."),
    ]

    /// Returns the name of the page of a command, or of the program for no words.
    static func name(_ path: [String]) -> String { (["linkd"] + path).joined(separator: "-") }

    /// Returns the page of one command.
    static func of(_ command: Command) -> String {
        var page = begin(command.path, command.summary)
        page.section("SYNOPSIS")
        page.usage("linkd \(command.name)", command.operandUsage + " [flags]")
        page.section("DESCRIPTION")
        page.paragraph(command.summary + ".")
        for paragraph in command.discussion { page.paragraph(paragraph) }
        if let operands = command.operands {
            page.section("ARGUMENTS")
            page.entry([operands.name], operands.help)
        }
        page.section("OPTIONS")
        add(command.flags, to: &page)
        if command.readsSettings {
            page.part("Settings")
            page.paragraph("These can also be set in the environment and in the file, see `linkd config --reference`.")
            for row in command.rows { page.setting(row) }
            add([Command.config], to: &page)
        }
        page.part("Flags of every command")
        add(Command.common, to: &page)
        page.section("EXAMPLES")
        for example in command.examples { page.example(example.value, example.key) }
        page.section("EXIT STATUS")
        page.paragraph("0 for success. See `linkd(1)` for the other codes.")
        page.section("SEE ALSO")
        page.paragraph("`linkd(1)`")
        return page.text
    }

    /// Returns the page of the program, with all commands in short.
    static func overview(_ commands: [Command]) -> String {
        var page = begin([], "resolve deep links and push payloads from Kafka, exactly once")
        page.section("SYNOPSIS")
        page.usage("linkd", " COMMAND [flags]")
        page.section("DESCRIPTION")
        page.paragraph(HelpText.description)
        page.paragraph("Results go to standard output, everything else to standard error.")
        page.section("COMMANDS")
        for command in commands {
            page.entry(["linkd \(command.name)\(command.operandUsage)"], command.summary + ".")
        }
        page.section("OPTIONS")
        add(Command.program, to: &page)
        page.part("Flags of every command")
        add(Command.common, to: &page)
        page.section("ENVIRONMENT")
        for (name, description) in variables { page.entry([name], description) }
        page.section("FILES")
        for (name, description) in files { page.entry([name], description) }
        page.section("EXIT STATUS")
        for (codes, meaning) in exitCodes {
            page.entry([codes.map { String($0.rawValue) }.joined(separator: ", ")], meaning)
        }
        page.section("EXAMPLES")
        for command in commands.prefix(4) {
            for example in command.examples.prefix(1) { page.example(example.value, example.key) }
        }
        page.section("SEE ALSO")
        page.paragraph(commands.map { "`\(name($0.path))(1)`" }.joined(separator: ", "))
        return page.text
    }

    private static let variables = [
        ("LINKD_CONFIG", "The settings file. `--config` overrides it."),
        (
            "LINKD_NAME",
            "The setting NAME, with underscores for dots, such as `LINKD_LANES`. Flags override it, and it overrides "
                + "the settings file."
        ),
        ("LINKD_HOME", "The directory of the files that come with linkd."),
        ("KAFKA_BOOTSTRAP_SERVERS", "The setting `bootstrap`."),
        (
            "KAFKA_KEY",
            "The property KEY of librdkafka, with underscores for dots, such as `KAFKA_SECURITY_PROTOCOL`. A name that "
                + "ends with `_FILE` is the path of a file with the value, such as `KAFKA_SASL_PASSWORD_FILE`."
        ),
        ("NO_COLOR", "Any text turns color off, unless `--color` turns it on."),
    ]

    private static let files = [
        (
            "../share/linkd",
            "Route tables, vendor tables, and samples, relative to the directory of the program. Without them, "
                + "`config` in the working directory is used."
        )
    ]

    private static func begin(_ path: [String], _ summary: String) -> Roff {
        let name = name(path)
        var page = Roff(
            title: name.uppercased(), date: LinkdVersion.date, source: "linkd \(LinkdVersion.text)")
        page.section("NAME")
        page.name(name, summary)
        return page
    }

    private static func add(_ flags: [Flag], to page: inout Roff) {
        for flag in flags { page.entry(flag.names, value: flag.valueName, flag.description) }
    }
}

extension Roff {
    /// Appends a setting, with its variable and its bounds.
    fileprivate mutating func setting(_ row: SettingRow) {
        let flag = Flag(setting: row)
        let bounds = row.bounds.isEmpty ? "" : " Bounds: \(row.bounds)."
        entry(flag.names, value: flag.valueName, "\(flag.description)\(bounds) Variable: \(row.variable).")
    }
}

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
            default: #"\[u"# + scalar.value.hexadecimal(digits: 4).uppercased() + "]"
            }
        }.joined()
    }

    /// Returns a list of choices that can be broken after each `|`.
    private static func breakable(_ text: String) -> String { escaped(text).replacing("|", with: #"|\:"#) }

    private static func bold(_ text: String) -> String { text.isEmpty ? "" : #"\fB"# + text + #"\fR"# }

    private static func italic(_ text: String) -> String { #"\fI"# + text + #"\fR"# }

    private static func argument(_ text: String) -> String { "\"" + escaped(text) + "\"" }
}
