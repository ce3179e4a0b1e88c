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
