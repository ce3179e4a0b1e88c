internal import Testing

@testable internal import LinkdCommands

@Suite struct ReplayCommandTests {
    @Test(
        "Only y and yes confirm a replay",
        arguments: [
            ("y\n", true), ("yes", true), (" Y \r\n", true), ("YES\n", true), ("", false), ("\n", false),
            ("n\n", false),
            ("yess\n", false), ("y y\n", false), ("\u{0}y", false),
        ])
    func answers(answer: String, expected: Bool) { #expect(ReplayJob.isYes(answer.utf8) == expected) }

    @Test(
        "Flags that are malformed or out of bounds end with exit code 64",
        arguments: [
            ["--offsets", "0"], ["--offsets", "0:2-1"], ["--offsets", "-1:1-2"], ["--max", "0"], ["--max", "10000001"],
            ["--rate", "0"], ["--cap", "-1"], ["--parking", "a b"], ["--partition", "-1"],
        ])
    func usage(flags: [String]) {
        let result = linkd(["dlq", "replay", "-b", "127.0.0.1:1", "--yes"] + flags)
        #expect(result.code == 64, "\(result.err)")
    }
}
