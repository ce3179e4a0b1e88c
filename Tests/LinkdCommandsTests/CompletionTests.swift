internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The completion scripts, loaded by their shells.
@Suite struct CompletionTests {
    @Test("bash offers every flag of every command", .enabled(if: isInstalled("bash"), "bash is not installed"))
    func flagsInBash() throws { try expectFlags(.bash) }

    @Test("zsh offers every flag of every command", .enabled(if: isInstalled("zsh"), "zsh is not installed"))
    func flagsInZsh() throws { try expectFlags(.zsh) }

    @Test("fish offers every flag of every command", .enabled(if: isInstalled("fish"), "fish is not installed"))
    func flagsInFish() throws { try expectFlags(.fish) }

    @Test("bash offers commands, values, and paths", .enabled(if: isInstalled("bash"), "bash is not installed"))
    func wordsInBash() throws { try expectWords(.bash) }

    @Test("zsh offers commands, values, and paths", .enabled(if: isInstalled("zsh"), "zsh is not installed"))
    func wordsInZsh() throws { try expectWords(.zsh) }

    @Test("fish offers commands, values, and paths", .enabled(if: isInstalled("fish"), "fish is not installed"))
    func wordsInFish() throws { try expectWords(.fish) }

    @Test("zsh shows every help text as it is written", .enabled(if: isInstalled("zsh"), "zsh is not installed"))
    func helpInZsh() throws { try expectHelp(.zsh) }

    @Test("fish shows every help text as it is written", .enabled(if: isInstalled("fish"), "fish is not installed"))
    func helpInFish() throws { try expectHelp(.fish) }

    @Test(
        "A quoted text is one word, unchanged", .enabled(if: isInstalled("fish"), "fish is not installed"),
        .enabled(if: isInstalled("zsh"), "zsh is not installed"))
    func quoting() throws {
        let texts = Self.hostile + CommandIndex.all.flatMap { $0.allFlags.map(\.help) }
        for (shell, quote) in [("bash", ShellQuote.posix), ("zsh", ShellQuote.posix), ("fish", ShellQuote.fish)] {
            let script = texts.map { "printf '%s\\n' " + quote($0) + "\n" }.joined()
            let result = try ChildProcess.run([shell], input: script)
            #expect(result.output == texts.map { $0 + "\n" }.joined(), "\(shell): \(result.errors)")
        }
    }

    @Test("No script has a hidden command", arguments: CompletionsCommand.Shell.allCases)
    func hidden(shell: CompletionsCommand.Shell) {
        let result = linkd("completions", shell.rawValue)
        #expect(result.code == 0 && result.out.contains("inspect"))
        for command in CommandIndex.hidden { #expect(!result.out.contains(command.path[0])) }
    }

    @Test("An unknown shell ends with 64, and the message lists the shells")
    func unknownShell() {
        let result = linkd("completions", "tcsh")
        #expect(result.code == 64 && result.out.isEmpty)
        #expect(result.err.contains("`linkd completions fish`"))
    }

    @Test("The help of a flag is shortened to its first sentence")
    func sentences() {
        let texts = ["One.", "One. Two.", "One", "a.b is 0.5. Two."].map { Flag("--x", $0).sentence }
        #expect(texts == ["One", "One", "One", "a.b is 0.5"])
    }

    /// Lines and their candidates.
    private static let words: [(line: String, candidates: Set<String>)] = [
        ("linkd ro", ["routes"]),
        ("linkd routes c", ["check", "coverage"]),
        ("linkd routes --", ["--help"]),
        ("linkd --", ["--help", "--version"]),
        ("linkd help topics ", ["create", "check"]),
        ("linkd help v", ["vendors", "verify"]),
        ("linkd completions ", ["bash", "zsh", "fish"]),
        ("linkd inspect --outcome ", ["navigate", "external", "deferred", "none", "reject"]),
        ("linkd inspect --outcome=na", ["navigate"]),
        ("linkd routes graph --format ", ["mermaid", "dot"]),
        ("linkd produce --format=cs", ["csv"]),
        ("linkd inspect --device ", []),
        ("linkd inspect --out", ["--outcome", "--output-applications"]),
        ("linkd routes check --str", ["--strict"]),
        ("linkd resolve --table a", ["a table.json", "a folder"]),
        ("linkd resolve --table=a", ["a table.json", "a folder"]),
        ("linkd routes check a", ["a table.json", "a folder"]),
        ("linkd worker --state-dir a", ["a folder"]),
        ("linkd try", []),
    ]

    private func expectWords(_ shell: CompletionsCommand.Shell) throws {
        let found = try CompletingShell(shell, CompletionModel(CommandIndex.all))
            .candidates(Self.words.map(\.line))
        for (line, candidates) in Self.words {
            #expect(Set(try #require(found[line]).compactMap(word)) == candidates, "\(shell): \(line)")
        }
    }

    private func expectFlags(_ shell: CompletionsCommand.Shell) throws {
        let commands = CommandIndex.all
        let found = try CompletingShell(shell, CompletionModel(commands)).candidates(
            commands.map { "linkd \($0.name) -" })
        for command in commands {
            let offered = Set(try #require(found["linkd \(command.name) -"]).compactMap(word))
            #expect(offered == Set(command.allFlags.flatMap(\.names)), "\(shell): linkd \(command.name)")
        }
    }

    private func expectHelp(_ shell: CompletionsCommand.Shell) throws {
        var flags = Self.hostile.enumerated().map { Flag("--x\($0)", $1) }
        flags += Self.hostile.enumerated().map { Flag("--y\($0)", .file, repeats: true, "Also " + $1) }
        let command = Command(
            path: ["run"], summary: "It's a `test`: $x [y] \\ \"z\"", flags: flags, examples: [:],
            run: { _ in .success })
        let shown = try CompletingShell(shell, CompletionModel([command])).candidates(["linkd r", "linkd run --"])
        #expect(try #require(shown["linkd r"]).contains { $0.hasSuffix(command.summary) })
        for flag in flags {
            let line = try #require(shown["linkd run --"]).first {
                $0.hasPrefix(flag.names[0] + " ") || $0.hasPrefix(flag.names[0] + "\t")
            }
            let text = line?.trimmingCharacters(in: .whitespaces)
            #expect(text?.hasSuffix(flag.help) == true, "\(shell): \(line ?? "nothing") for \(flag.help)")
        }
    }

    /// Texts with the characters that shells interpret.
    private static let hostile = [
        "it's", "`date`", "$HOME ${x} $(date)", "a [b] c", "a: b:c", "back\\slash \\n \\'", "\"quotes\" and 'quotes'",
        "# * ? ~ & | ; < > ( ) { } ! % ^ =", "a\\", "'", "\\'", "ünïcode …",
    ]

    /// Returns the candidate without escaping, its flag, its directory, and its description, or nil for a line that is
    /// only a description.
    private func word(_ line: String) -> String? {
        guard !line.contains(" -- "), !line.hasPrefix("-- ") else { return nil }
        let candidate = line.split(separator: "\t", maxSplits: 1).first.map(String.init) ?? ""
        let value = candidate.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
        return (value.hasSuffix("/") ? String(value.dropLast()) : value).replacing("\\", with: "")
    }
}

/// Returns a Boolean value that indicates whether a program is installed, or required because all tests must run.
func isInstalled(_ program: String) -> Bool {
    ProcessInfo.processInfo.environment["LINKD_TEST_REQUIRE_BROKER"] == "1"
        || (try? ChildProcess.run([program, "--version"]).status) == 0
}
