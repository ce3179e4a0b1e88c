internal import ByteStorage
internal import Foundation
internal import KafkaClient
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite("A census is used in place of the registry")
struct CensusTests {
    private static let link = "https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866"
    private static let home = Checkout.root.appending(path: "config").path
    private static let shop = home + "/routes/shop.json"

    /// Returns a registry of the given number of devices of each app version, and of one device with a rare platform.
    private static func registry(_ apps: KeyValuePairs<String, Int>) throws -> ForecastTests.Registry {
        var registry = try ForecastTests.Registry()
        for (app, count) in apps {
            for number in 0..<count {
                try registry.add("secret-\(app)-\(number)", #"{"platform":"ios","app":"\#(app)","claims":["session"]}"#)
            }
        }
        try registry.add("secret-rare", #"{"platform":"visionos","user":"secret-user"}"#)
        return registry
    }

    /// Writes a census for the table in a file, and calls a function with its path.
    private static func withCensus(
        _ registry: ForecastTests.Registry, of table: String = shop, least: Int = 1, _ body: (String) throws -> Void
    ) throws {
        let table = try RouteTable(json: [UInt8](Data(contentsOf: URL(fileURLWithPath: table))))
        let folder = try TemporaryFolder()
        let path = folder.url.appending(path: "census.json").path
        try CensusFile(topic: "devices", registry.census([table])).write(to: path, least: least)
        try body(path)
    }

    private static func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> CommandResult {
        try LinkdProcess.run(arguments, environment: environment.merging(["LINKD_HOME": home]) { first, _ in first })
    }

    @Test("The forecast of a census is that of its devices, as text, JSON, and CSV, without ids")
    func outputs() throws {
        try Self.withCensus(Self.registry(["4.0.0": 3, "3.9.9": 2, "6": 1500])) { path in
            let file = try String(contentsOfFile: path, encoding: .utf8)
            #expect(!file.contains("secret"))
            let arguments = ["forecast", "--table", Self.shop, "--census", path, Self.link]
            let text = try Self.run(arguments)
            #expect(text.code == 0)
            #expect(
                text.out == """
                    \(Self.link)
                      1,503 of 1,506 open catalog.item: app from 4.0.0
                      3 open a browser at \(Self.link): app unknown or before 4.0.0

                    """)
            #expect(text.err.hasPrefix("devices of devices at 20"))
            let json = try JSONValue.parse(Array(Self.run(arguments + ["--json"]).out.utf8))
            let rows = try #require(json["rows"]?.array)
            #expect(rows.map { $0["devices"]?.integer } == [1503, 3])
            #expect(rows.map { $0["outcome"]?.string } == ["navigate", "external"])
            #expect(rows.first?["example"]?["id"]?.isNull == true)
            #expect(rows.first?["example"]?["decision"]?["route"]?.string == "item")
            #expect(json["devices"]?.integer == 1506)
            let csv = try Self.run(arguments + ["--csv"]).out.split(separator: "\n")
            #expect(csv.first.map(String.init) == ForecastReport.columns)
            #expect(csv.last?.hasPrefix("\(Self.link),3,1506,external,,\(Self.link),,,,") == true)
        }
    }

    @Test("Rows and kinds of few devices are merged, and stay in the total")
    func merged() throws {
        let registry = try Self.registry(["4.0.0": 30, "3.9.9": 20])
        try Self.withCensus(registry, least: 2) { path in
            let text = try Self.run(["forecast", "--table", Self.shop, "--census", path, Self.link, "--at-least", "25"])
            #expect(
                text.out == """
                    \(Self.link)
                      30 of 51 open catalog.item: app from 4.0.0
                      20 in rows of fewer than 25
                      1 not known, because the census has merged their facts

                    """)
            #expect(try !String(contentsOfFile: path, encoding: .utf8).contains(#""platform":"visionos""#))
            let csv = try Self.run([
                "forecast", "--table", Self.shop, "--census", path, Self.link, "--at-least", "25", "--csv",
            ])
            #expect(csv.out.contains(",20,51,merged,") && csv.out.contains(",1,51,unknown,"))
        }
    }

    @Test("A saved census gives the same forecasts, also for tables that ask about fewer facts")
    func sameForecasts() throws {
        var random = SeededGenerator(seed: 5)
        let (rich, shop) = (try ForecastTests.table("rich"), try ForecastTests.table("shop"))
        let kinds = DeviceKinds([rich, shop], platforms: DeviceClass.platforms)
        var registry = try ForecastTests.Registry()
        for number in 0..<400 { try registry.add("d-\(number)", ForecastTests.facts(kinds, &random).json) }
        let folder = try TemporaryFolder()
        let path = folder.url.appending(path: "census.json").path
        try CensusFile(topic: "t", registry.census([rich, shop])).write(to: path, least: 1)
        for tables in [[rich, shop], [rich], [shop]] {
            let configuration = try ForecastTests.configuration(tables)
            var runs = [ForecastRun]()
            let file = try CensusFile(path: path, for: DeviceKinds(tables, platforms: DeviceClass.platforms)).census
            let links = ForecastTests.links(tables, count: 60, &random)
            for census in [try registry.census(tables), file] {
                var run = ForecastRun(links, configuration)
                run.add(census)
                runs.append(run)
            }
            for (a, b) in zip(runs[0].forecasts, runs[1].forecasts) {
                #expect(a.rows.map(\.destination) == b.rows.map(\.destination))
                #expect(a.rows.map(\.count) == b.rows.map(\.count))
            }
        }
    }

    @Test("A census for other facts is refused, with the fact that it lacks")
    func otherFacts() throws {
        try Self.withCensus(Self.registry(["4": 1])) { path in
            let folder = try TemporaryFolder()
            let table = folder.url.appending(path: "rich.json").path
            try Data(ForecastTests.rich.utf8).write(to: URL(fileURLWithPath: table))
            let result = try Self.run(["forecast", "--census", path, "--table", table, "rich://tier"])
            #expect(result.code == 65)
            #expect(result.err.contains("was made for other facts: it does not ask about app 2"), "\(result.err)")
        }
    }

    @Test(
        "A file that is no census is refused",
        arguments: [
            "", "{}", #"{"census":2,"facts":{},"merged":0,"kinds":[]}"#, #"{"census":1,"facts":{},"kinds":[]}"#,
            #"{"census":1,"facts":{"app":["x"]},"merged":0,"kinds":[]}"#,
            #"{"census":1,"facts":{"nothing":[]},"merged":0,"kinds":[]}"#,
        ])
    func invalid(text: String) throws {
        try withTemporaryFile(text) { path in
            let result = try Self.run(["forecast", "--table", Self.shop, "--census", path, Self.link])
            #expect(result.code == 65 && result.err.contains("census"), "\(result.err)")
        }
        #expect(try Self.run(["forecast", "--census", "/none/x", Self.link]).code == 78)
        let event = try Self.run(["forecast", "--census", "/none/x", #"{"link":"a:b"}"#])
        #expect(event.code == 65 && event.err.contains("link 1 is not a link"), "\(event.err)")
        #expect(try Self.run(["forecast", "--census", "x", "--devices", "t", Self.link]).code == 64)
        #expect(try Self.run(["forecast", Self.link]).err.contains("pass --devices TOPIC"))
    }

    @Test("Devices of too many kinds are resolved in parts of a bounded size, with the numbers of each device alone")
    func parts() throws {
        let tables = [try ForecastTests.table("rich")]
        var random = SeededGenerator(seed: 6)
        let kinds = DeviceKinds(tables, platforms: DeviceClass.platforms)
        var registry = try ForecastTests.Registry()
        for number in 0..<300 { try registry.add("d-\(number)", ForecastTests.facts(kinds, &random).json) }
        try registry.devices.apply()
        let configuration = try ForecastTests.configuration(tables)
        let links = ForecastTests.links(tables, count: 30, &random)
        let given = GivenDevices(.all)
        for (id, value) in registry.values { #expect(given.add(Array(id.utf8), Array(value.utf8))) }
        var decider = Decider(configuration, devices: given)
        for limit in [DeviceCensus.maxKinds, 50, 1] {
            var run = ForecastRun(links, configuration)
            let parts = try registry.devices.forEachPart(of: DeviceCensus(kinds, maxKinds: limit), on: .standard()) {
                #expect($0.entries.count <= limit)
                run.add($0)
            }
            #expect(parts == 1 || limit <= 50 && parts > 2)
            for forecast in run.forecasts {
                var expected: [ForecastDestination: Int] = [:]
                for id in registry.values.keys {
                    expected[ForecastTests.decide(forecast.link, id, &decider).destination, default: 0] += 1
                }
                let found = Dictionary(uniqueKeysWithValues: forecast.rows.map { ($0.destination, $0.count) })
                #expect(found == expected, "\(forecast.link), at most \(limit) kinds at once")
            }
        }
    }

    @Test("Devices that the registry deletes later do not count for --devices-max", arguments: [9_950, 9_949, 4_000])
    func maxDevices(limit: Int) throws {
        var registry = try ForecastTests.Registry(maxDevices: limit)
        var failure: CommandFailure?
        do {
            // The first batch ends before the deletions.
            for number in 0..<10_050 { try registry.add("d-\(number)", "{}") }
            for number in 0..<100 { try registry.add("d-\(number)", nil) }
            try registry.devices.apply()
        } catch let error as CommandFailure {
            failure = error
        }
        let reason = failure?.reason ?? "none"
        switch limit {
        case 9_950: #expect(reason == "none")
        case 9_949: #expect(reason.contains("more than 9949 devices"), "\(reason)")
        default: #expect(reason.contains("more than 8000 devices before"), "\(reason)")
        }
    }

    @Test("A difference counts the devices of a census, and fails for more than a share of them")
    func difference() throws {
        let text = try String(contentsOfFile: Self.shop, encoding: .utf8)
        let bare = text.replacing(#/,\s*"examples": \[(.|\n)*\]/#, with: "")
        let edited = bare.replacing(#""app": ">=4.0.0""#, with: #""app": ">=5.0.0""#)
        try #require(edited != bare)
        try withTemporaryFile(edited) { new in
            let registry = try Self.registry(["4.0.0": 30, "3.9.9": 20, "6": 949])
            let tables = try [Self.shop, new].map {
                try RouteTable(json: [UInt8](Data(contentsOf: URL(fileURLWithPath: $0))))
            }
            let folder = try TemporaryFolder()
            let path = folder.url.appending(path: "census.json").path
            try CensusFile(topic: "devices", registry.census(tables)).write(to: path, least: 1)
            let command = ["routes", "diff", Self.shop, new, "--census", path]
            for (condition, code) in [("devices:2.9%", 1), ("devices:3%", 0), ("any", 1)] as [(String, Int32)] {
                let result = try Self.run(command + ["--fail-on", condition])
                #expect(result.code == code, "\(result.out)\(result.err)")
                #expect(result.out.contains("30 of 1,000 devices, 3.00 %"), "\(result.out)")
            }
            let json = try JSONValue.parse(Array(Self.run(command + ["--json"]).out.utf8), maxDepth: 64)["difference"]
            #expect(json?["census"]?["changed"]?.integer == 30)
            #expect(json?["groups"]?.array?.contains { $0["devices"]?.integer == 30 } == true)
            try Self.withCensus(registry) { old in
                let result = try Self.run(["routes", "diff", Self.shop, new, "--census", old])
                #expect(result.code == 65 && result.err.contains("does not ask about app 5.0.0"), "\(result.err)")
            }
            for (flags, word) in [
                (["--fail-on", "devices:1%"], "needs a census"), (["--fail-on", "devices:1"], "not a valid value"),
                (["--census", path, "--traffic", "x"], "cannot be combined"),
            ] {
                let result = try Self.run(["routes", "diff", Self.shop, new] + flags)
                #expect(result.code == 64 && result.err.contains(word), "\(result.err)")
            }
        }
    }

    /// A link, and the conditions of its rows, the row of most devices first.
    private static let reasons: [(String, [String?])] = [
        ("rich://mine", ["claim session", "no claim session"]),
        ("rich://words", ["locale de or en-gb", "locale unknown or other", "locale en"]),
        ("rich://item/1", ["app from 4.0.0 before 12", "app unknown or before 4.0.0"]),
        ("rich://nowhere", [nil]),
    ]

    @Test("A condition has only facts that matter for the link", arguments: reasons)
    func conditions(link: String, expected: [String?]) throws {
        let tables = [try ForecastTests.table("rich")]
        var registry = try ForecastTests.Registry()
        // Devices of other regions also have other versions and claims.
        for number in 0..<60 {
            let value =
                number < 35
                ? #"{"platform":"ios","app":"4.1","os":"18","region":"US","claims":["session"],"locale":"de_AT"}"#
                : #"{"os":"18","region":"FR","locale":"\#(number < 40 ? "EN_gb" : number < 45 ? "en" : "fr")"}"#
            try registry.add("d-\(number)", number == 59 ? #"{"app":"3","os":"18"}"# : value)
        }
        let census = try registry.census(tables)
        var run = ForecastRun([link], try ForecastTests.configuration(tables))
        run.add(census)
        let forecast = try #require(run.forecasts.first)
        #expect(run.conditions(of: forecast.rows, in: forecast, census) == expected)
    }

    @Test("The console counts the devices of each platform and version")
    func matrix() throws {
        let table = try ForecastTests.table("shop")
        let census = try Self.registry(["4.0.0": 30, "3.9.9": 20, "4.0.0-beta": 1, "6": 7, "x": 3]).census([table])
        let matrix = VersionMatrix(
            TriedInput(Self.link), facts: [], table: table, isAlone: true,
            TryResolver(try ForecastTests.configuration([table])))
        #expect(matrix.platforms == ["ios", "android"])
        let (cells, others) = matrix.devices(of: census)
        #expect(cells == [[21, 37], [0, 0]])
        #expect(others == 4)
    }

    /// A condition, and the millionths that it allows.
    private static let failures: [(String, FailureCondition?)] = [
        ("any", .any), ("devices:0.1%", .devices(millionths: 1000)), ("devices:100%", .devices(millionths: 1_000_000)),
        ("devices:0%", .devices(millionths: 0)), ("devices:0.0001%", .devices(millionths: 1)), ("devices:%", nil),
        ("devices:1.%", nil), ("devices:.1%", nil), ("devices:101%", nil), ("devices:0.00001%", nil),
        ("devices:-1%", nil), ("devices:1.2.3%", nil), ("device:1%", nil), ("", nil),
    ]

    @Test("Conditions of --fail-on are read", arguments: failures)
    func condition(_ text: String, _ expected: FailureCondition?) {
        #expect(FailureCondition(text) == expected)
    }
}

/// `linkd forecast` with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct ForecastBrokerTests {
    @Test("The committed registry counts: the last valid value of each device, without deleted ones")
    func registry() throws {
        let topic = try FilledTopic("forecast", partitions: 2)
        func record(_ id: String, _ value: String) -> FilledTopic.Record {
            FilledTopic.Record(partition: id.utf8.last.map { Int32($0 % 2) } ?? 0, key: id, value: value, time: 1)
        }
        try topic.write(
            (0..<100).map { record("d-\($0)", #"{"platform":"ios","app":"\#($0 < 60 ? "3.9" : "6.1.0")"}"#) })
        // A malformed value leaves the last good one.
        try topic.write([record("d-0", #"{"platform":"ios","app":"4.0.0"}"#), record("d-1", "{"), record("d-2", "7")])
        try topic.write([record("d-3", #"{"app":"6"}"#)], commit: false)
        let environment = [
            "KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "",
            "LINKD_HOME": Checkout.root.appending(path: "config").path,
        ]
        let link = "https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866"
        let result = try LinkdProcess.run(
            ["forecast", "--devices", topic.name, link, "--json"], environment: environment)
        #expect(result.code == 0, "\(result.err)")
        #expect(result.err.contains("2 of 103 records of \(topic.name) are no valid devices"), "\(result.err)")
        let rows = try JSONValue.parse(Array(result.out.utf8))["rows"]?.array ?? []
        #expect(rows.map { $0["devices"]?.integer } == [59, 41])
        #expect(rows.map { $0["condition"]?.string } == ["app before 4.0.0", "app from 4.0.0"])
        #expect(rows.allSatisfy { $0["example"]?["id"]?.string?.hasPrefix("d-") == true })
        let missing = try LinkdProcess.run(
            ["forecast", "--devices", "none-\(topic.name)", link], environment: environment)
        #expect(missing.code == 78, "\(missing.err)")
        let few = try LinkdProcess.run(
            ["forecast", "--devices", topic.name, link, "--devices-max", "99"], environment: environment)
        #expect(few.code == 78 && few.err.contains("more than 99 devices"), "\(few.err)")
    }
}
