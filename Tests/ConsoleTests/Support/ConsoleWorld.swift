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
    private let bootstrap: String

    /// Creates the topics, and starts the worker and the console.
    ///
    /// - Parameters:
    ///   - tables: The paths of the tables, or nil for the sample tables.
    ///   - bootstrap: The address of the broker, or nil for that of the tests.
    ///   - arguments: Arguments of the console.
    init(tables: [String]? = nil, bootstrap: String? = nil, _ arguments: [String] = []) throws {
        self.bootstrap = bootstrap ?? BrokerEnvironment.bootstrapServers ?? ""
        input = BrokerEnvironment.uniqueName("console")
        let tables = tables ?? Self.sampleTables
        let topics = ["--input", input, "--output", input + ".out"]
        try Self.run(["topics", "create", "-b", self.bootstrap, "--replay", "--partitions", "3"] + topics)
        let flags = tables.flatMap { ["--table", $0] } + ["--passthrough", "application,campaign"]
        worker = try GuardedProcess(
            [
                BuiltProgram.linkd, "worker", "-b", self.bootstrap, "--group", input, "--lanes", "1", "--log-format",
                "json",
            ]
                + ["--http-listen", "127.0.0.1:0"] + topics + flags, environment: RunningConsole.environment)
        let address = try worker.awaits(seconds: 60) { process in
            process.errors.firstMatch(of: #/"event":"http".*"address":"([^"]+)"/#).map { String($0.1) }
        }
        console = try RunningConsole(
            ["-b", self.bootstrap, "--worker", "http://\(address)"] + flags + arguments,
            environment: ["LINKD_INPUT": input, "LINKD_OUTPUT": input + ".out"])
    }

    /// The table of a shop, and that of the demonstration of coordinators.
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
        let lines = try (0..<count).map { number in
            var event: [String: JSON] = [
                "id": .text(count == 1 ? id : "\(id)-\(number)"), "application": "com.example.shop",
                "link": .text(link),
                "device": ["id": .text(device), "platform": "ios", "app": "6.1.0"],
            ]
            if let campaign { event["campaign"] = .text(campaign) }
            return String(decoding: try JSON.object(event).bytes, as: UTF8.self)
        }
        try send(lines)
    }

    /// Ends the processes.
    func stop() {
        worker.stop()
        console.process.stop()
    }
}
