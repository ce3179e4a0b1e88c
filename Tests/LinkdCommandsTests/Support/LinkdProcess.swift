internal import Foundation
internal import TestSupport

/// A run of the built `linkd` as a separate process.
enum LinkdProcess {
    /// Runs a command line to its end, in a directory without shipped files.
    ///
    /// A worker that is not told where they are reads no vendors, because it does not start without them.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the program's name.
    ///   - input: The standard input.
    ///   - environment: Variables in addition to PATH. Of the environment of the test, only the library path is
    ///     inherited.
    ///   - seconds: The time limit, after which the process is killed and the test fails.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], seconds: Double = 60
    ) throws -> CommandResult {
        var variables = environment.merging(["PATH": "/usr/bin:/bin"]) { first, _ in first }
        if arguments.first == "worker", environment["LINKD_HOME"] == nil {
            variables.merge(["LINKD_VENDORS": "none", "LINKD_LINK_PLATFORMS": "none"]) { first, _ in first }
        }
        variables["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        let command = ["env", "-i"] + variables.map { "\($0.key)=\($0.value)" }.sorted()
        let result = try ChildProcess.run(
            command + [BuiltProgram.linkd] + arguments, in: FileManager.default.temporaryDirectory, input: input,
            seconds: seconds)
        return CommandResult(code: result.status, out: result.output, err: result.errors)
    }
}
