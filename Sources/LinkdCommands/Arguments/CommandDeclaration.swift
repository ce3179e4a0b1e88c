/// A flag of one command, as data: parsing, help and suggestions come from it.
struct FlagDeclaration: Sendable {
    /// The names, the first is the one to show and to ask for.
    let names: [String]
    /// What its value may be; `.boolean` needs none.
    let type: ValueType
    /// The default in words, when there is one.
    let defaultWords: String?
    /// Whether it may be given several times.
    let repeats: Bool
    /// What stands for the value in the help, when the type's own word says too little.
    let placeholder: String?
    /// What it does, in a sentence.
    let help: String

    /// Makes a flag.
    init(
        _ names: String..., type: ValueType, default defaultWords: String? = nil, repeats: Bool = false,
        placeholder: String? = nil, _ help: String
    ) {
        self.names = names
        self.type = type
        self.defaultWords = defaultWords
        self.repeats = repeats
        self.placeholder = placeholder
        self.help = help
    }

    /// Makes the flag of a setting.
    init(setting row: SettingRow) {
        names = row.flags
        type = row.type
        defaultWords = row.defaultWords
        repeats = row.type.isList
        placeholder = nil
        help = row.help
    }

    /// Whether it stands alone.
    var isSwitch: Bool {
        if case .boolean = type { return true }
        return false
    }
}

/// What stands behind the flags.
struct OperandDeclaration: Sendable {
    /// For the usage line, for example `FILE`.
    let name: String
    /// What it is, in a sentence.
    let help: String
    /// How many there may be.
    let count: ClosedRange<Int>
}

/// A line to copy, and what it does.
struct CommandExample: Sendable {
    /// The command line.
    let line: String
    /// What it does.
    let words: String
}

/// One command, as data.
struct CommandDeclaration: Sendable {
    /// The words that call it, for example `topics create`.
    let path: [String]
    /// What it does, in one line.
    let summary: String
    /// What else one must know, in paragraphs.
    var discussion: [String] = []
    /// Flags of its own.
    var flags: [FlagDeclaration] = []
    /// Which rows of the settings table it takes as flags.
    var settings: CommandSet = []
    /// What stands behind the flags, if anything may.
    var operands: OperandDeclaration?
    /// At least one.
    let examples: [CommandExample]

    /// The words that call it, in one text.
    var name: String { path.joined(separator: " ") }

    /// The rows of the settings table that it takes as flags.
    var rows: [SettingRow] {
        settings.isEmpty ? [] : SettingsTable.rows.filter { !$0.commands.isDisjoint(with: settings) }
    }

    /// Whether it reads settings at all.
    var readsSettings: Bool { !settings.isEmpty }

    /// All flags: its own, its settings', and those that every command has.
    var allFlags: [FlagDeclaration] {
        flags + rows.map(FlagDeclaration.init(setting:)) + (readsSettings ? [Self.config] : []) + Self.common
    }

    /// The command that the first words name: the one with the most words.
    static func find(_ words: [String], among commands: [CommandDeclaration]) -> CommandDeclaration? {
        commands.filter { words.starts(with: $0.path) }.max { $0.path.count < $1.path.count }
    }

    /// Names the settings file.
    static let config = FlagDeclaration(
        "--config", type: .file, default: "LINKD_CONFIG", "Settings file, JSON; flags and environment go before it.")

    /// The flags of every command.
    static let common: [FlagDeclaration] = [
        FlagDeclaration(
            "--color", type: .choice(ColorChoice.allCases.map(\.rawValue)), default: "auto",
            "When to colour; auto colours a terminal unless NO_COLOR is set."),
        FlagDeclaration("--quiet", "-q", type: .boolean, "Print results and errors only."),
        FlagDeclaration("--help", "-h", type: .boolean, "Show this help."),
    ]
}
