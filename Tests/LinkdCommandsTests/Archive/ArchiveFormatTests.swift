internal import ByteStorage
internal import LinkCoordinator
internal import LinkIngest
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite("The format of an archive of configurations")
struct ArchiveFormatTests {
    private static let table = TableFolder.text("a", version: 1)

    private static func drafts() throws -> [ConfigurationDraft] {
        let other = TableFolder.text("a", version: 2)
        let acme = VendorFiles.table()
        return [
            try ArchiveSample.draft(table), try ArchiveSample.draft(other),
            try ArchiveSample.draft(table, TableFolder.text("b", version: 1)),
            try ArchiveSample.draft(table, candidate: other), try ArchiveSample.draft(table, vendors: acme),
            try ArchiveSample.draft(table, limits: Limits(depth: 65)),
            try ArchiveSample.draft(table, passthrough: []),
            try ArchiveSample.draft(table, passthrough: ["campaign"]),
            try ArchiveSample.draft(table, contextQuery: ["q"]),
            try ArchiveSample.draft(table, contextQuery: ["q", "r"]),
            try ArchiveSample.draft(table, devices: .standard), try ArchiveSample.draft(table, devices: .all),
            try ArchiveSample.draft(table, messageBytes: 1_000_000),
        ]
    }

    @Test("A document is read to the same configuration, and each part of a configuration changes the hash")
    func documents() throws {
        let drafts = try Self.drafts()
        for draft in drafts {
            let document = draft.configuration.document
            #expect(ArchivedConfiguration(document: document) == draft.configuration)
            #expect(document.starts(with: ArchivedConfiguration.start))
            #expect(Set(draft.files.map(ArchivedConfiguration.File.init)) == Set(draft.configuration.files))
        }
        #expect(Set(drafts.map { SHA256.hex($0.configuration.document) }).count == drafts.count)
    }

    @Test(
        "A value out of the bounds of its setting refuses a document",
        arguments: [
            (#""devices":500"#, #""devices":501"#), (#""json_depth":64"#, #""json_depth":513"#),
            (#""record_bytes":1048576"#, #""record_bytes":-1"#), (#""hash":""#, #""hash":"0"#),
            (#""percent":10000"#, #""percent":10001"#), (#""passthrough":"campaign""#, #""passthrough":"x""#),
            (#""configuration":1"#, #""configuration":2"#), (#""bytes":"#, #""bytes":99999999"#),
            (#""max_message_bytes":null"#, #""max_message_bytes":-1"#), (#"+"#, #"-"#),
            (#""context_query":["q"]"#, #""context_query":[""]"#), (#""context_query":["q"]"#, #""context_query":"q""#),
        ])
    func bounds(part: String, other: String) throws {
        let draft = try ArchiveSample.draft(
            Self.table, candidate: TableFolder.text("a", version: 2), contextQuery: ["q"])
        let text = String(decoding: draft.configuration.document, as: UTF8.self)
        try #require(text.contains(part))
        #expect(ArchivedConfiguration(document: Array(text.replacing(part, with: other).utf8)) == nil)
    }

    @Test("A key is read only if it is the key of the same part")
    func keys() {
        let hash = SHA256.hex([1])
        for part in [ConfigurationArchive.Part.piece(0), .piece(127), .use] {
            let key = ConfigurationArchive.key(hash, part)
            let parsed = key.withUnsafeBufferPointer { ConfigurationArchive.parse(ByteView($0)) }
            #expect(parsed?.hash == hash && parsed?.part == part)
        }
        for text in [
            "\(hash)/128", "\(hash)/00", "\(hash)/+1", "\(hash)/", hash, "\(hash)/-1", "\(hash.uppercased())/0",
        ] {
            let parsed = Array(text.utf8).withUnsafeBufferPointer { ConfigurationArchive.parse(ByteView($0)) }
            #expect(parsed == nil, "\(text)")
        }
    }

    @Test("Files that configurations share are stored once, and a missing or cut piece is noticed")
    func files() throws {
        let vendors = VendorFiles.table()
        // A table of several pieces.
        let large =
            TableFolder.text("a", version: 1) + String(repeating: " ", count: 2 * ConfigurationArchive.pieceBytes)
        let drafts = [
            try ArchiveSample.draft(large, vendors: vendors),
            try ArchiveSample.draft(TableFolder.text("a", version: 2), vendors: vendors),
        ]
        var archive = ConfigurationArchive(topic: "t")
        let records = drafts.enumerated().flatMap { ArchiveSample.records($1, usedAt: Int64($0)) }
        try ArchiveSample.add(records, to: &archive)
        #expect(archive.entries.map(\.configuration) == drafts.map(\.configuration))
        // Two tables, two documents, and one vendor table.
        #expect(archive.hashes.count == 5 && archive.unreadable == 0)
        let file = drafts[0].configuration.tables[0].file
        #expect(archive.places(of: file)?.count == 3)
        var shorter = file
        shorter.bytes -= 1
        #expect(archive.places(of: shorter) == nil)
        try ArchiveSample.add(
            [ArchiveSample.Record(key: ConfigurationArchive.key(file.hash, .piece(1)), value: nil)], to: &archive)
        #expect(archive.places(of: file) == nil)
    }

    @Test("Hostile records never trap, and only documents with their hash are configurations")
    func hostile() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let records = try Self.drafts().enumerated().flatMap { ArchiveSample.records($1, usedAt: Int64($0)) }
        for _ in 0..<LawCases.count {
            var archive = ConfigurationArchive(topic: "t")
            var changed: [ArchiveSample.Record] = []
            for var record in records.shuffled(using: &random).prefix(12) {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: record.value = nil
                case 1: record.key[Int.random(in: 0..<record.key.count, using: &random)] ^= 1
                case 2: record.value = record.value?.map { $0 ^ UInt8.random(in: 0...1, using: &random) }
                case 3: record.value = records.randomElement(using: &random)?.value
                case 4: record.value = Array((record.value ?? []).prefix(Int.random(in: 0...200, using: &random)))
                default: break
                }
                changed.append(record)
            }
            try ArchiveSample.add(changed, to: &archive)
            for entry in archive.entries {
                #expect(SHA256.hex(entry.configuration.document) == entry.hash, "seed \(seed)")
                #expect(!entry.uses.isEmpty && entry.uses.allSatisfy { $0.first <= $0.last }, "seed \(seed)")
                for file in entry.configuration.files { _ = archive.places(of: file) }
            }
        }
    }

    @Test("An archive with too many records, or too many uses, is refused", arguments: [false, true])
    func tooMany(uses: Bool) throws {
        var archive = ConfigurationArchive(topic: "t")
        let limit =
            uses ? ConfigurationArchive.maxUses / ConfigurationUse.limit : ConfigurationArchive.maxRecords
        let many = (0..<ConfigurationUse.limit).map { ConfigurationUse(first: Int64($0), last: Int64($0)) }
        let value = uses ? ConfigurationUse.value(many) : [0]
        let records = (0...limit).map { number in
            let digits = String(number, radix: 16)
            let hash = String(repeating: "0", count: 64 - digits.count) + digits
            return ArchiveSample.Record(key: ConfigurationArchive.key(hash, uses ? .use : .piece(0)), value: value)
        }
        try ArchiveSample.add(Array(records.dropLast()), to: &archive)
        let failure = #expect(throws: CommandFailure.self) {
            try ArchiveSample.add([records[records.count - 1]], to: &archive)
        }
        #expect(failure?.code == .configuration)
    }
}

@Suite("The uses of configurations")
struct ConfigurationUseTests {
    private static func use(_ first: Int64, _ last: Int64) -> ConfigurationUse {
        ConfigurationUse(first: first, last: last)
    }

    @Test("A restart is no new use, and a configuration that comes back has one")
    func joined() {
        #expect(ConfigurationUse.joined([Self.use(1, 2), Self.use(5, 6)], others: []) == [Self.use(1, 6)])
        #expect(ConfigurationUse.joined([Self.use(1, 2), Self.use(5, 6)], others: [1, 7]) == [Self.use(1, 6)])
        let both = [Self.use(1, 2), Self.use(5, 6)]
        #expect(ConfigurationUse.joined(both, others: [3]) == both)
        #expect(ConfigurationUse.joined(both.reversed(), others: [5]) == both)
        let recall = ConfigurationUse(first: 3, last: 3, program: .recall)
        #expect(ConfigurationUse.joined([Self.use(1, 2), recall], others: []) == [Self.use(1, 2), recall])
        // A worker that is restarted after a recall goes on with its use.
        #expect(ConfigurationUse.joined(both + [recall], others: []) == [Self.use(1, 6), recall])
    }

    @Test("Joined uses stay as they are, are bounded, and are read as they were written")
    func law() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<LawCases.count {
            func time() -> Int64 { Int64.random(in: 0...400, using: &random) }
            let uses = (0..<Int.random(in: 1...250, using: &random)).map { _ in
                let first = time()
                return Self.use(first, first + time())
            }
            let others = (0..<Int.random(in: 0...300, using: &random)).map { _ in time() }.sorted()
            let joined = ConfigurationUse.joined(uses, others: others)
            #expect(ConfigurationUse.joined(joined, others: others) == joined, "seed \(seed)")
            #expect((1...ConfigurationUse.limit).contains(joined.count), "seed \(seed)")
            #expect(joined.first?.first == uses.map(\.first).min(), "seed \(seed)")
            #expect(joined.map(\.last).max() == uses.map(\.last).max(), "seed \(seed)")
            let value = ConfigurationUse.value(joined)
            #expect(value.count <= ConfigurationUse.limitBytes)
            #expect(value.withUnsafeBufferPointer { ConfigurationUse.read(ByteView($0)) } == joined, "seed \(seed)")
        }
    }

    @Test("The candidates for a decision begin with the configuration that was begun last before it")
    func candidates() throws {
        var archive = ConfigurationArchive(topic: "t")
        let table = TableFolder.text("a", version: 1)
        let drafts = [
            try ArchiveSample.draft(table), try ArchiveSample.draft(table, vendors: VendorFiles.table()),
            try ArchiveSample.draft(TableFolder.text("a", version: 2)), try ArchiveSample.draft(table, passthrough: []),
        ]
        let records = [
            ArchiveSample.records(drafts[0], usedAt: 100, 400), ArchiveSample.records(drafts[1], usedAt: 200),
            ArchiveSample.records(drafts[2], usedAt: 300), ArchiveSample.records(drafts[3], usedAt: 500),
        ]
        try ArchiveSample.add(records.flatMap(\.self), to: &archive)
        let identity = drafts[0].configuration.tables[0].identity
        func order(_ identity: String?, _ time: Int64) -> [Int] {
            archive.candidates(for: identity, at: time).compactMap { entry in
                drafts.firstIndex { $0.configuration == entry.configuration }
            }
        }
        #expect(order(identity, 350) == [1, 0, 3])
        #expect(order(identity, 450) == [0, 1, 3])
        #expect(order(identity, 50) == [0, 1, 3])
        #expect(order(identity, .max) == [3, 0, 1])
        #expect(order(nil, 350) == [2, 1, 0, 3])
        #expect(order("a@1+00000000", 350) == [])
    }
}
