internal import ByteStorage
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// Texts that people type: times, names with errors, standard input, and requests for help.
@Suite struct CommandLineTests {
    /// 2026-11-23T16:00:00Z.
    private static let now: Int64 = 1_795_449_600_000

    @Test(
        "Times of day, words, and sums of durations are times",
        arguments: [
            ("yesterday", "2026-11-22T00:00:00.000Z"), ("today", "2026-11-23T00:00:00.000Z"),
            ("now", "2026-11-23T16:00:00.000Z"), ("15:30", "2026-11-23T15:30:00.000Z"),
            ("16:30", "2026-11-22T16:30:00.000Z"), ("16:00:00", "2026-11-23T16:00:00.000Z"),
            ("1d2h", "2026-11-22T14:00:00.000Z"), ("1h30m", "2026-11-23T14:30:00.000Z"),
            ("90m", "2026-11-23T14:30:00.000Z"),
        ])
    func times(text: String, time: String) throws {
        let parsed = try #require(Timestamps.parse(text, now: Self.now))
        #expect(UTCDateTime.text(milliseconds: parsed) == time)
        let local = try #require(Timestamps.parse(text, now: Self.now, local: true))
        #expect(abs(local - parsed) <= 86_400_000)
    }

    @Test(
        "Other texts are no times",
        arguments: ["", "2h1d", "1h1h", "1d2", "24:00", "7:30", "tomorrow", "1d 2h", "99999999999999999999d", "16:30Z"])
    func noTimes(text: String) {
        #expect(Timestamps.parse(text, now: Self.now) == nil)
        let result = linkd("inspect", "--since", text)
        #expect(result.code == 64)
        #expect(result.err.contains("16:30, or yesterday, or a duration before now such as 1d2h"), "\(result.err)")
    }

    @Test("An end before the start chooses no record, and is refused", arguments: [["inspect"], ["dlq", "list"]])
    func endBeforeStart(command: [String]) {
        let result = linkd(command + ["-b", "127.0.0.1:1", "--since", "1h", "--until", "2h"])
        #expect(result.code == 64)
        #expect(result.err.contains("--until is before --since"), "\(result.err)")
    }

    @Test("A wrong --offset is told with its form", arguments: ["x", "", "0", "0:x", "1200:"])
    func offset(text: String) {
        let result = linkd("inspect", "-b", "127.0.0.1:1", "--offset", text)
        #expect(result.code == 64)
        #expect(result.err.contains("expected a partition and an offset such as 0:1200"), "\(result.err)")
        #expect(!result.err.contains("1..1000 texts"))
    }

    @Test(
        "An unknown command of a group is told with those that exist, and none that does the opposite",
        arguments: [
            (["topics", "delete"], "see the commands that exist: `linkd topics create`, `linkd topics check`."),
            (
                ["routes", "init"],
                "see the commands that exist: `linkd routes new`, `linkd routes import`, `linkd routes check`, "
            ),
            (["topics", "craete"], "Next: use `linkd topics create`."),
            (["routes", "lits"], "Next: use `linkd routes list`."),
        ])
    func unknownCommands(words: [String], advice: String) {
        let result = linkd(words)
        #expect(result.code == 64)
        #expect(result.err.contains(advice), "\(result.err)")
    }

    @Test(
        "A misspelled member of --device is named, and so is a value that is no fact",
        arguments: [
            (#"{"ap":"6.1.0"}"#, "`ap` is not a member of a device. Next: write `app`"),
            (#"{"platfrom":"ios"}"#, "write `platform`"), (#"{"zzzzzz":1}"#, "use id, platform, app, os, "),
            (#"{"os":"eighteen"}"#, "`os` is `eighteen`, which is not a version. Next: pass one such as \"6.1.0\""),
            (#"{"app":6}"#, "`app` cannot be read. Next: pass a text"), (#"{"claims":"session"}"#, "a list of texts"),
        ])
    func deviceMembers(json: String, message: String) {
        let result = linkd("resolve", "shop:///p/new", "--device", json)
        #expect(result.code == 64)
        #expect(result.err.contains(message), "\(result.err)")
    }

    @Test("A reason that no record can have is told, with the nearest one")
    func reasons() {
        for command in [["inspect"], ["dlq", "list"]] {
            let result = linkd(command + ["-b", "127.0.0.1:1", "--start-timeout", "1s", "--reason", "no_rout"])
            #expect(result.err.contains("has the reason `no_rout`; did you mean `no_route`?"), "\(result.err)")
            let known = linkd(command + ["-b", "127.0.0.1:1", "--start-timeout", "1s", "--reason", "bad_json"])
            #expect(!known.err.contains("--reason"), "\(known.err)")
        }
        #expect(KnownNames.reasons.contains("no_route") && KnownNames.reasons.contains("bad_json"))
    }

    @Test("A route that no decision had is told with the nearest one that was read")
    func routes() {
        var seen = SeenRoutes()
        #expect(seen.text("x") == "--route: no decision that was read has the route `x`; none has a route")
        for route in ["product", "order", "product"] {
            Array(route.utf8).withUnsafeBufferPointer { seen.add(ByteView($0)) }
        }
        #expect(seen.text("prodct").hasSuffix("has the route `prodct`; did you mean `product`?"))
        #expect(seen.text("zzzzzz").hasSuffix("the routes are `order`, `product`"))
    }

    private static let table = Checkout.root.appending(path: "config/routes/shop.json").path

    @Test(
        "A table can be standard input",
        arguments: [
            ["routes", "check", "-"], ["routes", "list", "-"],
            ["routes", "diff", "-", table], ["resolve", "--table", "-", "shop:///p/new"],
            ["routes", "docs", "-"], ["routes", "graph", "-"],
        ])
    func tableFromInput(arguments: [String]) throws {
        let json = try String(contentsOfFile: Self.table, encoding: .utf8)
        let result = try LinkdProcess.run(
            arguments, input: json, environment: ["LINKD_HOME": Checkout.root.path + "/config"])
        #expect(result.code == 0, "\(result.err)")
        #expect(!result.out.isEmpty)
    }

    @Test(
        "Standard input is read once, and a worker reads files",
        arguments: [
            (["routes", "diff", "-", "-"], "standard input is given twice"),
            (["routes", "diff", "-", "a.json", "--traffic", "-"], "standard input is given twice"),
            (["resolve", "--table", "-"], "cannot be both the table and the links"),
            (["produce", "--dry-run", "--check", "-"], "cannot be both the table and the events"),
            (["routes", "coverage", "-"], "cannot be both the table and the decisions"),
            (["worker", "-b", "127.0.0.1:1", "--table", "-"], "a table cannot be standard input"),
        ])
    func inputTwice(arguments: [String], message: String) throws {
        let result = try LinkdProcess.run(
            arguments, environment: ["LINKD_HOME": Checkout.root.path + "/config"])
        #expect(result.code == 64, "\(result.err)")
        #expect((result.err + result.out).contains(message), "\(result.err)")
    }

    @Test("A comparison with traffic shows its progress on a terminal, and nothing elsewhere")
    func trafficProgress() {
        let links = String(repeating: "https://shop.example/p/new\n", count: 200)
        withTemporaryFile(links) { path in
            let arguments = ["routes", "diff", Self.table, Self.table, "--traffic", path]
            let environment = ["LINKD_HOME": Checkout.root.path + "/config"]
            let console = Console(
                out: Channel(collecting: Style(enabled: false)),
                err: Channel(collecting: Style(enabled: false), isTerminal: true))
            #expect(Linkd.run(arguments: arguments, environment: environment, console: console) == .success)
            #expect(console.err.text.contains("compared 64 lines, 32 %"), "\(console.err.text)")
            #expect(console.err.text.hasSuffix("\r\u{1B}[K"))
            #expect(linkd(arguments, environment: environment).err.isEmpty)
        }
    }

    @Test("-h is one screen with an example, --help is everything", arguments: CommandIndex.all.map(\.name))
    func shortHelp(name: String) {
        let words = name.split(separator: " ").map(String.init)
        let (short, long) = (linkd(words + ["-h"]), linkd(words + ["--help"]))
        #expect(short.code == 0)
        let lines = short.out.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24)
        #expect(short.out.contains("Usage: linkd \(name)") && short.out.contains("\nExample:\n  "))
        #expect(short.out.contains("`linkd \(name) --help` shows all"))
        #expect(!lines.contains { $0.count > 100 && !$0.hasPrefix("  ") && !$0.contains("linkd ") })
        #expect(linkd(words + ["-h", "--help"]).out == long.out)
        #expect(linkd(words + ["-h", "-h"]).out == short.out)
    }

    @Test("Every flag that a short help names exists")
    func mainFlags() {
        for command in CommandIndex.all {
            #expect(command.main.allSatisfy { name in command.allFlags.contains { $0.names.contains(name) } })
        }
    }

    @Test(
        "An event that is cut is told with the place",
        arguments: [
            (#"{"link":"#, "the text ends inside a value at /link"),
            ("{", "the text ends inside a value at line 1, column 2"),
            (#"{"link":7}"#, "at /link"),
        ])
    func place(event: String, message: String) {
        let environment = ["LINKD_HOME": Checkout.root.path + "/config"]
        let result = linkd(["resolve", event], environment: environment)
        #expect(result.code == 65)
        #expect(result.out.contains(message), "\(result.out)")
        #expect(!result.out.contains(" at \n"))
        withTemporaryFile(event + "\n") { path in
            let sent = linkd(["produce", "--dry-run", path], environment: environment)
            #expect(sent.err.contains(event == "{" ? "at line 1, column 2" : "at /link"), "\(sent.err)")
        }
    }
}
