internal import Foundation
internal import KafkaClient
internal import StrictJSON
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import DispatchWorker
@testable internal import LinkdCommands

/// Files that are named pipes, which a program must not wait for.
@Suite struct NamedPipeTests {
    private let folder: TableFolder
    private var pipe: String { folder.path("pipe") }

    init() throws {
        folder = try TableFolder()
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
    }

    /// The arguments before the path of a file that a command reads at its start, and its environment.
    static let readers: [(arguments: [String], environment: String?)] = [
        (["worker", "-b", "127.0.0.1:1", "--table"], nil),
        (["worker", "-b", "127.0.0.1:1", "--table", "TABLE", "--vendors"], nil),
        (["worker", "-b", "127.0.0.1:1", "--table", "TABLE", "--link-platforms"], nil),
        (["worker", "-b", "127.0.0.1:1", "--table", "TABLE", "--canary-percent", "1", "--canary-table"], nil),
        (["worker", "--config"], nil),
        (["worker", "-b", "127.0.0.1:1", "--table", "TABLE"], "KAFKA_SASL_PASSWORD_FILE"),
        (["worker", "-b", "127.0.0.1:1", "--table", "TABLE", "-X", "security.protocol=ssl"], "KAFKA_SSL_CA_LOCATION"),
        (["worker", "-b", "127.0.0.1:1", "--table", "TABLE", "-X", "security.protocol=ssl"], "KAFKA_SSL_KEY_LOCATION"),
        (["routes", "check"], nil), (["vendors", "check"], nil),
    ]

    @Test("A command that reads a named pipe ends at once and names it", arguments: readers.indices)
    func refused(row: Int) throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        let (arguments, variable) = Self.readers[row]
        let words = arguments.map { $0 == "TABLE" ? folder.path("a.json") : $0 }
        let result = try LinkdProcess.run(
            words + (variable == nil ? [pipe] : []), environment: variable.map { [$0: pipe] } ?? [:])
        #expect(result.code == 78, "\(result.code) \(result.err)")
        #expect(result.err.contains("pipe") && result.err.contains("not a regular file"), "\(result.err)")
    }

    @Test(
        "A command does not write to a named pipe, which stays",
        arguments: [
            ["routes", "new", "--force", "--out", "pipe"], ["short-links", "build", "/dev/null", "--out", "pipe"],
            ["manual", "--directory", "."],
        ])
    func writers(arguments: [String]) throws {
        try #require(mkfifo(folder.path("linkd.1"), 0o600) == 0)
        let result = try LinkdProcess.run(arguments.dropLast() + [folder.path(arguments[arguments.count - 1])])
        #expect(result.code == 78 && result.err.contains("it is not a regular file"), "\(result.code) \(result.err)")
        #expect(["pipe", "linkd.1"].allSatisfy { FileStamp(of: folder.path($0))?.isRegular == false })
    }

    @Test("A token file that is a named pipe is a failure, and a token that comes later is read")
    func token() throws {
        let provider = TokenProvider(origin: .file(pipe))
        let failure = #expect(throws: TokenFailure.self) { try provider.fetch() }
        #expect(failure?.text.contains("not a regular file") == true)
        try folder.write("pipe", "token-1")
        #expect(try provider.fetch().value == "token-1")
    }

    @Test("After a named pipe was in the place of a served table, later tables and requests are honored")
    func served() async throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        let collected = CollectedLog()
        let requests = Requests()
        let reloader = try TableReloader(
            TableFiles(named: [folder.path("a.json")]), log: collected.log, lookMilliseconds: 0
        ) { requests.count.load(ordering: .relaxed) }
        reloader.start()
        try await onThread { [folder] in
            #expect(rename(folder.path("pipe"), folder.path("a.json")) == 0)
            let isKept = try becomesTrue(withinSeconds: 30) {
                try collected.written().contains { $0["event"]?.string == "tables.kept" }
            }
            #expect(isKept)
            requests.count.wrappingAdd(1, ordering: .relaxed)
            let isAnswered = try becomesTrue(withinSeconds: 30) {
                try collected.written().contains { $0["trigger"]?.string == "signal" }
            }
            #expect(isAnswered)
            try folder.write("a.json", TableFolder.text("a", version: 2))
            let isServed = becomesTrue(withinSeconds: 30) { reloader.served.current().entries.map(\.version) == ["2"] }
            #expect(isServed)
        }
        reloader.stop()
        let kept = try collected.close().first { $0["event"]?.string == "tables.kept" }
        #expect(kept?["reason"]?.string?.contains("not a regular file") == true)
    }
}

private final class Requests: Sendable {
    let count = Atomic<Int>(0)
}

/// Tables whose files change all the time.
@Suite struct RestlessTablesTests {
    private let folder: TableFolder

    init() throws { folder = try TableFolder() }

    /// Replaces the tables `a` and `b` at once, as a mounted ConfigMap is.
    private static func mount(_ version: Int, in folder: TableFolder) throws {
        let name = "..\(version)"
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        for id in ["a", "b"] { try folder.write("\(name)/\(id).json", TableFolder.text(id, version: version)) }
        try FileManager.default.createSymbolicLink(atPath: folder.path("..tmp"), withDestinationPath: name)
        try #require(rename(folder.path("..tmp"), folder.path("..data")) == 0)
    }

    @Test("Files that change between all looks are read after the fifth, and once they rest at the second")
    func watch() throws {
        try folder.write("a.json", "0")
        let files = TableFiles(named: [folder.path("a.json")])
        var watch = FileWatch(read: files.stamps())
        var due: [Int] = []
        for look in 1...12 {
            try folder.write("a.json", String(repeating: "x", count: look))
            let stamps = files.stamps()
            guard watch.isDue(stamps) else { continue }
            watch.markRead(stamps)
            due.append(look)
        }
        #expect(due == [5, 10])
        func isDue() -> Bool { watch.isDue(files.stamps()) }
        #expect(isDue())
        watch.markRead(files.stamps())
        #expect(!isDue())
    }

    @Test("A directory that changes all the time is loaded, and its tables are always of one version")
    func restless() async throws {
        try Self.mount(1, in: folder)
        for id in ["a", "b"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("\(id).json"), withDestinationPath: "..data/\(id).json")
        }
        let collected = CollectedLog()
        let reloader = try TableReloader(
            TableFiles(named: [], directory: folder.url.path), log: collected.log, lookMilliseconds: 0
        ) { 0 }
        reloader.start()
        try await onThread { [folder] in
            var version = 1
            var seen: Set<Int> = []
            var changed = ContinuousClock.now
            // The directory changes, but not faster than two files can be read, until other tables were served twice.
            let isServed = try becomesTrue(withinSeconds: 60) {
                if ContinuousClock.now - changed > .milliseconds(50) {
                    version += 1
                    try Self.mount(version, in: folder)
                    changed = .now
                }
                seen.insert(reloader.served.number)
                return seen.count > 2
            }
            #expect(isServed)
        }
        reloader.stop()
        let lines = try collected.close()
        let loaded = lines.filter { $0["event"]?.string == "tables.reloaded" }
        #expect(loaded.count >= 2)
        for line in loaded {
            let versions = line["tables"]?.array?.compactMap {
                $0.string?.split(separator: "+").first?.split(separator: "@").last
            }
            #expect(versions?.count == 2 && Set(versions ?? []).count == 1, "\(line)")
        }
    }

    @Test("Files that change while they are read are read again, and a mixture of two versions is never returned")
    func consistent() throws {
        try Self.mount(1, in: folder)
        let paths = ["a", "b"].map { folder.path("..data/\($0).json") }
        var changes = 3
        var version = 1
        let contents = try TableFiles(named: paths).contents { path throws(CommandFailure) in
            let bytes = try CheckedTable.bytes(of: path)
            if changes > 0 {
                (changes, version) = (changes - 1, version + 1)
                do { try Self.mount(version, in: folder) } catch { Issue.record(error) }
            }
            return bytes
        }
        #expect(changes == 0)
        let texts = contents.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(texts == ["a", "b"].map { TableFolder.text($0, version: version) })
    }

    @Test("Files that change at each attempt to read them are refused with a reason")
    func inconsistent() throws {
        try folder.write("a.json", TableFolder.text("a", version: 0))
        var version = 0
        let files = TableFiles(named: [folder.path("a.json")])
        let error = #expect(throws: CommandFailure.self) {
            _ = try files.contents { path throws(CommandFailure) in
                version += 1
                do { try folder.write("a.json", TableFolder.text("a", version: version)) } catch { Issue.record(error) }
                return try CheckedTable.bytes(of: path)
            }
        }
        #expect(error?.code == .configuration)
        #expect(error?.reason.contains("change all the time") == true)
    }
}
