/// All commands, in the order of the help.
enum CommandIndex {
    /// The declarations.
    static let all: [CommandDeclaration] = [
        DemoCommand.declaration, WorkerCommand.declaration, ProduceCommand.declaration, InspectCommand.declaration,
        ResolveCommand.declaration, RoutesCheckCommand.declaration, RoutesListCommand.declaration,
        TopicsCreateCommand.declaration, TopicsCheckCommand.declaration, ConfigCommand.declaration,
        HelpCommand.declaration,
    ]

    /// The command that the first words name: the one with the most words.
    static func find(_ words: [String]) -> CommandDeclaration? {
        all.filter { words.starts(with: $0.path) }.max { $0.path.count < $1.path.count }
    }
}
