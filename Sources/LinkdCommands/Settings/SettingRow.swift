/// Which commands take a setting as a flag.
struct CommandSet: OptionSet, Sendable {
    let rawValue: Int

    static let worker = CommandSet(rawValue: 1 << 0)
    static let produce = CommandSet(rawValue: 1 << 1)
    static let inspect = CommandSet(rawValue: 1 << 2)
    static let topics = CommandSet(rawValue: 1 << 3)
    static let resolve = CommandSet(rawValue: 1 << 4)
    static let routes = CommandSet(rawValue: 1 << 5)
    static let config = CommandSet(rawValue: 1 << 6)

    /// The commands that speak to a broker, and `config`, which shows what they would use.
    static let connecting: CommandSet = [.worker, .produce, .inspect, .topics, .config]

    /// The names, for the manual.
    var names: [String] {
        let all: [(CommandSet, String)] = [
            (.worker, "worker"), (.produce, "produce"), (.inspect, "inspect"), (.topics, "topics"),
            (.resolve, "resolve"), (.routes, "routes"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}

/// What a setting is when nobody sets it.
enum SettingDefault: Sendable {
    /// This value, in the form of a flag.
    case value(String)
    /// A value that depends on the machine, and the words for it.
    case computed(words: String, @Sendable () -> String)
    /// No value, and the words for what happens then.
    case none(words: String)
}

/// One row of the settings table.
struct SettingRow: Sendable {
    /// Name with dots, as it is in the manual and, nested, in the file.
    let name: String
    /// What it may be.
    let type: ValueType
    /// What it is when nobody sets it.
    let `default`: SettingDefault
    /// The flags that set it, the first is the one to show.
    let flags: [String]
    /// Commands that take it as a flag.
    let commands: CommandSet
    /// What it does, in a sentence.
    let help: String
    /// Bounds in words, where the type's own do not say all.
    let boundsNote: String?

    /// Makes a row; without `flags` the flag is the name with dashes.
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

    /// The environment variable that sets it.
    var variable: String { "LINKD_" + name.uppercased().replacing(".", with: "_") }

    /// The default in words.
    var defaultWords: String {
        switch self.default {
        case .value(let text): text
        case .computed(let words, _), .none(let words): words
        }
    }

    /// The bounds in words, or nothing.
    var bounds: String {
        guard let boundsNote else { return type.bounds }
        return type.bounds.isEmpty ? boundsNote : type.bounds + "; " + boundsNote
    }
}
