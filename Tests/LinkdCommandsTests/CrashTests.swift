internal import ByteStorage
internal import DispatchWorker
internal import Foundation
internal import KafkaClient
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite("The files of crashes, and records in a child process")
struct CrashFilesTests {
    private let folder: TableFolder
    private let collected = CollectedLog()

    init() throws { folder = try TableFolder() }

    private func start() throws -> [CrashSuspect] {
        CrashFiles(try StateDirectory(path: folder.path("state")), log: collected.log).suspects
    }

    /// Leaves the journal of a lane that ended while it resolved a record.
    private func leave(_ mark: CrashMark, lane: Int) throws {
        let journal = try #require(CrashJournal(path: folder.path("state/journal/\(lane)")))
        Array(mark.topic.utf8).withUnsafeBufferPointer { journal.use(topic: ByteView($0)) }
        journal.begin(partition: mark.partition, offset: mark.offset)
    }

    @Test("The marks of all lanes are counted at each start, also those of lanes that no longer run")
    func union() throws {
        #expect(try start() == [])
        let marks = [0, 1].map { CrashMark(topic: "in", partition: $0, offset: 7) }
        try leave(marks[0], lane: 0)
        try leave(marks[1], lane: 63)
        #expect(try start() == marks.map { CrashSuspect($0, deaths: 1) })
        #expect(try start() == marks.map { CrashSuspect($0, deaths: 1) }, "a death is counted twice")
        try leave(marks[1], lane: 5)
        #expect(try start() == [CrashSuspect(marks[1], deaths: 2), CrashSuspect(marks[0], deaths: 1)])
        let lines = try collected.close().filter { $0["event"]?.string == "crash.found" }
        #expect(lines.map { $0["partition"]?.integer } == [0, 1, 1])
        #expect(lines.map { $0["deaths"]?.integer } == [1, 1, 2])
    }

    static let lists = [
        "", "{", "[]", #"{"suspects":{}}"#, #"{"suspects":[1,{}]}"#,
        #"{"suspects":[{"topic":"in","partition":4294967296,"offset":1,"deaths":2}]}"#,
        #"{"suspects":[{"topic":"in","partition":-1,"offset":1,"deaths":2}]}"#,
        #"{"suspects":[{"topic":"../x\u0000","partition":0,"offset":1,"deaths":2}]}"#,
        #"{"suspects":[{"topic":"in","partition":0,"offset":1,"deaths":0}]}"#,
        String(repeating: "[", count: 200_000),
    ]

    @Test("A list of suspects with any other content does not prevent a start", arguments: lists.indices)
    func hostileList(index: Int) throws {
        _ = try start()
        try Data(Self.lists[index].utf8).write(to: URL(fileURLWithPath: folder.path("state/crashes.json")))
        #expect(try start() == [])
    }

    @Test("A directory that cannot be written does not prevent a start, and is logged")
    func unwritable() throws {
        let state = try StateDirectory(path: folder.path("state"))
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path("state/journal")))
        let files = CrashFiles(state, log: collected.log)
        let call = Invocation(
            arguments: try ParsedArguments([], of: WorkerCommand.command), environment: [:],
            console: Console.standard())
        let tables = ServedTables(ServedTables.Version(TableSet([])))
        #expect(files.isolation(of: tables, call, log: collected.log).journal(0) == nil)
        #expect(try collected.close().map { $0["event"]?.string } == ["crashes.unsaved"])
    }

    @Test("A record keeps its bytes on the way to a child process, and other bytes are refused")
    func bytes() throws {
        let mark = CrashMark(topic: "in", partition: 2, offset: 5)
        let headers = [RecordHeader(name: [0, 1], value: []), RecordHeader(name: [], value: nil)]
        for (key, value) in [([], [0xff, 0]), (nil, nil), ([1], [])] as [([UInt8]?, [UInt8]?)] {
            let record = TriedRecord(mark: mark, timestamp: -1, key: key, value: value, headers: headers)
            for (candidate, asks) in [(nil, true), ("c", false)] {
                let read = try #require(
                    TriedRecord.read(
                        record.bytes(tables: ["a", "b"], candidate: candidate, asksDevices: asks)))
                #expect(read.record == record && read.tables == ["a", "b"] && read.candidate == candidate)
                #expect(read.asksDevices == asks)
            }
            let bytes = record.bytes(tables: ["a", "b"])
            for count in bytes.indices { _ = TriedRecord.read(Array(bytes[..<count])) }
            for index in bytes.indices {
                var wrong = bytes
                wrong[index] ^= 0x80
                _ = TriedRecord.read(wrong)
            }
        }
    }

    static let trials: [(crash: String, result: CrashTrial)] = [
        ("other-0-5", .passed), ("in-0-5", .crashed(signal: SIGSEGV)), ("in-0-5=\(SIGABRT)", .crashed(signal: SIGABRT)),
        ("in-0-5=\(SIGTRAP)", .crashed(signal: SIGTRAP)), ("in-0-5=memory", .crashed(signal: SIGABRT)),
        ("in-0-5=\(SIGKILL)", .failed("signal 9 has ended the child process")),
        ("in-0-5=\(SIGTERM)", .failed("signal 15 has ended the child process")),
        ("in-0-5=\(SIGALRM)", .failed("the child process took too long")),
    ]

    #if DEBUG && os(Linux)
    @Test("Only a signal that a record causes itself ends its trial with a crash", arguments: trials.indices)
    func trial(index: Int) throws {
        let json = Array(TableFolder.text("a", version: 1).utf8)
        let hash = SHA256.hex(json)
        #expect(TableArchive(try StateDirectory(path: folder.path("state"))).keep(json, hash: hash) == nil)
        let (crash, result) = Self.trials[index]
        let library = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"].map { ["LD_LIBRARY_PATH": $0] } ?? [:]
        let trial = RecordTrial(
            program: BuiltProgram.linkd, words: ["-b", "nowhere:1", "--state-dir", folder.path("state")],
            environment: library.merging(["LINKD_TEST_CRASH_AT": crash]) { $1 })
        let record = TriedRecord(
            mark: CrashMark(topic: "in", partition: 0, offset: 5), timestamp: 1, key: nil,
            value: Array(#"{"link":"a:/","device":{"id":"d"}}"#.utf8) + [UInt8](repeating: 0x20, count: 300_000),
            headers: [])
        #expect(trial.run(record, tables: [hash]) == result)
        #expect(trial.run(record, tables: [SHA256.hex([])]) == .failed("the child process ended with code 78"))
    }

    /// The shares of a candidate at which a record ends every process, and the result of the record's trial.
    static let candidates: [(percent: String, compare: String, result: CrashTrial)] = [
        ("100", "0", .crashed(signal: SIGSEGV)), ("0", "100", .crashed(signal: SIGSEGV)), ("0", "0", .passed),
    ]

    @Test(
        "A record at which only the candidate ends the process crashes its trial if the candidate resolves it",
        arguments: candidates.indices)
    func candidate(index: Int) throws {
        let archive = TableArchive(try StateDirectory(path: folder.path("state")))
        let hashes = (1...2).map { version in
            let json = Array(TableFolder.text("a", version: version).utf8)
            #expect(archive.keep(json, hash: SHA256.hex(json)) == nil)
            return SHA256.hex(json)
        }
        let (percent, compare, result) = Self.candidates[index]
        try folder.write("candidate.json", TableFolder.text("a", version: 2))
        let library = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"].map { ["LD_LIBRARY_PATH": $0] } ?? [:]
        let trial = RecordTrial(
            program: BuiltProgram.linkd,
            words: [
                "-b", "nowhere:1", "--state-dir", folder.path("state"), "--canary-table",
                folder.path("candidate.json"), "--canary-percent", percent, "--canary-compare", compare,
            ], environment: library.merging(["LINKD_TEST_CRASH_AT": "in-0-5=candidate"]) { $1 })
        let record = TriedRecord(
            mark: CrashMark(topic: "in", partition: 0, offset: 5), timestamp: 1, key: nil,
            value: Array(#"{"link":"a:/","device":{"id":"d"}}"#.utf8), headers: [])
        #expect(trial.run(record, tables: [hashes[0]], candidate: hashes[1]) == result)
        #expect(trial.run(record, tables: [hashes[0]]) == .passed)
        let missing = trial.run(record, tables: [hashes[0]], candidate: SHA256.hex([]))
        #expect(missing == .failed("the child process ended with code 78"))
    }

    /// Devices that count the questions about them.
    private final class CountedDevices: KnownDevices {
        let given = GivenDevices()
        var asked: [String] = []

        func facts(of id: ByteView) -> ByteView? {
            asked.append(id.string)
            return given.facts(of: id)
        }

        func devices(of user: ByteView, limit: Int, _ body: (ByteView) -> Void) -> Int {
            asked.append(user.string)
            return given.devices(of: user, limit: limit, body)
        }
    }

    /// Events, the questions of a child process until its end, and the result if the candidate ends the process.
    static let questions: [(event: String, asked: [String], result: CrashTrial)] = [
        (#""device":{"id":"d"}"#, ["d"], .crashed(signal: SIGSEGV)),
        (#""devices":[{"id":"x"},{"id":"d"}]"#, ["x"], .crashed(signal: SIGSEGV)),
        (#""user":"u""#, ["u", "d"], .crashed(signal: SIGSEGV)), (#""user":"nobody""#, ["nobody"], .passed),
        (#""user":"many""#, ["many"], .passed),
    ]

    @Test("A trial has the devices of its lane, which the child process asks for", arguments: questions.indices)
    func devices(index: Int) throws {
        let archive = TableArchive(try StateDirectory(path: folder.path("state")))
        let hashes = (1...2).map { version in
            let json = Array(TableFolder.text("a", version: version).utf8)
            #expect(archive.keep(json, hash: SHA256.hex(json)) == nil)
            return SHA256.hex(json)
        }
        let (event, asked, result) = Self.questions[index]
        try folder.write("candidate.json", TableFolder.text("a", version: 2))
        let library = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"].map { ["LD_LIBRARY_PATH": $0] } ?? [:]
        let trial = RecordTrial(
            program: BuiltProgram.linkd,
            words: [
                "-b", "nowhere:1", "--state-dir", folder.path("state"), "--canary-table",
                folder.path("candidate.json"), "--canary-percent", "100",
            ], environment: library.merging(["LINKD_TEST_CRASH_AT": "in-0-5=candidate"]) { $1 })
        let record = TriedRecord(
            mark: CrashMark(topic: "in", partition: 0, offset: 5), timestamp: 1, key: nil,
            value: Array(#"{"link":"a:/",\#(event)}"#.utf8), headers: [])
        let known = CountedDevices()
        known.given.add(Array("d".utf8), Array(#"{"user":"u","app":"2"}"#.utf8))
        for number in 0...500 { known.given.add(Array("m\(number)".utf8), Array(#"{"user":"many"}"#.utf8)) }
        #expect(trial.run(record, tables: [hashes[0]], candidate: hashes[1], devices: known) == result)
        #expect(known.asked == asked)
        // Without a registry, nothing is asked, and a user is no device.
        let plain = trial.run(record, tables: [hashes[0]], candidate: hashes[1])
        #expect(plain == (event.contains("user") ? .passed : .crashed(signal: SIGSEGV)))
    }
    #endif
}

#if DEBUG
@Suite(
    "Records that end the process",
    .enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct CrashLoopTests {
    /// A run of a worker that is started again after each crash.
    private struct Run {
        /// The exit codes, or 128 plus the signal.
        var codes: [Int32]
        /// The number of decisions of each record with at least one, by `partition-offset`.
        var decisions: [String: Int]
        /// The dead letters: the reason, the position, and the attempts.
        var deadLetters: [String]
        var log: String
    }

    /// Runs a worker on 300 records in three partitions until it has processed all, or the number of starts is reached.
    ///
    /// `crash` returns the value of `LINKD_TEST_CRASH_AT`.
    private static func run(
        lanes: Int = 1, starts: Int, crash: (_ topic: String) -> String
    ) throws -> Run {
        let topic = TestBroker.uniqueName("crash")
        let environment = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
        func linkd(_ arguments: String..., input: String = "") throws -> CommandResult {
            let result = try LinkdProcess.run(arguments, input: input, environment: environment)
            #expect(result.code == 0, "\(result.err)")
            return result
        }
        _ = try linkd("topics", "create", "--input", topic, "--output", topic + ".out", "--partitions", "3")
        let events = (0..<300).map { #"{"id":"e\#($0)","link":"shop:///","device":{"id":"d-\#($0)"}}"# }
        _ = try linkd("produce", "--topic", topic, input: events.joined(separator: "\n"))
        let state = FileManager.default.temporaryDirectory.appending(path: "crash-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: state) }
        var result = Run(codes: [], decisions: [:], deadLetters: [], log: "")
        func count(_ topic: String) throws -> Int {
            try linkd("inspect", "--topic", topic, "-f", "x").out.count
        }
        while result.codes.last != 0 && result.codes.count < starts {
            let worker = try RunningLinkd(
                [
                    "worker", "--table", Checkout.root.appending(path: "config/routes/shop.json").path, "--input",
                    topic, "--output", topic + ".out", "--group", topic, "--instance", "i", "--lanes", "\(lanes)",
                    "--state-dir", state.path, "--log-format", "json",
                ],
                environment: environment.merging([
                    "LINKD_TEST_CRASH_AT": crash(topic), "SWIFT_BACKTRACE": "enable=no",
                ]) { $1 })
            let isDone = try becomesTrue(withinSeconds: 60) {
                try !worker.isRunning || count(topic + ".out") + count(topic + ".dlq") == 300
            }
            #expect(isDone)
            if worker.isRunning { worker.signal(SIGTERM) }
            result.codes.append(try worker.end())
            result.log += worker.log
        }
        for line in try linkd("inspect", "--topic", topic + ".out", "--json").out.split(separator: "\n") {
            let value = try JSONValue.parse(Array(line.utf8))["value"]
            let name = value?["decision"]?.string ?? ""
            result.decisions[String(name.dropFirst(topic.count + 1)), default: 0] += 1
        }
        for line in try linkd("inspect", "--topic", topic + ".dlq", "--json").out.split(separator: "\n") {
            let headers = try JSONValue.parse(Array(line.utf8))["headers"]
            let names = ["reason", "source.partition", "source.offset", "attempts"]
            result.deadLetters.append(names.map { headers?["dlq." + $0]?.string ?? "" }.joined(separator: " "))
        }
        result.deadLetters.sort()
        return result
    }

    /// Checks that each of the 300 records has one decision or is one of the dead letters.
    private static func check(_ run: Run, deadLetters: [String]) {
        #expect(run.deadLetters == deadLetters, "\(run.log)")
        #expect(run.decisions.count == 300 - deadLetters.count)
        #expect(run.decisions.values.allSatisfy { $0 == 1 })
    }

    @Test("A record that ends the process is a dead letter at the third attempt, and nothing else is lost or doubled")
    func once() async throws {
        try await onThread {
            let run = try Self.run(starts: 6) { "\($0)-1-5" }
            #expect(run.codes == [128 + SIGSEGV, 128 + SIGSEGV, 0], "\(run.log)")
            Self.check(run, deadLetters: ["crash_loop 1 5 3"])
            #expect(run.log.contains(#""event":"crash.loop""#))
        }
    }

    @Test("Two such records in a row are both dead letters")
    func twoInARow() async throws {
        try await onThread {
            let run = try Self.run(starts: 9) { "\($0)-2-5,\($0)-2-6" }
            #expect(run.codes == [Int32](repeating: 128 + SIGSEGV, count: 4) + [0], "\(run.log)")
            Self.check(run, deadLetters: ["crash_loop 2 5 3", "crash_loop 2 6 3"])
        }
    }

    @Test("With a lane for each partition, records of the other lanes are decided")
    func lanes() async throws {
        try await onThread {
            let run = try Self.run(lanes: 3, starts: 20) { "\($0)-0-5,\($0)-1-5,\($0)-2-5" }
            #expect(run.codes.last == 0, "\(run.log)")
            #expect(run.deadLetters.count == 3)
            Self.check(run, deadLetters: run.deadLetters)
            #expect(run.deadLetters.map { $0.prefix(14) } == (0..<3).map { "crash_loop \($0) 5"[...] })
        }
    }

    @Test("A process that is killed from outside at one record makes no dead letter of it")
    func killed() async throws {
        try await onThread {
            let run = try Self.run(starts: 4) { "\($0)-1-5=\(SIGKILL)" }
            #expect(run.codes == [Int32](repeating: 128 + SIGKILL, count: 4), "\(run.log)")
            #expect(run.deadLetters == [] && run.decisions["1-5-0"] == nil)
            #expect(run.decisions.values.allSatisfy { $0 == 1 })
        }
    }

    #if os(Linux)
    @Test("A record that needs more memory than its limits allow is a dead letter")
    func memory() async throws {
        try await onThread {
            let run = try Self.run(starts: 4) { "\($0)-1-5=memory" }
            #expect(run.codes == [128 + SIGKILL, 128 + SIGKILL, 0], "\(run.log)")
            Self.check(run, deadLetters: ["crash_loop 1 5 3"])
        }
    }
    #endif
}
#endif
