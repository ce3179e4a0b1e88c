/// `linkd completions`: prints a completion script for a shell.
enum CompletionsCommand {
    static let command = Command(
        path: ["completions"],
        summary: "Print a completion script for a shell",
        discussion: [
            "The script completes commands, flags, and the values that are known: words, files, and directories. It "
                + "does not run linkd. Print it again after an update.",
            "bash: add `source <(linkd completions bash)` to ~/.bashrc. zsh: add `source <(linkd completions zsh)` to "
                + "~/.zshrc, after `compinit`. fish: write the script to ~/.config/fish/completions/linkd.fish.",
        ],
        operands: OperandDeclaration(
            name: Shell.allCases.map(\.rawValue).joined(separator: "|"), help: "The shell.", count: 1...1),
        examples: [
            CommandExample(
                line: "source <(linkd completions bash)", description: "Completes commands in this bash."),
            CommandExample(
                line: "linkd completions fish > ~/.config/fish/completions/linkd.fish",
                description: "Completes commands in every new fish."),
        ],
        run: run)

    /// A shell with a completion script.
    enum Shell: String, CaseIterable {
        case bash, zsh, fish

        /// Returns the script for the commands of a model.
        func script(_ model: CompletionModel) -> String {
            switch self {
            case .bash: BashCompletion.script(model)
            case .zsh: ZshCompletion.script(model)
            case .fish: FishCompletion.script(model)
            }
        }
    }

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        guard let shell = Shell(rawValue: call.operands[0]) else {
            throw CommandFailure(
                .usage, "there is no completion script for this shell",
                advice: "use " + Shell.allCases.map { "`linkd completions \($0.rawValue)`" }.joined(separator: " or "))
        }
        call.console.out.write(shell.script(CompletionModel(call.commands)))
        return .success
    }
}
