internal import ByteStorage
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import DeviceRegistry

/// Damaged files, a full disk, and processes that are killed.
@Suite struct StoreDamageTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Leaves a closed store, and returns its contents after each batch and the bytes of its file.
    private func leaveStore(seed: UInt64) throws -> (models: [StoreModel], file: [UInt8]) {
        var model = StoreModel(seed: seed, devices: 800, users: 60)
        var models: [StoreModel] = []
        do {
            let store = try RegistryStore.open(.test(folder))
            for _ in 0..<6 {
                try store.apply(model.change(500), now: 1)
                models.append(model)
            }
            store.close()
        }
        return (models, try [UInt8](Data(contentsOf: data)))
    }

    private var data: URL { URL(fileURLWithPath: folder.path("devices/data.mdb")) }

    /// Opens a store with the bytes of a file, and compares and changes it if it is used.
    ///
    /// Damage of the newest meta page can lead to the state before the last batch, with its positions.
    ///
    /// - Returns: Whether it was dropped.
    private func open(_ file: [UInt8], _ models: [StoreModel], _ comment: Comment) throws -> Bool {
        try Data(file).write(to: data)
        let store = try RegistryStore.open(.test(folder))
        defer { store.close() }
        if let reason = store.droppedBecause {
            #expect(reason == .damaged || reason == .format, comment)
            #expect(store.count == 0 && store.positions() == [:], comment)
            return true
        }
        var model = try #require(models.suffix(2).last { $0.positions == store.positions() }, comment)
        try model.compare(store)
        for _ in 0..<3 { try store.apply(model.change(300), now: 1) }
        try model.compare(store)
        return false
    }

    @Test func `A damaged file is dropped, or its devices are right`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let (models, file) = try leaveStore(seed: seed)
        var random = SeededGenerator(seed: seed)
        var dropped = 0
        let cases = max(LawCases.count / 10, 400)
        for number in 0..<cases {
            var bytes = file
            let page = Int.random(in: 0..<bytes.count / 4096, using: &random) * 4096
            let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            switch number % 8 {
            case 0: bytes[.random(in: 0..<bytes.count, using: &random)] ^= bit
            case 1: bytes[page + .random(in: 0..<64, using: &random)] ^= bit
            case 2: bytes[.random(in: 0..<160, using: &random)] ^= bit
            case 3: bytes[4096 + .random(in: 0..<160, using: &random)] = .random(in: 0 ... .max, using: &random)
            case 4: for at in page..<page + 4096 { bytes[at] = 0 }
            case 5: for at in page..<page + 64 { bytes[at] = .random(in: 0 ... .max, using: &random) }
            case 6:
                let other = Int.random(in: 2..<bytes.count / 4096, using: &random) * 4096
                bytes.replaceSubrange(page..<page + 4096, with: file[other..<other + 4096])
            default:
                let start = Int.random(in: 0..<bytes.count - 8, using: &random)
                for at in start..<start + 8 { bytes[at] = .random(in: 0 ... .max, using: &random) }
            }
            if try open(bytes, models, "seed \(seed), case \(number)") { dropped += 1 }
        }
        #expect(dropped > cases / 4, "seed \(seed)")
        #expect(try !open(file, models, "the file as it was"))
    }

    @Test(arguments: [0, 1])
    func `A number of a transaction that no store reaches is damage`(page: Int) throws {
        let (models, file) = try leaveStore(seed: 1)
        var bytes = file
        bytes[page * 4096 + 16 + 135] |= 0x80
        #expect(try open(bytes, models, "the highest bit of the transaction"))
    }

    @Test func `A state that is not one is damage or another format, also with the right checksum`() throws {
        var state = StoreState(source: RegistryStoreConfiguration.test(folder).source, updated: 1)
        (state.positions, state.witnesses) = ([1: 2], [1: RegistryWitness(offset: 1, timestamp: 2, hash: 3)])
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let bytes = state.encoded
        for place in 8..<bytes.count {
            var changed = bytes
            let end = min(place + Int.random(in: 1...8, using: &random), bytes.count)
            for at in place..<end { changed[at] = random.one(in: 2) ? 0xFF : .random(in: 0 ... .max, using: &random) }
            let sum = changed[8...].withUnsafeBytes { StoreHash.hash($0, seed: 0) }
            changed.replaceSubrange(..<8, with: withUnsafeBytes(of: sum.littleEndian, Array.init))
            let read = changed.withUnsafeBytes { bytes in Result { try StoreState(bytes) } }
            guard case .success(let found) = read else { continue }
            #expect(found.positions.count <= 1 && found.witnesses.count <= 1, "seed \(seed)")
        }
    }

    @Test func `A file that is too short is dropped`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let (models, file) = try leaveStore(seed: seed)
        var random = SeededGenerator(seed: seed)
        let lengths = [0, 1, 100, 4096, 8191, 8192, 8193, 12288, file.count / 2, file.count - 4096, file.count - 1]
        for length in lengths + (0..<20).map({ _ in .random(in: 0..<file.count, using: &random) }) {
            let isDropped = try open(Array(file.prefix(length)), models, "seed \(seed), \(length) bytes")
            // Pages at the end can be free.
            #expect(isDropped || length > file.count / 2, "seed \(seed), \(length) bytes")
        }
    }

    @Test func `A device that is damaged while the store is open is reported`() throws {
        let store = try RegistryStore.open(.test(folder))
        try store.apply(RegistryBatch(["a", "b"], user: "u", facts: "some facts of a device"), now: 1)
        let bytes = try Data(contentsOf: data)
        let file = try FileHandle(forUpdating: data)
        var last = bytes.startIndex
        while let found = bytes.range(of: Data("some facts".utf8), in: last..<bytes.endIndex) {
            try file.seek(toOffset: UInt64(found.lowerBound))
            try file.write(contentsOf: Data("s".uppercased().utf8))
            last = found.upperBound
        }
        try file.close()
        let snapshot = RegistrySnapshot(of: store)
        try snapshot.begin()
        guard case .damaged = snapshot.find(ByteView("a")) else {
            Issue.record("the device is not reported")
            return
        }
        #expect(snapshot.devices(of: Array("u".utf8), limit: 9).total == 2)
        snapshot.end()
        let error = RegistryStoreError.damaged(directory: folder.path("devices"))
        #expect(throws: error) { try store.apply(RegistryBatch(["a"], facts: "new"), now: 1) }
        store.close()
        let mark = try Data(contentsOf: URL(fileURLWithPath: folder.path("devices/mark")))
        #expect(mark.starts(with: Data("damaged".utf8)))
    }

    @Test(arguments: [true, false])
    func `A store that was marked as damaged is dropped`(isClosed: Bool) throws {
        do {
            let store = try RegistryStore.open(.test(folder))
            try store.apply(RegistryBatch(["a"], facts: "1"), now: 1)
            store.markDamaged()
            if isClosed { store.close() }
        }
        do {
            let store = try RegistryStore.open(.test(folder))
            #expect(store.droppedBecause == .damaged && store.count == 0)
            store.close()
        }
        #expect(try RegistryStore.open(.test(folder)).droppedBecause == nil)
    }

    @Test func `A mark that is not one is damage`() throws {
        do { try RegistryStore.open(.test(folder)).close() }
        try Data("open boot-1".utf8).write(to: URL(fileURLWithPath: folder.path("devices/mark")))
        #expect(try RegistryStore.open(.test(folder)).droppedBecause == .damaged)
    }

    @Test func `A full disk is an error, and the store can be used`() async throws {
        await #expect(processExitsWith: .success) { [path = folder.path("devices") as String] in
            signal(SIGXFSZ, SIG_IGN)
            let store = try RegistryStore.open(.test(path))
            var model = StoreModel(seed: 1, devices: 2000, users: 50)
            try store.apply(model.change(1000), now: 1)
            let before = model
            var failures = 0
            for step in 0..<40 {
                // Limits at places within pages, so that some writes stop in their middle.
                Self.limitFiles(to: UInt64(store.bytes) + UInt64(step) * 1777)
                let old = model
                do {
                    try store.apply(model.change(800), now: 2)
                } catch RegistryStoreError.noSpace {
                    failures += 1
                    (model.devices, model.positions, model.witnesses) = (old.devices, old.positions, old.witnesses)
                }
                try model.compare(store)
            }
            #expect(failures > 0 && before.devices.count > 0)
            Self.limitFiles(to: .max)
            try store.apply(model.change(800), now: 3)
            try model.compare(store)
            store.close()
        }
        #expect(try RegistryStore.open(.test(folder)).droppedBecause == nil)
    }

    /// Sets the limit of the size of files of this process.
    private static func limitFiles(to bytes: UInt64) {
        var limit = rlimit(rlim_cur: bytes == .max ? rlim_t(Int64.max) : rlim_t(bytes), rlim_max: rlim_t(Int64.max))
        #if canImport(Glibc)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        #else
        setrlimit(RLIMIT_FSIZE, &limit)
        #endif
    }

    @Test(arguments: [20, 70, 150])
    func `A store whose process was killed has whole batches`(milliseconds: Int) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path("devices") as String, milliseconds] in
            let store = try RegistryStore.open(.test(path))
            var model = StoreModel(seed: 7, devices: 3000, users: 100)
            Thread.detachNewThread {
                usleep(UInt32(milliseconds) * 1000)
                kill(getpid(), SIGKILL)
            }
            while true { try store.apply(model.change(500), now: 1) }
        }
        let store = try RegistryStore.open(.test(folder))
        #expect(store.droppedBecause == nil)
        var model = StoreModel(seed: 7, devices: 3000, users: 100)
        // The positions name the number of applied changes.
        let applied = store.positions().values.reduce(0, +)
        for _ in 0..<applied / 500 { _ = model.change(500) }
        try model.compare(store)
    }
}
