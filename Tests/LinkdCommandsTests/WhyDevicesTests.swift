import ByteStorage
import LinkCoordinator
import LinkDecider
import LinkIngest
import RouteAnalysis
import StrictJSON
import TestSupport
import Testing

@testable import LinkdCommands

/// `linkd inspect --why` for decisions of a worker with a registry of devices.
@Suite("Deciding again takes the registry's facts from the decision")
struct WhyDevicesTests {
    /// Returns a table whose decisions depend on facts.
    static func table(version: String = "1") -> String {
        #"""
        {"schemaVersion":1,"table":{"id":"shop","version":"\#(version)","applications":["com.shop"]},
         "link":{"schemes":["shop"],"host":"segment","payload":{"link":["/l"]}},
         "capabilities":{"ar":{"listed":true}},
         "guards":{"in":{"claim":"session","else":{"to":{"path":"/home/feed"},"resume":{"ttl":"15m"}}}},
         "coordinators":{"home":{"initial":"feed","screens":{"feed":{},"item":{},"ar":{}}},
           "mine":{"initial":"list","guard":"in","screens":{"list":{}}}},
         "routes":[
           {"id":"item","match":"/item","variants":[
             {"when":{"app":">=4.0.0","platform":"ios"},"to":{"path":"/home/item"}},
             {"when":{"capability":"ar"},"to":{"path":"/home/ar"}},
             {"to":{"path":"/home/feed"}}]},
           {"id":"mine","match":"/mine","to":{"path":"/mine/list"}}],
         "fallback":{"outcome":"navigate","to":{"root":true}}}
        """#
    }

    /// The devices of the registry when the decisions are made.
    static let known: [(String, String)] = [
        ("a", #"{"user":"u","platform":"ios","app":"6.1.0","claims":["session"]}"#), ("b", #"{"user":"u"}"#),
        ("é\"", #"{"user":"u","capabilities":["ar"],"attributes":{"n":"\u0001é"},"locale":"d\\e"}"#),
        ("k", #"{"user":"v","app":"5"}"#), ("v", #"{"claims":["session"]}"#), ("w", #"{"user":"w"}"#),
    ]

    /// Events, each with the number of its decisions with facts.
    static let events: [(event: String, facts: Int)] = [
        (#""link":"shop://item","device":{"id":"a"}"#, 1),
        (#""link":"shop://item","device":{"id":"a","app":"3.0","claims":null,"platform":7}"#, 1),
        (#""link":"shop://item","device":{"id":"b"}"#, 0), (#""link":"shop://item","device":{"id":"none"}"#, 0),
        (#""link":"shop://item""#, 1), (#""link":"shop://mine","user":"u","n":1"#, 2),
        (#""link":"shop://item","user":"v""#, 1), (#""link":"shop://item","user":"w""#, 0),
        (#""link":"shop://item","user":"nobody""#, 0), (#""payload":{"aps":{},"l":"shop://item"},"user":"nobody""#, 0),
        (#""link":"shop://mine","devices":[{"id":"none"},{"id":"a","claims":[]},{"id":"é\""}]"#, 2),
        (#""payload":{"aps":{},"l":"shop://mine"},"user":"u""#, 2), (#""payload":{"aps":{}},"user":"u""#, 2),
        (#""payload":{"message":{"data":{"l":"shop://item"}}},"devices":[{"id":"a"},{"id":"k"}]"#, 2),
        (#""link":"shop://item","user":"u","expires":"1970-01-01T00:00:00Z""#, 2),
        (#""link":"shop://nowhere","user":"u""#, 2), (#""path":"home/item","user":"u""#, 2),
    ]

    /// The command's search, and a worker's decider with the same tables.
    final class Site {
        let folder: TableFolder
        let search: WhySearch
        var decider: Decider

        /// Creates a site.
        ///
        /// - Parameters:
        ///   - registry: A Boolean value that indicates whether the worker has a registry.
        ///   - canary: A Boolean value that indicates whether a candidate decides for all devices.
        init(registry: Bool = true, canary: Bool = false) throws {
            let folder = try TableFolder()
            self.folder = folder
            let paths = try (canary ? ["1", "2"] : ["1"]).map { version in
                try folder.write("\(version).json", WhyDevicesTests.table(version: version))
                return folder.path("\(version).json")
            }
            let texts = ["tables": paths.joined(separator: ","), "passthrough": "n"]
            let settings = try Settings(
                flags: texts.mapValues { SettingTexts(texts: [$0], splitting: true, source: .flag("--t")) },
                environment: [:], configFile: nil, isKnownProperty: { _ in false })
            let all = try paths.map { try CheckedTable.validTable(at: $0) }
            let vendors = LoadedVendors()
            search = WhySearch(settings, try WhyTables(settings, ShippedFiles(environment: [:])), vendors)
            let plan =
                canary ? CanaryPlan(base: all[0], candidate: all[1], percent: CanaryPlan.bucketCount, compare: 0) : nil
            let known = GivenDevices()
            for (id, value) in WhyDevicesTests.known { #expect(known.add(Array(id.utf8), Array(value.utf8))) }
            decider = Decider(
                DeciderConfiguration(settings, [all[0]], vendors, candidate: plan), devices: registry ? known : nil)
        }

        /// Returns the decisions for an event as a worker publishes them.
        func decide(_ input: InspectedRecord) -> (cause: DeadLetterCause?, decisions: [[UInt8]]) {
            input.withViews { record in
                var arena = OutputArena(chunkBytes: 1 << 16)
                var decisions: [ProducedDecision] = []
                let consumed = ConsumedRecord(
                    topic: 0, partition: record.partition, offset: record.offset, timestamp: record.timestamp,
                    key: record.key, value: record.value, index: 0, hasHeaders: false)
                let cause = decider.decide(
                    consumed, topicName: ByteView("in"), into: &arena, decisions: &decisions)
                return (cause, decisions.map(\.value.array))
            }
        }

        /// Returns the report on a decision.
        func report(_ decision: [UInt8], _ input: InspectedRecord) throws -> WhyReport {
            let record = InspectedRecord(
                topic: "out", partition: 0, offset: 1, timestamp: 1000, key: nil, value: decision, headers: [])
            let id = try #require(record.json?["decision"]?.string.flatMap(DecisionID.init))
            var archive: ArchiveReader?
            return try search.report(id, DecisionSearch.Found(record: record), input, &archive)
        }
    }

    static func record(_ event: String, key: String? = "k") -> InspectedRecord {
        InspectedRecord(
            topic: "in", partition: 3, offset: 7, timestamp: 1000, key: key.map { Array($0.utf8) },
            value: Array("{\(event)}".utf8), headers: [])
    }

    @Test("A decision with facts, of a user, or of a canary is decided again to the same bytes", arguments: events)
    func same(_ event: String, _ facts: Int) throws {
        for canary in [false, true] {
            let site = try Site(canary: canary)
            let input = Self.record(event)
            let (cause, decisions) = site.decide(input)
            #expect(cause == nil && !decisions.isEmpty)
            var found = 0
            for decision in decisions {
                let report = try site.report(decision, input)
                #expect(report.again == decision, "\(String(decoding: decision, as: UTF8.self))")
                #expect(report.isSame == true && report.warnings.isEmpty)
                let json = try JSONValue.parse(decision)
                if json["facts"] != nil { found += 1 }
                guard json["table"] != nil, json["reason"]?.string != "expired" else { continue }
                #expect(json["table"]?.string?.hasPrefix(canary ? "shop@2" : "shop@1") == true)
                let explained = try #require(report.explanation?.decision?.decision)
                #expect(explained.outcome.rawValue == json["outcome"]?.string)
                #expect(explained.variant.map(Int64.init) == json["variant"]?.integer)
            }
            #expect(found == facts)
        }
    }

    @Test("A decision of a worker without a registry is decided again without one", arguments: events)
    func withoutRegistry(_ event: String, _ facts: Int) throws {
        let site = try Site(registry: false)
        let input = Self.record(event)
        for decision in site.decide(input).decisions {
            let report = try site.report(decision, input)
            #expect(report.again == decision && report.isSame == true)
        }
    }

    @Test(
        "The schemas accept what the registry, events with users, and their decisions have",
        .enabled(if: SchemaValidator.isAvailable, Comment(rawValue: SchemaValidator.unavailableReason)))
    func schemas() throws {
        let site = try Site()
        let decisions = Self.events.flatMap { site.decide(Self.record($0.event)).decisions }.map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(decisions.contains { $0.contains(#""facts":{"#) } && decisions.contains { $0.contains("no_device") })
        // The schema refuses malformed facts, which the reader accepts.
        let events = Self.events.map { "{\($0.event)}" }.filter { !$0.contains(#""platform":7"#) }
        for (schema, texts) in [("decision", decisions), ("event", events), ("device", Self.known.map(\.1))] {
            let subjects = texts.map { SchemaValidator.Subject(name: $0, text: $0) }
            #expect(try SchemaValidator.errors(schema: schema, in: subjects) == [:])
        }
    }

    @Test("A user with many devices is decided again at the last index, and without a key")
    func manyDevices() throws {
        let site = try Site()
        let known = GivenDevices()
        for index in 0..<500 { known.add(Array("d\(1000 + index)".utf8), Array(#"{"user":"u","app":"1"}"#.utf8)) }
        site.decider = Decider(
            DeciderConfiguration(tables: TableSet([site.search.tables.files[0].table])), devices: known)
        let input = Self.record(#""link":"shop://item","user":"u""#, key: nil)
        let decisions = site.decide(input).decisions
        #expect(decisions.count == 500)
        for index in [0, 1, 499] {
            let report = try site.report(decisions[index], input)
            #expect(report.again == decisions[index])
        }
    }

    @Test("Facts that no worker can have published are a difference")
    func forged() throws {
        let site = try Site()
        let input = Self.record(#""link":"shop://item","device":{"id":"a","locale":"de"}"#)
        let text = String(decoding: try #require(site.decide(input).decisions.first), as: UTF8.self)
        for (from, to) in [
            (#""platform":"ios""#, #""platform":7"#), (#""platform":"ios""#, #""platform":"ios","locale":"en""#),
            (#""app":"6.1.0""#, #""app":"1.0""#), (#"session"]}"#, #"session"],"more":1}"#),
        ] {
            let report = try site.report(Array(text.replacing(from, with: to).utf8), input)
            #expect(report.isSame == false, "\(to)")
        }
    }
}
