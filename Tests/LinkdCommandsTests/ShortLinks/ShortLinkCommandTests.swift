internal import ByteStorage
internal import Foundation
internal import ShortLinks
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// `linkd short-links`, and the setting `short.links` of other commands.
@Suite struct ShortLinkCommandTests {
    private let folder: TemporaryFolder
    private var output: String { folder.path("short.links") }

    init() throws { folder = try TemporaryFolder() }

    /// Writes exports, and builds a file of them.
    private func build(_ exports: [String], _ flags: String...) throws -> CommandResult { try build(exports, flags) }

    private func build(_ exports: [String], _ flags: [String]) throws -> CommandResult {
        var paths: [String] = []
        for (number, text) in exports.enumerated() {
            paths.append(folder.path("\(number).csv"))
            try Data(text.utf8).write(to: URL(filePath: paths[number]))
        }
        return linkd(["short-links", "build"] + paths + ["--out", output] + flags)
    }

    private func destination(_ link: String) -> String {
        let result = linkd("short-links", "look", "--file", output, link)
        return result.code == 0 ? String(result.out.dropLast()) : "exit \(result.code)"
    }

    @Test(
        "The exports of platforms, of two columns, and of any columns are read",
        arguments: [
            (
                "firebase",
                "Short link,Deep link (link),Android package name (apn),Link name\r\n"
                    + "https://s.page.link/A1,https://shop.example/p/1,com.shop,\"a \"\"b\"\", c\"\r\n"
            ),
            ("firebase", "short_link,link,afl\nhttps://s.page.link/A1,https://shop.example/p/1,https://x.example\n"),
            ("bitly", "\u{FEFF}title,link,long_url,created\nx,s.page.link/A1,https://shop.example/p/1,2024\n"),
            ("bitly", "bitlink;long_url\ns.page.link/A1;https://shop.example/p/1\n"),
            ("branch", "url,$canonical_url,~campaign\nhttps://s.page.link/A1,https://shop.example/p/1,\n"),
            ("plain", "short,destination\n https://s.page.link/A1 , https://shop.example/p/1\n"),
            ("plain", "sep=;\r\nshort;destination\r\nhttps://s.page.link/A1;https://shop.example/p/1\r\n"),
            ("none", "sep=,\n\nhttps://s.page.link/A1,https://shop.example/p/1\n"),
            ("none", "https://s.page.link/A1,https://shop.example/p/1\n\n"),
            ("none", "\n\"https://s.page.link/A1\",\"https://shop.example/p/1\""),
            (
                "firebase",
                "Short link,Deep link (link),Social description (sd)\n"
                    + "https://s.page.link/A1,https://shop.example/p/1,\"two\nlines\"\n"
            ),
        ])
    func forms(form: String, text: String) throws {
        let result = try build([text], "--json")
        #expect(result.code == 0, "\(result.err)")
        let json = try JSONValue.parse(Array(result.out.utf8))
        #expect(json["links"]?.integer == 1 && json["formats"]?.array?.compactMap(\.string) == [form])
        #expect(destination("https://s.page.link/A1?utm_source=x") == "https://shop.example/p/1")
        let checked = linkd("short-links", "check", output, "--json")
        #expect(try JSONValue.parse(Array(checked.out.utf8))["hash"]?.string == json["hash"]?.string)
    }

    @Test("Columns can be named, and others are not guessed")
    func columns() throws {
        let text = "a,b,c\nx,go.example/1,shop://1\n"
        let refused = try build([text])
        #expect(refused.code == 65 && refused.err.contains("--columns SHORT,LONG"), "\(refused.err)")
        #expect(try build([text], "--columns", "b,c").code == 0)
        #expect(destination("https://go.example/1") == "shop://1")
        for names in ["b,d", "b,b", "b"] { #expect(try build([text], "--columns", names).code != 0, "\(names)") }
        // Two columns that could have the destinations.
        let two = try build(["Short link,Deep link (link),link\ns.page.link/1,shop://1,shop://2\n"])
        #expect(two.code == 65, "\(two.out)")
        // Each platform has its own columns in these headers.
        for header in ["Short link,Link,Long URL", "url,$canonical_url,$fallback_url"] {
            let several = try build(["\(header)\ns.page.link/1,https://shop.example/1,https://shop.example/2\n"])
            #expect(several.code == 65 && several.err.contains("--columns SHORT,LONG"), "\(several.out)")
        }
        #expect(try build([""]).code == 65)
    }

    @Test("Bad rows, conflicts, and loops have their file and line, and nothing is written")
    func problems() throws {
        #expect(try build(["short,long\ngo.example/old,shop://old\n"]).code == 0)
        let before = try Data(contentsOf: URL(filePath: output))
        let first = """
            short,long
            go.example/a,shop://a
            go.example/b,not a link
            go.example/c
            https://exämple/d,shop://d
            go.example/e,https://go.example/e
            """
        let result = try build([first, "short,long\ngo.example/f,https://go.example/g\ngo.example/a,shop://b\n"])
        #expect(result.code == 65)
        let (one, two) = (folder.path("0.csv"), folder.path("1.csv"))
        for start in [
            "\(one):3: error: ", "\(one):4: error: expected 2 cells, found 1 [bad_columns]", "\(one):5: error: ",
            "\(two):3: error: go.example/a has another destination than in \(one):2 [conflict]",
        ] { #expect(result.err.contains(start), "\(start) in \(result.err)") }
        #expect(result.err.contains("[bad_destination]") && result.err.contains("[bad_link]"))
        #expect(result.err.contains("short.links is not written: 4 problems"), "\(result.err)")
        #expect(try Data(contentsOf: URL(filePath: output)) == before)
        // The loop is found when nothing else is wrong.
        let loop = try build(
            ["short,long\ngo.example/e,https://go.example/e\ngo.example/x,bad\n"], "--skip-bad-rows")
        #expect(loop.code == 65 && loop.err.contains("0.csv:2: error: the destination of go.example/e"), "\(loop.err)")
        let loops = try build(["short,long\n" + (1...9).map { "go.example/\($0),http://go.example/\($0)\n" }.joined()])
        let lines = loops.err.components(separatedBy: "0.csv:").dropFirst().compactMap { Int($0.prefix { $0 != ":" }) }
        #expect(lines == Array(2...10), "\(loops.err)")
        #expect(try Data(contentsOf: URL(filePath: output)) == before)
        let skipped = try build(
            [first.replacing("https://go.example/e", with: "shop://e"), "short,long\ngo.example/a,shop://b\n"],
            "--skip-bad-rows", "--on-conflict", "last")
        #expect(skipped.code == 0 && skipped.out.contains("3 skipped"), "\(skipped.err)")
        #expect(destination("https://go.example/a") == "shop://b" && destination("https://go.example/e") == "shop://e")
    }

    @Test("Exports without a short link, and one in the place of the file, are refused and left as they are")
    func nothing() throws {
        #expect(try build(["short,long\ngo.example/old,shop://old\n"]).code == 0)
        for flags in [[], ["--skip-bad-rows"]] {
            let exports = ["short,long\n", "short,long\ngo.example/a,https://b.example/?a=1,2\n"]
            let result = try build(flags.isEmpty ? [exports[0]] : exports, flags)
            #expect(result.code == 65 && result.err.contains("is not written"), "\(result.err)")
            #expect(destination("https://go.example/old") == "shop://old")
        }
        let export = folder.path("0.csv")
        let before = try Data(contentsOf: URL(filePath: export))
        let result = linkd("short-links", "build", export, "--out", folder.path("./0.csv"))
        #expect(result.code == 64 && result.err.contains("is one of the exports"), "\(result.err)")
        #expect(try Data(contentsOf: URL(filePath: export)) == before)
    }

    @Test("A file that is built again keeps its mode")
    func mode() throws {
        #expect(try build(["short,long\ngo.example/a,shop://a\n"]).code == 0)
        try #require(chmod(output, 0o604) == 0)
        #expect(try build(["short,long\ngo.example/a,shop://b\n"]).code == 0)
        #expect(destination("https://go.example/a") == "shop://b" && FileStamp(of: output)?.mode == 0o604)
    }

    @Test("A quote that is not closed is never skipped, because rows after it may be a text of others")
    func quotes() throws {
        let text = "short,long,title\ngo.example/a,shop://a,\"x\ngo.example/b,shop://evil,y\n"
        let result = try build([text], "--skip-bad-rows")
        #expect(result.code == 65 && result.err.contains("0.csv:2: error: a quote is not closed"), "\(result.err)")
        #expect(!FileManager.default.fileExists(atPath: output))
    }

    @Test("Each of several links is printed with its destination, and those without one are named")
    func several() throws {
        #expect(try build(["short,long\ngo.example/a,shop://a\ngo.example/b,shop://b\n"]).code == 0)
        let links = ["https://go.example/b", "https://go.example/x", "go.example/a"]
        let result = linkd(["short-links", "look", "--file", output] + links)
        #expect(result.out == "https://go.example/b\tshop://b\ngo.example/a\tshop://a\n")
        #expect(result.code == 1 && result.err.contains("unknown: https://go.example/x"), "\(result.err)")
    }

    @Test("An export in another encoding is refused with the command that converts it")
    func encodings() throws {
        let path = folder.path("export.csv")
        func refusal(_ bytes: [UInt8]) throws -> String {
            try Data(bytes).write(to: URL(filePath: path))
            let result = linkd("short-links", "build", path, "--out", output)
            #expect(result.code == 65)
            return result.err
        }
        let wide = "short,long\ngo.example/a,shop:/a\n".data(using: .utf16LittleEndian) ?? Data()
        let utf16 = try refusal([0xFF, 0xFE] + wide)
        #expect(utf16.contains("is UTF-16. Next: convert it with `iconv -f UTF-16 -t UTF-8 "), "\(utf16)")
        #expect(try refusal([0x1F, 0x8B, 8, 0]).contains("gunzip -c"))
        let latin = try refusal("sep=,\nshort,long\ngo.example/a,shop:/caf".utf8 + [0xE9])
        #expect(latin.contains(":3: error: the row is not UTF-8; `iconv -f WINDOWS-1252"), "\(latin)")
        #expect(latin.contains("[not_utf8]"), "\(latin)")
    }

    @Test("A damaged file is found, and a file of another kind is refused")
    func damaged() throws {
        #expect(try build(["short,long\ngo.example/a,shop://a\n"]).code == 0)
        var bytes = try Data(contentsOf: URL(filePath: output))
        bytes[150] ^= 1
        try bytes.write(to: URL(filePath: output))
        // Other links of a damaged file could be unknown too, and have the destination of a shorter link.
        let look = ["look", "--file", output, "https://go.example/"]
        for arguments in [["check", output], look.dropLast() + ["go.example/a"], look, look + ["--json"]] {
            let result = linkd(["short-links"] + arguments)
            #expect(result.code == 65 && result.err.contains("is damaged. Next: build it again"), "\(result.err)")
            #expect(result.out.isEmpty)
        }
        let decided = VendorFiles.run(["resolve", "--short-links", output, "--json", "https://go.example/a"])
        #expect(decided.code == 65 && decided.err.contains("short.links: ") && decided.err.contains("is damaged"))
        try Data("short,long\n".utf8).write(to: URL(filePath: output))
        #expect(linkd("short-links", "check", output).code == 65)
        #expect(linkd("short-links", "look", "--file", folder.path("none"), "https://a.example").code == 78)
        #expect(linkd("short-links", "look", "https://a.example").code == 64)
        #expect(linkd("short-links", "build", output).code == 64)
    }

    @Test("Commands that decide take the file from the setting")
    func resolve() throws {
        #expect(try build(["short,long\nbrand.app.link/a,shop:///p/new\ngo.example/b,shop:///\n"]).code == 0)
        for link in ["https://brand.app.link/a", "https://go.example/b"] {
            let result = VendorFiles.run(["resolve", "--short-links", output, "--json", link])
            #expect(result.code == 0 && result.out.contains(#""outcome":"navigate""#), "\(result.out) \(result.err)")
            #expect(result.out.contains(#""notes":["short_link:"#), "\(result.out)")
        }
        let plain = VendorFiles.run(["resolve", "--json", "https://brand.app.link/a"])
        #expect(plain.out.contains("needs_resolution"))
        let missing = VendorFiles.run(["resolve", "--short-links", folder.path("none"), "shop:///"])
        #expect(missing.code == 78 && missing.err.contains("short.links: "), "\(missing.err)")
    }

    @Test("A worker's file is replaced by a whole one, and a damaged one is refused")
    func reload() throws {
        #expect(try build(["short,long\ngo.example/a,shop://a\n"]).code == 0)
        let collected = CollectedLog()
        let reloader = try #require(try ShortLinkReloader(path: output, log: collected.log) { 0 })
        let first = reloader.shortLinks.file
        reloader.reload()
        #expect(reloader.shortLinks.number == 0)
        #expect(try build(["short,long\ngo.example/a,shop://b\n"]).code == 0)
        reloader.reload()
        #expect(reloader.shortLinks.number == 1 && reloader.shortLinks.file !== first)
        var bytes = try Data(contentsOf: URL(filePath: output))
        bytes[150] ^= 1
        try bytes.write(to: URL(filePath: output), options: .atomic)
        reloader.reload()
        try FileManager.default.removeItem(atPath: output)
        reloader.reload()
        #expect(reloader.shortLinks.number == 1)
        let lines = try collected.close()
        #expect(
            lines.compactMap { $0["event"]?.string }
                == ["short_links.loaded", "short_links.reloaded", "short_links.kept", "short_links.kept"])
        #expect(lines.last?["hash"]?.string == reloader.shortLinks.file.hash.string)
        #expect(throws: CommandFailure.self) { try ShortLinkReloader(path: output, log: collected.log) { 0 } }
        #expect(try ShortLinkReloader(path: nil, log: collected.log) { 0 } == nil)
    }

    @Test("A file that is replaced while a worker runs is found, without a signal")
    func watched() throws {
        #expect(try build(["short,long\ngo.example/a,shop://a\n"]).code == 0)
        let collected = CollectedLog()
        let reloader = try #require(
            try ShortLinkReloader(path: output, log: collected.log, lookMilliseconds: 1) { 0 })
        reloader.start()
        defer { reloader.stop() }
        #expect(try build(["short,long\ngo.example/a,shop://b\n"]).code == 0)
        #expect(becomesTrue(withinSeconds: 60) { reloader.shortLinks.number == 1 })
    }
}
