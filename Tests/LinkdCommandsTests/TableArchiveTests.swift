internal import DispatchWorker
internal import Foundation
internal import LinkCoordinator
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite("The tables that a worker has served are kept")
struct TableArchiveTests {
    private let folder: TableFolder
    private let collected = CollectedLog()

    init() throws { folder = try TableFolder() }

    private func archive() throws -> TableArchive {
        TableArchive(try StateDirectory(path: folder.path("state")))
    }

    private func file(_ hash: String) -> String { folder.path("state/tables/\(hash).json") }

    private func served(_ json: [UInt8], path: String = "/a.json") -> ServedTable {
        ServedTable(id: "a", version: "1", hash: SHA256.hex(json), path: path, loadedAtMilliseconds: 7)
    }

    @Test("A kept table is returned by its hash, and a file with other contents is ignored and replaced")
    func contents() throws {
        let archive = try archive()
        let json = Array(TableFolder.text("a", version: 1).utf8)
        let hash = SHA256.hex(json)
        #expect(archive.table(hash: hash) == nil)
        #expect(archive.keep(json, hash: hash) == nil && archive.table(hash: hash) == json)
        try Data(json.dropLast()).write(to: URL(fileURLWithPath: file(hash)))
        #expect(archive.table(hash: hash) == nil)
        #expect(archive.keep(json, hash: hash) == nil && archive.table(hash: hash) == json)
        for name in ["", "../served", String(hash.dropLast()), hash.uppercased(), hash + "0"] {
            #expect(archive.table(hash: name) == nil)
        }
    }

    @Test("A directory that is gone is an error, and the file before stays")
    func missingDirectory() throws {
        let archive = try archive()
        let json = Array(TableFolder.text("a", version: 1).utf8)
        let entries = [served(json)]
        #expect(archive.served(entries) == nil && archive.lastServed() == entries)
        try FileManager.default.moveItem(atPath: folder.path("state"), toPath: folder.path("away"))
        #expect(archive.keep(json, hash: SHA256.hex(json))?.text == "No such file or directory")
        #expect(archive.served([])?.text == "No such file or directory")
        try FileManager.default.moveItem(atPath: folder.path("away"), toPath: folder.path("state"))
        #expect(archive.lastServed() == entries && archive.table(hash: SHA256.hex(json)) == nil)
    }

    @Test("A list that is cut at any byte, or has members of other types, is no list")
    func brokenList() throws {
        let archive = try archive()
        #expect(archive.lastServed() == [])
        let entries = [served([1]), served([2], path: "/\"\n.json")]
        #expect(archive.served(entries) == nil)
        let list = URL(fileURLWithPath: folder.path("state/served.json"))
        let bytes = try Data(contentsOf: list)
        for count in 0..<bytes.count {
            try bytes.prefix(count).write(to: list)
            #expect(archive.lastServed() == [])
        }
        let text = String(decoding: bytes, as: UTF8.self)
        for (part, other) in [
            (#""loaded_ms":7"#, #""loaded_ms":"7""#), (#""loaded_ms":7"#, #""loaded_ms":-9223372036854775808"#),
            (#""id":"a""#, #""id":null"#), ("[", "{"),
            (#""hash":""#, #""hash":"../"#), (#""path""#, #""paths""#),
        ] {
            try text.replacing(part, with: other, maxReplacements: 1).write(to: list, atomically: true, encoding: .utf8)
            #expect(archive.lastServed() == [], "\(part)")
        }
        try bytes.write(to: list)
        #expect(archive.lastServed() == entries)
    }

    @Test("A file that a killed process had not renamed is removed")
    func unfinished() throws {
        let archive = try archive()
        let json = Array(TableFolder.text("a", version: 1).utf8)
        let hash = SHA256.hex(json)
        #expect(archive.keep(json, hash: hash) == nil)
        let files = [file(hash) + ".3w5e11264sgsf", folder.path("state/tables/other.json.1")]
        for file in files { try Data(json.dropLast()).write(to: URL(fileURLWithPath: file)) }
        #expect(archive.served([served(json)]) == nil && archive.table(hash: hash) == json)
        #expect(files.map { FileManager.default.fileExists(atPath: $0) } == [false, true])
    }

    @Test("Of more than 100 tables, the oldest that are not served are removed")
    func limit() throws {
        let archive = try archive()
        var hashes: [String] = []
        for number in 0..<TableArchive.limit + 10 {
            let json = Array("\(number)".utf8)
            hashes.append(SHA256.hex(json))
            #expect(archive.keep(json, hash: hashes[number]) == nil)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: Double(1_000_000 + number))],
                ofItemAtPath: file(hashes[number]))
        }
        #expect(archive.served([served(Array("3".utf8))]) == nil)
        let left = hashes.indices.filter { archive.table(hash: hashes[$0]) != nil }
        #expect(left == [3] + Array(11..<110))
    }

    @Test("Sparse files whose sizes exceed the number type in sum are removed like other large ones")
    func hugeFiles() throws {
        let archive = try archive()
        let json = Array("1".utf8)
        #expect(archive.keep(json, hash: SHA256.hex(json)) == nil)
        let names = ["a", "b", "c"].map { String(repeating: $0, count: 64) }
        for name in names {
            #expect(FileManager.default.createFile(atPath: file(name), contents: nil))
            // A file system may have a lower limit, with which the sum is small.
            for exponent in [63, 44, 40] where truncate(file(name), Int(UInt64(1) << exponent - 4096)) == 0 { break }
        }
        #expect(archive.served([served(json)]) == nil)
        #expect(!names.contains { FileManager.default.fileExists(atPath: file($0)) })
        #expect(archive.table(hash: SHA256.hex(json)) == json)
    }

    @Test("Named pipes in the place of files are not waited for")
    func pipes() throws {
        let archive = try archive()
        let json = Array(TableFolder.text("a", version: 1).utf8)
        let hash = SHA256.hex(json)
        let paths = ["state/served.json", "state/tables/\(hash).json"].map(folder.path)
        for path in paths { #expect(mkfifo(path, 0o600) == 0) }
        #expect(archive.table(hash: hash) == nil && archive.lastServed() == [])
        #expect(archive.keep(json, hash: hash) == nil && archive.table(hash: hash) == json)
        #expect(archive.served([served(json)]) == nil && archive.lastServed() == [served(json)])
    }

    @Test("A state directory is of one process at a time")
    func lock() throws {
        var state: StateDirectory? = try StateDirectory(path: folder.path("state"))
        #expect(state?.file("x") == folder.path("state/x"))
        #expect(throws: StateDirectoryError.self) { try StateDirectory(path: folder.path("state")) }
        let worker = ["worker", "-b", "127.0.0.1:1", "--table", folder.path("a.json"), "--state-dir"]
        let second = try LinkdProcess.run(worker + [folder.path("state")])
        #expect(second.code == 78 && second.err.contains("another process uses the state directory"))
        let missing = try LinkdProcess.run(worker + [folder.path("no/state")])
        #expect(missing.code == 78 && missing.err.contains("No such file or directory"), "\(missing.err)")
        state = nil
        _ = try StateDirectory(path: folder.path("state"))
    }

    #if os(Linux)
    @Test("A released state directory is free, also while a process that is being started has its descriptors")
    func releasedLock() throws {
        let path = folder.path("state")
        var state: StateDirectory? = try StateDirectory(path: path)
        let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
            return file == state?.file("lock")
        }.map { dup(Int32($0) ?? -1) }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        state = nil
        _ = try StateDirectory(path: path)
    }

    @Test("A state directory that cannot be created is refused with the reason")
    func notCreated() throws {
        let error = #expect(throws: StateDirectoryError.self) { try StateDirectory(path: "/sys/linkd-state") }
        #expect(error?.reason.contains("No such file") == false, "\(error?.reason ?? "")")
    }
    #endif

    private func reloader(_ files: TableFiles) throws -> TableReloader {
        try TableReloader(files, archive: archive(), log: collected.log) { 0 }
    }

    @Test(
        "A worker that starts with refused tables serves all that it served last, and the files when they are correct")
    func fallback() throws {
        for id in ["a", "b"] { try folder.write("\(id).json", TableFolder.text(id, version: 1)) }
        let files = TableFiles(named: [folder.path("a.json")], directory: folder.url.path)
        // The directory has both files, of which one is also named.
        #expect(throws: CommandFailure.self) { try reloader(files) }
        let only = TableFiles(named: [], directory: folder.url.path)
        let first = try reloader(only).served.current()
        try folder.write("a.json", TableFolder.text("a", version: 2))
        try folder.write("b.json", "{}")
        let second = try reloader(only)
        #expect(second.served.current().entries.map(\.hash) == first.entries.map(\.hash))
        #expect(second.served.current().tables.tables.map(\.hash) == first.tables.tables.map(\.hash))
        #expect(second.served.current().entries.map(\.isFallback) == [true, true])
        try folder.write("a.json", TableFolder.text("a", version: 1))
        try folder.write("b.json", TableFolder.text("b", version: 1))
        second.reload(.file)
        #expect(second.served.current().entries.map(\.isFallback) == [false, false] && second.served.number == 0)
        try folder.write("b.json", TableFolder.text("b", version: 3))
        second.reload(.file)
        #expect(second.served.current().entries.map(\.version) == ["1", "3"])
        let lines = try collected.close()
        let line = try #require(lines.first { $0["event"]?.string == "tables.fallback" })
        #expect(line["level"]?.string == "error" && line["reason"]?.string?.contains("b.json is refused") == true)
        #expect(lines.suffix(2).map { $0["event"]?.string } == ["tables.unchanged", "tables.reloaded"])
    }

    @Test("A reload is kept for the next start, and the tables of other settings or broken ones are not used")
    func afterReload() throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        let files = TableFiles(named: [folder.path("a.json")])
        let version: ServedTables.Version = try {
            let reloader = try reloader(files)
            try folder.write("a.json", TableFolder.text("a", version: 2))
            reloader.reload(.signal)
            return reloader.served.current()
        }()
        try folder.remove("a.json")
        #expect(try reloader(files).served.current().entries.map(\.version) == ["2"])
        let others = [
            TableFiles(named: [folder.path("b.json")]),
            TableFiles(named: [folder.path("a.json"), folder.path("b.json")]),
            TableFiles(named: [], directory: folder.path("none")),
        ]
        for other in others { #expect(throws: CommandFailure.self) { try reloader(other) } }
        try Data("{}".utf8).write(to: URL(fileURLWithPath: file(version.entries[0].hash)))
        #expect(throws: CommandFailure.self) { try reloader(files) }
        _ = try collected.close()
    }

    @Test("A worker whose tables cannot be kept serves them, with a warning")
    func unsaved() throws {
        try folder.write("a.json", TableFolder.text("a", version: 1))
        let archive = try archive()
        try FileManager.default.createDirectory(
            atPath: folder.path("state/served.json"), withIntermediateDirectories: false)
        let reloader = try TableReloader(
            TableFiles(named: [folder.path("a.json")]), archive: archive, log: collected.log
        ) { 0 }
        #expect(reloader.served.current().entries.count == 1)
        let lines = try collected.close()
        #expect(lines.map { $0["event"]?.string } == ["table.loaded", "tables.unsaved"])
        #expect(lines.last?["reason"]?.string == "Is a directory")
    }
}
