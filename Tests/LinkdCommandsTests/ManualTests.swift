internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The manual pages, rendered by man-db.
@Suite struct ManualTests {
    @Test("man renders every page without a warning", .enabled(if: isInstalled("man"), "man is not installed"))
    func rendering() throws {
        try withPages { folder, pages in
            for page in pages {
                let result = try man(folder.appending(path: page), 80)
                #expect(result.status == 0 && result.errors.isEmpty, "\(page): \(result.errors)")
                #expect(result.output.split(separator: "\n").count > 20)
            }
        }
    }

    @Test(
        "A rendered page has every flag, text, and example of its command",
        .enabled(if: isInstalled("man"), "man is not installed"))
    func content() throws {
        try withPages { folder, _ in
            for command in CommandIndex.all {
                let text = try man(folder.appending(path: ManualPage.name(command.path) + ".1"), 1000).output
                let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                for flag in command.allFlags {
                    let label = flag.names.joined(separator: ", ") + (flag.valueName.map { " " + $0 } ?? "")
                    #expect(lines.contains { $0 == label || $0.hasPrefix(label + " ") }, "\(command.name): \(label)")
                    #expect(text.contains(plain(flag.help)), "\(command.name): \(flag.help)")
                }
                for paragraph in command.discussion { #expect(text.contains(plain(paragraph))) }
                for example in command.examples { #expect(lines.contains(example.key), "\(example.key)") }
            }
        }
    }

    @Test("Indexes find the names of the pages", .enabled(if: isInstalled("lexgrog"), "lexgrog is not installed"))
    func names() throws {
        try withPages { folder, pages in
            let result = try ChildProcess.run(["lexgrog"] + pages, in: folder)
            #expect(result.status == 0, "\(result.output)")
            for command in CommandIndex.all {
                let name = ManualPage.name(command.path)
                #expect(result.output.contains("\(name).1: \"\(name) - \(command.summary)\""))
            }
        }
    }

    @Test("The overview lists every command, and no hidden one")
    func overview() {
        let page = linkd("manual")
        #expect(page.code == 0 && page.err.isEmpty)
        for command in CommandIndex.all {
            #expect(page.out.contains(Roff.escaped("linkd \(command.name)")))
            #expect(page.out.contains(Roff.escaped(ManualPage.name(command.path) + "(1)")))
        }
        for command in CommandIndex.hidden { #expect(!page.out.contains(Roff.escaped(command.name))) }
    }

    @Test("The overview has every exit code")
    func exitCodes() {
        let unknown = ExitCode(rawValue: 255).name
        let codes = ManualPage.exitCodes.flatMap { $0.codes.map(\.rawValue) }
        #expect(codes == (0...255).filter { ExitCode(rawValue: $0).name != unknown })
    }

    @Test("A page is printed for the words of a command, as it is written to a directory")
    func oneCommand() throws {
        let page = linkd("manual", "topics", "create")
        #expect(page.code == 0 && page.out.hasPrefix(".TH \"LINKD\\-TOPICS\\-CREATE\" \"1\""))
        try withPages { folder, _ in
            let file = try String(contentsOf: folder.appending(path: "linkd-topics-create.1"), encoding: .utf8)
            #expect(file == page.out)
        }
    }

    @Test(
        "Wrong uses end with the code of their cause",
        arguments: [
            (["manual", "inspct"], Int32(64), "`linkd manual inspect`"),
            (["manual", "routes"], 64, "there is no command `routes`"),
            (["manual", "inspect", "--directory", "."], 64, "remove the command"),
            (["manual", "--directory", "/nowhere/at/all"], 78, "cannot be written"),
        ])
    func failures(arguments: [String], code: Int32, message: String) {
        let result = linkd(arguments)
        #expect(result.code == code && result.out.isEmpty)
        #expect(result.err.contains(message), "\(result.err)")
    }

    @Test(
        "A page is ASCII, and no text becomes a request or an escape sequence",
        arguments: [
            (".SH x", #"\&.SH x"#), ("'br", #"\(aqbr"#), (#"a\fB"#, #"a\efB"#), ("--flag", #"\-\-flag"#),
            ("“…”", #"\[u201C]\[u2026]\[u201D]"#), ("😀", #"\[u1F600]"#), ("a\n.b", "a .b"),
            ("`x` ^~\"", #"\(gax\(ga \(ha\(ti\(dq"#),
        ])
    func escaping(text: String, expected: String) { #expect(Roff.escaped(text) == expected) }

    @Test("Pairs of backquotes are bold, and a single one stays")
    func marks() {
        #expect(Roff.marked("use `-q` or `x`.") == #"use \fB\-q\fR or \fBx\fR."#)
        #expect(Roff.marked(".a `b`.") == #"\&.a \fBb\fR."#)
        #expect(Roff.marked("a ` b") == #"a \(ga b"#)
        #expect(Roff.marked("`.a`") == #"\fB.a\fR"#)
    }

    private func withPages(_ body: (URL, [String]) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let result = linkd("manual", "--directory", folder.url.path)
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        #expect(result.code == 0 && pages.count == CommandIndex.all.count + 1, "\(result.err)")
        try body(folder.url, pages)
    }

    private func man(_ page: URL, _ columns: Int) throws -> ChildProcess.Result {
        try ChildProcess.run(
            ["man", "--warnings=all", "-E", "UTF-8", "-l", page.path],
            environment: [
                "MANWIDTH": String(columns), "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": "", "MANROFFOPT": "",
            ])
    }

    private func plain(_ text: String) -> String { text.replacing("`", with: "") }
}
