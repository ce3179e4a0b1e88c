/// The declaration of a flag.
///
/// The parser, the help texts, and the suggestions for misspelled flags use it.
struct Flag: Sendable {
    /// The names of the flag.
    ///
    /// Help texts and errors show the first one.
    let names: [String]
    /// The type of the value.
    ///
    /// A flag of type `.boolean` needs no value.
    let type: ValueType
    /// The default as shown in the help text, or nil for none.
    let defaultText: String?
    /// A Boolean value that indicates whether the flag can be repeated.
    let repeats: Bool
    /// The placeholder for the value in the help text, or nil for the one of the type.
    let placeholder: String?
    /// A sentence that describes the effect of the flag.
    let help: String
    /// The advice after a value that is not valid, or nil for the one of the type.
    var advice: String?

    /// Creates a flag with a value.
    init(
        _ name: String, or other: String? = nil, _ type: ValueType, default defaultText: String? = nil,
        repeats: Bool = false, placeholder: String? = nil, _ help: String, advice: String? = nil
    ) {
        names = [name] + [other].compactMap(\.self)
        self.type = type
        self.defaultText = defaultText
        self.repeats = repeats
        self.placeholder = placeholder
        self.help = help
        self.advice = advice
    }

    /// Creates a flag without a value.
    init(_ name: String, or other: String? = nil, _ help: String) { self.init(name, or: other, .boolean, help) }

    /// Creates the flag of a setting.
    init(setting row: SettingRow) {
        names = row.flags
        type = row.type
        defaultText = row.defaultText
        repeats = row.type.isList
        placeholder = nil
        help = row.help
    }

    /// A Boolean value that indicates whether the flag needs no value.
    var isSwitch: Bool {
        if case .boolean = type { return true }
        return false
    }

    /// The placeholder for the value in the help text, or nil if the flag needs no value.
    var valueName: String? { isSwitch ? nil : placeholder ?? type.placeholder }

    /// The effect, the repetition, and the default, as shown in the help text.
    var description: String {
        let isSplit = SettingsTable.rows.contains { $0.flags == names }
        let repetition = isSplit ? " Repeat the flag, or separate values with commas." : " Can be repeated."
        return help + (repeats ? repetition : "") + (defaultText.map { " (default: \($0))" } ?? "")
    }
}

/// The declaration of the operands, which follow the flags.
struct Operands: Sendable {
    /// The name in the usage line, for example `FILE`.
    let name: String
    /// A sentence that describes the operands.
    let help: String
    /// The allowed number of operands.
    let count: ClosedRange<Int>
}

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
