/// The list of commands, in the order of the help text.
enum CommandIndex {
    /// All commands.
    static let all: [Command] = [
        DemoCommand.command, WorkerCommand.command, ProduceCommand.command, InspectCommand.command,
        ConsoleCommand.command,
        DeadLettersListCommand.command, DeadLettersReplayCommand.command, ResolveCommand.command,
        RoutesCheckCommand.command, RoutesListCommand.command, RoutesExplainCommand.command,
        RoutesGraphCommand.command, RoutesDocsCommand.command, RoutesExportCommand.command,
        RoutesCoverageCommand.command, RoutesDiffCommand.command, VendorsCheckCommand.command,
        VendorsListCommand.command, TopicsCreateCommand.command, TopicsCheckCommand.command, DoctorCommand.command,
        ConfigCommand.command, CompletionsCommand.command, ManualCommand.command, HelpCommand.command,
    ]

    /// The declarations of all commands.
    static let declarations: [CommandDeclaration] = all.map(\.declaration)

    /// The commands that only `linkd` itself starts, which no help text names.
    static let hidden: [Command] = [TryRecordCommand.command]
}
