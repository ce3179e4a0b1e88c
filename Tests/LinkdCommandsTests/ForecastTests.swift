@testable import RouteTools
internal import ByteStorage
internal import Foundation
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import StrictJSON
internal import TableSupport
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite("The forecast counts what each device would get")
struct ForecastTests {
    /// A registry in memory, and what it says about each device at the end.
    struct Registry {
        var values: [String: String] = [:]
        let devices: RegistryDevices
        let members = DeviceMembers.all

        init(maxDevices: Int = 100_000) throws {
            devices = try RegistryDevices(.all, maxDevices: maxDevices, in: NSTemporaryDirectory())
        }

        mutating func add(_ id: String, _ value: String?) throws {
            try Self.withView(id) { id in
                if let value {
                    try Self.withView(value) { try devices.add(key: id, value: $0) }
                } else {
                    try devices.add(key: id, value: nil)
                }
            }
            values[id] = value
        }

        static func withView(_ text: String, _ body: (ByteView) throws -> Void) rethrows {
            try Array(text.utf8).withUnsafeBufferPointer { try body(ByteView($0)) }
        }

        /// Returns the census of the tables, which must have one part.
        func census(_ tables: [RouteTable]) throws -> DeviceCensus {
            try devices.apply()
            var found: [DeviceCensus] = []
            let empty = DeviceCensus(DeviceKinds(tables, platforms: DeviceClass.platforms))
            let parts = try devices.forEachPart(of: empty, on: .standard()) { found.append($0) }
            #expect(parts == 1)
            return try #require(found.first)
        }
    }

    /// The changes of the registry, of which about six in ten are devices at the end.
    static let changes = LongTests.areWanted ? 10_000 : 1_500

    static func table(_ name: String) throws -> RouteTable {
        switch name {
        case "random": try SampleTables.random(seed: 7)
        case "shop": try SampleTables.load(Checkout.root.appending(path: "config/routes/shop.json").path)
        default: try RouteTable(json: Array(rich.utf8))
        }
    }

    /// A table that asks about every fact.
    static let rich = #"""
        {"schemaVersion":1,"table":{"id":"rich","version":"1"},"link":{"schemes":["rich"],"host":"segment"},
         "capabilities":{"ar":{"listed":true},"new":{"minApp":"4.0.0-beta","platforms":["ios","tvOS"]}},
         "guards":{"in":{"claim":"session","else":{"to":{"path":"/home/feed"},"resume":{"ttl":"15m"}}}},
         "coordinators":{
           "home":{"initial":"feed",
             "screens":{"feed":{},"item":{"since":"2","until":"12"},"gold":{"requires":["new"]},"ar":{}}},
           "mine":{"initial":"list","guard":"in","screens":{"list":{}}}},
         "externals":{"schemes":["https"],"hosts":["e.example"]},
         "routes":[
           {"id":"item","match":"/item/{id}","variants":[
             {"when":{"app":">=4.0.0","platform":"ios"},"to":{"path":"/home/item"}},
             {"when":{"capability":"ar","region":["gb","DE"]},"to":{"path":"/home/ar"}},
             {"when":{"os":"<17.1"},"to":{"external":"https://e.example/{id}"}},
             {"to":{"path":"/home/feed"}}]},
           {"id":"tier","match":"/tier","variants":[
             {"when":{"attributes":{"tier":["gold","iron"]}},"to":{"path":"/home/gold"}},
             {"when":{"claim":"vip"},"to":{"path":"/home/item"}},
             {"to":{"path":"/home/feed"}}]},
           {"id":"mine","match":"/mine","to":{"path":"/mine/list"}},
           {"id":"words","match":"/words","variants":[
             {"when":{"locale":["de","en-GB"]},"to":{"path":"/home/ar"}},
             {"when":{"locale":"en"},"to":{"path":"/home/item"}},
             {"to":{"path":"/home/feed"}}]}],
         "fallback":{"outcome":"navigate","to":{"root":true}}}
        """#

    static func configuration(_ tables: [RouteTable]) throws -> DeciderConfiguration {
        func bytes(_ name: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: Checkout.root.appending(path: "config/\(name)")))
        }
        return DeciderConfiguration(
            tables: TableSet(tables), vendors: try VendorTable(json: bytes("vendors.json")),
            platforms: try LinkPlatforms(file: bytes("link-platforms.json")))
    }

    /// Returns a device whose facts are near those that the tables ask about.
    static func facts(_ kinds: DeviceKinds, _ random: inout SeededGenerator) -> DeviceFacts {
        var device = DeviceFacts()
        // Half of the devices have the facts of a kind, with other spellings.
        let kind = kinds.questions.map { question in
            UInt16.random(in: question.answers, using: &random)
        }
        device = kinds.facts(of: kind)
        if random.one(in: 2) { device.platform = device.platform?.uppercased() }
        if random.one(in: 3) { device.locale = device.locale?.replacing("-", with: "_").uppercased() }
        if random.one(in: 3) {
            device.app = random.pick(["3.9.9", "4", "4.0.0", "4.0.0-beta.2", "6.1.0", "12", "x", ""])
        }
        if random.one(in: 3) { device.claims = (device.claims ?? []) + ["other-\(random.next() % 9)"] }
        if random.one(in: 3) { device.region = random.pick(["GB", "gb", "DE", "zz", ""]) }
        if random.one(in: 9) { device.coordinator = random.pick(["home", "catalog", "nowhere"]) }
        return device
    }

    /// Returns links of the routes of tables, some of them through link platforms, and others that no route matches.
    static func links(_ tables: [RouteTable], count: Int, _ random: inout SeededGenerator) -> [String] {
        var links: [String] = []
        for table in tables {
            for route in table.source.routes { links += SampleLinks.all(of: route, in: table) }
        }
        links = Array(Set(links)).sorted()
        links += links.prefix(5).map { "https://l.example/?link=" + $0 }
        links += links.prefix(5).map { $0 + "?x=1" }
        while links.count < count { links.append(random.pick(links) + "/\(random.next() % 7)") }
        links.shuffle(using: &random)
        return Array(links.prefix(count))
    }

    /// Returns what a link opens on one device, as the worker decides it with the registry, and the decision without
    /// its facts.
    static func decide(
        _ link: String, _ id: String, _ decider: inout Decider
    ) -> (destination: ForecastDestination, members: [String]) {
        let event = JSONText.object { json in
            json.text("link", link)
            json.beginObject("device")
            json.text("id", id)
            json.endObject()
        }
        var arena = OutputArena()
        var decisions: [JSONValue] = []
        let cause = Array(event.utf8).withUnsafeBufferPointer { event in
            decider.decide(value: ByteView(event), key: nil, into: &arena) { _, decision, _ in
                if let value = try? JSONValue.parse(decision.array) { decisions.append(value) }
            }
        }
        if let cause { return (ForecastDestination(cause), []) }
        let members = (decisions.first?.object ?? []).filter { $0.name != "facts" }
        return (ForecastDestination(JSONValue(.object(members))), members.map { "\($0.name): \($0.value.text)" })
    }

    @Test(
        "100 links and thousands of devices: each row has exactly the devices that a worker decides so",
        arguments: [["shop"], ["rich"], ["shop", "rich"], ["random"]])
    func bruteForce(names: [String]) throws {
        var random = SeededGenerator(seed: 29)
        let tables = try names.map(Self.table)
        let configuration = try Self.configuration(tables)
        var registry = try Registry()
        let kinds = DeviceKinds(tables, platforms: DeviceClass.platforms)
        for number in 0..<Self.changes {
            try registry.add("d-\(random.next() % UInt64(Self.changes))", Self.facts(kinds, &random).json)
            if number % 10 == 0 { try registry.add("d-\(random.next() % UInt64(Self.changes))", nil) }
        }
        let census = try registry.census(tables)
        #expect(census.devices == registry.values.count)
        let links = Self.links(tables, count: 100, &random)
        var run = ForecastRun(links, configuration)
        run.add(census)
        var limited = ForecastRun(Array(links.prefix(3)), configuration, maxKinds: census.entries.count)
        limited.add(census)
        #expect(limited.linksWithoutKinds == 2)
        #expect(limited.forecasts.map { $0.rows.reduce(0) { $0 + $1.kinds.count } } == [census.entries.count, 0, 0])
        #expect(limited.forecasts.map { $0.rows.map(\.count) } == run.forecasts.prefix(3).map { $0.rows.map(\.count) })
        let given = GivenDevices(.all)
        for (id, value) in registry.values { #expect(given.add(Array(id.utf8), Array(value.utf8))) }
        var decider = Decider(configuration, devices: given)
        var several = 0
        for forecast in run.forecasts {
            var expected: [ForecastDestination: Int] = [:]
            for id in registry.values.keys {
                expected[Self.decide(forecast.link, id, &decider).destination, default: 0] += 1
            }
            let found = Dictionary(uniqueKeysWithValues: forecast.rows.map { ($0.destination, $0.count) })
            #expect(found == expected, "\(forecast.link)")
            several += expected.count > 1 ? 1 : 0
            for row in forecast.rows {
                let id = String(decoding: try #require(row.example), as: UTF8.self)
                let (destination, members) = Self.decide(forecast.link, id, &decider)
                #expect(destination == row.destination)
                let decision = try? JSONValue.parse(row.decision)
                #expect((decision?.object ?? []).map { "\($0.name): \($0.value.text)" } == members)
            }
        }
        print(
            "forecast of \(names): \(registry.values.count) devices, \(census.entries.count) kinds, "
                + "\(several) links vary")
        #expect(several > 0)
    }

    /// A table that compares facts with texts that are easily confused.
    static let confusing = #"""
        {"schemaVersion":1,"table":{"id":"odd","version":"1"},"link":{"schemes":["odd"],"host":"segment"},
         "capabilities":{"ar":{"listed":true,"minApp":"2.0.0-rc.1+5"},"os":{"minOS":"1.0.0.0.1"}},
         "coordinators":{"a":{"initial":"x","screens":{
           "x":{},"y":{"since":"2.0.0-rc+1","until":"2.0.0+9"},"z":{"requires":["ar"]},"w":{"requires":["os"]}}}},
         "routes":[
           {"id":"version","match":"/v","variants":[
             {"when":{"app":"=2.0.0-rc.1"},"to":{"path":"/a/y"}},{"when":{"app":">1.999999999.0"},"to":{"path":"/a/z"}},
             {"when":{"app":"<=0.0.0-0"},"to":{"path":"/a/w"}},{"to":{"root":true}}]},
           {"id":"locale","match":"/l","variants":[
             {"when":{"locale":["zh_Hant","de-"]},"to":{"path":"/a/y"}},{"when":{"locale":"zh"},"to":{"path":"/a/z"}},
             {"when":{"region":["a","ẞ"]},"to":{"path":"/a/w"}},{"to":{"root":true}}]},
           {"id":"attribute","match":"/t","variants":[
             {"when":{"attributes":{"é":["é","x"],"k":"v"}},"to":{"path":"/a/y"}},
             {"when":{"claim":"é"},"to":{"path":"/a/z"}},{"when":{"platform":"İOS"},"to":{"path":"/a/w"}},
             {"to":{"root":true}}]},
           {"id":"go","match":"/go/{p:coordinatorPath}","to":{"path":"{p}"}}],
         "fallback":{"outcome":"none"}}
        """#

    /// Returns members of a device that a registry can have, as JSON.
    static func oddMembers(_ random: inout SeededGenerator) -> String {
        let versions = [
            "2.0.0-rc.1", "2.0.0-rc.1+7", "2.0.0-rc", "2.0.0-rc.1.0", "2.0.0+9", "2", "02", "1.999999999", "1.0.0.0.1",
            "0.0.0-0", "0", "0.0.0-0+a", "2.0.0-", "", " 2", String(repeating: "1", count: 65),
        ].map { "\"\($0)\"" }
        let texts = [
            "\"zh_HANT-tw\"", "\"ZH\"", "\"zh-\"", "\"zhx\"", "\"de-\"", "\"de--at\"", "\"de_\"", "\"\"",
            "\"\u{1E9E}\"", "\"ß\"", "\"i\u{307}OS\"", "\"ios\"", "\"İos\"",
            "\"\(String(repeating: "e", count: 256))\"", "\"a\"", "null", "7",
        ]
        let lists = [
            "[]", "[\"é\",\"ar\"]", "[\"e\u{301}\",\"\"]", "[\"E\u{301}\"]", "[\"\",\"é\",\"é\"]", "[null]", "null",
        ]
        let objects = [
            "{}", "{\"é\":\"é\"}", "{\"e\u{301}\":\"e\u{301}\",\"k\":\"v\"}", "{\"é\":\"\",\"k\":\"v\"}",
            "{\"k\":\"V\",\"é\":null}", "{\"é\":\"é\",\"e\u{301}\":\"x\",\"k\":\"v\"}", "null",
        ]
        let all = [
            ("app", versions), ("os", versions), ("locale", texts), ("region", texts), ("platform", texts),
            ("capabilities", lists), ("claims", lists), ("attributes", objects), ("coordinator", texts),
            ("unknown", lists + objects),
        ]
        return all.filter { _ in random.one(in: 2) }.map { "\"\($0.0)\":\(random.pick($0.1))" }.joined(separator: ",")
    }

    @Test("Facts that are easily confused are counted as a worker decides them")
    func oddFacts() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let tables = [try RouteTable(json: Array(Self.confusing.utf8))]
        let configuration = try Self.configuration(tables)
        var registry = try Registry()
        let given = GivenDevices(.all)
        var ids: [String] = []
        for number in 0..<Self.changes {
            let (id, value) = ("d-\(number)", "{\(Self.oddMembers(&random))}")
            try registry.add(id, value)
            if given.add(Array(id.utf8), Array(value.utf8)) { ids.append(id) }
        }
        let census = try registry.census(tables)
        #expect(census.devices == ids.count && ids.count > Self.changes / 20, "\(ids.count)")
        let links = ["v", "l", "t", "go/a/w", "go/a/z", "go/a/y", "none"].map { "odd://" + $0 }
        var run = ForecastRun(links + ["odd:go/w"], configuration)
        run.add(census)
        var decider = Decider(configuration, devices: given)
        for forecast in run.forecasts {
            var expected: [ForecastDestination: Int] = [:]
            for id in ids { expected[Self.decide(forecast.link, id, &decider).destination, default: 0] += 1 }
            let found = Dictionary(uniqueKeysWithValues: forecast.rows.map { ($0.destination, $0.count) })
            #expect(found == expected, "seed \(seed): \(forecast.link)")
        }
    }
}
