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
        if let hash = archive.damaged.keys.min() {
            let damaged = Counts.text(archive.damaged.count, "damaged configuration")
            call.console.warn("warning: \(topic) has \(damaged), for example \(hash.prefix(8))")
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

/// `linkd tables prune`: removes configurations from an archive.
enum TablesPruneCommand {
    private static let day: Int64 = 86_400_000

    static let command = Command(
        path: ["tables", "prune"],
        summary: "Remove archived configurations that were not used for a time",
        discussion: [
            "Lists the configurations whose last use is longer ago than --unused-for. With --yes, it removes them from "
                + "`tables.topic`, and the files that no other configuration names. Decisions that they made can then "
                + "no longer be explained or corrected, so keep them at least as long as the decisions.",
            "The broker deletes what was removed when it compacts the topic.",
        ],
        flags: [
            Flag(
                "--unused-for", .duration(day...(3650 * day)), default: "90d",
                "Time since the last use of a configuration that is removed."),
            Flag("--yes", "Remove them."),
            Flag("--json", "Print one JSON object."),
        ],
        settings: .tables,
        examples: [
            "linkd tables prune -b localhost:9092 --tables-topic link-tables --unused-for 90d":
                "What would be removed.",
            "linkd tables prune -b localhost:9092 --tables-topic link-tables --unused-for 90d --yes": "Removes it.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        let topic = try settings.requireTablesTopic()
        let connection = try Connection(settings)
        _ = try connection.makeAdmin()
        let limit = Platform.nowMilliseconds - (call.number("unused-for") ?? 90 * day)
        var pruning = try ArchivePruning(connection, topic: topic, unusedSince: limit)
        let (all, files, bytes) = (pruning.count, pruning.files.count, pruning.bytes)
        if call.isOn("yes"), !pruning.entries.isEmpty || files > 0 { try pruning.run() }
        guard !call.json else {
            call.console.out.json { json in
                json.text("topic", topic)
                json.boolean("removed", call.isOn("yes"))
                json.number("configurations", Int64(all))
                json.number("files", Int64(files))
                json.number("bytes", Int64(bytes))
                json.objects("unused", of: pruning.entries) { json, entry in
                    json.text("configuration", entry.hash)
                    json.number("last", entry.last)
                    json.texts("tables", entry.configuration.identities)
                }
            }
            return .success
        }
        for entry in pruning.entries {
            let time = UTCDateTime.text(seconds: entry.last / 1000)
            call.console.out.line("\(entry.hash.prefix(8))  last used \(time)Z  \(entry.tablesText)")
        }
        let what =
            "\(pruning.entries.count) of \(Counts.text(all, "configuration")) with \(Counts.text(files, "file")), "
            + "\(Counts.grouped(Int64(bytes))) bytes"
        call.console.out.line(
            call.isOn("yes") ? "removed \(what)" : "would remove \(what)" + (pruning.entries.isEmpty ? "" : " (--yes)"))
        return .success
    }
}
