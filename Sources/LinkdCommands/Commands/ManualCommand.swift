internal import LinkCoordinator
internal import RouteTools

/// `linkd manual`: prints the manual pages, or writes them to a directory.
enum ManualCommand {
    static let command = Command(
        path: ["manual"],
        summary: "Print a manual page, or write all of them",
        discussion: [
            "The pages are for `man`, and have the same content as the help of the commands. Without a command, the "
                + "page is the overview linkd.1."
        ],
        flags: [
            FlagDeclaration(
                "--directory", type: .directory, "Write the pages of all commands to this directory.")
        ],
        operands: OperandDeclaration(
            name: "COMMAND", help: "The words of a command, such as `topics create`.", count: 0...2),
        examples: [
            CommandExample(line: "linkd manual inspect | man -l -", description: "Shows one page."),
            CommandExample(
                line: "linkd manual --directory /usr/local/share/man/man1",
                description: "Installs all pages, such as linkd.1 and linkd-inspect.1."),
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let commands = call.commands
        if let directory = call.text("directory") {
            guard call.operands.isEmpty else {
                throw CommandFailure(
                    .usage, "--directory writes all pages, and a command is given",
                    advice: "remove the command, or remove --directory to print its page")
            }
            try write([], ManualPage.overview(commands), directory)
            for command in commands { try write(command.path, ManualPage.of(command), directory) }
            call.console.note("\(commands.count + 1) pages written to \(Escaping.visible(directory))")
            return .success
        }
        guard !call.operands.isEmpty else {
            call.console.out.write(ManualPage.overview(commands))
            return .success
        }
        guard let command = commands.first(where: { $0.path == call.operands }) else {
            let typed = call.operands.joined(separator: " ")
            let nearest = NearestName.of(typed, among: commands.map(\.name))
            throw CommandFailure(
                .usage, "there is no command `\(Escaping.visible(typed))`",
                advice: nearest.map { "use `linkd manual \($0)`" } ?? "see `linkd help` for all commands")
        }
        call.console.out.write(ManualPage.of(command))
        return .success
    }

    private static func write(_ path: [String], _ text: String, _ directory: String) throws(CommandFailure) {
        let file = directory + "/" + ManualPage.name(path) + ".1"
        guard let error = Platform.writeFile(file, Array(text.utf8)) else { return }
        throw CommandFailure(
            .configuration, "\(Escaping.visible(file)) cannot be written: \(error.text)",
            advice: "specify a directory that exists and that this user can write to")
    }
}
