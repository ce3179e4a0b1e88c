internal import RouteTools
internal import DispatchWorker
internal import KafkaClient
internal import LinkCoordinator

/// `linkd demo`: shows the whole pipeline on a broker inside the process.
enum DemoCommand {
    static let command = Command(
        path: ["demo"],
        summary: "Run samples through a worker and a broker inside this process",
        discussion: [
            "Starts librdkafka's mock cluster, creates the topics, sends the samples that come with linkd, runs a "
                + "worker with the tables and the registry of devices that come with linkd, and prints the results. It "
                + "installs nothing and leaves no files.",
            "The mock cluster has no transactions. Only a real broker shows that records are processed exactly once. "
                + "It finds no record by its time either, so `linkd inspect --since` prints nothing of it.",
        ],
        flags: [
            Flag("--keep", "Keep the broker running until Ctrl-C, and print its address."),
            Flag("--console", "Serve the page of `linkd console` until Ctrl-C, while samples go on through a worker."),
            Flag("--listen", .address, default: "127.0.0.1:8090", "Address of the page with --console."),
        ],
        examples: [
            "linkd demo": "Runs the demo in a few seconds.",
            "linkd demo --console": "Shows everything on a page.",
            "linkd demo --keep": "Keeps the broker for `linkd inspect` or kcat.",
        ],
        run: { call throws(CommandFailure) in try Demo(call).run() })
}

/// One run of `linkd demo`.
private struct Demo {
    private static let input = "link-events"
    private static let output = "link-decisions"
    private static let deadLetters = "link-events.dlq"
    private static let registry = "link-devices"

    private let call: Invocation
    private let keep: Bool
    private let tables: [RouteTable]
    private let vendors: LoadedVendors
    private let samples: [SampleRecord]
    private let devices: [SampleRecord]
    private let settings: Settings

    init(_ call: Invocation) throws(CommandFailure) {
        self.call = call
        keep = call.isOn("keep") || call.isOn("console")
        // The demo ignores the user's settings, because they are for a real cluster.
        settings = try Settings(
            flags: [:], environment: ["LINKD_DEVICES_TOPIC": Self.registry], configFile: nil,
            isKnownProperty: { _ in true })
        let files = ShippedFiles(environment: call.environment)
        var tables: [RouteTable] = []
        for path in try files.tables() {
            guard let table = try CheckedTable(path: path).table else {
                throw CommandFailure(
                    .badData, "the table \(path), which comes with linkd, is refused",
                    advice: "see `linkd routes check` for the problems")
            }
            tables.append(table)
        }
        self.tables = tables
        vendors = try LoadedVendors(settings, files, on: call.console)
        samples = try SampleRecord.all(
            files, EventKeys(settings, vendors, fixedKey: nil, fallbackKey: Array("d-0042".utf8)))
        devices = try SampleRecord.devices(files, try settings.deviceMembers)
    }

    func run() throws(CommandFailure) -> ExitCode {
        if keep { StopSignals.block() }
        let start = Platform.monotonicSeconds
        let cluster = try startCluster()
        defer { withExtendedLifetime(cluster) {} }
        let connection = Connection(bootstrap: [cluster.bootstrapServers])
        call.console.note(
            "Running \(samples.count) sample records through a worker with "
                + "\(Counts.text(tables.count, "table")) on a broker inside this process …")
        let pipeline = DemoPipeline(
            connection: connection, topic: Self.input, registry: Self.registry, tables: tables, vendors: vendors,
            settings: settings)
        try pipeline.send(devices, to: Self.registry)
        try pipeline.send(samples)
        try pipeline.runWorker(records: samples.count)
        let decisions = try read(Self.output, connection)
        let dead = try read(Self.deadLetters, connection)
        let report = DemoReport(try read(Self.input, connection), on: call.console.out)
        report.print(decisions: decisions)
        report.print(deadLetters: dead)
        report.printCounts(
            records: samples.count, decisions: decisions, deadLetters: dead,
            seconds: Platform.monotonicSeconds - start)
        printNext(cluster)
        if call.isOn("console") {
            try showConsole(connection, pipeline)
        } else if keep {
            call.console.flush()
            StopSignals.waitForBlocked()
        }
        return .success
    }

    /// Serves the console until a signal, while samples go on through a worker.
    private func showConsole(_ connection: Connection, _ pipeline: DemoPipeline) throws(CommandFailure) {
        StopSignals.ignoreBrokenPipes()
        let traffic = DemoTraffic(pipeline, samples)
        defer { traffic.stop() }
        let server = try ConsoleServer(call, settings, connection: connection)
        call.console.out.line()
        server.announce(on: call.console)
        StopSignals.waitForBlocked()
        server.stop()
    }

    private func startCluster() throws(CommandFailure) -> MockCluster {
        do {
            let cluster = try MockCluster()
            for topic in [Self.input, Self.output, Self.deadLetters, Self.registry] {
                try cluster.createTopic(topic, partitions: 4)
            }
            return cluster
        } catch {
            throw CommandFailure(
                .internalError, "librdkafka's mock cluster did not start: \(error)",
                advice: "check that this process can open ports on 127.0.0.1")
        }
    }

    private func read(_ topic: String, _ connection: Connection) throws(CommandFailure) -> [InspectedRecord] {
        var records: [InspectedRecord] = []
        var scan = try TopicScan(connection, topics: [topic])
        try scan.forEach { records.append($0.copy()) }
        return records
    }

    private func printNext(_ cluster: MockCluster) {
        let out = call.console.out
        out.line()
        out.line("This run used librdkafka's mock broker, which cannot show that records are processed exactly once.")
        out.line("For that, run the same commands with a real broker:")
        out.line("  " + out.style.name("docker compose up -d") + "  (or any Kafka 2.5 or later)")
        out.line("  " + out.style.name("linkd topics create -b localhost:9092"))
        out.line("  " + out.style.name("linkd worker -b localhost:9092 --table config/routes/shop.json"))
        out.line("  " + out.style.name("linkd produce -b localhost:9092 config/samples/shop.jsonl"))
        out.line("  " + out.style.name("linkd inspect -b localhost:9092 --last 20 --follow"))
        out.line("Without a broker: " + out.style.name("linkd resolve 'https://shop.example/p/new'"))
        guard keep else { return }
        let broker = cluster.bootstrapServers
        out.line()
        out.line("The broker runs at " + out.style.heading(broker) + " until Ctrl-C:")
        out.line("  " + out.style.name("linkd inspect -b \(broker) --outcome reject"))
        out.line("  " + out.style.name("kcat -C -e -b \(broker) -t \(Self.output) -f '%k %s\\n'"))
    }
}
