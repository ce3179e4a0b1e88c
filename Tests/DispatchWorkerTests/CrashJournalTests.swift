import ByteStorage
import Foundation
@testable import KafkaClient
import TestSupport
import Testing

@testable import DispatchWorker

/// The journal of the record that a lane resolves, and the suspects that it leaves.
@Suite struct CrashJournalTests {
    private static let mark = CrashMark(topic: "in", partition: 3, offset: 9_000_000_000)

    /// Calls `body` with the path of a file that does not exist, in a directory of its own.
    private static func withPath(_ body: (String) throws -> Void) throws {
        let directory = try TemporaryFolder()
        try body(directory.path("0"))
    }

    /// Writes the journal of a process that ended while it resolved `mark`.
    private static func write(_ mark: CrashMark, at path: String) throws {
        let journal = try #require(CrashJournal(path: path))
        journal.use(topic: ByteView("other"))
        journal.begin(partition: 1, offset: 1)
        journal.end()
        Array(mark.topic.utf8).withUnsafeBufferPointer { journal.use(topic: ByteView($0)) }
        journal.begin(partition: mark.partition, offset: mark.offset)
    }

    @Test("A journal names the record that is being resolved, and none between two records")
    func marks() throws {
        try Self.withPath { path in
            #expect(CrashJournal.mark(at: path) == nil)
            let journal = try #require(CrashJournal(path: path))
            #expect(CrashJournal.mark(at: path) == nil)
            journal.use(topic: ByteView("in"))
            journal.begin(partition: 3, offset: 9_000_000_000)
            #expect(CrashJournal.mark(at: path) == Self.mark)
            journal.end()
            #expect(CrashJournal.mark(at: path) == nil)
            journal.begin(partition: 3, offset: 9_000_000_001)
            let next = try #require(CrashJournal(path: path))
            #expect(CrashJournal.mark(at: path) == nil, "a new journal has the mark of the one before")
            next.begin(partition: 0, offset: 0)
            #expect(CrashJournal.mark(at: path) == nil, "a mark without a topic")
        }
    }

    @Test("A journal that is torn, or has other content, has no mark or a valid one")
    func hostile() throws {
        try Self.withPath { path in
            try Self.write(Self.mark, at: path)
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            for count in 0..<whole.count {
                try whole.prefix(count).write(to: URL(fileURLWithPath: path))
                #expect(CrashJournal.mark(at: path) == nil)
            }
            var random = SystemRandomNumberGenerator()
            for index in whole.indices {
                for byte: UInt8 in [0, 0x7f, 0x80, 0xff, .random(in: .min ... .max, using: &random)] {
                    var torn = whole
                    torn[index] = byte
                    try torn.write(to: URL(fileURLWithPath: path))
                    if let mark = CrashJournal.mark(at: path) { #expect(mark.isValid) }
                }
            }
        }
    }

    @Test("A path that is no regular file is not read, and never blocks")
    func otherFiles() throws {
        try Self.withPath { path in
            #expect(mkfifo(path, 0o600) == 0)
            #expect(CrashJournal.mark(at: path) == nil)
            #expect(CrashJournal(path: path) != nil, "a pipe is replaced")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
            #expect(CrashJournal.mark(at: path) == nil)
            #expect(CrashJournal(path: path) != nil)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            #expect(CrashJournal.mark(at: path) == nil)
            #expect(CrashJournal(path: path) == nil)
            #expect(CrashJournal(path: path + "/none/0") == nil)
        }
    }

    @Test("Deaths of a record are added up, and the suspects with the most are kept")
    func merged() {
        let other = CrashMark(topic: "in", partition: 0, offset: 1)
        let first = CrashSuspects.merged([], [Self.mark, Self.mark, other])
        #expect(first == [CrashSuspect(other, deaths: 1), CrashSuspect(Self.mark, deaths: 1)])
        let second = CrashSuspects.merged(first, [Self.mark])
        #expect(second == [CrashSuspect(Self.mark, deaths: 2), CrashSuspect(other, deaths: 1)])
        let many = (0..<Int64(CrashSuspects.limit)).map { CrashMark(topic: "in", partition: 1, offset: $0) }
        let third = CrashSuspects.merged(second, many)
        #expect(third.count == CrashSuspects.limit)
        #expect(third.first == CrashSuspect(Self.mark, deaths: 2))
        #expect(!third.contains { $0.mark == other }, "older suspects with one death make room")
    }

    @Test("The number of deaths that a list claims has an upper limit, so that attempts can be counted")
    func claimedDeaths() {
        let claimed = CrashSuspect(Self.mark, deaths: .max)
        #expect(claimed.deaths == Int(Int32.max))
        #expect(CrashSuspects.merged([claimed], [Self.mark]) == [claimed])
    }

    @Test("Suspects are tried from the third attempt on, once in a process, and those that pass are forgotten")
    func trials() {
        let saved = Saved()
        let marks = (0..<4).map { CrashMark(topic: "in", partition: 0, offset: $0) }
        let suspects = CrashSuspects(
            marks.map { CrashSuspect($0, deaths: $0.offset == 0 ? 1 : 2) }, save: { saved.list.append($0) })
        #expect(suspects.tried.map(\.suspect.mark) == Array(marks[1...]))
        suspects.record(.crashed(signal: 11), of: marks[1])
        suspects.record(.failed("killed"), of: marks[2])
        #expect(saved.list.isEmpty)
        suspects.record(.passed, of: marks[3])
        #expect(saved.list == [[CrashSuspect(marks[0], deaths: 1)] + marks[1...2].map { CrashSuspect($0, deaths: 2) }])
        #expect(suspects.tried.map(\.trial) == [.crashed(signal: 11)], "a failed trial resolves the record as usual")
    }

    /// The lists that were saved, by one thread.
    private final class Saved: @unchecked Sendable {
        var list: [[CrashSuspect]] = []
    }
}
