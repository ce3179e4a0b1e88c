import ByteStorage
import LinkCoordinator
import LinkDecider
import LinkIngest
import StrictJSON
import TestSupport
import Testing

@Suite("The topic of a decision is that of its application")
struct OutputTopicsTests {
    private static func index(_ outputs: OutputTopics, _ application: String) -> Int {
        Array(application.utf8).withUnsafeBufferPointer { Int(outputs.index(of: ByteView($0))) }
    }

    @Test("A map has each topic once, and only the applications that it names")
    func map() {
        var random = SeededGenerator(seed: UInt64.random(in: 0...0xFFFF_FFFF))
        for number in 0..<LawCases.count / 20 {
            var map: [String: String] = [:]
            for _ in 0..<Int.random(in: 0...OutputTopics.limit, using: &random) {
                // Names with one hash, and names that differ only in their sizes or ends.
                let count = Int.random(in: 1...40, using: &random)
                let name = String(repeating: random.one(in: 2) ? "a" : "b", count: count)
                map[name + (random.one(in: 2) ? "x" : "")] = "t\(Int.random(in: 0...20, using: &random))"
            }
            let outputs = OutputTopics("t3", applications: map.map { ($0.key, $0.value) }.shuffled(using: &random))
            #expect(outputs.main == "t3")
            #expect(Array(outputs.names.dropFirst()) == Set(map.values).subtracting(["t3"]).sorted(), "\(number)")
            for (application, topic) in map {
                #expect(outputs.names[Self.index(outputs, application)] == topic, "\(random.seed) \(map)")
            }
            for other in ["", "c", "aaaxb", String(repeating: "a", count: 41)] where map[other] == nil {
                #expect(Self.index(outputs, other) == 0)
            }
        }
    }

    private static func table(_ id: String, version: String = "1", _ applications: [String]) throws -> RouteTable {
        let names = applications.map { "\"\($0)\"" }.joined(separator: ",")
        let text = VendorDecisionTests.table.replacing(
            #""table":{"id":"one","version":"1"}"#,
            with: #""table":{"id":"\#(id)","version":"\#(version)","applications":[\#(names)]}"#)
        return try RouteTable(json: Array(text.replacing(#""one""#, with: #""\#(id)""#).utf8))
    }

    private static let outputs = OutputTopics(
        "rest", applications: [("one.app", "one"), ("two.app", "two"), ("other.app", "two"), ("later.app", "later")])

    /// Events with and without an application, for one table or the other, for several devices, for nobody, of a push
    /// message that opens nothing, and in lists.
    private static let events: [String] = {
        let links = [#""link":"one:/""#, #""link":"two:/other""#, #""payload":{"aps":{}}"#, #""link":"none:/""#]
        let applications = ["one.app", "two.app", "other.app", "later.app", "unknown", ""].map {
            #","application":"\#($0)""#
        }
        let devices = [#""device":{"id":"d"}"#, #""devices":[{"id":"a"},{"id":"b","platform":"ios"},{"id":"c"}]"#]
        let items = links.flatMap { link in
            devices.flatMap { device in ([""] + applications).map { "{\(link),\(device)\($0)}" } }
        }
        let messages = (0..<8).map { number in
            #"{"to":"ExponentPushToken[\#(number)]","data":{"url":"\#(number % 2 == 0 ? "one" : "two"):/"}}"#
        }
        return items + [
            "[" + messages.joined(separator: ",") + "]", "[\(messages[0]),\(items[1]),\(items[2]),\(items[8])]",
        ]
    }()

    private static func decide(
        _ value: String, key: String, _ decider: inout Decider
    ) -> (decisions: [(text: String, output: Int)], cause: String?) {
        var arena = OutputArena(chunkBytes: 4096)
        var produced: [ProducedDecision] = []
        return Array(value.utf8).withUnsafeBufferPointer { value in
            Array(key.utf8).withUnsafeBufferPointer { key in
                let record = ConsumedRecord(
                    topic: 0, partition: 3, offset: 7, timestamp: 1000, key: ByteView(key), value: ByteView(value),
                    index: 0, hasHeaders: false)
                let cause = decider.decide(
                    record, topicName: ByteView("links" as StaticString), into: &arena, decisions: &produced)
                return (
                    produced.map { ($0.key.string + " " + $0.value.string, Int($0.output)) },
                    cause.map { "\($0.all.map { "\($0.item ?? -1) \($0.reason) \($0.detail)" })" }
                )
            }
        }
    }

    @Test("A map changes no byte of a decision, and the members of a decision determine its topic", arguments: 0..<4)
    func law(tables number: Int) throws {
        let one = try Self.table("one", ["one.app"])
        let several = try Self.table("two", ["two.app", "other.app"])
        let plain = number == 0 ? [one] : number == 1 ? [several] : [one, several]
        let candidate = try Self.table("one", version: "2", ["later.app"])
        var configuration = DeciderConfiguration(
            tables: TableSet(plain),
            candidate: number == 3 ? CanaryPlan(base: one, candidate: candidate, percent: 5_000, compare: 0) : nil,
            vendors: try VendorTable(json: VendorDecisionTests.bytes(of: "vendors.json")))
        var without = Decider(configuration)
        configuration.outputs = Self.outputs
        var with = Decider(configuration)
        let tables = Dictionary(uniqueKeysWithValues: (plain + [candidate]).map { ($0.identity, $0) })
        var used: Set<Int> = []
        for event in Self.events {
            for device in 0..<(number == 3 ? 20 : 1) {
                let event = event.replacing(#"{"id":"d"}"#, with: #"{"id":"d\#(device)"}"#)
                let expected = Self.decide(event, key: "d\(device)", &without)
                let found = Self.decide(event, key: "d\(device)", &with)
                #expect(found.decisions.map(\.text) == expected.decisions.map(\.text) && found.cause == expected.cause)
                #expect(expected.decisions.allSatisfy { $0.output == 0 })
                for (text, output) in found.decisions {
                    let json = try JSONValue.parse(Array(text.utf8.drop { $0 != UInt8(ascii: "{") }))
                    let listed = json["table"]?.string.flatMap { tables[$0] }?.source.applications.map(\.value) ?? []
                    let application = json["application"]?.string ?? (listed.count == 1 ? listed[0] : "")
                    #expect(output == Self.index(Self.outputs, application), "\(text)")
                    used.insert(output)
                }
            }
        }
        #expect(used.count == number + 1, "\(used)")
    }
}
