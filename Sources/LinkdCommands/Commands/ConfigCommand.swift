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
            FlagDeclaration("--reference", type: .boolean, "Print the reference of all settings, in Markdown."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object."),
        ],
        settings: .config,
        examples: [
            CommandExample(line: "linkd config", description: "The settings that a worker would use here."),
            CommandExample(
                line: "linkd config --config worker.json --lanes 4 --json",
                description: "The same as JSON, with other settings."),
            CommandExample(
                line: "linkd config --reference",
                description: "The reference of all settings, with types, bounds, and defaults."),
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
            table.add([
                TextTable.Cell(row.name, .name),
                TextTable.Cell(value, isDefault ? .dim : nil),
                TextTable.Cell(Escaping.visible(entry.source.description), isDefault ? .dim : nil),
            ])
        }
        for pair in settings.properties {
            table.add([
                TextTable.Cell("-X " + Escaping.visible(pair.key), .name),
                TextTable.Cell(Escaping.visible(pair.shown)),
                TextTable.Cell(Escaping.visible(pair.source.description)),
            ])
        }
        for line in table.lines(style: console.out.style) { console.out.line(line) }
    }

    private static func printJSON(_ settings: Settings, _ console: Console) {
        var json = JSONText()
        json.beginObject()
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
        json.endObject()
        console.out.line(json.finish())
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
