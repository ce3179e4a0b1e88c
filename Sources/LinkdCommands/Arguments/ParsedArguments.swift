internal import ByteStorage
internal import KafkaClient
internal import LinkCoordinator
internal import RouteTools
internal import StrictJSON

/// A command line that was checked against the declaration of its command.
struct ParsedArguments: Sendable {
    /// The values of the command's own and common flags, by the first name without dashes.
    private(set) var values: [String: SettingValue] = [:]
    /// The texts of the flags of settings, by the name of the setting.
    private(set) var settings: [String: SettingTexts] = [:]
    /// The operands, which follow the flags.
    private(set) var operands: [String] = []

    /// A Boolean value that indicates whether `-h` asked for the help, which is then shorter.
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

    /// Returns the items of a flag, or an empty array if the flag was not given.
    func list(_ flag: String) -> [String] {
        if case .list(let items) = arguments.values[flag] { return items }
        return []
    }

    /// Returns the `key=value` items of a flag, or an empty array if the flag was not given.
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

/// The flag `--device`: the facts about a device, as a JSON object.
enum DeviceFlag {
    /// Returns the object, or nil if the flag was not given.
    ///
    /// Throws a failure with exit code 64 if the value is not a JSON object, if a member is no fact about a device, or
    /// if the fact cannot have its value.
    static func object(_ text: String?) throws(CommandFailure) -> JSONValue? {
        guard let text else { return nil }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(Array(text.utf8))
        } catch {
            throw failure("flag --device, byte \(error.offset): \(error.text)")
        }
        guard let members = value.object else { throw failure("flag --device: the value is not a JSON object") }
        if let unknown = members.map(\.name).first(where: { !EventColumns.deviceMembers.contains($0) }) {
            let nearest = NearestName.of(unknown, among: EventColumns.deviceMembers)
            throw failure(
                "flag --device: `\(shown(unknown))` is not a member of a device",
                nearest.map { "write `\($0)`" } ?? "use " + EventColumns.deviceMembers.joined(separator: ", "))
        }
        let facts = DeviceFacts(value)
        if let fact = DeviceFacts.Fact.allCases.first(where: facts.unreadable.contains) {
            let form =
                switch fact {
                case .capabilities, .claims: "a list of texts, such as [\"session\"]"
                case .attributes: "an object of texts, such as {\"tier\":\"gold\"}"
                default: "a text of at most 256 bytes"
                }
            throw failure("flag --device: `\(fact.name)` cannot be read", "pass " + form)
        }
        for (name, version) in [("app", facts.app), ("os", facts.os)] {
            guard let version, !isVersion(version) else { continue }
            throw failure(
                "flag --device: `\(name)` is `\(shown(version))`, which is not a version", "pass one such as \"6.1.0\"")
        }
        return value
    }

    private static func failure(
        _ text: String, _ advice: String = "pass a JSON object such as {\"app\":\"6.1.0\"}"
    ) -> CommandFailure {
        CommandFailure(.usage, text, advice: advice)
    }

    private static func shown(_ text: String) -> String { Escaping.visible(DisplayWidth.cut(text, to: 60)) }

    private static func isVersion(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { Version(ByteView($0)) != nil }
    }
}
