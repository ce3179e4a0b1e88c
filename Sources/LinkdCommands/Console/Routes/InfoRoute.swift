internal import HTTPServer
internal import LinkCoordinator
internal import LinkDecider
internal import RouteAnalysis
internal import StrictJSON

/// The endpoint `/api/info`: the parts that the console has.
enum InfoRoute {
    /// The maximum number of examples.
    private static let maxExamples = 8

    /// Adds the endpoint.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite) {
        let text = text(site)
        router.get("/api/info") { _ in .json(text) }
    }

    private static func text(_ site: ConsoleSite) -> String {
        return JSONText.object { json in
            json.text("version", LinkdVersion.text)
            json.objects("tables", of: site.tables, write)
            json.objects("examples", of: examples(site)) { json, example in
                json.text("table", example.table)
                json.text("label", example.label)
                json.text("input", example.input)
            }
            json.object("kafka", of: site.connection) { json, connection in
                json.texts("servers", connection.bootstrap)
                json.text("decisions", site.settings.outputs.main)
            }
            json.boolean("mask", site.masks)
            json.boolean("allowReplay", site.allowsReplay)
            json.boolean("worker", site.worker != nil)
            json.text(
                "notice",
                site.connection == nil
                    ? "No broker: routes and resolving only. Start the console with --bootstrap to see decisions." : nil
            )
        }
    }

    private static func write(_ json: inout JSONText, _ entry: ConsoleSite.Table) {
        let choices = DeviceChoices(entry.table)
        json.text("id", entry.table.id)
        json.text("identity", entry.table.identity)
        json.texts("applications", entry.table.source.applications.map(\.value))
        json.text("path", entry.path)
        json.number("routes", Int64(entry.table.source.routes.count))
        json.beginObject("facts")
        json.texts("platforms", choices.platforms)
        json.texts("versions", choices.versions.map(\.version))
        json.texts("claims", choices.claims)
        json.texts("capabilities", choices.capabilities)
        json.texts("regions", choices.regions)
        json.texts("locales", choices.locales)
        json.beginObject("attributes")
        for attribute in choices.attributes { json.texts(attribute.name, attribute.values) }
        json.endObject()
        json.endObject()
    }

    /// Returns examples of different decisions, taken in turn from the tables.
    private static func examples(_ site: ConsoleSite) -> [(table: String, label: String, input: String)] {
        let lists = site.tables.map { entry in
            var labels = Set<String>()
            return entry.table.source.examples.compactMap { example in
                let label = label(example)
                guard labels.insert(label).inserted else { return nil as (String, String, String)? }
                return (entry.table.id, label, text(example))
            }
        }
        let longest = lists.map(\.count).max() ?? 0
        let all = (0..<longest).flatMap { index in lists.compactMap { index < $0.count ? $0[index] : nil } }
        return Array(all.prefix(maxExamples))
    }

    private static func text(_ example: TableSource.Example) -> String {
        switch example.request {
        case .link(let link): return link
        case .request(let request):
            return TerminalControl.escaped(json: request.text)
        }
    }

    /// Returns the expected result in words.
    private static func label(_ example: TableSource.Example) -> String {
        func expected(_ member: String) -> String? { example.expectations.first { $0.member == member }?.value.string }
        let isPush = if case .request(let request) = example.request { request["payload"] != nil } else { false }
        let words =
            switch expected("outcome") {
            case "navigate": "opens a screen"
            case "external": "opens a URL"
            case "deferred": "waits for a guard"
            case "none": "opens nothing"
            default: "is rejected"
            }
        return (isPush ? "A push message that " : "A link that ") + words
    }
}
