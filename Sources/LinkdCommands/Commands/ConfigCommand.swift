internal import RouteTools
internal import StrictJSON

/// `linkd config`: prints the effective settings and the source of each.
enum ConfigCommand {
    static let command = Command(
        path: ["config"],
        summary: "Print the effective settings and the source of each",
        discussion: [
            "Flags override the environment, which overrides the file, which overrides the defaults. Secrets are "
                + "masked."
        ],
        flags: [
            Flag("--reference", "Print the reference of all settings, in Markdown."),
            Flag("--json", "Print one JSON object."),
        ],
        settings: .config,
        examples: [
            "linkd config": "The settings that a worker would use here.",
            "linkd config --config worker.json --lanes 4 --json": "The same as JSON, with other settings.",
            "linkd config --reference": "The reference of all settings, with types, bounds, and defaults.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        if call.isOn("reference") {
            call.console.out.write(SettingsReference.markdown)
            return .success
        }
        let settings = try call.settings()
        if call.json { printJSON(settings, call.console) } else { printTable(settings, call.console) }
        return .success
    }

    private static func printTable(_ settings: Settings, _ console: Console) {
        var table = TextTable([("SETTING", .left), ("VALUE", .left), ("FROM", .left)])
        for row in SettingsTable.rows where row.name != "librdkafka" {
            let entry = settings.entry(row.name)
            let isDefault = entry.source == .default
            let value = entry.value.map { Escaping.visible($0.description) } ?? "(\(row.defaultText))"
            table.add(
                [row.name, value, Escaping.visible(entry.source.description)],
                [.name, isDefault ? .dim : nil, isDefault ? .dim : nil])
        }
        for pair in settings.properties {
            table.add(
                [
                    "-X " + Escaping.visible(pair.key), Escaping.visible(pair.shown),
                    Escaping.visible(pair.source.description),
                ], [.name])
        }
        console.out.table(table)
    }

    private static func printJSON(_ settings: Settings, _ console: Console) {
        console.out.json { json in
            for row in SettingsTable.rows where row.name != "librdkafka" {
                let entry = settings.entry(row.name)
                json.beginObject(row.name)
                write(entry.value, to: &json)
                json.text("from", entry.source.description)
                json.endObject()
            }
            json.beginObject("librdkafka")
            for pair in settings.properties {
                json.beginObject(pair.key)
                json.text("value", pair.shown)
                json.text("from", pair.source.description)
                json.endObject()
            }
            json.endObject()
        }
    }

    private static func write(_ value: SettingValue?, to json: inout JSONText) {
        switch value {
        case .list(let items): json.texts("value", items)
        case .integer(let number), .size(let number): json.number("value", number)
        case .decimal: json.raw("value", Array((value?.description ?? "").utf8))
        case .boolean(let flag): json.boolean("value", flag)
        case .some(let other): json.text("value", other.description)
        case nil: json.text("value", nil)
        }
    }
}

/// The reference of all settings, generated from the table.
///
/// A test compares the article with it.
enum SettingsReference {
    /// The whole page, in Markdown.
    static var markdown: String {
        var lines = [introduction]
        lines += SettingsTable.rows.map(row)
        lines += [properties]
        lines += LibrdkafkaKeys.reserved.map { "- `\($0.key)`: \($0.instead)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let introduction = """
        # Settings

        The settings of `linkd`, with flags, environment variables, types, bounds, and defaults.

        Flags override environment variables, which override the JSON file (`--config FILE` or `LINKD_CONFIG`),
        which overrides the defaults. `linkd config` prints the effective values and the source of each.

        - **Lists**: repeat the flag, or separate values with commas. In the file, write an array.
        - **Durations** are written `250ms`, `30s`, `5m`, `12h`, `7d`, and **sizes** `1048576`, `64KiB`, `1MiB`.
        - In the file, a name with dots is nested: `{"commit": {"interval": "100ms"}}`.
        - An empty variable counts as not set. An unknown flag, `LINKD_…` variable, or member is an error.
        - A wrong flag ends with exit code 64, a wrong variable or file with 78.

        | Name | Flag | Environment | Type | Default | Bounds | Flag of | Description |
        |---|---|---|---|---|---|---|---|
        """

    private static let properties = """

        ## Properties of librdkafka

        `-X key=value` sets a property of librdkafka for both clients. `-X consumer.key=value` and
        `-X producer.key=value` set it for one client. `KAFKA_<KEY>` does the same from the environment, with `_` for
        `.`, for example `KAFKA_SECURITY_PROTOCOL=SASL_SSL`. `KAFKA_BOOTSTRAP_SERVERS` sets `bootstrap`. A `KAFKA_…`
        variable that names no property is ignored, because container images set such variables for other purposes.

        A secret is refused as a flag, because other processes can read the command line. Set `KAFKA_SASL_PASSWORD`, or
        set `KAFKA_SASL_PASSWORD_FILE` to the path of a file that contains it.

        These properties are refused, because linkd sets them itself:

        """

    private static func row(_ row: SettingRow) -> String {
        let cells = [
            "`\(row.name)`", row.flags.map { "`\($0)`" }.joined(separator: ", "), "`\(row.variable)`", row.type.name,
            row.defaultText, row.bounds, row.commands.names.joined(separator: ", "), row.help,
        ]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
