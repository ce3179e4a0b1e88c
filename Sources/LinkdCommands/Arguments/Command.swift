internal import KafkaClient
internal import LinkCoordinator
internal import RouteTools

/// A command: its declaration, and the function that runs it.
struct Command: Sendable {
    /// The words that select the command, for example `topics create`.
    let path: [String]
    /// A one-line summary.
    let summary: String
    /// Paragraphs of further explanation in the help text.
    var discussion: [String] = []
    /// The flags that only this command has.
    var flags: [Flag] = []
    /// The settings that this command accepts as flags.
    var settings: CommandSet = []
    /// The operands, or nil if the command accepts none.
    var operands: Operands?
    /// The names of the flags in the short help, or empty for the first ones.
    var main: [String] = []
    /// The examples in the help text, at least one: command lines to copy, and their results.
    let examples: KeyValuePairs<String, String>
    /// Runs the command and returns the exit code of the process.
    let run: @Sendable (Invocation) throws(CommandFailure) -> ExitCode

    /// The words that select the command, joined by spaces.
    var name: String { path.joined(separator: " ") }

    /// The operands in the usage line, with a leading space, or an empty text.
    var operandUsage: String {
        guard let operands else { return "" }
        let bounds = operands.count
        // A name of several words has one for each operand.
        let names = operands.name.split(separator: " ").count
        let several = bounds.upperBound > names && bounds.upperBound > bounds.lowerBound ? "…" : ""
        return bounds.lowerBound == 0 ? " [\(operands.name)\(several)]" : " \(operands.name)\(several)"
    }

    /// The rows of the settings table that this command accepts as flags.
    var rows: [SettingRow] {
        settings.isEmpty ? [] : SettingsTable.rows.filter { !$0.commands.isDisjoint(with: settings) }
    }

    /// A Boolean value that indicates whether the command reads settings.
    var readsSettings: Bool { !settings.isEmpty }

    /// All flags: the command's own, the flags of its settings, and the common ones.
    var allFlags: [Flag] {
        flags + rows.map(Flag.init(setting:)) + (readsSettings ? [Self.config] : []) + Self.common
    }

    /// The flags in the short help.
    var mainFlags: [Flag] {
        guard main.isEmpty else {
            return main.compactMap { name in allFlags.first { $0.names.contains(name) } }
        }
        let settings = rows.map(Flag.init(setting:))
        return
            (settings.filter { $0.names.contains("--bootstrap") } + flags
            + settings.filter { !$0.names.contains("--bootstrap") })
    }

    /// Returns the command with the longest path that the words begin with.
    static func find(_ words: [String], among commands: [Command]) -> Command? {
        commands.filter { words.starts(with: $0.path) }.max { $0.path.count < $1.path.count }
    }

    /// The flag that names the settings file.
    static let config = Flag(
        "--config", .file, default: "LINKD_CONFIG",
        "Settings file, in JSON. Flags and environment variables override it.")

    /// The flags of the program without a command.
    static let program: [Flag] = [
        Flag("--version", or: "-V", "Show the versions of linkd and librdkafka."),
        Flag("--help", or: "-h", "Show this help. `linkd COMMAND --help` shows the help of a command."),
    ]

    /// The flags that every command accepts.
    static let common: [Flag] = [
        Flag(
            "--color", .choice(ColorChoice.allCases.map(\.rawValue)), default: "auto",
            "When to use color. auto uses color on a terminal unless NO_COLOR is set."),
        Flag("--quiet", or: "-q", "Print results and errors only."),
        Flag("--help", or: "-h", "Show this help. `-h` shows the main flags only."),
    ]
}

/// A command line that was checked against the declaration of its command.
struct ParsedArguments: Sendable {
    /// The values of the command's own and common flags, by the first name without dashes.
    private(set) var values: [String: SettingValue] = [:]
    /// The texts of the flags of settings, by the name of the setting.
    private(set) var settings: [String: SettingTexts] = [:]
    /// The operands, which follow the flags.
    private(set) var operands: [String] = []

    /// A Boolean value that indicates whether the help was asked for with `-h` only, which is shorter.
    private(set) var wantsShortHelp = false

    private var texts: [String: (declaration: Flag, texts: [String])] = [:]

    /// Parses the arguments that follow the words of the command.
    init(_ arguments: some Sequence<String>, of command: Command) throws(CommandFailure) {
        var rest = Array(arguments)[...]
        var flagsEnded = false
        while let argument = rest.popFirst() {
            if flagsEnded || argument == "-" || !argument.hasPrefix("-") {
                operands.append(argument)
            } else if argument == "--" {
                flagsEnded = true
            } else {
                try parseFlag(argument, &rest, command)
            }
        }
        if texts["help"] != nil {
            values["help"] = .boolean(true)
            return
        }
        for (name, given) in texts.sorted(by: { $0.key < $1.key }) { try storeValue(name, given, command) }
        try checkOperands(command)
    }

    private mutating func parseFlag(
        _ argument: String, _ rest: inout ArraySlice<String>, _ command: Command
    ) throws(CommandFailure) {
        let (name, attached) = Self.parts(argument)
        guard let flag = command.allFlags.first(where: { $0.names.contains(name) }) else {
            throw Self.unknown(name, command)
        }
        let key = Self.key(flag)
        if texts[key] != nil, !flag.repeats, !flag.isSwitch {
            throw CommandFailure(.usage, "flag \(name) is given twice", advice: "pass it once")
        }
        let value: String
        if let attached {
            value = attached
        } else if flag.isSwitch {
            value = "true"
        } else if let next = rest.first, !command.allFlags.contains(where: { $0.names.contains(next) }) {
            value = next
            rest = rest.dropFirst()
        } else {
            throw CommandFailure(
                .usage, "flag \(name) has no value", advice: "pass \(flag.type.expectation), as in \(name) VALUE")
        }
        if key == "help" { wantsShortHelp = name == "-h" && (texts[key] == nil || wantsShortHelp) }
        texts[key, default: (flag, [])].texts.append(value)
    }

    /// Splits `--name=value` and `-xvalue` into name and value.
    ///
    /// An argument of any other form is only a name.
    private static func parts(_ argument: String) -> (name: String, value: String?) {
        if argument.hasPrefix("--") {
            guard let sign = argument.firstIndex(of: "=") else { return (argument, nil) }
            return (String(argument[..<sign]), String(argument[argument.index(after: sign)...]))
        }
        let name = String(argument.prefix(2))
        return (name, argument.count > 2 ? String(argument.dropFirst(2)) : nil)
    }

    private static func key(_ flag: Flag) -> String {
        String(flag.names[0].drop { $0 == "-" })
    }

    private mutating func storeValue(
        _ name: String, _ given: (declaration: Flag, texts: [String]), _ command: Command
    ) throws(CommandFailure) {
        let flag = given.declaration
        if let row = command.rows.first(where: { $0.flags == flag.names }) {
            settings[row.name] = SettingTexts(texts: given.texts, splitting: true, source: .flag(flag.names[0]))
            return
        }
        let texts = flag.repeats ? given.texts : Array(given.texts.suffix(1))
        guard let value = flag.type.parse(texts, splitting: false) else {
            let shown = Escaping.visible(DisplayWidth.cut(texts.joined(separator: ","), to: 80))
            throw CommandFailure(
                .usage, "`\(shown)` is not a valid value for flag \(flag.names[0])",
                advice: flag.advice ?? "pass \(flag.type.expectation)")
        }
        values[name] = value
    }

    private func checkOperands(_ command: Command) throws(CommandFailure) {
        let inputs = texts.values.flatMap { $0.declaration.type.isFile ? $0.texts : [] } + operands
        guard inputs.count(where: { $0 == "-" }) <= 1 else {
            throw CommandFailure(
                .usage, "standard input is given twice, and can be read once", advice: "specify a file for one of them")
        }
        let allowed = command.operands?.count ?? 0...0
        if operands.count > allowed.upperBound {
            let extra = Escaping.visible(operands[allowed.upperBound])
            throw CommandFailure(
                .usage, "`linkd \(command.name)` does not accept the argument `\(extra)`",
                advice: "remove it, or see `linkd \(command.name) --help` for the arguments")
        }
        if operands.count < allowed.lowerBound {
            throw CommandFailure(
                .usage, "`linkd \(command.name)` needs the argument \(command.operands?.name ?? "")",
                advice: "see `linkd \(command.name) --help` for the arguments")
        }
    }

    private static func unknown(_ name: String, _ command: Command) -> CommandFailure {
        let nearest = NearestName.of(name, among: command.allFlags.flatMap(\.names).filter { $0.hasPrefix("--") })
        return CommandFailure(
            .usage, "`linkd \(command.name)` has no flag \(Escaping.visible(name))",
            advice: nearest.map { "use \($0)" } ?? "see `linkd \(command.name) --help` for its flags")
    }
}

/// One invocation of a command: its arguments, environment, and console.
struct Invocation {
    /// The parsed command line.
    let arguments: ParsedArguments
    /// The environment variables of the process.
    let environment: [String: String]
    /// The console for results and messages.
    let console: Console
    /// The words of the command line that follow the command.
    var words: [String] = []
    /// The declarations of all commands, for the commands that print them.
    var commands: [Command] = []

    /// Returns the effective settings.
    func settings() throws(CommandFailure) -> Settings {
        var file: (path: String, source: SettingSource)?
        if let path = text("config") {
            file = (path, .flag("--config"))
        } else if let path = environment["LINKD_CONFIG"], !path.isEmpty {
            file = (path, .environment("LINKD_CONFIG"))
        }
        return try Settings(
            flags: arguments.settings, environment: environment, configFile: file,
            isKnownProperty: { KnownProperties.named($0) != nil })
    }

    /// Returns a Boolean value that indicates whether a switch is on.
    func isOn(_ flag: String) -> Bool { arguments.values[flag] == .boolean(true) }

    /// Returns the text of a flag, or nil if the flag was not given.
    func text(_ flag: String) -> String? {
        if case .text(let text) = arguments.values[flag] { return text }
        return nil
    }

    /// Returns the number of a flag (a count, bytes, or milliseconds), or nil if the flag was not given.
    func number(_ flag: String) -> Int64? {
        switch arguments.values[flag] {
        case .integer(let number), .size(let number), .duration(let number): number
        default: nil
        }
    }

    /// Returns the items of a flag, which are empty if the flag was not given.
    func list(_ flag: String) -> [String] {
        if case .list(let items) = arguments.values[flag] { return items }
        return []
    }

    /// Returns the `key=value` items of a flag, which are empty if the flag was not given.
    func pairs(_ flag: String) -> [KeyValue] {
        if case .pairs(let pairs) = arguments.values[flag] { return pairs }
        return []
    }

    /// Throws a failure with exit code 64 if standard input is one of these files, although it is read for something
    /// else.
    func reserveStandardInput(for use: String, _ files: [String]) throws(CommandFailure) {
        guard files.contains("-") else { return }
        throw CommandFailure(
            .usage, "standard input cannot be both the table and \(use)", advice: "specify a file for one of them")
    }

    /// The operands, which follow the flags.
    var operands: [String] { arguments.operands }

    /// A Boolean value that indicates whether the command prints its results as JSON.
    var json: Bool { isOn("json") }
}
