internal import RouteTools
internal import LinkCoordinator

/// `linkd help`: prints the help of all commands, or of one.
enum HelpCommand {
    static let command = Command(
        path: ["help"],
        summary: "Show the help of all commands, or of one",
        operands: OperandDeclaration(
            name: "COMMAND", help: "The words of a command, such as `topics create`.", count: 0...2),
        examples: [
            CommandExample(line: "linkd help", description: "All commands."),
            CommandExample(
                line: "linkd help topics create", description: "One command, with its flags and examples."),
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let commands = call.commands
        let help = HelpText(call.console.out)
        if let command = CommandDeclaration.find(call.operands, among: commands),
            command.path.count == call.operands.count
        {
            call.console.out.write(help.of(command))
            return .success
        }
        let inside = commands.filter { $0.path.starts(with: call.operands) }
        guard !inside.isEmpty else {
            let typed = call.operands.joined(separator: " ")
            let nearest = NearestName.of(typed, among: commands.map(\.name))
            throw CommandFailure(
                .usage, "there is no command `\(Escaping.visible(typed))`",
                advice: nearest.map { "use `linkd help \($0)`" } ?? "see `linkd help` for all commands")
        }
        call.console.out.write(help.overview(inside, path: call.operands))
        return .success
    }
}
