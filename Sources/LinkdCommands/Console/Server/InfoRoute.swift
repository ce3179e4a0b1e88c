internal import HTTPServer
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

/// The endpoint `/api/info`: the parts that the console has.
enum InfoRoute {
    /// The maximum number of example links of each table.
    private static let maxExamples = 6

    /// Adds the endpoint.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite) {
        let text = text(site)
        router.get("/api/info") { _ in .json(text) }
    }

    private static func text(_ site: ConsoleSite) -> String {
        var json = JSONText()
        json.beginObject()
        json.text("version", LinkdVersion.text)
        json.objects("tables", of: site.tables, write)
        if let connection = site.connection {
            json.beginObject("kafka")
            json.texts("servers", connection.bootstrap)
            json.text("decisions", site.decisionTopic)
            json.endObject()
        } else {
            json.raw("kafka", Array("null".utf8))
        }
        json.boolean("mask", site.masks)
        json.boolean("allowReplay", site.allowsReplay)
        json.boolean("worker", site.worker != nil)
        json.text(
            "notice",
            site.connection == nil
                ? "No broker: routes and resolving only. Start the console with --bootstrap to see decisions." : nil)
        json.endObject()
        return json.finish()
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
        let links = entry.table.source.examples.compactMap { example in
            if case .link(let link) = example.request { link } else { nil }
        }
        json.texts("examples", Array(links.prefix(maxExamples)))
    }
}
