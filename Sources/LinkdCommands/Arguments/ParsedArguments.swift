internal import RouteTools
internal import LinkCoordinator

/// A command line that was checked against the declaration of its command.
struct ParsedArguments: Sendable {
    /// The values of the command's own and common flags, by the first name without dashes.
    private(set) var values: [String: SettingValue] = [:]
    /// The texts of the flags of settings, by the name of the setting.
    private(set) var settings: [String: SettingTexts] = [:]
    /// The operands, which follow the flags.
    private(set) var operands: [String] = []

    private var texts: [String: (declaration: FlagDeclaration, texts: [String])] = [:]

    /// Parses the arguments that follow the words of the command.
    init(_ arguments: some Sequence<String>, of command: CommandDeclaration) throws(CommandFailure) {
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
        _ argument: String, _ rest: inout ArraySlice<String>, _ command: CommandDeclaration
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

    private static func key(_ flag: FlagDeclaration) -> String {
        String(flag.names[0].drop { $0 == "-" })
    }

    private mutating func storeValue(
        _ name: String, _ given: (declaration: FlagDeclaration, texts: [String]), _ command: CommandDeclaration
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
                advice: "pass \(flag.type.expectation)")
        }
        values[name] = value
    }

    private func checkOperands(_ command: CommandDeclaration) throws(CommandFailure) {
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

    private static func unknown(_ name: String, _ command: CommandDeclaration) -> CommandFailure {
        let nearest = NearestName.of(name, among: command.allFlags.flatMap(\.names).filter { $0.hasPrefix("--") })
        return CommandFailure(
            .usage, "`linkd \(command.name)` has no flag \(Escaping.visible(name))",
            advice: nearest.map { "use \($0)" } ?? "see `linkd \(command.name) --help` for its flags")
    }
}
