import Foundation
import StrictJSON
import TestSupport

/// A run of two workers with a registry of devices, which are killed while records and changes of devices arrive.
final class RegistryRun {
    /// The harm to a worker's local copy of the registry between its end and its start.
    enum Harm: CaseIterable {
        case none, deleted, damaged, cut, markLost
    }

    static let lanes = 2
    let topics: RunTopics
    let events: [InputRecord]
    let changes: [InputRecord]
    private let folder: TemporaryFolder
    private let workers: [WorkerProcess]
    private var random: SeededGenerator
    /// The number of kills, and of log lines with the event `devices.dropped`.
    private(set) var kills = 0
    private(set) var dropped = 0

    /// Creates a run with generated devices and events.
    init(devices: Int, events count: Int, seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        folder = try TemporaryFolder()
        topics = try RunTopics(bootstrap: BrokerEnvironment.bootstrapServers ?? "", settings: [])
        try topics.createRegistry()
        changes = Self.changes(devices, &random)
        events = Self.events(count, devices, &random)
        let table = try ServedFile.shop
        workers = try (0..<2).map { [topics, folder] number in
            let directory = folder.url.appending(path: "state-\(number)").path
            return try WorkerProcess(
                name: "r\(number)",
                command: [BuiltProgram.linkd, "worker", "-b", topics.bootstrap, "--instance", "r\(number)"]
                    + ["--input", topics.input, "--output", topics.output, "--group", topics.group]
                    + ["--lanes", String(Self.lanes), "--log-format", "json", "--table", table.path]
                    + ["--devices-topic", topics.devices, "--state-dir", directory],
                logs: folder.url)
        }
    }

    /// Returns the changes of the registry: most devices first, then updates, deletions, and malformed values.
    private static func changes(_ devices: Int, _ random: inout SeededGenerator) -> [InputRecord] {
        var number = 0
        func record(_ device: Int, _ value: String?) -> InputRecord {
            InputRecord(key: Array("d\(device)".utf8), value: value.map { Array($0.utf8) })
        }
        func value(_ device: Int, _ random: inout SeededGenerator) -> String {
            number += 1
            let platform = ["ios", "android", "web"].randomElement(using: &random) ?? "ios"
            let user = Int.random(in: 0..<4, using: &random) == 0 ? device / 2 : device / 5
            return #"{"platform":"\#(platform)","app":"\#(number).1","user":"u\#(user)","locale":"en-GB"}"#
        }
        var result = (0..<devices).filter { $0 % 7 != 3 }.map { record($0, value($0, &random)) }
        for _ in 0..<devices {
            let device = Int.random(in: 0..<devices, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: result.append(record(device, nil))
            case 1: result.append(record(device, #"{"app":7,"#))
            default: result.append(record(device, value(device, &random)))
            }
        }
        return result
    }

    /// Returns events for single devices, lists of devices, and users.
    private static func events(_ count: Int, _ devices: Int, _ random: inout SeededGenerator) -> [InputRecord] {
        let link = #""link":"https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866?count=3""#
        return (0..<count).map { number in
            let device = Int.random(in: 0..<devices, using: &random)
            let members: String
            var key = "d\(device)"
            switch number % 4 {
            case 0: members = #""device":{"id":"d\#(device)","platform":"ios"}"#
            case 1: members = #""devices":[{"id":"d\#(device)"},{"id":"x"},{"id":"d\#(device)2"}]"#
            case 2:
                key = number % 40 == 2 ? "nobody" : "u\(device / 5)"
                members = #""user":"\#(key)""#
            default: members = #""device":{"id":"d\#(device)"}"#
            }
            return InputRecord(
                key: Array(key.utf8), value: Array(#"{"id":"e\#(number)",\#(link),\#(members)}"#.utf8))
        }
    }

    /// Runs until every event has an outcome and the workers have stopped.
    func run() throws {
        defer { for worker in workers { worker.clear() } }
        let registry = try InputProducer(changes, to: topics, topic: topics.devices)
        let input = try InputProducer(events, to: topics)
        try registry.send(upTo: changes.count / 2)
        for worker in workers { try worker.start() }
        let steps = 2 * Harm.allCases.count
        for step in 0..<steps {
            let worker = workers[step % workers.count]
            try wait(for: "\(worker.name) to have its partitions") { try worker.isAssigned(lanes: Self.lanes) }
            for portion in 1...8 {
                let done = Double(step * 8 + portion) / Double(steps * 8)
                try registry.send(upTo: Int(Double(changes.count) * (0.5 + done / 2)))
                try input.send(upTo: Int(Double(events.count) * done))
                input.pause(milliseconds: 10)
                registry.pause(milliseconds: 10)
            }
            try worker.kill()
            kills += 1
            try harm(Harm.allCases[step / 2], worker)
            try worker.start()
        }
        try registry.finish()
        try input.finish()
        let ends = try topics.ends(topics.input)
        try wait(for: "every offset to be committed") { try topics.committed() == ends }
        for worker in workers { try worker.stop() }
        dropped = workers.reduce(0) { $0 + $1.count(of: "devices.dropped") }
    }

    /// Harms the local copy of a worker that has ended.
    private func harm(_ harm: Harm, _ worker: WorkerProcess) throws {
        let directory = folder.url.appending(path: "state-\(worker.name.dropFirst())/devices")
        let data = directory.appending(path: "data.mdb")
        switch harm {
        case .none: return
        case .deleted: try FileManager.default.removeItem(at: directory)
        case .markLost: try? FileManager.default.removeItem(at: directory.appending(path: "mark"))
        case .cut:
            let file = try FileHandle(forUpdating: data)
            try file.truncate(atOffset: try file.seekToEnd() / 2)
            try file.close()
        case .damaged:
            let file = try FileHandle(forUpdating: data)
            let size = try file.seekToEnd()
            for _ in 0..<200 {
                try file.seek(toOffset: UInt64.random(in: 8192..<size, using: &random))
                try file.write(contentsOf: Data([UInt8.random(in: .min ... .max, using: &random)]))
            }
            try file.close()
        }
    }

    private func wait(for what: String, _ question: () throws -> Bool) throws {
        let isFulfilled = try becomesTrue(withinSeconds: 120) {
            for worker in workers where !worker.isRunning {
                throw RunFailure("\(worker.name) ended unexpectedly\n\(worker.lastLines)")
            }
            return try question()
        }
        if isFulfilled { return }
        throw RunFailure("timed out waiting for \(what)\n\(workers.map(\.lastLines).joined(separator: "\n"))")
    }
}

/// The check of a run with a registry: what every decision must be, given its facts, and which facts it may have.
struct RegistryCheck {
    /// A version of a device: the time of its record, and its value, or nil after a deletion.
    private struct Version {
        var time: Int64
        var facts: [(name: String, text: String)]?
        var user: String?
    }

    /// The time after which a change must be known, in milliseconds.
    private static let delay: Int64 = 5_000

    private var versions: [String: [Version]] = [:]
    /// The violations, each with the position of the event.
    private(set) var wrong: [String] = []
    /// The number of decisions with facts, and of decisions without a device.
    private(set) var joined = 0
    private(set) var withoutDevice = 0

    /// Reads the changes of the registry.
    init(changes: [ReadRecord]) {
        for record in changes {
            let device = String(decoding: record.key ?? [], as: UTF8.self)
            guard let value = record.value else {
                versions[device, default: []].append(Version(time: record.timestamp))
                continue
            }
            guard let json = try? JSONValue.parse(value) else { continue }
            let facts = ["platform", "app", "locale"].compactMap { name in
                json[name]?.string.map { (name: name, text: $0) }
            }
            versions[device, default: []].append(
                Version(time: record.timestamp, facts: facts, user: json["user"]?.string))
        }
    }

    /// Checks the decisions of one event, ordered by their index.
    mutating func check(_ event: ReadRecord, _ decisions: [ReadRecord]) {
        guard let json = try? JSONValue.parse(event.value ?? []) else { return }
        let name = json["id"]?.string ?? ""
        for decision in decisions {
            guard let decided = try? JSONValue.parse(decision.value ?? []) else {
                wrong.append("\(name): no JSON")
                continue
            }
            if decided["reason"]?.string == "no_device" {
                withoutDevice += 1
                if decided["user"]?.string != json["user"]?.string || decision.key != event.key || decisions.count > 1 {
                    wrong.append("\(name): a wrong decision without a device")
                }
                continue
            }
            let device = decided["device"]?.string ?? ""
            let stated = json["device"]?["platform"]?.string == nil ? [] : ["platform"]
            let facts = decided["facts"]?.object?.map { (name: $0.name, text: $0.value.string ?? "") } ?? []
            if !facts.isEmpty { joined += 1 }
            if !isAllowed(device, facts, without: stated, at: event.timestamp, user: json["user"]?.string) {
                wrong.append("\(name): \(device) has other facts than the registry: \(facts)")
            }
        }
    }

    /// Returns a Boolean value that indicates whether a device had these facts at a time, or at most the delay before.
    private func isAllowed(
        _ device: String, _ facts: [(name: String, text: String)], without stated: [String], at time: Int64,
        user: String?
    ) -> Bool {
        let all = [Version(time: 0)] + (versions[device] ?? [])
        for (index, version) in all.enumerated() {
            let expected = (version.facts ?? []).filter { !stated.contains($0.name) }
            let isOver = index + 1 < all.count && all[index + 1].time < time - Self.delay
            guard !isOver, user == nil || user == version.user else { continue }
            if expected.map(\.name) == facts.map(\.name) && expected.map(\.text) == facts.map(\.text) { return true }
        }
        return false
    }
}
