internal import ByteStorage
internal import Foundation
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The answer of a recall for one decision, without a broker.
@Suite struct RecallJudgeTests {
    private static let event =
        #"{"link":"s://x/a","application":"app","expires":"2024-01-01T00:00:00Z","device":{"id":"d"}}"#
    /// A time before the expiry of the event, and one after it.
    private static let (early, late): (Int64, Int64) = (1_700_000_000_000, 1_800_000_000_000)

    private static func table(_ version: String, _ url: String, application: String = "app") throws -> RouteTable {
        try RouteTable(
            json: Array(
                """
                {"schemaVersion":1,"table":{"id":"t","version":"\(version)","applications":["\(application)"]},
                "link":{"schemes":["s","https"],"host":"authority","hosts":["x"]},
                "coordinators":{"c":{"screens":{"a":{}}}},
                "routes":[{"id":"a","match":"/a","to":{"external":"\(url)"}}]}
                """.utf8))
    }

    private static func configuration(
        _ table: RouteTable, _ replacement: RouteTable, version: String? = nil, hash: String? = nil
    ) throws -> RecallConfiguration {
        let vendors = try #require(LoadedVendors(vendorFiles: [], platformFile: nil))
        return RecallConfiguration(
            hash, version, DeciderConfiguration(tables: TableSet([table])), vendors, nil, table: table,
            replacement: replacement)
    }

    /// Calls a function with the record of an event.
    private static func withRecord<Value>(
        _ event: String = event, _ body: (ScannedRecord) throws -> Value
    ) rethrows -> Value {
        let bytes = Array(event.utf8)
        return try bytes.withUnsafeBufferPointer { bytes in
            try body(
                ScannedRecord(
                    topic: "in", partition: 0, offset: 7, timestamp: early, key: nil, value: ByteView(bytes),
                    headers: []))
        }
    }

    /// Returns the answer for the decision of a table, as a state or the bytes of a correction.
    private static func answer(
        of table: RouteTable, _ list: [RecallConfiguration], _ replacement: RouteTable, now: Int64 = early,
        messageLimits: [Int] = [.max], topic: String = "out", archive: ConfigurationArchive? = nil,
        id text: String = "in-0-7-0"
    ) throws -> String {
        let id = try #require(DecisionID(text))
        let maker = try configuration(table, replacement)
        return try withRecord { record in
            guard case .decision(let bytes) = maker.decide(record, id, (nil, nil), isNew: false) else {
                return "no decision"
            }
            let plan = RecallPlan(
                RecordFilter(), hash: String(table.hash.prefix(8)), replacement: String(replacement.hash.prefix(8)),
                application: nil, inputs: ["in"], outputs: ["out", "other"], partitionCounts: [1, 1], limit: 1)
            var tape = DecisionTape()
            try bytes.withUnsafeBufferPointer { bytes in
                let key = ByteView("d" as StaticString)
                try plan.see(
                    ScannedRecord(
                        topic: topic, partition: 0, offset: 0, timestamp: early, key: key, value: ByteView(bytes),
                        headers: []), &tape)
            }
            plan.finish()
            let choice = try #require(plan.choices.first)
            var judge = RecallJudge(
                RecallConfigurations(list, archive: archive), replacement, now: now, messageLimits: messageLimits)
            switch judge.verdict(choice, id, plan.device(choice), record) {
            case .left(let state): return state.name
            case .correct(let correction): return String(decoding: correction.new, as: UTF8.self)
            }
        }
    }

    @Test("Of several tables with one id, only the wrong one is replaced, or the one of the wrong candidate")
    func sharedID() throws {
        let (wrong, right) = (try Self.table("1", "https://x/wrong"), try Self.table("2", "https://x/right"))
        let other = try Self.table("1", "https://x/other", application: "other")
        func tables(_ served: [RouteTable], _ candidate: CanaryPlan?) throws -> [String] {
            let vendors = try #require(LoadedVendors(vendorFiles: [], platformFile: nil))
            let decider = DeciderConfiguration(tables: TableSet(served), candidate: candidate)
            let pair = RecallConfiguration(nil, nil, decider, vendors, nil, table: wrong, replacement: right)
            return pair.corrected.tables.tables.map(\.hash)
        }
        #expect(try tables([other, wrong], nil) == [other.hash, right.hash])
        let plan = CanaryPlan(base: other, candidate: wrong, percent: 5_000, compare: 0)
        #expect(try tables([other], plan) == [right.hash])
    }

    @Test("A decision is corrected with all members, its number, and the id that it supersedes")
    func corrected() throws {
        let (wrong, right) = (try Self.table("1", "https://x/wrong"), try Self.table("2", "https://x/right"))
        let list = [
            try Self.configuration(try Self.table("0", "https://x/z"), right), try Self.configuration(wrong, right),
        ]
        let text = try Self.answer(of: wrong, list, right)
        let start =
            #"{"decision":"in-0-7-0~1","supersedes":"in-0-7-0","event":"in-0-7","device":"d","application":"app","#
        #expect(
            text.hasPrefix(start + #""table":"\#(right.identity)","#) && text.contains("https://x/right"), "\(text)")
        #expect(try Self.answer(of: wrong, list, right, now: Self.late) == "expired")
        // The key has 1 byte, and the frame 512.
        let (least, small) = (text.utf8.count + 513, text.utf8.count + 512)
        #expect(try Self.answer(of: wrong, list, right, messageLimits: [least]) == text)
        #expect(try Self.answer(of: wrong, list, right, messageLimits: [small], topic: "other") == "too_large")
        // The limit is that of the topic of the decision.
        #expect(try Self.answer(of: wrong, list, right, messageLimits: [least, small]) == text)
        #expect(try Self.answer(of: wrong, list, right, messageLimits: [least, small], topic: "other") == "too_large")
    }

    @Test("The edit of a table is the cause of a correction, also for a link in the payload of a vendor")
    func causes() throws {
        let (wrong, right) = (try Self.table("1", "https://x/wrong"), try Self.table("2", "https://x/right"))
        let file = [UInt8](try Data(contentsOf: Checkout.root.appending(path: "config/vendors.json")))
        let vendors = try #require(LoadedVendors(vendorFiles: [file], platformFile: nil))
        let configuration = RecallConfiguration(
            nil, nil, DeciderConfiguration(tables: TableSet([wrong]), vendors: vendors.table), vendors, nil,
            table: wrong, replacement: right)
        let correction = Correction(
            superseded: try #require(DecisionID("in-0-7-0")), id: try #require(DecisionID("in-0-7-0~1")), old: [],
            new: [], configuration: configuration, shortLinks: nil)
        var causes = RecallCauses(to: right)
        for event in [
            Self.event, #"{"payload":{"to":"ExponentPushToken[a]","data":{"url":"s://x/a"}},"device":{"id":"d"}}"#,
        ] {
            let found = Self.withRecord(event) { causes.add(correction, $0, (nil, nil)) }
            #expect(found.count == 1, "\(event): \(found)")
        }
        #expect(causes.groups.map(\.count) == [2])
    }

    @Test("A decision that must not or need not be corrected has the cause")
    func left() throws {
        let (wrong, right) = (try Self.table("1", "https://x/wrong"), try Self.table("2", "https://x/right"))
        let renamed = try Self.table("9", "https://x/wrong")
        let same = [try Self.configuration(wrong, renamed)]
        #expect(try Self.answer(of: wrong, same, renamed) == "same")
        #expect(try Self.answer(of: wrong, same, renamed, now: Self.late) == "same")
        let other = try Self.table("2", "https://x/right", application: "other")
        #expect(try Self.answer(of: wrong, [try Self.configuration(wrong, other)], other) == "refused")
        #expect(try Self.answer(of: wrong, [], right) == "not_archived")
        let foreign = try Self.table("1", "https://x/other")
        let old = try Self.configuration(foreign, right, version: "0.0.0")
        let new = try Self.configuration(foreign, right, version: LinkdVersion.text)
        #expect(try Self.answer(of: wrong, [old], right) == "version")
        #expect(try Self.answer(of: wrong, [new], right) == "different")
        #expect(try Self.answer(of: wrong, [old, new], right) == "version")
        let list = [try Self.configuration(wrong, right)]
        #expect(try Self.answer(of: wrong, list, right, id: "in-0-7-0~999") == "no_number_left")
        #expect(try Self.answer(of: wrong, same, renamed, id: "in-0-7-0~999") == "same")
    }

    /// The times of the other version and of this one since the decision, in milliseconds, and the cause.
    private static let uses: [(old: [Int64], new: [Int64], state: String)] = [
        ([0], [], "version"), ([], [0], "different"), ([0], [0], "version"), ([0], [7_200_000], "version"),
        ([-3_600_000], [0], "version"), ([-7_200_000], [0], "different"), ([-7_200_000], [], "different"),
        ([-7_200_000, 0], [-3_600_000], "version"), ([7_200_000], [0], "different"),
    ]

    @Test("Another version of linkd is the cause only if it was in use at the time of the decision", arguments: uses)
    func versions(old: [Int64], new: [Int64], state: String) throws {
        let (wrong, right) = (try Self.table("1", "https://x/wrong"), try Self.table("2", "https://x/right"))
        let foreign = try Self.table("1", "https://x/other")
        var archive = ConfigurationArchive(topic: "t")
        var list: [RecallConfiguration] = []
        for (version, times) in [("0.0.0", old), (LinkdVersion.text, new)] where !times.isEmpty {
            var draft = try ArchiveSample.draft(TableFolder.text("a", version: 1))
            draft.configuration.version = version
            let hash = SHA256.hex(draft.configuration.document)
            let value = ConfigurationUse.value(times.map { .init(first: Self.early + $0, last: Self.early + $0) })
            let use = ArchiveSample.Record(key: ConfigurationArchive.key(hash, .use), value: value)
            try ArchiveSample.add(ArchiveSample.pieces([draft.configuration.document]) + [use], to: &archive)
            list.append(try Self.configuration(foreign, right, version: version, hash: hash))
        }
        #expect(archive.entries.count == list.count)
        #expect(try Self.answer(of: wrong, list, right, archive: archive) == state)
    }
}
