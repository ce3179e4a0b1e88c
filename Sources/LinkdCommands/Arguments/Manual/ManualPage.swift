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
    static func of(_ command: CommandDeclaration) -> String {
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
            add([CommandDeclaration.config], to: &page)
        }
        page.part("Flags of every command")
        add(CommandDeclaration.common, to: &page)
        page.section("EXAMPLES")
        for example in command.examples { page.example(example.description, example.line) }
        page.section("EXIT STATUS")
        page.paragraph("0 for success. See `linkd(1)` for the other codes.")
        page.section("SEE ALSO")
        page.paragraph("`linkd(1)`")
        return page.text
    }

    /// Returns the page of the program, with all commands in short.
    static func overview(_ commands: [CommandDeclaration]) -> String {
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
        add(CommandDeclaration.program, to: &page)
        page.part("Flags of every command")
        add(CommandDeclaration.common, to: &page)
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
            for example in command.examples.prefix(1) { page.example(example.description, example.line) }
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

    private static func add(_ flags: [FlagDeclaration], to page: inout Roff) {
        for flag in flags { page.entry(flag.names, value: flag.valueName, flag.description) }
    }
}

extension Roff {
    /// Appends a setting, with its variable and its bounds.
    fileprivate mutating func setting(_ row: SettingRow) {
        let flag = FlagDeclaration(setting: row)
        let bounds = row.bounds.isEmpty ? "" : " Bounds: \(row.bounds)."
        entry(flag.names, value: flag.valueName, "\(flag.description)\(bounds) Variable: \(row.variable).")
    }
}
