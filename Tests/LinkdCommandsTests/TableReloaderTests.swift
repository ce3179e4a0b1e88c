internal import Foundation
internal import LinkCoordinator
internal import StrictJSON
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import DispatchWorker
@testable internal import LinkdCommands
import LinkDecider

/// A directory with the files of tables, which exists as long as this object.
final class TableFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "tables-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

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

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }
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

    /// An archive that refuses tables until it is told otherwise.
    private final class FakeArchive: VersionArchive {
        let isRefusing = Mutex(false)
        let stored = Mutex<[[[UInt8]]]>([])

        func store(_ version: ServedTables.Version, _ json: [[UInt8]]) throws(CommandFailure) {
            if isRefusing.withLock({ $0 }) { throw CommandFailure(.unavailable, "no broker", advice: "wait") }
            stored.withLock { $0.append(json) }
        }

        func storeFirst(_ version: ServedTables.Version, _ json: [[UInt8]]) throws(CommandFailure) {
            try store(version, json)
        }

        func keepUse() throws(CommandFailure) {}
    }

    @Test("Tables are archived before they are served, and are not served if that fails")
    func archived() throws {
        let archive = FakeArchive()
        let texts = [1, 2].map { TableFolder.text("a", version: $0) }
        try folder.write("a.json", texts[0])
        let files = TableFiles(named: [folder.path("a.json")])
        let reloader = try TableReloader(files, topic: archive, log: collected.log) { 0 }
        // The same tables are not archived again.
        #expect(reloader.reload(.signal))
        archive.isRefusing.withLock { $0 = true }
        try folder.write("a.json", texts[1])
        #expect(!reloader.reload(.file))
        #expect(reloader.served.number == 0 && reloader.served.counters.refusals == 1)
        #expect(reloader.served.current().entries.map(\.isFallback) == [true])
        archive.isRefusing.withLock { $0 = false }
        #expect(reloader.reload(.file))
        #expect(reloader.served.number == 1 && reloader.served.current().entries.map(\.version) == ["2"])
        #expect(archive.stored.withLock { $0 } == texts.map { [Array($0.utf8)] })
        archive.isRefusing.withLock { $0 = true }
        #expect(throws: CommandFailure.self) { try TableReloader(files, topic: archive, log: collected.log) { 0 } }
        let expected = ["table.loaded", "tables.unchanged", "tables.unarchived", "tables.reloaded", "table.loaded"]
        #expect(try events() == expected)
    }

    @Test("systemd sees a reload from its begin to its end, also if the files are refused")
    func systemd() throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        let name = "linkd-\(UUID().uuidString.prefix(8))"
        let receiver = try DatagramReceiver([0] + Array(name.utf8))
        let notifier = try #require(SystemdNotifier(environment: ["NOTIFY_SOCKET": "@" + name]))
        let files = TableFiles(named: [folder.path("a.json")])
        let reloader = try TableReloader(files, log: collected.log, notifier: notifier) { 0 }
        reloader.reload(.signal)
        #expect(receiver.next() == nil, "the worker is not ready before")
        notifier.ready()
        #expect(receiver.next() == "READY=1")
        for text in [TableFolder.text("a", version: 2), "{"] {
            try folder.write("a.json", text)
            let before = SystemClock.monotonicNanoseconds() / 1_000
            reloader.reload(.file)
            let begin = receiver.next()?.split(separator: "=")
            #expect(begin?.first == "RELOADING" && begin?.dropFirst().first == "1\nMONOTONIC_USEC")
            let time = begin?.last.flatMap { UInt64($0) } ?? 0
            #expect(time >= before && time <= SystemClock.monotonicNanoseconds() / 1_000)
            #expect(receiver.next() == "READY=1")
        }
        #expect(receiver.next() == nil)
    }

    /// The text of a table whose links reject or open the app, and of properties about it.
    private func writeProperties(rejects: Bool, _ property: String) throws -> TableFiles {
        let target = rejects ? #""exclude": { "outcome": "reject" }"# : #""to": { "root": true }"#
        let table = TableFolder.text("a", version: rejects ? 2 : 1)
        try folder.write("a.json", table.replacing(#""to": { "root": true }"#, with: target))
        try folder.write(
            "p.json", #"{ "schemaVersion": 1, "table": "a", "properties": [ { "id": "p", \#(property) } ] }"#)
        return TableFiles(named: [folder.path("a.json")], properties: [folder.path("p.json")])
    }

    private static let opens = #""links": "/{r*}", "never": { "outcome": "reject" }"#

    @Test("A table that breaks a property is refused, and served when the property is corrected")
    func properties() throws {
        let files = try writeProperties(rejects: false, Self.opens)
        let reloader = try TableReloader(files, log: collected.log) { 0 }
        _ = try writeProperties(rejects: true, Self.opens)
        reloader.reload(.file)
        #expect(reloader.served.current().entries.map(\.version) == ["1"])
        _ = try writeProperties(rejects: true, #""links": "/{r*}", "always": { "outcome": "reject" }"#)
        #expect(files.stamps().map(\.path) == [folder.path("a.json"), folder.path("p.json")])
        reloader.reload(.file)
        #expect(reloader.served.current().entries.map(\.version) == ["2"])
        let lines = try collected.close()
        #expect(
            lines.compactMap { $0["event"]?.string }
                == ["table.loaded", "table.refused", "tables.kept", "tables.reloaded"])
        #expect(lines[1]["code"]?.string == "refuted" && lines[1]["file"]?.string == folder.path("p.json"))
        #expect(lines[2]["reason"]?.string?.contains("breaks 1 property") == true)
    }

    @Test("A candidate that breaks a property is refused, and so is a table at the start")
    func propertiesAtStart() throws {
        let files = try writeProperties(rejects: true, Self.opens)
        #expect(throws: CommandFailure.self) { try TableReloader(files, log: collected.log) { 0 } }
        try folder.write("b.json", try String(contentsOf: folder.url.appending(path: "a.json"), encoding: .utf8))
        _ = try writeProperties(rejects: false, Self.opens)
        let canary = CanaryFile(path: folder.path("b.json"), percent: 100, compare: 0)
        let both = TableFiles(
            named: [folder.path("a.json")], canary: canary, properties: [folder.path("p.json")])
        let failure = #expect(throws: CommandFailure.self) { try TableReloader(both, log: collected.log) { 0 } }
        #expect(failure?.code == .badData)
    }

    @Test("A property that is not proved is logged, and the table is served")
    func unprovedProperty() throws {
        let routes = #"""
            [ { "id": "far", "match": "/far/{rest+}", "redirect": "/{rest}/end" },
              { "id": "end", "match": "/a/b/c/{d}/end", "to": { "root": true } },
              { "id": "no", "match": "/no", "exclude": { "outcome": "reject" } } ], "fallback": { "outcome": "none" } }
            """#
        let files = try writeProperties(rejects: false, #""links": "/far/{r+}", "never": { "outcome": "reject" }"#)
        let head = TableFolder.text("a", version: 1).components(separatedBy: #"[ { "id""#)[0]
        try folder.write("a.json", head + routes)
        let reloader = try TableReloader(files, log: collected.log) { 0 }
        #expect(reloader.served.current().entries.count == 1)
        let unproved = try collected.close().filter { $0["code"]?.string == "unproved" }
        #expect(unproved.count == 1 && unproved[0]["level"]?.string == "warning")
    }

    @Test("Proofs that take too long leave the properties unproved, and refuse no table")
    func endedProofs() throws {
        let files = try writeProperties(rejects: true, Self.opens)
        let loaded = try LoadedTables(files.contents(), log: collected.log)
        #expect(throws: CommandFailure.self) { try files.prove(loaded.tables, log: collected.log) { false } }
        try files.prove(loaded.tables, log: collected.log) { true }
        #expect(try collected.close().compactMap { $0["code"]?.string }.suffix(2) == ["refuted", "unproved"])
    }

    @Test("A file of properties about no served table is refused")
    func propertiesOfNoTable() throws {
        let files = try writeProperties(rejects: false, Self.opens)
        try folder.write("p.json", #"{ "schemaVersion": 1, "table": "z", "properties": [] }"#)
        let failure = #expect(throws: CommandFailure.self) { try TableReloader(files, log: collected.log) { 0 } }
        #expect(failure?.reason.contains("`z`") == true)
    }

    @Test(
        "Refused files change nothing, are logged with their places, and mark the tables as fallbacks until corrected",
        arguments: [
            (#"{ "schemaVersion": 1, "rutes": [] }"#, "table.refused", "is refused"),
            (TableFolder.text("b", version: 2, application: "a"), "table.refused", "both serve the application `a`"),
            ("", "table.refused", "is refused"), (nil, "tables.kept", "cannot be read"),
        ] as [(String?, String, String)])
    func kept(text: String?, event: String, reason: String) throws {
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

    @Test("Links that two tables read are logged with each change of the tables, and not if only a time changes")
    func sharedLinks() throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("b.json", TableFolder.text("a", version: 2, application: "b"))
        let reloader = try reloader("a.json", "b.json")
        try folder.write("b.json", TableFolder.text("a", version: 2, application: "b"))
        reloader.reload(.file)
        try folder.write("b.json", TableFolder.text("a", version: 3, application: "b"))
        reloader.reload(.file)
        let lines = try collected.close()
        #expect(
            lines.map { "\($0["level"]?.string ?? "") \($0["event"]?.string ?? "")" } == [
                "warning table.loaded", "info table.loaded", "info tables.reloaded", "warning table.loaded",
            ])
        #expect(lines.first?["message"]?.string?.hasSuffix("both read links such as a:///") == true)
    }

    @Test("After 200 reloads, only the newest tables are in memory")
    func memory() throws {
        try folder.write("a.json", TableFolder.text("a", version: 0))
        let reloader = try reloader("a.json")
        var processor = RecordProcessor(reloader.served, DeciderConfiguration(tables: TableSet([])))
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

    /// Starts a reloader that looks at the files all the time, and waits until it serves these versions.
    private func follows(
        _ files: TableFiles, _ changes: [(apply: () throws -> Void, versions: [String])]
    ) throws {
        let reloader = try TableReloader(files, log: collected.log, lookMilliseconds: 0) { 0 }
        reloader.start()
        defer { reloader.stop() }
        for (index, change) in changes.enumerated() {
            try change.apply()
            let isServed = becomesTrue(withinSeconds: 60) {
                reloader.served.number == index + 1
            }
            #expect(isServed, "change \(index)")
            #expect(reloader.served.current().entries.map { "\($0.id) \($0.version)" } == change.versions)
        }
    }

    @Test("A file that is renamed into place, and files that are added to and removed from a directory, are followed")
    func directory() async throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("b.json", TableFolder.text("b", version: 1))
        try folder.write(".c.json", "not a table")
        try folder.write("c.json.bak", "not a table")
        try await onThread { [self] in
            try follows(
                TableFiles(named: [], directory: folder.url.path),
                [
                    (
                        apply: { try folder.write("b.json", TableFolder.text("b", version: 2)) },
                        versions: ["a 1", "b 2"]
                    ),
                    (
                        apply: { try folder.write("c.json", TableFolder.text("c", version: 1)) },
                        versions: ["a 1", "b 2", "c 1"]
                    ),
                    (
                        apply: { try FileManager.default.removeItem(atPath: folder.path("a.json")) },
                        versions: ["b 2", "c 1"]
                    ),
                ])
        }
        // A reloader logs a version after it serves it.
        #expect(
            try becomesTrue(withinSeconds: 60) {
                try collected.written().count { $0["event"]?.string == "tables.reloaded" } == 3
            })
        let lines = try collected.close().filter { $0["event"]?.string == "tables.reloaded" }
        #expect(lines.compactMap { $0["trigger"]?.string } == ["file", "file", "file"])
    }

    @Test("The exchange of the symbolic link of a ConfigMap is followed, and all of its tables change at once")
    func configMap() async throws {
        @Sendable func mount(_ version: Int) throws {
            let name = "..\(version)"
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            for id in ["a", "b"] { try folder.write("\(name)/\(id).json", TableFolder.text(id, version: version)) }
            try FileManager.default.createSymbolicLink(atPath: folder.path("..tmp"), withDestinationPath: name)
            #expect(rename(folder.path("..tmp"), folder.path("..data")) == 0)
        }
        try mount(1)
        for id in ["a", "b"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("\(id).json"), withDestinationPath: "..data/\(id).json")
        }
        for (start, files) in [
            (1, TableFiles(named: [], directory: folder.url.path)), (4, TableFiles(named: [folder.path("a.json")])),
        ] {
            let ids = files.directory == nil ? ["a"] : ["a", "b"]
            try await onThread { [self] in
                try follows(
                    files,
                    (start..<start + 2).map { version in
                        (apply: { try mount(version + 1) }, versions: ids.map { "\($0) \(version + 1)" })
                    })
            }
        }
        #expect(try !events().contains("tables.kept"))
    }

    @Test("A half-written file is not read until it is the same at two looks in a row")
    func halfWritten() throws {
        try folder.write("a.json", "1")
        let files = TableFiles(named: [folder.path("a.json"), folder.path("missing.json")])
        var watch = FileWatch(read: files.stamps())
        func isDue() -> Bool { watch.isDue(files.stamps()) }
        #expect(!isDue() && !isDue())
        for text in ["12", "123", "1234"] {
            try Data(text.utf8).write(to: folder.url.appending(path: "a.json"))
            #expect(!isDue())
        }
        #expect(isDue() && isDue())
        watch.markRead(files.stamps())
        #expect(!isDue())
        try folder.write("missing.json", "1")
        #expect(!isDue())
        #expect(isDue())
        watch.markRead(files.stamps())
        try folder.remove("missing.json")
        #expect(!isDue())
        #expect(isDue())
    }

    @Test("A directory without tables, or with more than 64, is refused with exit code 78")
    func badDirectory() throws {
        let files = TableFiles(named: [], directory: folder.url.path)
        #expect(files.stamps().isEmpty)
        #expect(throws: CommandFailure.self) { try files.paths() }
        for number in 0..<65 {
            if number == 64 { #expect(try files.paths().count == 64) }
            try folder.write("t\(number).json", "{}")
        }
        let worker = ["worker", "-b", "127.0.0.1:1", "--table-directory"]
        let result = try LinkdProcess.run(worker + [folder.url.path])
        #expect(result.code == 78)
        let missing = try LinkdProcess.run(worker + [folder.path("none")])
        #expect(missing.code == 78)
    }

    @Test("A named pipe in the directory is refused without reading it")
    func pipeInDirectory() throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        let files = TableFiles(named: [], directory: folder.url.path)
        let reloader = try TableReloader(files, log: collected.log) { 0 }
        #expect(mkfifo(folder.path("b.json"), 0o600) == 0)
        reloader.reload(.file)
        #expect(reloader.served.current().entries.map(\.isFallback) == [true])
        try folder.remove("b.json")
        reloader.reload(.file)
        #expect(reloader.served.current().entries.map(\.isFallback) == [false])
        let kept = try collected.close().first { $0["event"]?.string == "tables.kept" }
        #expect(kept?["reason"]?.string?.contains("b.json is not a regular file") == true)
    }

    private final class RequestCount: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.wrappingAdd(1, ordering: .relaxed) }
    }
}
