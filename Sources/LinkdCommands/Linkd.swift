internal import CPlatform
internal import KafkaClient
internal import LinkCoordinator
internal import RouteTools

/// The program, which selects the command that the arguments name, runs it, and reports a failure.
package enum Linkd {
    /// Runs the command line of this process and ends the process.
    package static func main() -> Never {
        // Otherwise the log would be written into the first file or connection that this process opens.
        linkd_open_standard_files()
        let console = Console.standard()
        let arguments = Array(CommandLine.arguments.dropFirst())
        var code = run(arguments: arguments, environment: Platform.environment, console: console)
        do throws(CommandFailure) {
            try console.out.finish()
        } catch {
            if code == .success {
                console.printFailure(error)
                code = error.code
            }
        }
        console.flush()
        Platform.end(code.rawValue)
    }

    /// Runs one command line with the given console and environment, and returns the exit code.
    static func run(arguments: [String], environment: [String: String], console: Console) -> ExitCode {
        console.apply(.auto, environment: environment)
        do throws(CommandFailure) {
            return try dispatch(arguments, environment, console)
        } catch {
            console.printFailure(error)
            return error.code
        }
    }

    private static func dispatch(
        _ arguments: [String], _ environment: [String: String], _ console: Console
    ) throws(CommandFailure) -> ExitCode {
        let words = Array(arguments.prefix { !$0.hasPrefix("-") }.prefix(2))
        guard let first = arguments.first else {
            console.out.write(HelpText(console.out).overview(CommandIndex.all, path: []))
            return .usage
        }
        if first == "--help" || first == "-h" {
            return try dispatch(["help"] + arguments.dropFirst(), environment, console)
        }
        if first == "--version" || first == "-V" {
            console.out.line("linkd \(LinkdVersion.text) (librdkafka \(LibraryInfo.versionText))")
            return .success
        }
        guard let command = Command.find(words, among: CommandIndex.all + CommandIndex.hidden) else {
            return try group(arguments, words, console)
        }
        let rest = Array(arguments.dropFirst(command.path.count))
        let parsed: ParsedArguments
        do throws(CommandFailure) {
            parsed = try ParsedArguments(rest, of: command)
        } catch {
            guard command.path == WorkerCommand.command.path else { throw error }
            return try WorkerCommand.report(error, words: rest, environment: environment, console)
        }
        if case .text(let color) = parsed.values["color"], let choice = ColorChoice(rawValue: color) {
            console.apply(choice, environment: environment)
        }
        console.quiet = parsed.values["quiet"] == .boolean(true)
        if parsed.values["help"] != nil {
            let help = HelpText(console.out)
            console.out.write(parsed.wantsShortHelp ? help.short(of: command) : help.of(command))
            return .success
        }
        let invocation = Invocation(
            arguments: parsed, environment: environment, console: console, words: rest,
            commands: CommandIndex.all)
        return try command.run(invocation)
    }

    /// Prints the help of a group of commands, such as `topics`, or throws a failure for an unknown command.
    private static func group(
        _ arguments: [String], _ words: [String], _ console: Console
    ) throws(CommandFailure) -> ExitCode {
        let known = CommandIndex.all
        if let first = words.first, known.contains(where: { $0.path.count > 1 && $0.path[0] == first }) {
            let asksHelp = arguments.contains("--help") || arguments.contains("-h")
            if words.count == 1, asksHelp {
                console.out.write(HelpText(console.out).overview(known, path: [first]))
                return .success
            }
            let inside = known.filter { $0.path[0] == first }
            let names = inside.map { "`linkd \($0.name)`" }
            guard words.count > 1 else {
                throw CommandFailure(
                    .usage, "`linkd \(first)` needs a subcommand", advice: "use " + names.joined(separator: " or "))
            }
            if words == ["routes", "explain"] {
                throw CommandFailure(
                    .usage, "`linkd routes explain` is gone",
                    advice: "use `linkd resolve --explain --table TABLE LINK`, which says the same")
            }
            // The names of a group share their first word, so only the last words are compared.
            let nearest = NearestName.of(words[1], among: inside.map { $0.path[1] })
            throw CommandFailure(
                .usage, "there is no command `\(Escaping.visible("linkd " + words.joined(separator: " ")))`",
                advice: nearest.map { "use `linkd \(first) \($0)`" }
                    ?? "see the commands that exist: " + names.joined(separator: ", "))
        }
        let typed = words.first ?? arguments[0]
        let nearest = NearestName.of(typed, among: Set(known.map { $0.path[0] }).sorted())
        throw CommandFailure(
            .usage, "there is no command `\(Escaping.visible(typed))`",
            advice: (typed == "version" ? "--version" : nearest).map { "use `linkd \($0)`" }
                ?? "see `linkd --help` for all commands")
    }
}

/// The list of commands, in the order of the help text.
enum CommandIndex {
    /// All commands.
    static let all: [Command] = [
        DemoCommand.command, WorkerCommand.command, ProduceCommand.command, InspectCommand.command,
        ConsoleCommand.command,
        DeadLettersListCommand.command, DeadLettersReplayCommand.command, VerifyCommand.command, RecallCommand.command,
        ResolveCommand.command, LinkCommand.command, ForecastCommand.command, BisectCommand.command,
        RoutesNewCommand.command, RoutesImportCommand.command,
        RoutesCheckCommand.command, RoutesListCommand.command, RoutesGraphCommand.command,
        RoutesDocsCommand.command, RoutesExportCommand.command,
        RoutesCoverageCommand.command, RoutesDiffCommand.command, RoutesProveCommand.command,
        VendorsCheckCommand.command, VendorsListCommand.command,
        ShortLinksBuildCommand.command, ShortLinksCheckCommand.command, ShortLinksLookCommand.command,
        TablesListCommand.command, TablesPruneCommand.command,
        TopicsCreateCommand.command, TopicsCheckCommand.command, DoctorCommand.command,
        ConfigCommand.command, CompletionsCommand.command, ManualCommand.command, HelpCommand.command,
    ]

    /// The commands that only `linkd` itself starts, and that no help text names.
    static let hidden: [Command] = [TryRecordCommand.command]
}
