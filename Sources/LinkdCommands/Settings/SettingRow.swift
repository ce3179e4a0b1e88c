/// The commands that accept a setting as a flag.
struct CommandSet: OptionSet, Sendable {
    let rawValue: Int

    static let worker = CommandSet(rawValue: 1 << 0)
    static let produce = CommandSet(rawValue: 1 << 1)
    static let inspect = CommandSet(rawValue: 1 << 2)
    static let topics = CommandSet(rawValue: 1 << 3)
    static let resolve = CommandSet(rawValue: 1 << 4)
    static let routes = CommandSet(rawValue: 1 << 5)
    static let config = CommandSet(rawValue: 1 << 6)
    static let vendors = CommandSet(rawValue: 1 << 7)
    static let diff = CommandSet(rawValue: 1 << 8)
    static let doctor = CommandSet(rawValue: 1 << 9)
    static let deadLetters = CommandSet(rawValue: 1 << 10)
    static let console = CommandSet(rawValue: 1 << 11)

    /// The commands that connect to a broker, and `config`, which shows their settings.
    static let connecting: CommandSet = [
        .worker, .produce, .inspect, .deadLetters, .topics, .doctor, .console, .config,
    ]

    /// The commands that read push messages, and those that show how they are read.
    static let reading: CommandSet = [
        .worker, .produce, .inspect, .resolve, .vendors, .diff, .console, .config,
    ]

    /// The names of the commands, for the reference.
    var names: [String] {
        let all: [(CommandSet, String)] = [
            (.worker, "worker"), (.produce, "produce"), (.inspect, "inspect"), (.topics, "topics"),
            (.resolve, "resolve"), (.routes, "routes"), (.vendors, "vendors"), (.diff, "routes diff"),
            (.doctor, "doctor"), (.deadLetters, "dlq"), (.console, "console"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}

/// The default of a setting.
enum SettingDefault: Sendable {
    /// A constant value, in the form of a flag.
    case value(String)
    /// A value that depends on the machine, with its description.
    case computed(description: String, @Sendable () -> String)
    /// No value, with a description of the consequence.
    case none(description: String)
}

/// A row of the settings table.
struct SettingRow: Sendable {
    /// The name, with dots, as in the reference and, nested, in the settings file.
    let name: String
    /// The type of the value.
    let type: ValueType
    /// The default value.
    let `default`: SettingDefault
    /// The flags that set it.
    ///
    /// Help texts and errors show the first one.
    let flags: [String]
    /// The commands that accept the setting as a flag.
    let commands: CommandSet
    /// A sentence that describes the effect.
    let help: String
    /// A description of bounds that the type does not express.
    let boundsNote: String?

    /// Creates a row.
    ///
    /// Without `flags` the flag is the name with dashes for dots.
    init(
        _ name: String, _ type: ValueType, default: SettingDefault, flags: [String]? = nil, _ commands: CommandSet,
        bounds: String? = nil, _ help: String
    ) {
        self.name = name
        self.type = type
        self.default = `default`
        self.flags = flags ?? ["--" + name.replacing(".", with: "-")]
        self.commands = commands
        boundsNote = bounds
        self.help = help
    }

    /// The environment variable of the setting.
    var variable: String { "LINKD_" + name.uppercased().replacing(".", with: "_") }

    /// The default as text.
    var defaultText: String {
        switch self.default {
        case .value(let text): text
        case .computed(let words, _), .none(let words): words
        }
    }

    /// The bounds, as shown in the reference, or an empty text.
    var bounds: String {
        guard let boundsNote else { return type.bounds }
        return type.bounds.isEmpty ? boundsNote : type.bounds + "; " + boundsNote
    }
}
