import Foundation
import LinkCoordinator

/// A request in parts, read without the library.
struct ReadRequest {
    var form: String
    var scheme = ""
    var host = ""
    /// The decoded segments before rewrites.
    var segments: [String] = []
    var query: [String: String] = [:]

    /// Reads a request, in which a payload has the parts of its link.
    init(_ request: LinkRequest) {
        switch request {
        case .link(let text):
            form = "link"
            read(text)
        case .path: form = "path"
        case .route: form = "route"
        case .payload(let object):
            form = "payload"
            let json = try? JSONSerialization.jsonObject(with: Data(object.json.utf8)) as? [String: Any]
            if let link = json?["link"] as? String { read(link) }
        }
    }

    private mutating func read(_ link: String) {
        guard let colon = link.range(of: "://") else { return }
        scheme = String(link[..<colon.lowerBound]).lowercased()
        let rest = link[colon.upperBound...].prefix { $0 != "#" }
        let path = rest.prefix { $0 != "?" }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        host = parts.first ?? ""
        segments = parts.dropFirst().filter { !$0.isEmpty }.map { $0.removingPercentEncoding ?? $0 }
        for item in rest.dropFirst(path.count + 1).split(separator: "&") {
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = halves[0].removingPercentEncoding ?? halves[0]
            if query[name] == nil { query[name] = halves.count > 1 ? halves[1].removingPercentEncoding ?? "%" : "" }
        }
    }

    /// The segments after the rewrite of a table that has one.
    func path(_ strips: Bool) -> [String] {
        strips && ["en", "de"].contains(segments.first) ? Array(segments.dropFirst()) : segments
    }
}

/// A property as its JSON, and again as code that shares nothing with the proofs.
struct EnumeratedProperty: Sendable {
    var json: String
    /// A test of whether the property covers a request of a device, of a table with a rewrite (true) or without.
    var covers: @Sendable (ReadRequest, DeviceFacts, Bool) -> Bool
    /// A test of whether a decision breaks the property.
    var isBroken: @Sendable (Decision) -> Bool

    private static func has(_ device: DeviceFacts, _ claim: String) -> Bool { device.claims?.contains(claim) == true }

    private static func isAtLeast4(_ device: DeviceFacts) -> Bool {
        (device.app?.split(separator: ".").first.flatMap { Int($0) } ?? 0) >= 4
    }

    private static func screens(_ decision: Decision) -> [String] {
        decision.stack.flatMap { entry in
            ["\(entry.coordinator).\(entry.screen)"] + (entry.view == "words" ? ["account.words"] : [])
        } + (decision.notice.map { [$0.dropFirst().replacingOccurrences(of: "/", with: ".")] } ?? [])
    }

    private static func host(_ decision: Decision) -> String? {
        decision.url.flatMap { $0.components(separatedBy: "://").dropFirst().first }.map { rest in
            String(rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != ":" }).lowercased()
        }
    }

    private static func isLink(_ request: ReadRequest) -> Bool {
        (request.form == "link" || request.form == "payload") && ["s", "https"].contains(request.scheme)
            && (request.scheme != "https" || !request.host.isEmpty)
            && (request.host.isEmpty || request.host == "h.example" || request.host.hasSuffix(".h.example"))
    }

    static let all: [EnumeratedProperty] = [
        .init(
            json: ##""when": { "without": "session" }, "never": { "screens": "account.*" }"##,
            covers: { _, device, _ in !has(device, "session") },
            isBroken: { screens($0).contains { $0.hasPrefix("account.") } }),
        .init(
            json:
                ##""when": { "without": "session" }, "never": { "screens": "account.*", "in": ["stack", "notice"] }"##,
            covers: { _, device, _ in !has(device, "session") },
            isBroken: {
                $0.outcome == .navigate && $0.stack.contains { $0.coordinator == "account" }
            }),
        .init(
            json: ##""when": { "platform": "android" }, "never": { "present": "cover" }"##,
            covers: { _, device, _ in device.platform?.lowercased() == "android" },
            isBroken: { $0.stack.contains { $0.present == .cover } }),
        .init(
            json: ##""when": { "platform": "ios", "app": "<4" }, "never": { "screens": "shop.new" }"##,
            covers: { _, device, _ in device.platform?.lowercased() == "ios" && !isAtLeast4(device) },
            isBroken: { screens($0).contains("shop.new") }),
        .init(
            json: ##""links": "/n/{n:int(1..9)}", "when": { "app": ">=4" }, "never": { "outcome": "reject" }"##,
            covers: { request, device, strips in
                let path = request.path(strips)
                return isLink(request) && isAtLeast4(device) && path.count == 2 && path[0] == "n"
                    && ("1"..."9").contains(path[1]) && path[1].count == 1
            },
            isBroken: { $0.outcome == .reject }),
        .init(
            json: ##""links": ["/t/{x}", "/x/{x}"], "never": { "outcome": ["reject", "none"] }"##,
            covers: { request, _, strips in
                let path = request.path(strips)
                return isLink(request) && path.count == 2 && ["t", "x"].contains(path[0])
            },
            isBroken: { $0.outcome == .reject || $0.outcome == .none }),
        .init(
            json: ##""links": "/y/{rest+}", "never": { "screens": ["shop.cover", "account.*"] }"##,
            covers: { request, _, strips in
                isLink(request) && request.path(strips).count > 1 && request.path(strips)[0] == "y"
            },
            isBroken: { screens($0).contains { $0 == "shop.cover" || $0.hasPrefix("account.") } }),
        .init(
            json: ##""never": { "otherExternal": ["h.example", "*.h.example"] }"##,
            covers: { _, _, _ in true },
            isBroken: { decision in
                decision.outcome == .external
                    && host(decision).map { $0 != "h.example" && !$0.hasSuffix(".h.example") } ?? true
            }),
        .init(
            json:
                ##"""
                "links": { "path": "/{rest*}", "scheme": "https", "host": "x.h.example" }, "never": { "external":
                "x.h.example" }
                """##,
            covers: { request, _, _ in
                isLink(request) && request.scheme == "https" && request.host == "x.h.example"
            },
            isBroken: { host($0) == "x.h.example" }),
        .init(
            json:
                ##"""
                "links": "/{rest*}", "when": { "query": { "q": "1" } }, "never": { "screens": "account.list", "in":
                "stack" }
                """##,
            covers: { request, _, _ in isLink(request) && request.query["q"] == "1" },
            isBroken: { decision in
                decision.outcome == .navigate
                    && decision.stack.contains { $0.coordinator == "account" && $0.screen == "list" }
            }),
        .init(
            json: ##""requests": "path", "never": { "screens": "account.list" }"##,
            covers: { request, _, _ in request.form == "path" },
            isBroken: { screens($0).contains("account.list") }),
        .init(
            json: ##""requests": "route", "when": { "claim": "session" }, "never": { "present": ["cover", "sheet"] }"##,
            covers: { request, device, _ in request.form == "route" && has(device, "session") },
            isBroken: { $0.stack.contains { $0.present == .cover || $0.present == .sheet } }),
        .init(
            json: ##""requests": ["payload"], "never": { "outcome": "external" }"##,
            covers: { request, _, _ in request.form == "payload" },
            isBroken: { $0.outcome == .external }),
        .init(
            json: ##""when": { "app": ">=4" }, "never": { "screens": "help.update", "in": "notice" }"##,
            covers: { _, device, _ in isAtLeast4(device) }, isBroken: { $0.notice?.contains("update") == true }),
        .init(
            json: ##""links": "/", "always": { "outcome": "navigate" }"##,
            covers: { request, _, strips in isLink(request) && request.path(strips).isEmpty },
            isBroken: { $0.outcome != .navigate }),
        .init(
            json:
                ##"""
                "links": ["/a", "/u"], "when": { "without": "session" }, "always": { "outcome": "deferred",
                "screens": "help.login", "in": "deferred" }
                """##,
            covers: { request, device, strips in
                isLink(request) && !has(device, "session") && ["a", "u"].contains(request.path(strips).joined())
                    && request.path(strips).count == 1
            },
            isBroken: { decision in
                decision.outcome != .deferred || !decision.stack.contains { $0.screen == "login" }
            }),
        .init(
            json: ##""links": "/skip/{rest*}", "when": { "claim": "session" }, "never": { "outcome": "deferred" }"##,
            covers: { request, device, strips in
                isLink(request) && has(device, "session") && request.path(strips).first == "skip"
            },
            isBroken: { $0.outcome == .deferred }),
        .init(
            json: ##""links": { "anySegment": "new" }, "never": { "screens": "shop.new", "in": ["stack", "view"] }"##,
            covers: { request, _, strips in isLink(request) && request.path(strips).contains("new") },
            isBroken: { $0.outcome == .navigate && $0.stack.contains { $0.screen == "new" } }),
    ]

    /// The file of all properties.
    static var file: String {
        let properties = all.enumerated().map { ##"{ "id": "p\##($0)", \##($1.json) }"## }
        return ##"{ "schemaVersion": 1, "table": "t", "properties": [ \##(properties.joined(separator: ",\n")) ] }"##
    }
}
