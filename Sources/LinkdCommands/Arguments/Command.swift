/// A command: what it is called and takes, and what it does.
struct Command: Sendable {
    /// What it is called and takes.
    let declaration: CommandDeclaration
    /// Does it.
    let run: @Sendable (Invocation) throws(CommandFailure) -> ExitCode

    /// Makes a command.
    init(
        path: [String], summary: String, discussion: [String] = [], flags: [FlagDeclaration] = [],
        settings: CommandSet = [], operands: OperandDeclaration? = nil, examples: [CommandExample],
        run: @escaping @Sendable (Invocation) throws(CommandFailure) -> ExitCode
    ) {
        declaration = CommandDeclaration(
            path: path, summary: summary, discussion: discussion, flags: flags, settings: settings, operands: operands,
            examples: examples)
        self.run = run
    }
}
