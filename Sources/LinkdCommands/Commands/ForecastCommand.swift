internal import ByteStorage
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import RouteTools

/// `linkd forecast`: says what links would open on the devices of a registry.
enum ForecastCommand {
    static let command = Command(
        path: ["forecast"],
        summary: "Say what links would open on all devices",
        discussion: [
            "Reads the registry of devices once, counts the devices of each kind that the tables distinguish, and "
                + "resolves each link once for each kind. The numbers are exact for the registry at the time of the "
                + "call: a worker with the same tables, vendors, and members decides the same for every device.",
            "If the devices have more than 100,000 kinds, they are resolved in several parts, and the output has no "
                + "conditions.",
            "A census is a file with the number of devices of each kind, without ids. It can be used in CI, where "
                + "there is no broker, and with `linkd routes diff`. It serves all tables that ask about the same "
                + "facts, or about fewer. With --save-census and without a link, nothing else is done.",
            "The registry is kept in a temporary file without a name in the directory TMPDIR, about 200 bytes a "
                + "device.",
        ],
        flags: [
            Flag(
                "--devices", .topic, default: "the setting `devices.topic`",
                "Topic with the registry of devices."),
            Flag("--census", .file, "Census to use in place of the topic."),
            Flag("--save-census", .file, "Write the census to this file."),
            Flag(
                "--at-least", .integer(1...1_000_000_000), default: "1", placeholder: "N",
                "Merge rows, and kinds in a saved census, of fewer devices, so that the output says nothing about a "
                    + "few people."),
            Flag("--json", "Print one JSON object per link."),
            Flag("--csv", "Print comma-separated values (RFC 4180)."),
        ],
        settings: .forecast,
        operands: Operands(
            name: "LINK", help: "Links. Without any, the lines of standard input.", count: 0...10_000),
        main: ["--devices", "--census", "--save-census", "--at-least", "--json", "--bootstrap", "--table"],
        examples: [
            "linkd forecast -b localhost:9092 --devices link-devices 'https://shop.example/p/new'":
                "How many devices open what.",
            "linkd forecast -b localhost:9092 --devices link-devices --table my-shop.json --csv < campaign.txt":
                "The links of a campaign with your table, as CSV.",
            "linkd forecast -b localhost:9092 --devices link-devices --save-census census.json --at-least 100":
                "Saves a census, for example for CI.",
            "linkd forecast --census census.json 'https://shop.example/p/new'": "Without a broker.",
        ],
        run: { call throws(CommandFailure) in
            try ForecastJob(call).run()
        })
}

/// One run of `linkd forecast`.
private struct ForecastJob {
    private let call: Invocation
    private let settings: Settings
    private let tables: [RouteTable]
    private let configuration: DeciderConfiguration

    init(_ call: Invocation) throws(CommandFailure) {
        guard !call.json || !call.isOn("csv") else {
            throw CommandFailure(.usage, "--json and --csv cannot be combined", advice: "pass only one of them")
        }
        guard call.text("census") == nil || call.text("devices") == nil else {
            throw CommandFailure(.usage, "--census and --devices cannot be combined", advice: "pass only one of them")
        }
        let settings = try call.settings()
        if call.operands.isEmpty { try call.reserveStandardInput(for: "the links", settings.list("tables")) }
        let shipped = ShippedFiles(environment: call.environment)
        tables = try LoadedTables(settings, shipped: shipped, on: call.console).tables
        configuration = DeciderConfiguration(settings, tables, try LoadedVendors(settings, shipped, on: call.console))
        self.call = call
        self.settings = settings
    }

    func run() throws(CommandFailure) -> ExitCode {
        var run = ForecastRun(try links(), configuration)
        let kinds = DeviceKinds(tables, platforms: DeviceClass.platforms)
        let least = Int(call.number("at-least") ?? 1)
        if let path = call.text("census") {
            let file = try CensusFile(path: path, for: kinds)
            call.console.note("devices of \(Escaping.visible(file.topic)) at \(Escaping.visible(file.time))")
            run.add(file.census)
            return try finish(run, file.census, file, least)
        }
        let (devices, topic) = try readDevices()
        var whole: DeviceCensus?
        let parts = try devices.forEachPart(of: DeviceCensus(kinds), on: call.console) { census in
            run.add(census)
            whole = census
        }
        if parts > 1 {
            call.console.note(
                "the devices have more than \(Counts.grouped(Int64(DeviceCensus.maxKinds))) kinds, so they were "
                    + "resolved in \(parts) parts, and no conditions are shown")
            whole = nil
        }
        return try finish(run, whole, whole.map { CensusFile(topic: topic, $0) }, least)
    }

    /// Saves the census, and prints the forecasts.
    private func finish(
        _ run: ForecastRun, _ census: DeviceCensus?, _ file: CensusFile?, _ least: Int
    ) throws(CommandFailure) -> ExitCode {
        if census != nil, run.linksWithoutKinds > 0 {
            call.console.note(
                "the links and kinds of devices are too many, so no conditions are shown for the last "
                    + Counts.text(run.linksWithoutKinds, "link"))
        }
        if let path = call.text("save-census") {
            guard let file else {
                throw CommandFailure(
                    .badData, "the devices have too many kinds for a census",
                    advice: "use tables that ask about fewer facts, or fewer tables")
            }
            try file.write(to: path, least: least)
            call.console.note(
                "\(Escaping.visible(path)) has \(Counts.grouped(Int64(file.census.devices))) devices of "
                    + Counts.text(file.census.entries.count, "kind"))
            if run.forecasts.isEmpty { return .success }
        }
        return try report(ForecastReport(run: run, census: census, least: least))
    }

    private func links() throws(CommandFailure) -> [String] {
        var links = call.operands
        if !links.isEmpty || call.text("save-census") != nil { return try Self.checked(links) }
        try ByteSource(path: "-").forEachLine(limit: EventInput.limit, request: "Type links", on: call.console) {
            links.append(String(decoding: $0, as: UTF8.self))
        }
        return try Self.checked(links)
    }

    /// Returns links, or throws a failure if a text is no link, such as an event or the header of a table.
    private static func checked(_ links: [String]) throws(CommandFailure) -> [String] {
        for (index, link) in links.enumerated() {
            let hasScheme = Array(link.utf8).withUnsafeBufferPointer {
                Resolver.schemeLength(ByteSource.trimmed(ByteView($0))) > 0
            }
            if hasScheme { continue }
            throw CommandFailure(
                .badData, "link \(index + 1) is not a link: it does not begin with a scheme",
                advice: "specify links such as https://shop.example/p/1, one in each argument or line")
        }
        return links
    }

    /// Reads the registry's topic, and returns its name too.
    private func readDevices() throws(CommandFailure) -> (devices: RegistryDevices, topic: String) {
        guard let topic = call.text("devices") ?? settings.text("devices.topic") else {
            throw CommandFailure(
                .usage, "no registry of devices is specified", advice: "pass --devices TOPIC, or set devices.topic")
        }
        let connection = try Connection(settings)
        _ = try connection.makeAdmin()
        let devices = try RegistryDevices(
            settings.deviceMembers, maxDevices: Int(settings.number("devices.max")),
            in: call.environment["TMPDIR"] ?? "/tmp")
        try devices.read(topic, connection, on: call.console)
        if devices.malformed > 0 {
            call.console.warn(
                "\(Counts.grouped(devices.malformed)) of \(Counts.grouped(devices.records)) records of \(topic) are no "
                    + "valid devices and change nothing")
        }
        return (devices, topic)
    }

    private func report(_ report: ForecastReport) throws(CommandFailure) -> ExitCode {
        let out = call.console.out
        if call.json {
            report.printJSON(on: out)
        } else if call.isOn("csv") {
            report.printCSV(on: out)
        } else {
            report.print(on: out)
        }
        let count = report.run.forecasts.count { $0.rows.contains { $0.destination.outcome == "dead_letter" } }
        guard count > 0 else { return .success }
        throw CommandFailure(
            .badData, "\(count) of \(Counts.text(report.run.forecasts.count, "link")) would become dead letters",
            advice: "correct the links, or pass the tables of their applications with --table")
    }
}
