import ByteStorage
import DeviceRegistry
import DispatchWorker
import Foundation
import LinkIngest
import StrictJSON
import TestSupport

/// A run of workers with a registry of devices and two inputs, which are killed while records and changes of devices
/// arrive, and while the registry is compacted.
///
/// Two workers are killed. A third one without an instance name joins and leaves.
final class RegistryRun {
    /// The harm to a worker's local copy of the registry between its end and its start.
    enum Harm: CaseIterable {
        case none, deleted, damaged, cut, markLost, foreign
    }

    static let lanes = 2
    /// The numbers of devices of users whose devices never change, the last of them more than an event may have.
    static let stableUsers = [0, 1, 2, 499, 500, 501]
    let topics: RunTopics
    let events: [InputRecord]
    let changes: [InputRecord]
    /// The number of changes that are written before the workers start, which are the first ones of all devices.
    private let firstChanges: Int
    private let folder: TemporaryFolder
    private let workers: [WorkerProcess]
    private let guest: WorkerProcess
    private let steps: Int
    private var random: SeededGenerator
    /// The number of changes that each running worker had read when its lanes began, by the worker's name.
    private var read: [String: Int] = [:]
    /// The number of changes that every worker had read before an event was sent, by the number of the event.
    private(set) var known: [Int] = []
    /// The time of each change, in milliseconds since 1970.
    private(set) var times: [Int64] = []
    /// The number of kills, and of log lines with the event `devices.dropped`.
    private(set) var kills = 0
    private(set) var dropped = 0

    /// Creates a run with generated devices and events.
    ///
    /// - Parameters:
    ///   - devices: The number of devices.
    ///   - count: The number of events.
    ///   - rounds: The number of times that each harm is done.
    ///   - keepsDeletions: A Boolean value that indicates whether the topic keeps deletions for long. Otherwise it
    ///     drops them after a second, so that nearly every copy is too old after a kill.
    init(devices: Int, events count: Int, rounds: Int, keepsDeletions: Bool, seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        steps = rounds * Harm.allCases.count
        folder = try TemporaryFolder()
        topics = try RunTopics(bootstrap: BrokerEnvironment.bootstrapServers ?? "", settings: [])
        try topics.createSecond()
        try topics.createRegistry(
            RunTopics.compactedSoon.merging(keepsDeletions ? [:] : ["delete.retention.ms": "1000"]) { $1 })
        (changes, firstChanges) = Self.changes(devices, &random)
        events = Self.events(count, devices, &random)
        known = Array(repeating: 0, count: count)
        let all = try ["r0", "r1", nil].enumerated().map { [topics, folder] number, instance in
            var command = [BuiltProgram.linkd, "worker", "-b", topics.bootstrap, "--log-format", "json"]
            if let instance { command += ["--instance", instance] }
            command += ["--input", "\(topics.input),\(topics.second)", "--output", topics.output]
            command += ["--group", topics.group, "--lanes", String(Self.lanes)]
            command += ["--table", try ServedFile.shop.path, "--devices-topic", topics.devices]
            command += ["--state-dir", folder.url.appending(path: "state-\(number)").path]
            return try WorkerProcess(name: "r\(number)", command: command, logs: folder.url)
        }
        (workers, guest) = (Array(all.prefix(2)), all[2])
    }

    /// Returns the changes of the registry: most devices first, then updates, deletions, and malformed values.
    private static func changes(
        _ devices: Int, _ random: inout SeededGenerator
    ) -> (changes: [InputRecord], first: Int) {
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
        for count in stableUsers {
            for device in 0..<count {
                let value = #"{"platform":"ios","app":"6.\#(device)","user":"s\#(count)"}"#
                result.append(InputRecord(key: Array("s\(count)-\(device)".utf8), value: Array(value.utf8)))
            }
        }
        let first = result.count
        for _ in 0..<devices {
            let device = Int.random(in: 0..<devices, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: result.append(record(device, nil))
            case 1: result.append(record(device, #"{"app":7,"#))
            default: result.append(record(device, value(device, &random)))
            }
        }
        return (result, first)
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
                // Each of these users has one or two events, whatever the number of events.
                let place = number / 4 * 12 / max(1, count / 4)
                if place != (number / 4 - 1) * 12 / max(1, count / 4) { key = "s\(stableUsers[place % 6])" }
                members = #""user":"\#(key)""#
            default: members = #""device":{"id":"d\#(device)"}"#
            }
            return InputRecord(
                key: Array(key.utf8), value: Array(#"{"id":"e\#(number)",\#(link),\#(members)}"#.utf8))
        }
    }

    /// Runs until every event has an outcome and the workers have stopped.
    func run() throws {
        defer { for worker in workers + [guest] { worker.clear() } }
        let registry = try InputProducer(changes, to: topics, topic: topics.devices)
        let half = events.count / 2
        let inputs = [
            try InputProducer(Array(events[..<half]), to: topics),
            try InputProducer(Array(events[half...]), to: topics, topic: topics.second),
        ]
        try registry.send(upTo: firstChanges + (changes.count - firstChanges) / 4)
        let before = registry.sent
        try waitForCompaction(of: registry)
        for worker in workers { try start(worker, registry) }
        for step in 0..<steps {
            let worker = workers[step % workers.count]
            try wait(for: "\(worker.name) to have its partitions") { try worker.isAssigned(lanes: Self.lanes) }
            if step == steps / 3 { try start(guest, registry) }
            for portion in 1...8 {
                let done = Double(step * 8 + portion) / Double(steps * 8)
                try registry.send(upTo: before + Int(Double(changes.count - before) * done))
                try send(inputs, upTo: Int(Double(half) * done))
                inputs[0].pause(milliseconds: 10)
                registry.pause(milliseconds: 10)
            }
            try worker.kill()
            kills += 1
            try harm(Harm.allCases[step % Harm.allCases.count], worker)
            try start(worker, registry)
            if step == steps * 2 / 3 {
                try wait(for: "the guest to have its partitions") { try guest.isAssigned(lanes: Self.lanes) }
                try guest.stop()
                read[guest.name] = nil
            }
        }
        try registry.finish()
        times = registry.times
        try send(inputs, upTo: events.count)
        for input in inputs { try input.finish() }
        try wait(for: "every offset to be committed") {
            try [topics.input, topics.second].allSatisfy { try topics.committed($0) == topics.ends($0) }
        }
        for worker in workers { try worker.stop() }
        dropped = workers.reduce(0) { $0 + $1.count(of: "devices.dropped") }
    }

    /// Starts a worker, which decides nothing before it has read all changes that were sent.
    private func start(_ worker: WorkerProcess, _ registry: InputProducer) throws {
        try registry.flush()
        read[worker.name] = registry.sent
        try worker.start()
    }

    /// Sends events to both inputs, and notes which changes their decisions must know.
    private func send(_ inputs: [InputProducer], upTo end: Int) throws {
        for (input, first) in zip(inputs, [0, events.count / 2]) {
            let sent = input.sent
            try input.send(upTo: end)
            for number in sent..<input.sent { known[first + number] = read.values.min() ?? 0 }
        }
    }

    /// Waits until compaction has removed a record of the registry.
    private func waitForCompaction(of registry: InputProducer) throws {
        let filler = try RegistryFiller(topics)
        defer { filler.close() }
        let isCompacted = try becomesTrue(withinSeconds: 60) {
            registry.pause(milliseconds: 100)
            try filler.write()
            return try topics.read(topics.devices).count < registry.sent
        }
        if !isCompacted { throw RunFailure("\(topics.devices) was not compacted") }
    }

    /// Harms the local copy of a worker that has ended.
    private func harm(_ harm: Harm, _ worker: WorkerProcess) throws {
        let directory = folder.url.appending(path: "state-\(worker.name.dropFirst())/devices")
        let data = directory.appending(path: "data.mdb")
        switch harm {
        case .none: return
        case .deleted: try FileManager.default.removeItem(at: directory)
        case .markLost: try? FileManager.default.removeItem(at: directory.appending(path: "mark"))
        case .foreign:
            try FileManager.default.removeItem(at: directory)
            try Self.writeForeignCopy(directory.path)
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

    /// Writes the copy of another topic, which knows facts about a device that the registry does not have.
    private static func writeForeignCopy(_ directory: String) throws {
        let source = RegistrySource(
            cluster: "", topic: "other", topicID: "", members: WorkerConfiguration(bootstrap: []).deviceMembers.text)
        let store = try RegistryStore.open(
            RegistryStoreConfiguration(
                directory: directory, source: source, bootID: RegistryStoreConfiguration.currentBootID(),
                now: SystemClock.wallMilliseconds()))
        var batch = RegistryBatch()
        let (id, facts) = (Array("x".utf8), Array(#"{"app":"99"}"#.utf8))
        id.withUnsafeBufferPointer { id in
            facts.withUnsafeBufferPointer { facts in
                _ = batch.put(id: ByteView(id), user: .empty, timestamp: 1, facts: ByteView(facts))
            }
        }
        for partition in Int32(0)..<6 { batch.setPosition(partition, 1) }
        try store.apply(batch, now: SystemClock.wallMilliseconds())
        store.close()
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

/// A producer of records without meaning, which end a segment so that it can be compacted.
final class RegistryFiller {
    private let producer: InputProducer

    init(_ topics: RunTopics) throws {
        let records = (0..<60_000).map { number in
            InputRecord(key: Array("filler\(number % 60)".utf8), value: Array("{}".utf8))
        }
        producer = try InputProducer(records, to: topics, topic: topics.devices)
    }

    /// Writes records to all partitions.
    func write() throws {
        try producer.send(upTo: producer.sent + 60)
        producer.pause(milliseconds: 100)
    }

    func close() { try? producer.finish() }
}

/// The check of a run with a registry: what every decision must be, given its facts, and which facts it may have.
struct RegistryCheck {
    /// A version of a device: the time of its record, and its value, or nil after a deletion.
    ///
    /// A malformed record leaves the version before it. The device is unknown to a worker that was not running then.
    private struct Version {
        var isMalformed = false
        /// The number of changes before this one.
        var number: Int
        /// The time of the change, in milliseconds since 1970.
        var time: Int64
        var facts: [(name: String, text: String)]?
        var user: String?
    }

    /// The time after which a change must be known, in milliseconds.
    static let delay: Int64 = 5_000

    /// The number of changes that the decisions of an event must know, by the number of the event.
    private let known: [Int]
    private var versions: [String: [Version]] = [:]
    /// The violations, each with the position of the event.
    private(set) var wrong: [String] = []
    /// The number of decisions with facts, and of decisions without a device.
    private(set) var joined = 0
    private(set) var withoutDevice = 0
    /// The number of events of users whose devices never change.
    private(set) var stable = 0
    /// The longest time for which a later change of a device was not known to a decision, in milliseconds.
    private(set) var longestDelay: Int64 = 0

    /// Reads the changes of the registry, each with its time.
    init(_ run: RegistryRun) {
        known = run.known
        for (number, (record, time)) in zip(run.changes, run.times).enumerated() {
            let device = String(decoding: record.key ?? [], as: UTF8.self)
            guard let value = record.value else {
                versions[device, default: []].append(Version(number: number, time: time))
                continue
            }
            guard let json = try? JSONValue.parse(value) else {
                versions[device, default: []].append(Version(isMalformed: true, number: number, time: time))
                continue
            }
            let facts = ["platform", "app", "locale"].compactMap { name in
                json[name]?.string.map { (name: name, text: $0) }
            }
            versions[device, default: []].append(
                Version(number: number, time: time, facts: facts, user: json["user"]?.string))
        }
    }

    /// Checks the decisions of one event, ordered by their index.
    mutating func check(_ event: ReadRecord, _ decisions: [ReadRecord]) {
        guard let json = try? JSONValue.parse(event.value ?? []) else { return }
        let name = json["id"]?.string ?? ""
        checkStableUser(json["user"]?.string ?? "", name, decisions)
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
            let least = Int(name.dropFirst()).map { known[$0] } ?? 0
            let user = json["user"]?.string
            if let delay = delay(of: facts, device, without: stated, least, at: event.timestamp, user: user) {
                longestDelay = max(longestDelay, delay)
            } else {
                wrong.append("\(name): \(device) has other facts than the registry: \(facts)")
            }
        }
    }

    /// Checks that a user whose devices never change has one decision for each of them, ordered by their ids.
    private mutating func checkStableUser(_ user: String, _ name: String, _ decisions: [ReadRecord]) {
        guard user.hasPrefix("s"), let count = Int(user.dropFirst()), count > 0, count < 501 else { return }
        let expected = (0..<count).map { "\(user)-\($0)" }.sorted().map { Array($0.utf8) }
        if decisions.map(\.key) != expected { wrong.append("\(name): \(decisions.count) decisions for \(user)") }
        stable += 1
    }

    /// Returns the time for which facts of a device had been replaced when an event was sent, in milliseconds.
    ///
    /// Returns nil if the device never had them, or if all workers knew the change that replaced them.
    private func delay(
        of facts: [(name: String, text: String)], _ device: String, without stated: [String], _ least: Int,
        at time: Int64, user: String?
    ) -> Int64? {
        let all = [Version(number: -1, time: 0)] + (versions[device] ?? [])
        for (index, version) in all.enumerated().reversed() {
            let expected = (version.facts ?? []).filter { !stated.contains($0.name) }
            let next = all[(index + 1)...].first { !$0.isMalformed }
            guard next.map({ $0.number >= least }) ?? true, user == nil || user == version.user else { continue }
            if expected.map(\.name) == facts.map(\.name) && expected.map(\.text) == facts.map(\.text) {
                return max(0, next.map { time - $0.time } ?? 0)
            }
        }
        return nil
    }
}
