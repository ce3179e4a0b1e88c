/// The manual of all settings, printed from the table; a test compares the copy in the documentation with it.
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

        Every setting of `linkd`: how to set it, what it may be, and what it is when nobody sets it.

        Flags go before environment variables, these before the JSON file (`--config FILE`, or `LINKD_CONFIG`),
        and that before the defaults. `linkd config` prints what applies and where it came from.

        - **Lists**: repeat the flag, or write one value with commas; in the file an array.
        - **Durations** are `250ms`, `30s`, `5m`, `12h`, `7d`; **sizes** `1048576`, `64KiB`, `1MiB`.
        - In the file a name with dots is nested: `{"commit": {"interval": "100ms"}}`.
        - An empty variable counts as unset. An unknown flag, `LINKD_…` variable or member is an error.
        - A wrong flag ends with code 64, a wrong variable or file with 78.

        | Name | Flag | Environment | Type | Default | Bounds | Flag of | What it does |
        |---|---|---|---|---|---|---|---|
        """

    private static let properties = """

        ## Properties of librdkafka

        `-X key=value` sets a property of librdkafka for both clients, `-X consumer.key=value` or
        `-X producer.key=value` for one. `KAFKA_<KEY>` does the same from the environment, with `_` in place of
        `.`: `KAFKA_SECURITY_PROTOCOL=SASL_SSL`. `KAFKA_BOOTSTRAP_SERVERS` is `bootstrap`. Variables that name no
        property are left alone, since images set `KAFKA_…` of their own.

        A secret is never taken from a flag, where others could read it: set `KAFKA_SASL_PASSWORD`, or
        `KAFKA_SASL_PASSWORD_FILE` to the path of a file that holds it.

        These are refused, since what linkd guarantees stands on them:

        """

    private static func row(_ row: SettingRow) -> String {
        let cells = [
            "`\(row.name)`", row.flags.map { "`\($0)`" }.joined(separator: ", "), "`\(row.variable)`", row.type.name,
            row.defaultWords, row.bounds, row.commands.names.joined(separator: ", "), row.help,
        ]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
