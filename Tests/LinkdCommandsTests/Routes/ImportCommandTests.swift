internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// `linkd routes new` and `linkd routes import`.
@Suite struct ImportCommandTests {
    private func sample(_ name: String) -> String { Checkout.root.appending(path: "config/samples/links/\(name)").path }

    @Test("routes new writes the table of the article, which passes, and its hints work")
    func new() throws {
        let page = Checkout.root.appending(
            path: "Sources/LinkCoordinator/LinkCoordinator.docc/YourFirstTable.md")
        let article = try String(contentsOf: page, encoding: .utf8)
        let printed = linkd("routes", "new")
        #expect(printed.code == 0)
        #expect(article.contains("```json\n\(printed.out)```"))
        let folder = try TemporaryFolder()
        let file = folder.path("news.json")
        let result = linkd(
            "routes", "new", "--id", "news", "--scheme", "news", "--host", "news.example", "--out", file)
        #expect(result.code == 0 && result.out.isEmpty)
        let check = linkd("routes", "check", file, "--strict")
        #expect(check.code == 0 && check.out.contains("3 routes, 5 examples passed"), "\(check)")
        let hint = try #require(result.err.split(separator: "\n").last)
        let words = hint.split(separator: " ").map { String($0).replacing("'", with: "") }
        let resolved = linkd([String](words.dropFirst()))
        #expect(resolved.code == 0 && resolved.out.contains("/shop/list/product"), "\(hint)\n\(resolved)")
        #expect(linkd("resolve", "--table", file, "https://news.example/p/7").out.contains("product"))
        for (flag, value) in [("--scheme", "a b"), ("--scheme", "https"), ("--host", "https://a.example")] {
            let refused = linkd("routes", "new", flag, value)
            #expect(refused.code == 64 && refused.err.contains("\(flag): `\(value)` is not a "), "\(refused)")
        }
    }

    @Test("--out never replaces a file without --force")
    func out() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("t.json")
        #expect(linkd("routes", "new", "--out", file).code == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        for command in [
            ["routes", "new", "--id", "b"], ["routes", "import", "--from", "manifest", sample("AndroidManifest.xml")],
        ] {
            let refused = linkd(command + ["--out", file])
            #expect(refused.code == 64 && refused.err.contains("exists") && refused.err.contains("--force"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        }
        #expect(linkd("routes", "new", "--id", "b", "--out", file, "--force").code == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) != before)
        #expect(linkd("routes", "new", "--force").code == 64)
        #expect(linkd("routes", "new", "--out", "/no/such/t.json").code == 78)
    }

    @Test("--out - is standard output, and other files that are written have another name")
    func standardOutput() throws {
        let folder = try TemporaryFolder()
        let table = linkd("routes", "new")
        let piped = linkd("routes", "new", "--out", "-")
        #expect(piped.code == 0 && piped.out == table.out && piped.err == table.err, "\(piped)")
        let imported = ["routes", "import", "--from", "manifest", sample("AndroidManifest.xml")]
        let (toOutput, without) = (linkd(imported + ["--out", "-"]), linkd(imported))
        #expect(toOutput.out == without.out && toOutput.err == without.err)
        #expect(linkd("routes", "new", "--out", "-", "--force").code == 64)
        try Data("short,long\ngo.example/a,shop://a\n".utf8).write(to: URL(filePath: folder.path("a.csv")))
        let binary = linkd("short-links", "build", folder.path("a.csv"), "--out", "-")
        #expect(binary.code == 78 && binary.out.isEmpty && binary.err.contains("- is standard output"), "\(binary)")
        #expect(!FileManager.default.fileExists(atPath: "-"))
    }

    @Test("A file that cannot be written completely is removed, and one that it would replace stays")
    func full() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("t.json")
        // No file can grow, as on a full disk.
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" routes new --out \"$@\" > /dev/null 2>&1"
        func run(_ arguments: String...) throws -> (status: Int32, left: [String]) {
            let result = try ChildProcess.run(["/bin/sh", "-c", script, BuiltProgram.linkd] + arguments)
            return (result.status, try FileManager.default.contentsOfDirectory(atPath: folder.url.path))
        }
        #expect(try run(file) == (78, []))
        try Data("old".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try run(file, "--force") == (78, ["t.json"]))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("old".utf8))
    }

    @Test("A file that is replaced keeps its mode, and a symbolic link to it stays")
    func replaced() throws {
        let folder = try TemporaryFolder()
        let (file, link) = (folder.path("t.json"), folder.path("link"))
        try Data().write(to: URL(fileURLWithPath: file))
        try #require(chmod(file, 0o604) == 0)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "t.json")
        #expect(linkd("routes", "new", "--out", link, "--force").code == 0)
        let stamp = try #require(FileStamp(of: file))
        #expect(stamp.size > 0 && stamp.mode == 0o604)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "t.json")
    }

    @Test(
        "An imported sample passes the check, with its own files too",
        arguments: [
            ("aasa", "apple-app-site-association", ["--host", "shop.example"], ["--aasa"]),
            ("manifest", "AndroidManifest.xml", [], ["--manifest"]), ("react-navigation", "linking.json", [], []),
        ])
    func samples(from: String, name: String, flags: [String], check: [String]) throws {
        let folder = try TemporaryFolder()
        let file = folder.path("t.json")
        let result = linkd(["routes", "import", "--from", from, "--out", file, sample(name)] + flags)
        #expect(result.code == 0 && result.out.isEmpty, "\(result)")
        #expect(result.err.contains("unknown: the screens") || result.err.contains("unknown: the data types"))
        let checked = linkd(["routes", "check", file] + check.flatMap { [$0, sample(name)] })
        #expect(checked.code == 0 && checked.out.contains("passed"), "\(checked)")
        #expect(!checked.out.contains("never_handed"), "\(checked)")
        let printed = linkd(["routes", "import", "--from", from, sample(name)] + flags)
        #expect(printed.out == (try? String(contentsOfFile: file, encoding: .utf8)))
    }

    @Test(
        "A file that cannot be imported is refused with its place",
        arguments: [
            (["--from", "aasa", "-"], "", 64, "--host"), (["-"], "", 64, "--from"),
            (["--from", "manifest", "--host", "a.example", "-"], "", 64, "--from aasa"),
            (["--from", "manifest"], "<!DOCTYPE x><manifest/>", 65, ":1:1: a document type"),
            (["--from", "manifest"], "<manifest/>", 65, "no link to import"),
            (["--from", "aasa", "--host", "a.example"], "{\n\"applinks\": []}", 65, ":2:13: expected an object"),
            (["--from", "react-navigation"], #"{"prefixes": ["a://"]}"#, 65, "`config`"),
            (["--from", "react-navigation"], #"{"config": {"screens": {}}}"#, 65, "`prefixes`"),
            (
                ["--from", "react-navigation"], #"{"prefixes": ["a://"], "config": {"screens": {"A": "a{b"}}}"#, 65,
                ":1:52: leaves out: the path `a{b`"
            ),
            (
                ["--from", "react-navigation"], #"{"prefixes": ["a://"], "config": {"screens": {"A": ":x([.])"}}}"#,
                65, "no link to import"
            ),
            (
                ["--from", "aasa", "--host", "a.example"],
                #"{"applinks":{"details":[{"appIDs":["ABCDE12345.b.c"],"components":[{"/":"/a","exclude":true}]}]}}"#,
                65, "no link to import"
            ),
        ] as [([String], String, Int32, String)])
    func refused(flags: [String], text: String, code: Int32, message: String) {
        withTemporaryFile(text) { path in
            let result = linkd(["routes", "import"] + flags + (flags.contains("-") ? [] : [path]))
            #expect(result.code == code && result.err.contains(message), "\(result)")
        }
    }
}
