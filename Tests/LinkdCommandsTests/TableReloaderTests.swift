internal import Foundation
internal import LinkCoordinator
internal import StrictJSON
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import DispatchWorker
@testable internal import LinkdCommands

/// A directory with the files of tables.
struct TableFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "tables-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    /// The text of a small table.
    static func text(_ id: String, version: Int, application: String? = nil) -> String {
        """
        { "schemaVersion": 1,
          "table": { "id": "\(id)", "version": "\(version)", "applications": ["\(application ?? id)"] },
          "link": { "schemes": ["\(id)"], "host": "segment" },
          "routes": [ { "id": "all", "match": "/{r*}", "to": { "root": true } } ] }
        """
    }

    /// Returns the path of a file.
    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Replaces a file by renaming another one.
    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: url.appending(path: name), options: .atomic)
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}

@Suite("A worker loads its tables again")
struct TableReloaderTests {
    private let folder: TableFolder
    private let collected = CollectedLog()

    init() throws { folder = try TableFolder() }

    private func reloader(_ names: String...) throws -> TableReloader {
        try TableReloader(TableFiles(named: names.map(folder.path)), log: collected.log) { 0 }
    }

    private func events() throws -> [String] {
        try collected.close().compactMap { $0["event"]?.string }
    }

    @Test("Other contents are served, and a table that has not changed stays the same object")
    func replaced() throws {
        defer { folder.remove() }
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("b.json", TableFolder.text("b", version: 1))
        let reloader = try reloader("a.json", "b.json")
        let before = reloader.served.current()
        reloader.reload(.signal)
        #expect(reloader.served.number == 0)
        try folder.write("b.json", TableFolder.text("b", version: 2))
        reloader.reload(.signal)
        let after = reloader.served.current()
        #expect(after.number == 1 && after.entries.map(\.version) == ["1", "2"])
        #expect(after.tables.tables[0].compiled === before.tables.tables[0].compiled)
        #expect(after.entries[0] == before.entries[0])
        #expect(after.entries.map(\.hash) == after.tables.tables.map(\.hash))
        let lines = try collected.close()
        #expect(lines.compactMap { $0["event"]?.string } == ["table.loaded", "tables.unchanged", "tables.reloaded"])
        #expect(lines.last?["tables"]?.array?.compactMap(\.string) == after.identities)
        #expect(lines.last?["trigger"]?.string == "signal")
    }

    @Test(
        "Refused files change nothing, are logged with their places, and mark the tables as fallbacks until corrected",
        arguments: [
            (#"{ "schemaVersion": 1, "rutes": [] }"#, "table.refused", "is refused"),
            (TableFolder.text("b", version: 2, application: "a"), "table.refused", "both serve the application `a`"),
            ("", "table.refused", "is refused"), (nil, "tables.kept", "cannot be read"),
        ] as [(String?, String, String)])
    func kept(text: String?, event: String, reason: String) throws {
        defer { folder.remove() }
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("b.json", TableFolder.text("b", version: 1))
        let reloader = try reloader("a.json", "b.json")
        let before = reloader.served.current()
        if let text {
            try folder.write("b.json", text)
        } else {
            try FileManager.default.removeItem(atPath: folder.path("b.json"))
        }
        try folder.write("a.json", TableFolder.text("a", version: 2))
        reloader.reload(.signal)
        #expect(reloader.served.number == 0 && reloader.served.counters.refusals == 1)
        #expect(reloader.served.current().tables.tables.map(\.hash) == before.tables.tables.map(\.hash))
        #expect(reloader.served.current().entries.map(\.isFallback) == [true, true])
        try folder.write("a.json", TableFolder.text("a", version: 1))
        reloader.reload(.signal)
        #expect(reloader.served.current().entries.map(\.isFallback) == [false, true])
        try folder.write("b.json", TableFolder.text("b", version: 1))
        reloader.reload(.signal)
        #expect(reloader.served.number == 0)
        #expect(reloader.served.current().entries.map(\.isFallback) == [false, false])
        let lines = try collected.close()
        #expect(lines.contains { $0["event"]?.string == event && $0["level"]?.string == "error" })
        let line = try #require(lines.first { $0["event"]?.string == "tables.kept" })
        #expect(line["reason"]?.string?.contains(reason) == true, "\(line["reason"]?.string ?? "")")
        #expect(line["tables"]?.array?.compactMap(\.string) == before.identities)
        #expect(line["advice"]?.string?.isEmpty == false)
    }

    @Test("After 200 reloads, only the newest tables are in memory")
    func memory() throws {
        defer { folder.remove() }
        try folder.write("a.json", TableFolder.text("a", version: 0))
        let reloader = try reloader("a.json")
        var processor = RecordProcessor(tables: reloader.served)
        final class Weak {
            weak var table: CompiledTable?
        }
        var tables: [Weak] = []
        for version in 1...200 {
            let weak = Weak()
            weak.table = reloader.served.current().tables.tables[0].compiled
            tables.append(weak)
            try folder.write("a.json", TableFolder.text("a", version: version))
            reloader.reload(.signal)
            #expect(processor.refresh() == version)
        }
        #expect(tables.allSatisfy { $0.table == nil })
        #expect(reloader.served.counters.reloads == 200)
        #expect(try events().contains("tables.reloaded"))
    }

    @Test("The thread answers a request")
    func thread() async throws {
        defer { folder.remove() }
        try folder.write("a.json", TableFolder.text("a", version: 1))
        let count = RequestCount()
        let reloader = try TableReloader(
            TableFiles(named: [folder.path("a.json")]), log: collected.log, requests: { count.value })
        reloader.start()
        try folder.write("a.json", TableFolder.text("a", version: 2))
        count.add()
        let served = reloader.served
        #expect(try await onThread { becomesTrue(withinSeconds: 60) { served.number == 1 } })
        reloader.stop()
    }

    private final class RequestCount: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.wrappingAdd(1, ordering: .relaxed) }
    }
}
