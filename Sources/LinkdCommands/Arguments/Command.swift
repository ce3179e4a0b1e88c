/// A command: its declaration, and the function that runs it.
struct Command: Sendable {
    /// The name, flags, settings, and operands of the command.
    let declaration: CommandDeclaration
    /// Runs the command and returns the exit code of the process.
    let run: @Sendable (Invocation) throws(CommandFailure) -> ExitCode

    /// Creates a command.
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
