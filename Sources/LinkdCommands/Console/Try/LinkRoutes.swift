internal import HTTPServer
internal import LinkCoordinator
internal import RouteTools
internal import StrictJSON

/// The endpoints `/api/link`, which writes the link of a screen, and `/api/qr`, which draws a link as a QR code.
struct LinkRoutes {
    private let site: ConsoleSite

    /// Adds the endpoints.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite) {
        let routes = LinkRoutes(site: site)
        router.post("/api/link") { request throws(ConsoleProblem) in try routes.link(request) }
        router.post("/api/qr") { request throws(ConsoleProblem) in try routes.code(request) }
    }

    private func link(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let body = try RequestBody(
            request, members: ["table", "screen", "route", "data", "scheme", "host", "device"])
        let screen = try body.text("screen", maxBytes: 256)
        let route = try body.text("route", maxBytes: 64)
        let scheme = try body.text("scheme", maxBytes: 64)
        let host = try body.text("host", maxBytes: 256)
        guard screen != nil || route != nil else {
            throw ConsoleProblem(
                code: "screen", message: "`screen` and `route` are missing",
                next: "pass a screen such as catalog/item, or the id of a route")
        }
        let table = try site.table(body.text("table", maxBytes: 64)).table
        let facts = body.value["device"].map { DeviceFacts($0) } ?? DeviceFacts()
        do throws(ScreenLink.Failure) {
            let found = try ScreenLink(
                to: screen, route: route, data: body.value["data"] ?? JSONValue(.object([])), scheme: scheme,
                host: host,
                device: facts, in: table)
            return .json(
                JSONText.object { json in
                    json.text("link", found.link)
                    json.text("route", found.route)
                    json.text("path", found.decision.path)
                })
        } catch {
            throw ConsoleProblem(code: "link", message: error.message, next: error.advice)
        }
    }

    private func code(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let text = try RequestBody(request, members: ["text"]).text("text", maxBytes: QRCode.maxBytes)
        guard let text, !text.isEmpty, let code = QRCode(Array(text.utf8)) else {
            throw ConsoleProblem(code: "text", message: "`text` is missing", next: "pass a link")
        }
        return .json(
            JSONText.object { json in
                json.number("size", Int64(code.imageSize))
                json.text("path", code.path)
            })
    }
}
