internal import LinkDecider
internal import LinkIngest
internal import RouteTools
internal import StrictJSON

/// `linkd bisect`: says since when a link opens what it opens, and which edit did it.
enum BisectCommand {
    static let command = Command(
        path: ["bisect"],
        summary: "Say since when a link opens this screen, and which edit did it",
        discussion: [
            "Decides a link, or the event of a decision, with every configuration in the archive of `tables.topic` in "
                + "the order in which workers began to use them. Each change of what opens is listed with the time at "
                + "which it went live, and the edits that cause it: a document, such as a table or a vendor table, and "
                + "a JSON pointer. The edits are tried: together they cause the change, and without any of them there "
                + "is no change, or another one.",
            "What opens is the outcome with its route, screens, data, and reason. The name of the table, the index of "
                + "the variant, redirects on the way, and notes do not count.",
            "For a decision, the facts of the registry are those that the decision has. Times are in UTC.",
        ],
        flags: [
            Flag("--device", .text(bytes: 2...65536), placeholder: "JSON", "Facts about the device of a link."),
            Flag("--json", "Print one JSON object."),
        ],
        settings: .bisect,
        operands: Operands(
            name: "LINK", help: "A link or an event, or the id of a decision: TOPIC-PARTITION-OFFSET-INDEX.",
            count: 1...1),
        examples: [
            "linkd bisect -b localhost:9092 --tables-topic link-tables link-events-0-42-0":
                "Since when the link of a decision opens what it opened.",
            "linkd bisect -b localhost:9092 --tables-topic link-tables --device '{\"app\":\"6.0\"}' 'shop:///p/new'":
                "Since when a link opens what it opens on a device.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        let device = try DeviceFlag.object(call.text("device"))
        let topic = try settings.requireTablesTopic()
        let text = call.operands[0]
        let id = DecisionID(text)
        if id != nil, device != nil {
            throw CommandFailure(
                .usage, "--device cannot be combined with the id of a decision", advice: "remove --device")
        }
        if text.hasPrefix("{"), device != nil {
            throw CommandFailure(
                .usage, "--device cannot be combined with an event, which has its own devices",
                advice: "remove --device, or pass the link alone")
        }
        let connection = try Connection(settings)
        _ = try connection.makeAdmin()
        var archive: ArchiveReader? = try ArchiveReader(connection, topic: topic)
        var subject = BisectSubject.link(text, device: device)
        var decided: BisectDecision?
        if let id {
            (subject, decided) = try ofDecision(id, call, settings, connection, &archive)
        }
        guard let reader = archive else { return .internalError }
        var progress = ProgressLine(call.console)
        defer { progress.clear() }
        var search = try BisectSearch(reader, subject) { done, all in
            progress.show("\(done) of \(Counts.text(all, "configuration"))")
        }
        guard !search.steps.isEmpty else {
            throw CommandFailure(
                .finding, search.problems.first ?? "no worker has stored a configuration in \(topic)",
                advice: "start a worker with `tables.topic`")
        }
        let report = try BisectReport(&search, subject: text, decided: decided)
        progress.clear()
        if call.json { report.printJSON(on: call.console.out) } else { report.print(on: call.console) }
        return .success
    }

    /// Returns the event of a decision, with the result and the time of the decision.
    private static func ofDecision(
        _ id: DecisionID, _ call: Invocation, _ settings: Settings, _ connection: Connection,
        _ archive: inout ArchiveReader?
    ) throws(CommandFailure) -> (BisectSubject, BisectDecision) {
        let shipped = ShippedFiles(environment: call.environment)
        let search = WhySearch(
            settings, try WhyTables(settings, shipped),
            try LoadedVendors(settings, shipped, opensShortLinks: false, on: call.console))
        var scan = try TopicScan(connection)
        var progress = ProgressLine(call.console)
        defer { progress.clear() }
        let outputs = settings.outputs.names
        let report = try search.report(.id(id), &scan, &archive, outputs: outputs) { topic, read in
            progress.show("searching \(topic): \(Counts.grouped(read)) records")
        }
        guard let input = report.input, let decision = report.decision.value else {
            throw CommandFailure(
                .finding, "the event's record no longer exists, so the decision cannot be made again",
                advice: "pass its link with --device")
        }
        var devices: (any KnownDevices)?
        // Without the configuration that made the decision, any other one reads the event's device.
        for entry in report.archived.map({ [$0] }) ?? archive?.archive.entries.reversed() ?? [] {
            guard let loaded = try? archive?.load(entry) else { continue }
            devices = search.devices(of: report.decision.json, id, input, loaded.decider)
            break
        }
        return (
            BisectSubject(record: input, place: id.place, time: input.timestamp, devices: devices),
            BisectDecision(
                result: BisectResult(decision: decision, essence: BisectSubject.essence(decision)),
                time: report.decision.timestamp, configuration: report.isSame == true ? report.archived?.hash : nil)
        )
    }
}

extension BisectSubject {
    /// Returns the record of a link for a device, or of an event as it is.
    static func link(_ text: String, device: JSONValue?) -> BisectSubject {
        var value = Array(text.utf8)
        if value.first != UInt8(ascii: "{") {
            value = Array(
                JSONText.object { json in
                    json.text("link", text)
                    json.object("device") { json in
                        json.text("id", device?["id"]?.string ?? "device")
                        for fact in device?.object ?? [] where fact.name != "id" { json.value(fact.name, fact.value) }
                    }
                }.utf8)
        }
        let record = InspectedRecord(
            topic: "bisect", partition: 0, offset: 0, timestamp: -1, key: Array("device".utf8), value: value,
            headers: [])
        return BisectSubject(record: record, place: DecisionPlace(index: 0))
    }
}
