internal import ByteStorage
internal import RouteTools
internal import StrictJSON

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
