internal import Testing

@testable internal import LinkdCommands

/// The exit codes and last lines of the built program.
@Suite struct ExitCodeTests {
    @Test(
        "Every wrong invocation without a broker has an exit code and advice",
        arguments: [
            (["frobnicate"], 64, "exit 64 (usage): there is no command `frobnicate`"),
            (["produce", "--topik", "x"], 64, "`linkd produce` has no flag --topik. Next: use --topic."),
            (["inspect"], 64, "no broker is specified"),
            (["topics"], 64, "`linkd topics create` or `linkd topics check`"),
            (
                ["produce", "-b", "127.0.0.1:1", "--start-timeout", "1s"], 69,
                "no broker of 127.0.0.1:1 answered within 1s"
            ),
            (["inspect", "-b", "127.0.0.1:1", "--start-timeout", "1s"], 69, "exit 69 (no broker)"),
            (
                ["topics", "check", "-b", "127.0.0.1:1", "--start-timeout", "1s"], 69,
                "127.0.0.1:1 refused the connection. Next: check that the broker runs"
            ),
            (
                ["topics", "check", "-b", "nosuchhost.invalid:1", "--start-timeout", "1s"], 69,
                "Failed to resolve 'nosuchhost.invalid'. Next: check the name in --bootstrap"
            ),
            (
                ["topics", "create", "-b", "h:1", "-X", "acks=maybe"], 64,
                "librdkafka refuses its configuration from flag -X"
            ),
            (["config", "--config", "/no/such.json"], 78, "cannot be read"),
        ])
    func withoutBroker(arguments: [String], code: Int32, message: String) throws {
        let result = try LinkdProcess.run(arguments)
        #expect(result.code == code, "\(result.err)")
        #expect(result.err.contains(message), "\(result.err)")
        #expect(result.err.split(separator: "\n").last?.hasPrefix("exit \(code) (") == true, "\(result.err)")
        #expect(result.out == "")
    }

    @Test("A variable that is not a setting ends with exit code 78")
    func environment() throws {
        let result = try LinkdProcess.run(["config"], environment: ["LINKD_LANE": "2"])
        #expect(result.code == 78)
        #expect(result.err.contains("set LINKD_LANES instead"))
    }

    @Test("The version includes that of librdkafka")
    func version() throws {
        let result = try LinkdProcess.run(["--version"])
        #expect(result.code == 0)
        #expect(result.out.hasPrefix("linkd \(LinkdVersion.text) (librdkafka "))
    }

    @Test("A command line without a command prints the help and ends with exit code 64")
    func nothing() throws {
        let result = try LinkdProcess.run([])
        #expect(result.code == 64)
        #expect(result.out.contains("Start with `linkd demo`"))
    }

    @Test("A shipped file that is not found ends with exit code 78 and all searched directories")
    func shippedFiles() {
        let files = ShippedFiles(environment: ["LINKD_HOME": "/a"], executable: "/b/bin/linkd", directory: "/c")
        let error = #expect(throws: CommandFailure.self) { try files.path("routes") }
        #expect(error?.code == .configuration)
        for location in ["LINKD_HOME /a", "/b/share/linkd", "/c/config"] {
            #expect(error?.reason.contains(location) == true, "\(error?.reason ?? "")")
        }
    }
}
