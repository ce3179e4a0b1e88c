import Foundation
import TestSupport

/// Topics on the broker of the tests, a worker that decides their events, and a console that shows the decisions.
final class ConsoleWorld: Sendable {
    /// The world that tests share which only add events.
    static let shared = Result { try ConsoleWorld() }

    /// The topic of the events.
    ///
    /// The others are `.out` and `.dlq` of it.
    let input: String
    let worker: GuardedProcess
    let console: RunningConsole
    /// The port of the worker's HTTP server.
    let workerPort: UInt16
    private let bootstrap: String
    private let flags: [String]

    /// Creates the topics, and starts the worker and the console.
    ///
    /// - Parameters:
    ///   - tables: The paths of the tables, or nil for the sample tables.
    ///   - bootstrap: The address of the broker, or nil for the broker of the tests.
    ///   - arguments: Arguments of the console.
    init(tables: [String]? = nil, bootstrap: String? = nil, _ arguments: [String] = []) throws {
        self.bootstrap = bootstrap ?? BrokerEnvironment.bootstrapServers ?? ""
        input = BrokerEnvironment.uniqueName("console")
        let tables = tables ?? Self.sampleTables
        let topics = ["--input", input, "--output", input + ".out"]
        try Self.run(["topics", "create", "-b", self.bootstrap, "--replay", "--partitions", "3"] + topics)
        flags = tables.flatMap { ["--table", $0] } + ["--passthrough", "application,campaign"]
        // A worker that has lost its broker joins again after this time.
        let session = ["-X", "consumer.session.timeout.ms=6000"]
        worker = try GuardedProcess(
            [
                BuiltProgram.linkd, "worker", "-b", self.bootstrap, "--group", input, "--lanes", "1", "--log-format",
                "json",
            ]
                + ["--http-listen", "127.0.0.1:0"] + topics + flags + session, environment: RunningConsole.environment)
        let address = try worker.awaits(seconds: 60) { process in
            process.errors.firstMatch(of: #/"event":"http".*"address":"([^"]+)"/#).map { String($0.1) }
        }
        workerPort = UInt16(address.split(separator: ":").last ?? "") ?? 0
        console = try RunningConsole(
            ["-b", self.bootstrap, "--worker", "http://\(address)"] + flags + arguments,
            environment: ["LINKD_INPUT": input, "LINKD_OUTPUT": input + ".out"])
    }

    /// Starts another console, without a worker, that shows the same decisions.
    func anotherConsole(_ arguments: [String]) throws -> RunningConsole {
        try RunningConsole(
            ["-b", bootstrap] + flags + arguments, environment: ["LINKD_INPUT": input, "LINKD_OUTPUT": input + ".out"])
    }

    /// Returns the shared world, after the samples were decided.
    static func sampled() throws -> ConsoleWorld {
        let world = try shared.get()
        try samples.get()
        return world
    }

    /// The sending of the samples, which happens once.
    private static let samples = Result {
        let world = try shared.get()
        let files = ["shop", "pushes"].map {
            Checkout.root.appending(path: "config/samples/\($0).jsonl").path
        }
        try run(["produce", "-b", world.bootstrap, "--topic", world.input] + files)
        let bad = "https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866?count=500"
        try world.send("sample-bad", link: bad, device: "d-0042", campaign: "spring-sale", count: 12)
        try world.send(["please open the shop", "{\"id\":\"e-1\",\"link\":7}", "{\"id\":\"e-2\"}"])
        let _: Bool = try eventually("the decisions of the samples", seconds: 60) {
            let answer = try world.console.get("/api/decisions?device=d-0042&campaign=spring-sale&reason=param_invalid")
            return (answer["total"].number ?? 0) >= 12 ? true : nil
        }
    }

    /// The table of a shop, and the table of the demonstration of coordinators.
    static let sampleTables = ["routes/shop.json", "routes/seeds/coordinator-demo.json"].map {
        Checkout.root.appending(path: "config/" + $0).path
    }

    private static func run(_ arguments: [String], input: String = "") throws {
        let result = try ChildProcess.run(
            ["env", "-i"] + RunningConsole.environment.map { "\($0.key)=\($0.value)" } + [BuiltProgram.linkd]
                + arguments,
            input: input)
        guard result.status == 0 else { throw DriverFailure("\(arguments): \(result.errors)") }
    }

    /// Sends lines to the topic of the events as they are, each with the key `d-raw`.
    func send(_ lines: [String]) throws {
        try Self.run(
            ["produce", "-b", bootstrap, "--topic", input, "--raw", "--key", "d-raw"],
            input: lines.joined(separator: "\n"))
    }

    /// Sends an event for a device of the shop.
    ///
    /// - Parameters:
    ///   - id: The id of the event, of which `-0`, `-1`, and so on are made if there are several.
    ///   - link: The link.
    ///   - device: The id of the device.
    ///   - campaign: The campaign, or nil.
    ///   - count: The number of events.
    func send(_ id: String, link: String, device: String, campaign: String? = nil, count: Int = 1) throws {
        try send(
            (0..<count).map { number in
                try event(count == 1 ? id : "\(id)-\(number)", link: link, device: device, campaign: campaign)
            })
    }

    /// Returns the line of an event for a device of the shop.
    func event(_ id: String, link: String, device: String, campaign: String? = nil) throws -> String {
        var event: [String: JSON] = [
            "id": .text(id), "application": "com.example.shop", "link": .text(link),
            "device": ["id": .text(device), "platform": "ios", "app": "6.1.0"],
        ]
        if let campaign { event["campaign"] = .text(campaign) }
        return String(decoding: try JSON.object(event).bytes, as: UTF8.self)
    }

    /// Ends the processes.
    func stop() {
        worker.stop()
        console.process.stop()
    }
}
