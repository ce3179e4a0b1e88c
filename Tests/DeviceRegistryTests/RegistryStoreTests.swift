internal import ByteStorage
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import DeviceRegistry

@Suite struct RegistryStoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ change: (inout RegistryStoreConfiguration) -> Void = { _ in }
    ) throws -> RegistryStore {
        var configuration = RegistryStoreConfiguration.test(folder)
        change(&configuration)
        return try RegistryStore.open(configuration)
    }

    @Test(arguments: [1, 30, 3000, 10_000])
    func `A store returns what a dictionary returns, also after it was opened again`(size: Int) throws {
        var model = StoreModel(seed: .random(in: 0 ... .max), devices: size, users: size / 15 + 1)
        var store = Optional(try open())
        for round in 0..<40 {
            let batch = model.change(Int.random(in: 0...size, using: &model.random))
            try store?.apply(batch, now: Int64(round), isRestoring: model.random.one(in: 2))
            if round % 5 == 4 {
                // Half of the time the store is not closed.
                if model.random.one(in: 2) { store?.close() }
                store = nil
                store = try open()
                #expect(store?.droppedBecause == nil, "seed \(model.random.seed)")
            }
            try model.compare(try #require(store))
        }
    }

    @Test func `The last change of a device in a batch counts`() throws {
        let store = try open()
        var batch = RegistryBatch(["a", "b", "c"], user: "u", facts: "1")
        let results = [
            batch.delete(id: ByteView("a")),
            batch.put(id: ByteView("b"), user: ByteView("v"), timestamp: 1, facts: ByteView("2")),
            batch.delete(id: ByteView("absent")),
        ]
        #expect(results == [true, true, true] && batch.count == 6)
        try store.apply(batch, now: 1)
        let snapshot = RegistrySnapshot(of: store)
        try snapshot.begin()
        #expect(snapshot.facts("a") == nil && snapshot.facts("b") == "2" && snapshot.facts("c") == "1")
        #expect(snapshot.devices(of: Array("u".utf8), limit: 9).total == 1)
        snapshot.end()
        batch.removeAll()
        #expect(batch.count == 0)
    }

    @Test func `Ids, users, and facts beyond their limits are refused`() throws {
        var batch = RegistryBatch()
        let long = PlainDevice(
            user: .init(repeating: 1, count: 256), timestamp: .min, facts: .init(repeating: 2, count: 4096))
        var longUser = long
        longUser.user.append(1)
        var longFacts = long
        longFacts.facts.append(1)
        let longID = [UInt8](repeating: 3, count: 257)
        let results = [
            batch.put(Array(longID.dropLast()), long), batch.put(longID, long), batch.put([], long),
            batch.put([1], longUser), batch.put([1], longFacts), batch.delete(id: view(longID)),
            batch.delete(id: .empty),
        ]
        #expect(results == [true, false, false, false, false, false, false] && batch.count == 1)
        let store = try open()
        try store.apply(batch, now: 1)
        let snapshot = RegistrySnapshot(of: store)
        try snapshot.begin()
        #expect(snapshot.device(Array(repeating: 3, count: 256)) == long)
        #expect(snapshot.device([]) == nil && snapshot.device(Array(repeating: 3, count: 257)) == nil)
        #expect(snapshot.devices(of: [], limit: 9).total == 0)
        snapshot.end()
    }

    /// Leaves a store with one device that was last updated at 1,000,000 ms, closed or not.
    private func leaveStore(isClosed: Bool) throws {
        let store = try open()
        try store.apply(RegistryBatch(["a"], facts: "1"), now: 1_000_000)
        if isClosed { store.close() }
    }

    @Test func `A store that was open when the machine stopped is dropped`() throws {
        try leaveStore(isClosed: false)
        let store = try open { $0.bootID = "boot-2" }
        #expect(store.droppedBecause == .crashed && store.count == 0 && store.positions() == [:])
    }

    @Test func `A store that was closed is used after a start of the machine`() throws {
        try leaveStore(isClosed: true)
        let store = try open { $0.bootID = "boot-2" }
        #expect(store.droppedBecause == nil && store.count == 1 && store.updated == 1_000_000)
    }

    @Test func `An unknown boot counts as another one`() throws {
        var unknown = RegistryStoreConfiguration.test(folder)
        unknown.bootID = ""
        try RegistryStore.open(unknown).apply(RegistryBatch(["a"], facts: "1"), now: 1)
        #expect(try RegistryStore.open(unknown).droppedBecause == .crashed)
        #expect(RegistryStoreConfiguration.currentBootID() == RegistryStoreConfiguration.currentBootID())
    }

    @Test(arguments: 0..<4)
    func `A store of another source is dropped`(member: Int) throws {
        try leaveStore(isClosed: true)
        let members = [\RegistrySource.cluster, \.topic, \.topicID, \.members]
        let store = try open { $0.source[keyPath: members[member]] += "x" }
        #expect(store.droppedBecause == .foreign && store.count == 0)
    }

    @Test func `A store keeps the id of its topic that is known later`() throws {
        for (id, isDropped) in [("", false), ("t-1", false), ("t-2", true)] {
            let store = try open { $0.source.topicID = id }
            #expect(store.droppedBecause == (isDropped ? .foreign : nil), "\(id)")
            try store.apply(RegistryBatch(), now: 1_000_000)
            store.close()
        }
    }

    @Test(arguments: [(1_060_000, false), (1_061_000, true), (0, true), (940_000, false), (Int64.min, true)])
    func `A store is dropped if it was last updated too long ago`(now: Int64, isDropped: Bool) throws {
        try leaveStore(isClosed: true)
        let store = try open { ($0.maxAgeSeconds, $0.now) = (60, now) }
        #expect(store.droppedBecause == (isDropped ? .stale : nil))
    }

    @Test func `A store of another format is dropped`() throws {
        try leaveStore(isClosed: true)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.path("devices/data.mdb")))
        for page in UInt64(0)..<2 {
            try file.seek(toOffset: page * UInt64(sysconf(Int32(_SC_PAGESIZE))) + 20)
            try file.write(contentsOf: Data([2]))
        }
        try file.close()
        #expect(try open().droppedBecause == .format)
    }

    @Test func `A second opening is refused while the first is open`() throws {
        let directory = folder.path("devices")
        let store = try open()
        #expect(throws: RegistryStoreError.inUse(directory: directory)) { _ = try open() }
        store.close()
        #expect(throws: RegistryStoreError.closed) { try store.apply(RegistryBatch(), now: 1) }
    }

    @Test func `A directory that cannot be used is an error that says why`() throws {
        let error = #expect(throws: RegistryStoreError.self) {
            _ = try RegistryStore.open(.test("/dev/null/devices"))
        }
        #expect(error?.description.contains("state.dir") == true)
    }

    @Test func `More devices than the limit change nothing`() throws {
        let store = try open { $0.maxDevices = 3 }
        try store.apply(RegistryBatch(["a", "b", "c"], facts: "1"), now: 1)
        var batch = RegistryBatch(["d"], facts: "2")
        batch.setPosition(0, 7)
        #expect(throws: RegistryStoreError.tooManyDevices(limit: 3)) { try store.apply(batch, now: 2) }
        #expect(store.count == 3 && store.positions() == [:] && store.updated == 1)
        let isAdded = batch.delete(id: ByteView("a"))
        #expect(isAdded)
        try store.apply(batch, now: 2)
        #expect(store.count == 3 && store.positions() == [0: 7])
    }

    @Test func `Twice as many devices as the limit are allowed while later records can delete some`() throws {
        let store = try open { $0.maxDevices = 3 }
        try store.apply(RegistryBatch(["a", "b", "c", "d", "e", "f"], facts: "1"), now: 1, isRestoring: true)
        #expect(throws: RegistryStoreError.tooManyAtOnce(limit: 6)) {
            try store.apply(RegistryBatch(["g"], facts: "1"), now: 2, isRestoring: true)
        }
        #expect(throws: RegistryStoreError.tooManyDevices(limit: 3)) { try store.checkCount() }
        var batch = RegistryBatch()
        for id in ["a", "b", "c"] as [StaticString] { batch.delete(id: ByteView(id)) }
        try store.apply(batch, now: 3)
        try store.checkCount()
        #expect(store.count == 3)
    }

    @Test func `A batch of a restore has its last changes, whose transactions are noted, and its positions`() throws {
        let store = try open()
        let created = store.updated
        let ids = (0..<10_000).map { "device-\($0)" }
        var batch = RegistryBatch(ids, user: "u", facts: "1")
        for id in ids.prefix(5_000) { batch.delete(id: view(Array(id.utf8))) }
        batch.setPosition(0, 15_000)
        var transactions = 0
        try store.apply(batch, now: 7, isRestoring: true) {
            transactions += 1
            #expect(store.positions() == (transactions < 3 ? [:] : [0: 15_000]))
            #expect(store.updated == (transactions < 3 ? created : 7))
        }
        #expect(transactions == 3 && store.count == 5_000)
        try store.apply(RegistryBatch(ids, facts: "2"), now: 8) { transactions += 1 }
        #expect(transactions == 4 && store.count == 10_000)
    }

    @Test func `A restore that ends within a batch is continued from the positions before`() throws {
        let ids = (0..<9_000).map { "device-\($0)" }
        do {
            let store = try open { $0.maxDevices = 2_000 }
            var batch = RegistryBatch(ids, user: "u", facts: "1")
            batch.setPosition(0, 9_000)
            #expect(throws: RegistryStoreError.tooManyAtOnce(limit: 4_000)) {
                try store.apply(batch, now: 7, isRestoring: true)
            }
            #expect(store.count == 4_000 && store.positions() == [:] && store.updated > 7)
            store.close()
        }
        let store = try open()
        #expect(store.droppedBecause == nil && store.count == 4_000)
        // The topic has been compacted meanwhile: the deletions of most devices are left.
        var batch = RegistryBatch(Array(ids.suffix(10)), user: "v", facts: "2")
        for id in ids.dropLast(10) { batch.delete(id: view(Array(id.utf8))) }
        try store.apply(batch, now: 8, isRestoring: true)
        let snapshot = RegistrySnapshot(of: store)
        try snapshot.begin()
        #expect(store.count == 10 && snapshot.facts("device-8999") == "2")
        #expect(snapshot.devices(of: Array("u".utf8), limit: 9).total == 0)
        #expect(snapshot.devices(of: Array("v".utf8), limit: 10).total == 10)
        snapshot.end()
    }

    @Test func `A store with more devices than a new limit can only shrink`() throws {
        do {
            let store = try open()
            try store.apply(RegistryBatch(["a", "b", "c"], facts: "1"), now: 1)
            store.close()
        }
        let store = try open { $0.maxDevices = 1 }
        try store.apply(RegistryBatch(["a"], facts: "2"), now: 1)
        #expect(throws: RegistryStoreError.tooManyDevices(limit: 1)) {
            try store.apply(RegistryBatch(["d"], facts: "2"), now: 1)
        }
        #expect(store.count == 3)
    }

    @Test func `A snapshot sees one state while the writer goes on`() async throws {
        let store = try open()
        let ids = (0..<200).map { "device-\($0)" }
        try store.apply(RegistryBatch(ids, user: "u", facts: "0"), now: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for round in 1...300 { try store.apply(RegistryBatch(ids, user: "u", facts: "\(round)"), now: 1) }
            }
            for _ in 0..<2 {
                group.addTask {
                    let snapshot = RegistrySnapshot(of: store)
                    var last = 0
                    while last < 300 {
                        try snapshot.begin()
                        // Some of the devices are found by a search for several.
                        ids.prefix(RegistrySnapshot.lookAheadLimit).map { view(Array($0.utf8)) }
                            .withUnsafeBufferPointer(snapshot.lookAhead)
                        let rounds = Set(ids.map { snapshot.facts($0) ?? "none" })
                        #expect(rounds.count == 1)
                        let round = Int(rounds.first ?? "") ?? 301
                        #expect(round >= last && round <= 300)
                        #expect(snapshot.devices(of: Array("u".utf8), limit: 500).total == 200)
                        last = max(round, last)
                        snapshot.end()
                        if round > 300 { return }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `Users whose names were chosen for one hash have different ones`() throws {
        // Both variants of sixteen bytes change the hash without a secret alike, with any seed.
        let names = (0..<1 << 10).map { number in
            (0..<10).flatMap { bit -> [UInt8] in
                let isChanged = number >> bit & 1 == 1
                let words: [UInt64] = isChanged ? [1 << 63, 1 << 63 | 1 << 31] : [0, 0]
                return words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
            }
        }
        let seed = UInt64.random(in: 0 ... .max)
        #expect(Set(names.map { $0.withUnsafeBytes { StoreHash.hash($0, seed: seed) } }).count == 1)
        let store = try open()
        #expect(Set(names.map { $0.withUnsafeBytes(store.key.hash) }).count == names.count)
        var batch = RegistryBatch()
        for (number, name) in names.enumerated() {
            let device = PlainDevice(user: name, timestamp: 1, facts: [])
            let isAdded = batch.put(Array("device-\(number)".utf8), device)
            #expect(isAdded)
        }
        try store.apply(batch, now: 1)
        let snapshot = RegistrySnapshot(of: store)
        try snapshot.begin()
        for (number, name) in names.enumerated() {
            #expect(snapshot.devices(of: name, limit: 9).ids == [Array("device-\(number)".utf8)])
        }
        snapshot.end()
    }

    @Test func `Two stores have different secrets, and a store keeps its own`() throws {
        let other = try open { $0.directory += "-2" }
        var first = Optional(try open())
        let key = first?.key
        #expect(key != other.key)
        first?.close()
        first = nil
        #expect(try open().key == key)
    }

    @Test("The hash of a user is SipHash-2-4", arguments: [(0, 0x726F_DB47_DD0E_0E31), (15, 0xA129_CA61_49BE_45E5)])
    func sipHash(count: Int, expected: UInt64) {
        let key = UserKey(low: 0x0706_0504_0302_0100, high: 0x0F0E_0D0C_0B0A_0908)
        #expect((0..<UInt8(count)).map(\.self).withUnsafeBytes(key.hash) == expected)
    }

    @Test func `The file does not grow when the same devices change`() throws {
        let store = try open()
        let ids = (0..<1000).map { "device-\($0)" }
        let snapshot = RegistrySnapshot(of: store)
        var early = 0
        for round in 0..<1000 {
            try snapshot.begin()
            snapshot.end()
            try store.apply(RegistryBatch(ids, user: "u-\(round % 7)", facts: "\(round)"), now: 1)
            if round == 20 { early = store.bytes }
        }
        #expect(store.bytes <= early * 3 / 2)
        #expect(early > 0 && early < 4 << 20)
    }

    @Test func `Too many snapshots at once are an error`() throws {
        let store = try open()
        let snapshots = (0...1024).map { _ in RegistrySnapshot(of: store) }
        for snapshot in snapshots.dropLast() { try snapshot.begin() }
        #expect(throws: RegistryStoreError.tooManySnapshots) { try snapshots[1024].begin() }
        snapshots[0].end()
    }

    @Test func `Every error and every reason has a text`() {
        let errors: [RegistryStoreError] = [
            .inUse(directory: "d"), .unusable(directory: "d", reason: "r"), .noSpace(directory: "d"),
            .mapFull(directory: "d"), .tooManyDevices(limit: 1), .tooManyAtOnce(limit: 1), .tooManySnapshots,
            .damaged(directory: "d"), .closed, .failed(directory: "d", reason: "r"),
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(Set(RegistryStore.DropReason.allCases.map(\.text)).count == 5)
    }
}
