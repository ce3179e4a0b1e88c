internal import ByteStorage
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import DeviceRegistry

/// A device in a dictionary.
struct PlainDevice: Equatable {
    var user: [UInt8]
    var timestamp: Int64
    var facts: [UInt8]
}

/// A dictionary of devices and positions that changes with a store, and random changes for both.
struct StoreModel {
    var devices: [[UInt8]: PlainDevice] = [:]
    var positions: [Int32: Int64] = [:]
    var witnesses: [Int32: RegistryWitness] = [:]
    var random: SeededGenerator
    /// The ids of all changes, some of them so long that links have the longest keys.
    let ids: [[UInt8]]
    let users: [[UInt8]]

    init(seed: UInt64, devices: Int = 300, users: Int = 20) {
        var random = SeededGenerator(seed: seed)
        ids = (0..<devices).map { number in
            let length = random.one(in: 10) ? 256 : Int.random(in: 1...40, using: &random)
            let name = Array("\(number)".utf8).prefix(length)
            return name + random.bytes(length - name.count)
        }
        self.users = (0..<users).map { random.bytes($0 == 0 ? 256 : Int.random(in: 1...20, using: &random)) }
        self.random = random
    }

    /// Changes the dictionary, and returns the same changes as a batch.
    mutating func change(_ count: Int) -> RegistryBatch {
        var batch = RegistryBatch()
        for _ in 0..<count {
            let id = random.pick(ids)
            if random.one(in: 4) {
                devices[id] = nil
                let isAdded = batch.delete(id: view(id))
                #expect(isAdded)
                continue
            }
            let length = random.one(in: 30) ? 4096 : Int.random(in: 0...80, using: &random)
            let device = PlainDevice(
                user: random.one(in: 3) ? [] : random.pick(users), timestamp: Int64(bitPattern: random.next()),
                facts: random.bytes(length))
            devices[id] = device
            let isAdded = batch.put(id, device)
            #expect(isAdded)
        }
        let partition = Int32.random(in: 0..<5, using: &random)
        positions[partition, default: 0] += Int64(count)
        batch.setPosition(partition, positions[partition] ?? 0)
        let witness = RegistryWitness(
            offset: positions[partition] ?? 0, timestamp: Int64(bitPattern: random.next()), hash: random.next())
        witnesses[partition] = witness
        batch.setWitness(partition, witness)
        return batch
    }

    /// Compares the dictionary with everything that a store returns.
    func compare(_ store: RegistryStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let comment = Comment(rawValue: "seed \(random.seed)")
        #expect(store.count == devices.count, comment, sourceLocation: sourceLocation)
        #expect(store.positions() == positions, comment, sourceLocation: sourceLocation)
        #expect(store.witnesses() == witnesses, comment, sourceLocation: sourceLocation)
        let snapshot = RegistrySnapshot(of: store)
        try snapshot.begin()
        defer { snapshot.end() }
        for start in stride(from: 0, to: ids.count, by: RegistrySnapshot.lookAheadLimit) {
            let next = ids[start...].prefix(RegistrySnapshot.lookAheadLimit)
            next.map(view).withUnsafeBufferPointer(snapshot.lookAhead)
            for id in next { #expect(snapshot.device(id) == devices[id], comment, sourceLocation: sourceLocation) }
        }
        var linked: [[UInt8]: [[UInt8]]] = [:]
        for (id, device) in devices where !device.user.isEmpty { linked[device.user, default: []].append(id) }
        for user in users {
            let all = (linked[user] ?? []).sorted { $0.lexicographicallyPrecedes($1) }
            for limit in [0, 1, max(all.count - 1, 0), all.count, all.count + 1] {
                let (found, total) = snapshot.devices(of: user, limit: limit)
                #expect(found == Array(all.prefix(limit)), comment, sourceLocation: sourceLocation)
                #expect(total == min(all.count, limit + 1), comment, sourceLocation: sourceLocation)
            }
        }
    }
}

/// Returns a view of the bytes of an array that lives as long as the process.
func view(_ bytes: [UInt8]) -> ByteView {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(bytes.count, 1))
    _ = copy.initialize(from: bytes)
    return ByteView(UnsafeBufferPointer(rebasing: copy.prefix(bytes.count)))
}

extension RegistryBatch {
    mutating func put(_ id: [UInt8], _ device: PlainDevice) -> Bool {
        put(id: view(id), user: view(device.user), timestamp: device.timestamp, facts: view(device.facts))
    }

    /// A batch with devices that have the same facts.
    init(_ ids: [String], user: String = "", facts: String) {
        self.init()
        let device = PlainDevice(user: Array(user.utf8), timestamp: 1, facts: Array(facts.utf8))
        for id in ids {
            let isAdded = put(Array(id.utf8), device)
            #expect(isAdded)
        }
    }
}

extension RegistrySnapshot {
    /// Returns a copy of a device, or nil if there is none.
    func device(_ id: [UInt8]) -> PlainDevice? {
        switch find(view(id)) {
        case .absent: return nil
        case .found(let record):
            return PlainDevice(user: record.user.array, timestamp: record.timestamp, facts: record.facts.array)
        case .damaged:
            Issue.record("a device is damaged")
            return nil
        }
    }

    func devices(of user: [UInt8], limit: Int) -> (ids: [[UInt8]], total: Int) {
        var ids: [[UInt8]] = []
        let total = devices(of: view(user), limit: limit) { ids.append($0.array) }
        return (ids, total)
    }

    /// Returns the facts of a device as text.
    func facts(_ id: String) -> String? { device(Array(id.utf8)).map { String(decoding: $0.facts, as: UTF8.self) } }
}

extension RegistryStoreConfiguration {
    static func test(_ folder: TemporaryFolder, maxDevices: Int = 100_000) -> RegistryStoreConfiguration {
        test(folder.path("devices"), maxDevices: maxDevices)
    }

    static func test(_ directory: String, maxDevices: Int = 100_000) -> RegistryStoreConfiguration {
        RegistryStoreConfiguration(
            directory: directory,
            source: RegistrySource(cluster: "c-1", topic: "devices", topicID: "t-1", members: "platform version"),
            maxDevices: maxDevices, bootID: "boot-1", now: 1_000_000)
    }
}
