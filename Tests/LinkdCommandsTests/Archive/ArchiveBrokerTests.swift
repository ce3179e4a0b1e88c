internal import ByteStorage
internal import Foundation
internal import KafkaClient
internal import LinkCoordinator
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The archive of configurations with a real broker and real workers.
@Suite("Configurations outlive their pods", .enabled(if: TestBroker.plain != nil, "no broker"))
struct ArchiveBrokerTests {
    private let name = TestBroker.uniqueName("archive")
    private var topic: String { name + "-tables" }
    private var environment: [String: String] {
        ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "", "LINKD_TABLES_TOPIC": topic]
    }
    private var topics: [String] { ["--input", name, "--output", name + ".out"] }

    private func run(_ arguments: [String], input: String = "") throws -> CommandResult {
        try LinkdProcess.run(arguments, input: input, environment: environment)
    }

    private func worker(_ path: String, _ flags: String...) throws -> RunningLinkd {
        try RunningLinkd(
            ["worker", "--group", name, "--table", path, "--lanes", "1", "--log-format", "json"] + topics + flags,
            environment: environment.merging(["LINKD_VENDORS": "none", "LINKD_LINK_PLATFORMS": "none"]) { $1 })
    }

    /// Returns a table whose screen depends on its version.
    private static func table(_ version: Int) -> String {
        """
        {"schemaVersion":1,"table":{"id":"t","version":"\(version)","applications":["t"]},
         "link":{"schemes":["t"],"host":"segment"},
         "coordinators":{"c":{"initial":"s0","screens":{\((0..<7).map { #""s\#($0)":{}"# }.joined(separator: ","))}}},
         "routes":[{"id":"one","match":"/one","to":{"path":"/c/s\(version % 7)"}},
                   {"id":"many","match":"/{n:int(1..)}","to":{"path":"/c/s\((version + 1) % 7)"}}]}
        """
    }

    /// The versions of the table (`LINKD_TEST_VERSIONS`), and the events that each of them decides.
    private static let versions = LongTests.size("LINKD_TEST_VERSIONS") ?? (LongTests.areWanted ? 20 : 6)
    private static let events = 5

    @Test("All versions are gone from pods and disks, and each decision is decided again to the same bytes")
    func outlive() throws {
        #expect(try run(["topics", "create", "--partitions", "2"] + topics).code == 0)
        let folder = try TableFolder()
        try folder.write("t.json", Self.table(0))
        let worker = try worker(folder.path("t.json"))
        try #require(worker.says(#""event":"ready""#), "\(worker.log)")
        var reader = try ArchiveReader(ArchiveSample.connection, topic: topic)
        for version in 0..<Self.versions {
            if version > 0 {
                try folder.write("t.json", Self.table(version))
                worker.signal(SIGHUP)
                // The log leaves out some of many similar lines.
                let isArchived = try becomesTrue(withinSeconds: 60) {
                    try reader.update()
                    return reader.archive.entries.count > version
                }
                try #require(isArchived, "\(worker.log)")
            }
            let lines = (0..<Self.events).map {
                #"{"id":"e\#($0)","link":"t://\#($0 == 0 ? "one" : "\($0)")","device":{"id":"d-\#(version)-\#($0)"}}"#
            }
            #expect(try run(["produce", "--topic", name], input: lines.joined(separator: "\n")).code == 0)
            let wanted = (version + 1) * Self.events
            let isDecided = try becomesTrue(withinSeconds: 60) { try ids().count >= wanted }
            try #require(isDecided, "\(worker.log)")
        }
        worker.signal(SIGTERM)
        #expect(try worker.end() == 0, "\(worker.log)")
        try folder.remove("t.json")
        try expectSame(ids())
        let list = try run(["tables", "list"])
        #expect(list.out.split(separator: "\n").count == Self.versions + 1, "\(list.out)\(list.err)")
    }

    private func ids() throws -> [String] {
        try run(["inspect", "--topic", name + ".out", "-f", "%{decision}\\n"]).out.split(separator: "\n")
            .map(String.init)
    }

    /// Decides all decisions again with nothing but the topics, with the search of the command.
    private func expectSame(_ ids: [String]) throws {
        let settings = try Settings(
            flags: ["tables.topic": SettingTexts(texts: [topic], splitting: true, source: .flag("--tables-topic"))],
            environment: [:], configFile: nil, isKnownProperty: { _ in false })
        let search = WhySearch(settings, try WhyTables(settings, ShippedFiles(environment: [:])), LoadedVendors())
        #expect(search.tables.files.isEmpty || search.tables.files.allSatisfy { $0.source == "shipped" })
        var archive = try ArchiveReader(settings, ArchiveSample.connection)
        var scan = try TopicScan(ArchiveSample.connection)
        #expect(ids.count == Self.versions * Self.events)
        for text in ids {
            let id = try #require(DecisionID(text))
            let report = try search.report(.id(id), &scan, &archive, outputs: [name + ".out"]) { _, _ in }
            #expect(report.again == report.decision.value && report.warnings.isEmpty, "\(text): \(report.warnings)")
            #expect(report.table?.source == "topic" && report.explanation != nil, "\(text)")
        }
        let why = try run(["inspect", "--topic", name + ".out", "--why", ids[0], "--json"])
        let report = try JSONValue.parse(Array(why.out.utf8))
        #expect(report["same"]?.text == "true" && report["table"]?["source"]?.string == "topic", "\(why.err)")
        #expect(report["table"]?["configuration"]?.string?.count == 64)
    }

    @Test("Of two configurations with the same table, the one that gives the bytes is taken, and another time is said")
    func sameTable() throws {
        let table = TableFolder.text("a", version: 1)
        let acme = VendorFiles.table()
        let drafts = [try ArchiveSample.draft(table), try ArchiveSample.draft(table, vendors: acme)]
        try ArchiveSample.create(topic)
        try ArchiveSample.write(
            ArchiveSample.records(drafts[0], usedAt: 1_000_000) + ArchiveSample.records(drafts[1], usedAt: 90_000_000),
            to: topic)
        let settings = try Settings(
            flags: [:], environment: [:], configFile: nil, isKnownProperty: { _ in false })
        let search = WhySearch(settings, try WhyTables(settings, ShippedFiles(environment: [:])), LoadedVendors())
        var archive: ArchiveReader? = try ArchiveReader(ArchiveSample.connection, topic: topic)
        let event = #"{"payload":{"aps":{},"acme":{"url":"a:///x"}},"device":{"id":"d","platform":"ios"}}"#
        let input = InspectedRecord(
            topic: "in", partition: 0, offset: 0, timestamp: 1, key: nil, value: Array(event.utf8), headers: [])
        for (number, draft) in drafts.enumerated() {
            let entry = try #require(archive?.archive.entry(SHA256.hex(draft.configuration.document)))
            let loaded = try #require(try archive?.load(entry))
            let made = try #require(WhySearch.resolve(input, loaded.decider).first?.json)
            for (time, isWarned) in [(Int64(1_500_000), number == 1), (91_000_000, number == 0)] {
                let decision = InspectedRecord(
                    topic: "out", partition: 0, offset: 0, timestamp: time, key: nil, value: made, headers: [])
                let id = try #require(decision.json?["decision"]?.string.flatMap(DecisionID.init))
                let report = try search.report(id, DecisionSearch.Found(record: decision), input, &archive)
                #expect(report.isSame == true && report.archived?.hash == entry.hash, "\(number) \(time)")
                #expect(report.warnings.isEmpty != isWarned, "\(number) \(time) \(report.warnings)")
            }
            // No configuration gives other bytes: the one that was in use is taken, and the difference is said.
            let wrong = InspectedRecord(
                topic: "out", partition: 0, offset: 0, timestamp: 91_000_000, key: nil,
                value: made.dropLast() + Array(#","x":1}"#.utf8), headers: [])
            let id = try #require(DecisionID("in-0-0-0"))
            let report = try search.report(id, DecisionSearch.Found(record: wrong), input, &archive)
            #expect(report.isSame == false)
            #expect(report.warnings.contains { $0.contains("no configuration of the archive gives this decision") })
        }
    }

    @Test("A worker does not start, and does not serve another table, without an archive that takes it")
    func unwritable() throws {
        #expect(
            try LinkdProcess.run(
                ["topics", "create", "--partitions", "1"] + topics,
                environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
            ).code == 0)
        let folder = try TableFolder()
        try folder.write("t.json", Self.table(0))
        let refused = try run(
            ["worker", "--group", name, "--table", folder.path("t.json"), "--start-timeout", "1s"] + topics)
        #expect(refused.code == 78 && refused.err.contains("does not exist"), "\(refused.err)")
        // The broker takes the documents, but not a larger table.
        try ArchiveSample.create(topic, settings: ["max.message.bytes": "3000"])
        let worker = try worker(folder.path("t.json"), "--start-timeout", "5s", "-X", "compression.codec=none")
        try #require(worker.says(#""event":"ready""#), "\(worker.log)")
        try folder.write("t.json", Self.table(1) + String(repeating: " ", count: 4000))
        worker.signal(SIGHUP)
        try #require(worker.says(#""event":"tables.unarchived""#), "\(worker.log)")
        #expect(!worker.log.contains(#""event":"tables.reloaded""#) && worker.isRunning)
        worker.signal(SIGTERM)
        #expect(try worker.end() == 0, "\(worker.log)")
        #expect(try run(["tables", "list"]).out.split(separator: "\n").count == 2)
    }

    @Test("Several writers at once lose no use, and pruning never removes what another configuration names")
    func writersAndPruning() async throws {
        try ArchiveSample.create(topic)
        let acme = VendorFiles.table()
        let old = try ArchiveSample.draft(TableFolder.text("a", version: 1), vendors: acme)
        let new = try ArchiveSample.draft(TableFolder.text("a", version: 2), vendors: acme)
        try ArchiveSample.write(ArchiveSample.records(old, usedAt: 1000), to: topic)
        let writer = ArchiveWriter(ArchiveSample.connection, topic: topic)
        let began = Platform.nowMilliseconds
        let hashes = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 {
                group.addTask { try writer.store(new, by: .worker, deadline: Platform.monotonicSeconds + 60) }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(hashes.count == 1)
        var reader = try ArchiveReader(ArchiveSample.connection, topic: topic)
        let entry = try #require(reader.archive.entries.last)
        #expect(hashes == [entry.hash] && entry.uses.count == 1 && entry.first >= began)
        try writer.keepUse(of: new, deadline: Platform.monotonicSeconds + 60)
        let dry = try run(["tables", "prune", "--unused-for", "1d"])
        #expect(dry.out.contains("would remove 1 of 2 configurations with 1 file, "), "\(dry.out)\(dry.err)")
        #expect(try run(["tables", "list", "--json"]).out.contains(SHA256.hex(old.configuration.document)))
        let removed = try run(["tables", "prune", "--unused-for", "1d", "--yes", "--json"])
        #expect(removed.out.contains(#""removed":true,"configurations":2,"files":1,"#), "\(removed.err)")
        try reader.update()
        #expect(reader.archive.entries.map(\.hash) == [entry.hash])
        #expect(try reader.archive.hashes.count == 3 && reader.load(entry).vendors.table != nil)
        #expect(try #require(reader.archive.entries.first).last >= entry.last)
        #expect(try run(["tables", "prune", "--unused-for", "1d"]).out.hasPrefix("would remove 0 of 1 configuration"))
        // A use that goes on stores what another program has removed, and pruning removes files that nothing names.
        let keys = reader.archive.hashes.sorted().flatMap(reader.archive.keys)
        try writer.remove(keys: keys, deadline: Platform.monotonicSeconds + 60)
        try writer.keepUse(of: new, deadline: Platform.monotonicSeconds + 60)
        try writer.store(files: [Array("unnamed".utf8)], deadline: Platform.monotonicSeconds + 60)
        try reader.update()
        #expect(reader.archive.entries.map(\.hash) == [entry.hash] && reader.archive.hashes.count == 4)
        #expect(try run(["tables", "prune", "--yes"]).code == 0)
        var after = try ArchiveReader(ArchiveSample.connection, topic: topic)
        let kept = try #require(after.archive.entries.first)
        #expect(try after.archive.hashes.count == 3 && after.load(kept).vendors.table != nil)
        // A later version has written a configuration, whose files are not known here.
        let later = new.configuration.document.dropLast() + Array(#","later":1}"#.utf8)
        try writer.store(files: [Array(later), Array("file".utf8)], deadline: Platform.monotonicSeconds + 60)
        let refused = try run(["tables", "prune", "--yes"])
        #expect(refused.code == 65 && refused.err.contains("another version of linkd"), "\(refused.err)")
        try after.update()
        #expect(after.archive.hashes.count == 5)
        try writer.remove(
            keys: after.archive.keys(of: SHA256.hex(Array(later))), deadline: Platform.monotonicSeconds + 60)
        try prunesBesideWorker(writer, new, entry.hash)
        try refusesDamaged(writer, new, entry.hash)
        for bytes in [
            #"{"configuration":2,"files":[]}"#,
            #"{"configuration":2,"files":["# + String(repeating: " ", count: 600_000),
        ] {
            try writer.store(files: [Array(bytes.utf8)], deadline: Platform.monotonicSeconds + 60)
            #expect(try run(["tables", "prune", "--yes"]).code == 65)
            try after.update()
            let hash = SHA256.hex(Array(bytes.utf8))
            #expect(after.archive.foreign == [hash])
            try writer.remove(keys: after.archive.keys(of: hash), deadline: Platform.monotonicSeconds + 60)
        }
    }

    /// Prunes while the files of a configuration in use are not known, because its document is damaged.
    private func refusesDamaged(_ writer: ArchiveWriter, _ draft: ConfigurationDraft, _ hash: String) throws {
        let document = [ConfigurationArchive.key(hash, .piece(0))]
        try writer.remove(keys: document, deadline: Platform.monotonicSeconds + 60)
        let damaged = try run(["tables", "prune", "--yes"])
        #expect(damaged.code == 65 && damaged.err.contains("is damaged"), "\(damaged.err)")
        #expect(
            try run(["tables", "list"]).err.contains("has 1 damaged configuration, for example \(hash.prefix(8))")
        )
        try writer.keepUse(of: draft, deadline: Platform.monotonicSeconds + 60)
    }

    /// Removes a configuration that a worker begins to use after it was chosen, before or after it is removed, and
    /// whose files another `prune` removes meanwhile.
    private func prunesBesideWorker(_ writer: ArchiveWriter, _ draft: ConfigurationDraft, _ hash: String) throws {
        func use() throws(CommandFailure) {
            _ = try writer.store(draft, by: .worker, deadline: Platform.monotonicSeconds + 60)
        }
        func checkKept(since time: Int64) throws {
            var reader = try ArchiveReader(ArchiveSample.connection, topic: topic)
            let kept = try #require(reader.archive.entry(hash))
            #expect(try kept.last >= time && reader.load(kept).vendors.table != nil)
        }
        for step in [nil, ArchivePruning.Step.read, .removed] {
            var pruning = try ArchivePruning(ArchiveSample.connection, topic: topic, unusedSince: .max)
            #expect(pruning.entries.map(\.hash) == [hash])
            let time = Platform.nowMilliseconds
            if step == nil { try use() }
            try pruning.run { now throws(CommandFailure) in
                if now == step { try use() }
                guard step == .read, now == .removed else { return }
                var other = try ArchivePruning(ArchiveSample.connection, topic: topic, unusedSince: time)
                try other.run()
            }
            #expect(pruning.entries.isEmpty)
            try checkKept(since: time)
        }
        // A worker that served it when it was removed stores it again before it serves another one.
        let time = Platform.nowMilliseconds
        var pruning = try ArchivePruning(ArchiveSample.connection, topic: topic, unusedSince: .max)
        try pruning.run()
        #expect(pruning.entries.map(\.hash) == [hash])
        var next = draft
        next.configuration.messageBytes = 1
        let other = try writer.store(
            next, by: .worker, insteadOf: draft, deadline: Platform.monotonicSeconds + 60)
        try checkKept(since: time)
        let reader = try ArchiveReader(ArchiveSample.connection, topic: topic)
        try writer.remove(keys: reader.archive.keys(of: other), deadline: Platform.monotonicSeconds + 60)
    }

    @Test("The topic is created compacted with one partition, and one that loses configurations is a finding")
    func topicCommands() throws {
        let created = try run(["topics", "create", "--partitions", "3", "--json"] + topics)
        #expect(
            created.out.contains(#""topic":"\#(topic)","role":"configurations","state":"created","partitions":1"#),
            "\(created.out)")
        let check = try run(["topics", "check", "--probe", "--partitions", "3"] + topics)
        #expect(check.code == 0, "\(check.out)\(check.err)")
        let doctor = try run(["doctor", "--group", name] + topics)
        #expect(doctor.out.contains("whoever may write to \(topic) may remove configurations"), "\(doctor.out)")
        let deleting = try LinkdProcess.run(
            ["topics", "check", "--tables-topic", name, "--input", topic, "--output", name + ".out"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(deleting.out.contains("\(name) is not only compacted, so that configurations are lost"))
        let same = try run(["worker", "--tables-topic", name] + topics)
        #expect(same.code == 64 && same.err.contains("of `tables.topic` is also an input"), "\(same.err)")
        let rules = try run(["doctor", "--print-acls"] + topics)
        let operations = ["Read", "Write", "DescribeConfigs"].map { "--operation \($0) " }.joined()
        #expect(rules.out.contains("\(operations)--topic \(topic)"), "\(rules.out)")
    }
}
