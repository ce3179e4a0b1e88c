internal import KafkaClient

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
    var commands: [CommandDeclaration] = []

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

    /// The operands, which follow the flags.
    var operands: [String] { arguments.operands }

    /// A Boolean value that indicates whether the command prints its results as JSON.
    var json: Bool { isOn("json") }
}
