@testable internal import LinkdCommands

/// What a command line gave, run inside the test.
struct CommandResult {
    var code: Int32
    var out: String
    var err: String
}

/// Runs a command line with an environment of its own.
func linkd(_ arguments: String..., environment: [String: String] = [:]) -> CommandResult {
    let console = Console(
        out: Channel(collecting: Style(enabled: false)), err: Channel(collecting: Style(enabled: false)))
    let code = Linkd.run(arguments: arguments, environment: environment, console: console)
    return CommandResult(code: code.rawValue, out: console.out.text, err: console.err.text)
}
