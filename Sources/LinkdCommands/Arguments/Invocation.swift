internal import KafkaClient

/// One call of a command: what was given, and where to print.
struct Invocation {
    /// What the command line says.
    let arguments: ParsedArguments
    /// The environment of the process.
    let environment: [String: String]
    /// Where to print.
    let console: Console

    /// The effective settings.
    func settings() throws(CommandFailure) -> Settings {
        var file: (path: String, source: SettingSource)?
        if let path = text("config") {
            file = (path, .flag("--config"))
        } else if let path = environment["LINKD_CONFIG"], !path.isEmpty {
            file = (path, .environment("LINKD_CONFIG"))
        }
        return try Settings(
            flags: arguments.settings, environment: environment, configFile: file,
            knows: { KnownProperties.named($0) != nil })
    }

    /// Whether a switch is on.
    func isOn(_ flag: String) -> Bool { arguments.values[flag] == .boolean(true) }

    /// The text of a flag, if it was given.
    func text(_ flag: String) -> String? {
        if case .text(let text) = arguments.values[flag] { return text }
        return nil
    }

    /// The number of a flag, if it was given: a count, bytes, or milliseconds.
    func number(_ flag: String) -> Int64? {
        switch arguments.values[flag] {
        case .integer(let number), .size(let number), .duration(let number): number
        default: nil
        }
    }

    /// The items of a flag; none when it was not given.
    func list(_ flag: String) -> [String] {
        if case .list(let items) = arguments.values[flag] { return items }
        return []
    }

    /// The `key=value` items of a flag; none when it was not given.
    func pairs(_ flag: String) -> [KeyValue] {
        if case .pairs(let pairs) = arguments.values[flag] { return pairs }
        return []
    }

    /// What stands behind the flags.
    var operands: [String] { arguments.operands }

    /// Whether a program will read the results.
    var json: Bool { isOn("json") }
}
