internal import ByteStorage
internal import RouteTools
internal import StrictJSON

/// `linkd tables list`: prints the configurations of an archive.
enum TablesListCommand {
    static let command = Command(
        path: ["tables", "list"],
        summary: "List the archived configurations",
        discussion: [
            "Reads the archive of `tables.topic`, in which workers store each configuration before they decide with "
                + "it: the tables with a candidate, the vendor tables, the link platforms, and the settings that "
                + "decide. Times are in UTC. A use that goes on is recorded once an hour.",
            "A configuration is incomplete if one of its files is missing in the topic.",
        ],
        flags: [Flag("--json", "Print one JSON object.")],
        settings: .tables,
        examples: [
            "linkd tables list -b localhost:9092 --tables-topic link-tables":
                "The configurations, in the order of their first uses."
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        let topic = try settings.requireTablesTopic()
        let connection = try Connection(settings)
        _ = try connection.makeAdmin()
        let archive = try ArchiveReader(connection, topic: topic).archive
        if archive.unreadable > 0 {
            let records = Counts.text(archive.unreadable, "record")
            call.console.warn("warning: \(topic) has \(records) that no archive has")
        }
        if call.json { printJSON(archive, call.console.out) } else { printText(archive, call.console.out) }
        return .success
    }

    private static func isComplete(_ entry: ConfigurationArchive.Entry, _ archive: ConfigurationArchive) -> Bool {
        entry.configuration.files.allSatisfy { archive.places(of: $0) != nil }
    }

    private static func printText(_ archive: ConfigurationArchive, _ out: Channel) {
        var lines = TextTable([
            ("CONFIGURATION", .left), ("FIRST USE", .left), ("LAST USE", .left), ("USES", .right), ("LINKD", .left),
            ("TABLES", .left),
        ])
        for entry in archive.entries {
            let isComplete = isComplete(entry, archive)
            lines.add(
                [
                    String(entry.hash.prefix(8)), UTCDateTime.text(seconds: entry.first / 1000) + "Z",
                    UTCDateTime.text(seconds: entry.last / 1000) + "Z", String(entry.uses.count),
                    Escaping.visible(entry.configuration.version),
                    entry.tablesText + (isComplete ? "" : "  (incomplete)"),
                ], [.name, nil, nil, nil, nil, isComplete ? nil : .bad])
        }
        out.table(lines)
    }

    private static func printJSON(_ archive: ConfigurationArchive, _ out: Channel) {
        out.json { json in
            json.text("topic", archive.topic)
            json.objects("configurations", of: archive.entries) { json, entry in
                json.text("configuration", entry.hash)
                json.boolean("complete", isComplete(entry, archive))
                json.number("bytes", Int64(entry.configuration.files.reduce(0) { $0 + $1.bytes }))
                json.objects("uses", of: entry.uses) { json, use in
                    json.number("first", use.first)
                    json.number("last", use.last)
                    json.text("by", use.program.rawValue)
                }
                json.raw("document", entry.configuration.document)
            }
        }
    }
}

extension ConfigurationArchive.Entry {
    /// The tables in messages, such as `shop@1+d1ec0520, candidate shop@2+0a1b2c3d 10 %`.
    var tablesText: String {
        let tables = configuration.tables.map(\.identity)
        let canary = configuration.canary.map {
            "candidate \($0.table.identity) \(Decimals.text(Double($0.percent) / 100)) %"
        }
        return Escaping.visible((tables + [canary].compactMap(\.self)).joined(separator: ", "))
    }
}

extension Settings {
    /// Returns the topic of the archive.
    ///
    /// Settings without it end with exit code 64.
    func requireTablesTopic() throws(CommandFailure) -> String {
        guard let topic = text("tables.topic") else {
            throw CommandFailure(
                .usage, "no archive is set", advice: "pass --tables-topic TOPIC, the workers' setting `tables.topic`")
        }
        return topic
    }
}
