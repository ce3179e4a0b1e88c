internal import ByteStorage
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import DeviceRegistry

/// The search for several ids at once, beside LMDB's.
@Suite struct PageSearchTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Searches ids in the newest state, and compares what is found with what LMDB finds.
    ///
    /// - Returns: The number of ids that were found.
    private func search(_ ids: [[UInt8]], _ reader: StoreReader, _ model: StoreModel) throws -> Int {
        let buffer = KeyBuffer()
        var search = PageSearch()
        try reader.begin()
        defer { reader.end() }
        let views = ids.map(view)
        let pages = try #require(reader.pages())
        views.withUnsafeBufferPointer { search.run($0, in: pages) }
        var found = 0
        for id in views {
            guard let value = search.value(of: id) else { continue }
            found += 1
            let expected = buffer.device(id).flatMap(reader.find)
            #expect(expected.map { StoreKey.compare(value, $0) } == 0, "seed \(model.random.seed)")
        }
        return found
    }

    @Test(arguments: [1, 20, 4000])
    func `A search finds the devices that LMDB finds`(size: Int) throws {
        var model = StoreModel(seed: .random(in: 0 ... .max), devices: size, users: size / 15 + 1)
        let store = try RegistryStore.open(.test(folder))
        let reader = StoreReader(store.environment)
        for _ in 0..<20 {
            try store.apply(model.change(size), now: 1)
            // Ids that begin with others, or have their first eight bytes.
            let near = model.ids.prefix(5).map { $0.prefix(7) + [1, 2] } + model.ids.suffix(5).map { $0 + [0] }
            let ids = (0..<PageSearch.limit).map { $0 < near.count ? near[$0] : model.random.pick(model.ids) }
            // Shorter ids are left to LMDB, and so are values that do not fit into half a page.
            let expected = ids.filter { id in
                guard let device = model.devices[id], (8...256).contains(id.count) else { return false }
                return device.facts.count < 1500
            }
            let found = try search(ids, reader, model)
            // An id that occurs twice is found at its first place, which later ids can have passed.
            #expect(found <= expected.count && found >= Set(expected).count / 2, "seed \(model.random.seed)")
        }
    }

    @Test func `Devices are found in the order of the ids, also if some are asked about twice or not at all`() throws {
        let store = try RegistryStore.open(.test(folder))
        let names = (0..<100).map { "device-\(1000 + $0)" }
        try store.apply(RegistryBatch(names, facts: "f"), now: 1)
        let reader = StoreReader(store.environment)
        try reader.begin()
        defer { reader.end() }
        var search = PageSearch()
        let ids = names.prefix(PageSearch.limit).map { view(Array($0.utf8)) }
        let pages = try #require(reader.pages())
        ids.withUnsafeBufferPointer { search.run($0, in: pages) }
        for index in [0, 1, 1, 4, 30, 30] { #expect(search.value(of: ids[index]) != nil) }
        #expect(search.value(of: ByteView("device-1099")) == nil)
        search.removeAll()
        #expect(search.value(of: ids[31]) == nil)
    }

    @Test func `A search without use is skipped for a while, and then tried again`() throws {
        let store = try RegistryStore.open(.test(folder))
        try store.apply(RegistryBatch(["device-1", "device-2"], facts: "f"), now: 1)
        let reader = StoreReader(store.environment)
        try reader.begin()
        defer { reader.end() }
        let pages = try #require(reader.pages())
        var search = PageSearch()
        var found: [Bool] = []
        for _ in 0..<40 {
            [ByteView("device-9")].withUnsafeBufferPointer { search.run($0, in: pages) }
            [ByteView("device-1")].withUnsafeBufferPointer { search.run($0, in: pages) }
            // Only the last turns ask about what was searched.
            found.append(found.count >= 20 && search.value(of: ByteView("device-1")) != nil)
        }
        #expect(!found.prefix(20).contains(true) && found.contains(true))
    }

    @Test func `A search in damaged pages reads nothing outside of the file and ends`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var model = StoreModel(seed: seed, devices: 2000, users: 60)
        do {
            let store = try RegistryStore.open(.test(folder))
            for _ in 0..<4 { try store.apply(model.change(2000), now: 1) }
            store.close()
        }
        let file = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.path("devices/data.mdb"))))
        // The page after the file cannot be read.
        let whole = try #require(
            mmap(nil, file.count + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        try #require(whole != MAP_FAILED && mprotect(whole + file.count, 4096, PROT_NONE) == 0)
        defer { munmap(whole, file.count + 4096) }
        var random = SeededGenerator(seed: seed)
        let views = model.ids.filter { $0.count >= 8 }.map(view)
        for _ in 0..<max(LawCases.count / 10, 50) {
            file.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(start: whole, count: file.count).copyMemory(from: bytes)
            }
            for page in stride(from: 0, to: file.count, by: 4096) where random.one(in: 2) {
                for _ in 0..<8 {
                    let place = page + Int.random(in: 0..<(random.one(in: 2) ? 64 : 4096), using: &random)
                    whole.storeBytes(of: .random(in: 0 ... .max, using: &random), toByteOffset: place, as: UInt8.self)
                }
            }
            var search = PageSearch()
            let depth = Int.random(in: 0...40, using: &random)
            for root in [UInt64.random(in: 0...UInt64(file.count / 4096), using: &random), .max] {
                let pages = PageSearch.Pages(
                    file: UnsafeRawPointer(whole), count: UInt64(file.count / 4096), pageBytes: 4096, root: root,
                    depth: root == .max ? 3 : depth)
                let ids = (0..<PageSearch.limit).map { _ in random.pick(views) }
                ids.withUnsafeBufferPointer { search.run($0, in: pages) }
                for id in ids {
                    guard let value = search.value(of: id), let start = value.baseAddress else { continue }
                    let isInside = start >= UnsafeRawPointer(whole) && start + value.count <= whole + file.count
                    #expect(isInside, "seed \(seed)")
                }
            }
        }
    }
}
