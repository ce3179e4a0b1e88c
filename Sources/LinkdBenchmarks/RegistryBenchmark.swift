internal import ByteStorage
internal import CLMDB
internal import CPlatform
internal import DeviceRegistry
internal import Foundation
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import LinkdFuzz

/// The benchmark `registry`: the store of the registry of devices, beside LMDB itself, and the join beside no join.
enum RegistryBenchmark {
    private static let events = 100_000
    /// The link of all events.
    static let link = "https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866?count=3"

    static func run(_ options: BenchmarkOptions) throws -> Int32 {
        let report = Report(json: options.json)
        let devices = RegistryDevices(count: options.records, seed: options.seed)
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("linkd-registry-\(getpid())").path
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let directory = root + "/store"
        try measure(devices, directory, root, options, report)
        let start = ContinuousClock.now
        let again = try RegistryStore.open(configuration(directory, devices.count))
        report.figure(
            "restart with the store", unit: "s", [seconds(since: start)], baseline: ("bound", [1]), bound: 1)
        guard again.count == devices.count else {
            throw BenchmarkError(text: "the store has \(again.count) devices after the restart", code: 1)
        }
        again.close()
        if let broker = options.broker {
            try JoinBenchmark(devices, options, broker: broker, folder: root).run(report)
        }
        return 0
    }

    /// Fills a store and measures it.
    ///
    /// The store is free again afterward.
    private static func measure(
        _ devices: RegistryDevices, _ directory: String, _ root: String, _ options: BenchmarkOptions, _ report: Report
    ) throws {
        let store = try fill(devices, directory, report, root)
        defer { store.close() }
        report.figure(
            "bytes of a device", unit: "bytes", [Double(store.bytes) / Double(max(1, store.count))],
            baseline: ("bound", [200]), bound: 1)
        try join(devices, store, options, report)
    }

    private static func configuration(_ directory: String, _ count: Int) -> RegistryStoreConfiguration {
        RegistryStoreConfiguration(
            directory: directory, source: RegistrySource(cluster: "c", topic: "devices", topicID: "", members: "m"),
            maxDevices: max(20_000_000, count), bootID: "benchmark", now: 0)
    }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - start) / .seconds(1)
    }

    /// Reads all values and writes them to a store, in turns with LMDB, which gets the stored bytes.
    private static func fill(
        _ devices: RegistryDevices, _ directory: String, _ report: Report, _ root: String
    ) throws -> RegistryStore {
        let store = try RegistryStore.open(configuration(directory, devices.count))
        let raw = try RawStore(root + "/raw", bytes: 1 << 30 + devices.count * 1024)
        var reader = RegisteredDeviceReader(.standard)
        var batch = RegistryBatch()
        var (mine, theirs) = (0.0, 0.0)
        var first = 0
        while first < devices.count {
            let from = first
            var start = ContinuousClock.now
            while first < devices.count, !batch.isFull {
                try devices.with(first) { id, value in
                    guard let device = reader.read(value) else {
                        throw BenchmarkError(text: "a device cannot be read", code: 1)
                    }
                    batch.put(id: id, user: device.user, timestamp: 1, facts: device.facts)
                }
                first += 1
            }
            try store.apply(batch, now: 1, isRestoring: true)
            batch.removeAll()
            mine += seconds(since: start)
            start = ContinuousClock.now
            try raw.put(from..<first, of: devices)
            theirs += seconds(since: start)
        }
        let count = Double(devices.count)
        report.figure(
            "restore, a device", unit: "ns", [mine / count * 1e9], baseline: ("raw LMDB puts", [theirs / count * 1e9]))
        report.figure(
            "restore, devices per second", unit: "1/s", [count / mine], baseline: ("bound", [250_000]))
        return store
    }

    /// Decides about events with random devices, with and without the registry in turns.
    private static func join(
        _ devices: RegistryDevices, _ store: RegistryStore, _ options: BenchmarkOptions, _ report: Report
    ) throws {
        let known = StoreDevices(store)
        try known.begin()
        defer { known.end() }
        var random = RandomSource(seed: options.seed &+ 1)
        let indexes = (0..<Self.events).map { _ in Int(truncatingIfNeeded: random.next() % UInt64(devices.count)) }
        let events = indexes.map { index in
            devices.with(index) { id, _ in
                Array(
                    #"{"id":"e-1","link":"\#(link)","device":{"id":""#.utf8) + id.array + Array(#""}}"#.utf8)
            }
        }
        let table = try DeciderConfiguration.benchmark(options)
        var joining = Decider(table, devices: known)
        var plain = Decider(table)
        var (with, without, lookups): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0...options.rounds {
            with.append(try pass(events, indexes, devices, &joining, known))
            without.append(try pass(events, indexes, devices, &plain, nil))
            lookups.append(try lookUp(indexes, devices, known))
        }
        report.figure("look-up of a device", unit: "ns", Array(lookups.dropFirst()))
        report.figure(
            "a record with a join", unit: "ns", Array(with.dropFirst()),
            baseline: ("without", Array(without.dropFirst())))
    }

    private static func lookUp(_ indexes: [Int], _ devices: RegistryDevices, _ known: StoreDevices) throws -> Double {
        let start = linkd_process_cpu_microseconds()
        for index in indexes {
            try devices.with(index) { id, _ in
                if known.facts(of: id) == nil { throw BenchmarkError(text: "a device is missing", code: 1) }
            }
        }
        return Double(linkd_process_cpu_microseconds() - start) / Double(indexes.count) * 1e3
    }

    private static func pass(
        _ events: [[UInt8]], _ indexes: [Int], _ devices: RegistryDevices, _ decider: inout Decider,
        _ known: StoreDevices?
    ) throws -> Double {
        var arena = OutputArena(chunkBytes: 1 << 20)
        var decisions: [ProducedDecision] = []
        let topic: StaticString = "link-events"
        let start = linkd_process_cpu_microseconds()
        for (offset, event) in events.enumerated() {
            if offset % 1000 == 0 {
                arena.reset()
                decisions.removeAll(keepingCapacity: true)
            }
            if let known, offset % RegistrySnapshot.lookAheadLimit == 0 {
                known.lookAhead(indexes[offset...].prefix(RegistrySnapshot.lookAheadLimit), devices)
            }
            let cause = event.withUnsafeBufferPointer { value in
                decider.decide(
                    ConsumedRecord(
                        topic: 0, partition: 0, offset: Int64(offset), timestamp: 0, key: nil, value: ByteView(value),
                        index: 0, hasHeaders: false),
                    topicName: ByteView(topic), into: &arena, decisions: &decisions)
            }
            if cause != nil { throw BenchmarkError(text: "an event is a dead letter", code: 1) }
        }
        return Double(linkd_process_cpu_microseconds() - start) / Double(events.count) * 1e3
    }

    /// The devices of a store as a decider needs them.
    private final class StoreDevices: KnownDevices {
        private let snapshot: RegistrySnapshot

        init(_ store: RegistryStore) { snapshot = RegistrySnapshot(of: store) }

        func begin() throws { try snapshot.begin() }
        func end() { snapshot.end() }

        func lookAhead(_ indexes: ArraySlice<Int>, _ devices: RegistryDevices) {
            let ids = indexes.map { devices.with($0) { id, _ in id } }
            ids.withUnsafeBufferPointer(snapshot.lookAhead)
        }

        func facts(of id: ByteView) -> ByteView? {
            if case .found(let record) = snapshot.find(id) { record.facts } else { nil }
        }

        func devices(of user: ByteView, limit: Int, _ body: (ByteView) -> Void) -> Int {
            snapshot.devices(of: user, limit: limit, body)
        }
    }

    /// An environment of LMDB with the settings of the store.
    private final class RawStore {
        /// The bytes that the store adds to the facts of a device: checksum, timestamp, and length of the user.
        private static let headBytes = 14
        private static let factBytes = 40
        private var environment: OpaquePointer?
        private var database: MDB_dbi = 0

        init(_ path: String, bytes: Int) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Self.check(mdb_env_create(&environment))
            try Self.check(mdb_env_set_mapsize(environment, bytes))
            try Self.check(
                mdb_env_open(environment, path, UInt32(MDB_NOTLS | MDB_NORDAHEAD | MDB_NOSYNC), 0o600))
            var transaction: OpaquePointer?
            try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
            try Self.check(mdb_dbi_open(transaction, nil, 0, &database))
            try Self.check(mdb_txn_commit(transaction))
        }

        deinit { mdb_env_close(environment) }

        /// Puts values of the stored size in the order of the keys, 4,000 of them in a transaction.
        func put(_ range: Range<Int>, of devices: RegistryDevices) throws {
            let sorted = range.map { index in devices.with(index) { id, _ in id } }.sorted { $0 < $1 }
            let value = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.headBytes + Self.factBytes, alignment: 8)
            defer { value.deallocate() }
            value.initializeMemory(as: UInt8.self, repeating: 7)
            for first in stride(from: 0, to: sorted.count, by: 4_000) {
                var transaction: OpaquePointer?
                try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
                for id in sorted[first..<min(first + 4_000, sorted.count)] {
                    var key = MDB_val(mv_size: id.count, mv_data: UnsafeMutableRawPointer(mutating: id.start))
                    var data = MDB_val(mv_size: value.count, mv_data: value.baseAddress)
                    try Self.check(mdb_put(transaction, database, &key, &data, 0))
                }
                try Self.check(mdb_txn_commit(transaction))
            }
        }

        private static func check(_ code: Int32) throws {
            if code != 0 { throw BenchmarkError(text: "LMDB: \(String(cString: mdb_strerror(code)))", code: 1) }
        }
    }
}

extension DeciderConfiguration {
    /// The configuration of a worker with the shipped vendors and link platforms.
    fileprivate static func benchmark(_ options: BenchmarkOptions) throws -> DeciderConfiguration {
        DeciderConfiguration(
            tables: TableSet([try RouteTable(json: try contents(of: options.table))]),
            vendors: try VendorTable(json: try contents(of: options.vendors)),
            platforms: try LinkPlatforms(file: try contents(of: options.platforms)))
    }
}
