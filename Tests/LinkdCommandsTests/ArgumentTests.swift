internal import Testing

@testable internal import LinkdCommands

@Suite struct ArgumentTests {
    private static let command = Command(
        path: ["try"], summary: "Try",
        flags: [
            Flag("--topic", or: "-t", .topic, "A topic."),
            Flag("--count", .integer(0...9), "A count."),
            Flag("--header", .pairs(count: 0...2), repeats: true, "Headers."),
            Flag("--raw", "A switch."),
        ],
        settings: .worker, operands: Operands(name: "FILE", help: "A file.", count: 0...2),
        examples: ["linkd try": "Tries."], run: { _ in .success })

    private static func parse(_ arguments: [String]) throws(CommandFailure) -> ParsedArguments {
        try ParsedArguments(arguments, of: command)
    }

    @Test("A value follows a space, an equals sign, or a short flag")
    func values() throws {
        for arguments in [["--topic", "a"], ["--topic=a"], ["-t", "a"], ["-ta"]] {
            #expect(try Self.parse(arguments).values["topic"] == .text("a"))
        }
        #expect(try Self.parse(["--raw"]).values["raw"] == .boolean(true))
        #expect(try Self.parse(["--raw=false"]).values["raw"] == .boolean(false))
        let pairs = try Self.parse(["--header", "a=1,2", "--header", "b="]).values["header"]
        #expect(pairs == .pairs([KeyValue(key: "a", value: "1,2"), KeyValue(key: "b", value: "")]))
    }

    @Test("Operands can be anywhere, every argument after -- is an operand, and - is an operand")
    func operands() throws {
        #expect(try Self.parse(["x", "--raw", "y"]).operands == ["x", "y"])
        #expect(try Self.parse(["--", "--raw", "-"]).operands == ["--raw", "-"])
        #expect(try Self.parse(["-"]).operands == ["-"])
    }

    @Test("Settings are stored as texts with their flag as the source")
    func settings() throws {
        let parsed = try Self.parse(["-b", "a:1", "--bootstrap", "b:1"])
        #expect(parsed.settings["bootstrap"]?.texts == ["a:1", "b:1"])
        #expect(parsed.settings["bootstrap"]?.source == .flag("--bootstrap"))
    }

    @Test(
        "A wrong command line ends with exit code 64 and advice",
        arguments: [
            (["--topik", "x"], "use --topic"), (["--nothing-like-it"], "for its flags"), (["-z"], "for its flags"),
            (["--topic"], "has no value"), (["--topic", "--raw"], "has no value"),
            (["--count", "x"], "an integer in 0..9"),
            (["--count", "10"], "0..9"), (["--raw=maybe"], "true or false"),
            (["--topic", "a", "--topic", "b"], "twice"),
            (["a", "b", "c"], "does not accept the argument `c`"), (["--topic", "a b"], "1..249"),
            (["--header", "novalue"], "key=value"), (["--color", "sometimes"], "auto, always, never"),
        ])
    func invalid(arguments: [String], message: String) {
        let error = #expect(throws: CommandFailure.self) { try Self.parse(arguments) }
        #expect(error?.code == .usage)
        #expect(error?.line.contains(message) == true, "\(error?.line ?? "")")
    }

    @Test(
        "An unknown command suggests the most similar one",
        arguments: [
            (["confg"], 64, "use `linkd config`"), (["frobnicate"], 64, "see `linkd --help` for all commands"),
            (["help", "cnfig"], 64, "use `linkd help config`"),
        ])
    func commands(arguments: [String], code: Int, message: String) {
        let result = linkd(arguments)
        #expect(Int(result.code) == code)
        #expect(result.err.contains(message), "\(result.err)")
    }

    @Test("--help has precedence over all errors")
    func helpWins() {
        let result = linkd("config", "--lanes", "0", "--help")
        #expect(result.code == 0)
        #expect(result.out.contains("Usage: linkd config"))
    }

    @Test("Every flag of a command is unique, and every command has an example that parses")
    func declarations() throws {
        for command in CommandIndex.all {
            let names = command.allFlags.flatMap(\.names)
            #expect(Set(names).count == names.count, "\(command.name): \(names)")
            #expect(!command.examples.isEmpty, "\(command.name)")
            #expect(!command.summary.hasSuffix("."), "\(command.name)")
            for flag in command.allFlags { #expect(flag.help.hasSuffix("."), "\(command.name) \(flag.names)") }
        }
    }
}
