internal import Foundation
internal import TestSupport

/// Runs the built `linkd` as a process of its own, as a shell would.
enum LinkdProcess {
    /// Runs a command line to its end, in a directory that holds nothing that linkd ships.
    ///
    /// - Parameters:
    ///   - arguments: Behind the program's name.
    ///   - input: What standard input gives.
    ///   - environment: Besides PATH; nothing of the test's own environment is passed on.
    ///   - seconds: After which the process is ended, and the test fails.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], seconds: Double = 60
    ) throws -> CommandResult {
        let variables = environment.merging(["PATH": "/usr/bin:/bin"]) { first, _ in first }
        let command = ["env", "-i"] + variables.map { "\($0.key)=\($0.value)" }.sorted()
        let result = try ChildProcess.run(
            command + [BuiltProgram.linkd] + arguments, in: FileManager.default.temporaryDirectory, input: input,
            seconds: seconds)
        return CommandResult(code: result.status, out: result.output, err: result.errors)
    }
}
