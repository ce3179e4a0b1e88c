internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct TerminalTests {
    @Test("JSON keeps its value, with terminal control as escapes")
    func jsonEscaping() {
        let text = "{\"a\":\"é漢\u{9B}31m\u{202E}\u{7F}\"}"
        #expect(TerminalControl.escaped(json: text) == #"{"a":"é漢\u009b31m\u202e\u007f"}"#)
    }

    @Test(
        "Wide characters occupy two columns, and marks none",
        arguments: [("abc", 3), ("漢字", 4), ("é", 1), ("e\u{301}", 1), ("😀", 2), ("☎️", 2), ("가", 2), ("", 0)])
    func widths(text: String, columns: Int) { #expect(DisplayWidth.width(of: text) == columns) }

    @Test("A text is cut to a number of columns, never inside a character")
    func cut() {
        let texts = [("abcdef", 4), ("漢字漢字", 4), ("abc", 3), ("abc", 0)]
        #expect(texts.map { DisplayWidth.cut($0, to: $1) } == ["abc…", "漢…", "abc", ""])
    }

    @Test("Columns are as wide as their widest cell")
    func table() {
        var table = TextTable([("A", .left), ("N", .right), ("Z", .left)])
        table.add(["漢字", "5", "last"])
        table.add(["b", "123", ""])
        #expect(table.lines(style: Style(enabled: false)) == ["A       N  Z", "漢字    5  last", "b     123"])
    }

    @Test(
        "Color is used on terminals, unless NO_COLOR is set",
        arguments: [
            (ColorChoice.auto, true, [:], true), (.auto, false, [:], false), (.auto, true, ["NO_COLOR": "1"], false),
            (.auto, true, ["NO_COLOR": ""], true), (.always, false, ["NO_COLOR": "1"], true),
            (.never, true, [:], false),
            (.auto, true, ["TERM": "dumb"], false),
        ] as [(ColorChoice, Bool, [String: String], Bool)])
    func color(choice: ColorChoice, terminal: Bool, environment: [String: String], expected: Bool) {
        #expect(choice.enabled(terminal: terminal, environment: environment) == expected)
    }

    @Test(
        "A command whose output cannot be written says so, and one whose reader is gone does not",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func fullDisk() throws {
        func run(_ redirection: String) throws -> (status: Int32, errors: String) {
            let result = try ChildProcess.run(
                ["/bin/sh", "-c", "trap '' PIPE; exec \"$0\" help \(redirection)", BuiltProgram.linkd],
                in: FileManager.default.temporaryDirectory, seconds: 60)
            return (result.status, result.errors)
        }
        let full = try run("> /dev/full")
        #expect(full.status == 78)
        #expect(full.errors.hasPrefix("exit 78 (configuration): the output cannot be written: "))
        #expect(try run("> /dev/null") == (0, ""))
        #expect(try run("| true").errors == "")
    }

    @Test("--color always uses color without a terminal")
    func always() {
        #expect(linkd("help", "--color", "always").out.contains("\u{1B}["))
        #expect(!linkd("help").out.contains("\u{1B}["))
    }
}
