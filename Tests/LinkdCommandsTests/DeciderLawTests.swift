import ByteStorage
import LinkCoordinator
import LinkDecider
import LinkIngest
import StrictJSON
import Testing

@testable import LinkdCommands

@Suite("Whoever says what a worker decides says what it decides")
struct DeciderLawTests {
    /// No value has a decision just below `limits.decision.bytes`: there, the members count that only a worker knows.
    private static let values = [
        #"{"link":"a:///","device":{"id":"d"},"campaign":"spring"}"#,
        #"{"link":"a:///x?q=1","devices":[{"id":"d"}],"x":[[[1]]]}"#,
        #"{"link":"c:///","device":{"id":"d"}}"#, #"{"link":"a:///","application":"none","device":{"id":"d"}}"#,
        #"{"link":"a:///","device":{"id":"d"},"x":"\#(String(repeating: "x", count: 1_100))"}"#,
        #"{"link":"b:///","devices":[{"id":"d"},{"id":"e"},{"id":"f"}]}"#, "a:///", "a", "", "{",
        "[[[[[[[[[[1]]]]]]]]]]",
        #"{"link":"a:///","device":{"id":"d"},"x":"\#(String(repeating: "x", count: 2_000))"}"#,
    ]

    private static let settings: [[String: String]] = [
        [:], ["passthrough": "x,campaign", "limits.decision.bytes": "1KiB"], ["limits.record.bytes": "1KiB"],
        ["limits.devices": "2", "passthrough": "none"], ["limits.json.depth": "8", "passthrough": "x"],
        ["context.query": "none"], ["context.query": "q", "passthrough": "none"],
    ]

    /// Returns the members of a decision without those that only a worker knows.
    private static func members(_ decision: [UInt8]) -> [String] {
        let known = ["decision", "event", "device", "application"]
        let json = try? JSONValue.parse(decision)
        return (json?.object ?? []).filter { !known.contains($0.name) }.map { "\($0.name): \($0.value.text)" }
    }

    @Test("Worker, console, --why, and produce --check agree, as resolve does", arguments: settings.indices)
    func law(row: Int) throws {
        let folder = try TableFolder()
        let paths = try ["a", "b"].map { id in
            try folder.write("\(id).json", TableFolder.text(id, version: 1))
            return folder.path("\(id).json")
        }
        let settings = try Settings(
            flags: Self.settings[row].mapValues { SettingTexts(texts: [$0], splitting: true, source: .flag("--t")) },
            environment: [:], configFile: nil, isKnownProperty: { _ in false })
        let tables = try LoadedTables(paths: paths) { _, _ in }.tables
        let vendors = LoadedVendors()
        var worker = Decider(DeciderConfiguration(settings, tables, vendors))
        let console = TryResolver(DeciderConfiguration(settings, tables, vendors))
        let check = try LinkCheck(paths, settings, vendors, headers: [], on: .standard())
        for text in Self.values {
            let value = Array(text.utf8)
            var arena = OutputArena()
            var produced: [ProducedDecision] = []
            value.withUnsafeBufferPointer { bytes in
                let key = ByteView("k" as StaticString)
                let record = ConsumedRecord(
                    topic: 0, partition: 0, offset: 7, timestamp: -1, key: key, value: ByteView(bytes), index: 0,
                    hasHeaders: false)
                let cause = worker.decide(record, topicName: ByteView("in"), into: &arena, decisions: &produced)
                let decisions = produced.map(\.value.array)
                let answer = console.resolve(value, key: key, table: nil, explains: false)
                #expect(answer.cause == cause, "\(text)")
                #expect(answer.decisions.map { Self.members($0.json) } == decisions.map(Self.members), "\(text)")
                let input = InspectedRecord(
                    topic: "in", partition: 0, offset: 7, timestamp: -1, key: key.array, value: value, headers: [])
                let again = WhySearch.resolve(input, DeciderConfiguration(settings, tables, vendors)).map(\.json)
                #expect(again == decisions, "\(text)")
                let fault = check.fault(of: ByteView(bytes), key: key)?.text ?? ""
                let reason = cause.map { "dead letter: \($0.reason.rawValue)" }
                #expect(fault.hasPrefix("dead letter: ") == (cause != nil), "\(text)")
                if let reason { #expect(fault.hasPrefix(reason), "\(text)") }
            }
        }
    }
    @Test("With a registry, the console takes an event with a user for no dead letter")
    func user() throws {
        let table = try RouteTable(json: Array(TableFolder.text("a", version: 1).utf8))
        let configuration = DeciderConfiguration(tables: TableSet([table]))
        let value = Array(#"{"link":"a:///","user":"u"}"#.utf8)
        let without = TryResolver(configuration).resolve(value, key: nil, table: nil, explains: true)
        #expect(without.cause?.reason == .missingDevice)
        let answer = TryResolver(configuration, hasRegistry: true).resolve(value, key: nil, table: nil, explains: true)
        #expect(answer.cause == nil && answer.decisions.map(\.device) == ["u"])
        #expect(answer.explanations.count == 1 && answer.explanations.first?.decision == nil)
        let decision = answer.decisions.first.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(decision == #"{"outcome":"none","reason":"no_device"}"#)
    }
}
