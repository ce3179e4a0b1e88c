internal import Foundation
import LinkDecider
internal import LinkCoordinator
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import DispatchWorker
@testable internal import LinkdCommands

@Suite("A worker loads a candidate with its tables")
struct CanaryFileTests {
    private let folder: TableFolder
    private let collected = CollectedLog()

    init() throws { folder = try TableFolder() }

    private var canary: CanaryFile { CanaryFile(path: folder.path("next.json"), percent: 1_250, compare: 100) }

    private func reloader(_ names: String..., archive: TableArchive? = nil) throws -> TableReloader {
        try TableReloader(
            TableFiles(named: names.map(folder.path), canary: canary), archive: archive, log: collected.log
        ) { 0 }
    }

    @Test("The candidate belongs to the table with its id, is reloaded with the tables, and may become one of them")
    func reload() throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("b.json", TableFolder.text("b", version: 1))
        try folder.write("next.json", TableFolder.text("b", version: 2))
        let reloader = try reloader("a.json", "b.json")
        let start = reloader.served.current()
        let first = try #require(start.canary)
        #expect(first.base.identity == reloader.served.current().tables.tables[1].identity)
        #expect(first.percent == 1_250 && first.compare == 100 && start.canaryEntry?.path == folder.path("next.json"))
        reloader.reload(.signal)
        #expect(reloader.served.number == 0)
        try folder.write("next.json", TableFolder.text("b", version: 3))
        reloader.reload(.signal)
        let second = try #require(reloader.served.current().canary)
        let entry = reloader.served.current().canaryEntry
        #expect(reloader.served.number == 1 && second.candidate.version == "3" && second.base.version == "1")
        try folder.write("b.json", TableFolder.text("b", version: 3))
        reloader.reload(.signal)
        let third = try #require(reloader.served.current().canary)
        #expect(third.base.compiled === second.candidate.compiled && third.candidate.version == "3")
        #expect(reloader.served.current().canaryEntry == entry)
        let lines = try collected.close()
        #expect(
            lines.compactMap { $0["event"]?.string } == [
                "table.loaded", "tables.unchanged", "tables.reloaded", "tables.reloaded",
            ])
        #expect(
            lines.compactMap { $0["canary"]?.string } == [
                first.candidate.identity, first.candidate.identity, second.candidate.identity,
                third.candidate.identity,
            ])
    }

    @Test(
        "A refused candidate changes nothing, and one whose id is not served is refused",
        arguments: [
            ("{}", "is refused"), (TableFolder.text("c", version: 1), "has the id `c`, which no served table has"),
            (nil, "cannot be read"),
        ])
    func refused(text: String?, reason: String) throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("next.json", TableFolder.text("a", version: 2))
        let reloader = try reloader("a.json")
        let before = reloader.served.current()
        if let text { try folder.write("next.json", text) } else { try folder.remove("next.json") }
        try folder.write("a.json", TableFolder.text("a", version: 7))
        reloader.reload(.signal)
        #expect(reloader.served.number == 0)
        #expect(reloader.served.current().canary?.candidate.hash == before.canary?.candidate.hash)
        #expect(reloader.served.current().tables.tables.map(\.version) == ["1"])
        let line = try #require(try collected.close().last)
        #expect(line["event"]?.string == "tables.kept")
        #expect(line["reason"]?.string?.contains(reason) == true, "\(line["reason"]?.string ?? "")")
        #expect(line["canary"]?.string == before.canary?.candidate.identity)
        let start = #expect(throws: CommandFailure.self) {
            _ = try TableReloader(
                TableFiles(named: [folder.path("a.json")], canary: canary), log: CollectedLog().log
            ) { 0 }
        }
        #expect(start?.code == (text == nil ? .configuration : .badData))
    }

    @Test("A candidate for two served tables is refused")
    func ambiguous() throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("b.json", TableFolder.text("a", version: 2, application: "b"))
        try folder.write("next.json", TableFolder.text("a", version: 3))
        let error = #expect(throws: CommandFailure.self) { _ = try reloader("a.json", "b.json") }
        #expect(error?.code == .badData && error?.reason.contains("which 2 served tables have") == true)
        _ = try collected.close()
    }

    @Test("A changed candidate is noticed like a changed table")
    func stamps() throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("next.json", TableFolder.text("a", version: 2))
        let files = TableFiles(named: [folder.path("a.json")], canary: canary)
        let before = files.stamps()
        #expect(before.map(\.path) == [folder.path("a.json"), folder.path("next.json")])
        try folder.write("next.json", TableFolder.text("a", version: 3))
        #expect(files.stamps() != before)
        #expect(try files.paths() == [folder.path("a.json")])
    }

    @Test("A candidate is kept with the tables, and a start with a refused file serves all of them again")
    func archive() throws {
        let archive = TableArchive(try StateDirectory(path: folder.path("state")))
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("next.json", TableFolder.text("a", version: 2))
        let served = try reloader("a.json", archive: archive).served.current()
        let candidate = try #require(served.canary)
        var other = try #require(served.canaryEntry)
        #expect(archive.table(hash: other.hash) != nil && archive.lastCanary() == other)
        for name in ["a.json", "next.json"] {
            let text = try String(contentsOfFile: folder.path(name), encoding: .utf8)
            try folder.write(name, "{}")
            let again = try reloader("a.json", archive: archive).served.current()
            #expect(again.canary?.candidate.hash == candidate.candidate.hash)
            #expect(again.tables.tables.map(\.hash) == served.tables.tables.map(\.hash))
            #expect(again.canary?.base.compiled === again.tables.tables.first?.compiled)
            try folder.write(name, text)
        }
        // A list without a candidate, or with that of another file, is not complete.
        try folder.write("next.json", "{}")
        #expect(archive.served(served.entries) == nil)
        #expect(throws: CommandFailure.self) { _ = try reloader("a.json", archive: archive) }
        other.path = folder.path("other.json")
        #expect(archive.served(served.entries, canary: other) == nil)
        #expect(throws: CommandFailure.self) { _ = try reloader("a.json", archive: archive) }
        _ = try collected.close()
    }
}

@Suite("`linkd routes diff --canary` reports the canary of a saved page")
struct CanaryReportTests {
    private static func page(_ edit: (inout CanaryTotals) -> Void = { _ in }) -> String {
        var snapshot = WorkerSnapshot(now: 0)
        var totals = CanaryTotals(table: "shop@8+89abcdef", base: "shop@7+01234567", percent: 1_250, compare: 100)
        (totals.decided, totals.compared) = (1_204, 88)
        totals.countDifferences(of: CanaryTotals.Route(name: "item", count: 3, witness: "link-events-2-41-0"))
        totals.countDifferences(of: CanaryTotals.Route(name: "(none)", count: 1, witness: "link-events-0-7-12"))
        totals.countDifferences(of: CanaryTotals.Route(name: "cart", count: 9, witness: "link-events-1-3-0"))
        edit(&totals)
        snapshot.canary = totals
        return StatusDocument.json(snapshot)
    }

    private static func run(_ page: String, _ flags: [String] = []) throws -> CommandResult {
        try withTemporaryFile(page) { try LinkdProcess.run(["routes", "diff", "--canary", $0] + flags) }
    }

    @Test("Differences end with exit code 1 and are reported by their number, as text and as JSON")
    func report() throws {
        let text = try Self.run(Self.page())
        #expect(text.code == 1)
        expectSnapshot(text.out + text.err, "diff-canary")
        let json = try Self.run(Self.page(), ["--json", "--fail-on", "none"])
        #expect(json.code == 0 && json.err.isEmpty)
        let document = try JSONValue.parse(Array(json.out.utf8))
        #expect(document["old"]?.string == "shop@7+01234567" && document["new"]?.string == "shop@8+89abcdef")
        let canary = try #require(document["canary"])
        #expect(canary["decided"]?.integer == Int64(1_204) && canary["different"]?.integer == Int64(13))
        #expect(canary["routes"]?.array?.compactMap { $0["route"]?.string } == ["cart", "item", "(none)"])
        #expect(canary["routes"]?.array?.first?["witness"]?.string == "link-events-1-3-0")
    }

    @Test("A canary without differences ends with exit code 0")
    func same() throws {
        let result = try Self.run(
            Self.page({ (totals: inout CanaryTotals) in (totals.routes, totals.different) = ([], 0) }),
            ["--fail-on", "any"])
        #expect(result.code == 0 && result.out.contains("0 of 88 decisions differ"), "\(result.out)\(result.err)")
    }

    @Test(
        "A page without a canary, or with members of other types, ends with exit code 65 and the place",
        arguments: [
            ("{", "expected the JSON object of `/status`: the text ends inside a value (byte 1)"),
            ("[]", "expected the JSON object of `/status`"),
            (StatusDocument.json(WorkerSnapshot(now: 0)), "the worker had no canary"),
            (page().replacing(#""decided":1204"#, with: #""decided":-1"#), "/canary/decided"),
            (page().replacing(#""compared":88"#, with: #""compared":"88""#), "/canary/compared"),
            (page().replacing(#""compared":88"#, with: #""compared":12"#), "sum up"),
            (page().replacing(#""different":13"#, with: #""different":14"#), "sum up"),
            (page().replacing(#""percent":12.5"#, with: #""percent":1e9"#), "/canary/percent"),
            (page().replacing(#""route":"item""#, with: #""route":"cart""#), "each route once"),
            (page().replacing(#""route":"item""#, with: #""route":"""#), "/canary/routes/0/route"),
            (page().replacing(#","base":"shop@7+01234567""#, with: ""), "/canary/base"),
        ])
    func invalid(page: String, place: String) throws {
        let result = try Self.run(page)
        #expect(result.code == 65 && result.err.contains(place), "\(result.err)")
        #expect(result.out.isEmpty)
    }

    @Test("Other tables, traffic, and `--fail-on breaking` are refused with it, and no table without it")
    func usage() throws {
        for flags in [["a.json", "b.json"], ["--traffic", "-"], ["--fail-on", "breaking"]] {
            #expect(try Self.run(Self.page(), flags).code == 64)
        }
        #expect(try LinkdProcess.run(["routes", "diff"]).code == 64)
        #expect(try LinkdProcess.run(["routes", "diff", "--canary", "/no/such/file"]).code == 78)
    }

    @Test("A route and a witness with control characters are printed visibly")
    func hostile() throws {
        let page = Self.page({ (totals: inout CanaryTotals) in totals.routes[0].name = "\u{1B}[31m<script>" })
        #expect(try Self.run(page).out.contains("\u{1B}") == false)
    }
}
