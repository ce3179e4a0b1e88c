@testable internal import LinkdCommands

/// The result of a command line that ran inside the test.
struct CommandResult {
    var code: Int32
    var out: String
    var err: String
}

/// Runs a command line with the given environment.
func linkd(_ arguments: String..., environment: [String: String] = [:]) -> CommandResult {
    linkd(arguments, environment: environment)
}

/// Runs a command line, given as a list, with the given environment.
func linkd(_ arguments: [String], environment: [String: String] = [:]) -> CommandResult {
    let console = Console(
        out: Channel(collecting: Style(enabled: false)), err: Channel(collecting: Style(enabled: false)))
    let code = Linkd.run(arguments: arguments, environment: environment, console: console)
    return CommandResult(code: code.rawValue, out: console.out.text, err: console.err.text)
}
