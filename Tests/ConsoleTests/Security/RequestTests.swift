import Foundation
import TestSupport
import Testing

/// Requests that a console refuses, and the headers of each response.
@Suite struct ConsoleRequestTests {
    let console: RunningConsole

    init() throws { console = try RunningConsole.offline.get() }

    private static let json = "Content-Type: application/json"
    private static let own = "X-Linkd-Console: 1"

    @Test(
        "No spelling of a path leads out of the page's files",
        arguments: [
            "/../vendors.json", "/..%2fvendors.json", "/%2e%2e/vendors.json", "/%2e%2e%2fvendors.json",
            "/.%2e/vendors.json", "/..%5cvendors.json", "/..\\vendors.json", "/....//vendors.json",
            "/%252e%252e%252fvendors.json", "/..%c0%afvendors.json", "/..%u2215vendors.json", "/..%00/vendors.json",
            "/..;/vendors.json", "/./../vendors.json", "/main.js/../../vendors.json",
            "/main.js%2f..%2f..%2fvendors.json",
            "//vendors.json", "/console/../vendors.json", "/config/vendors.json", "/vendors.json", "/routes/shop.json",
            "/%2fetc%2fpasswd", "//etc/passwd", "/file:///etc/passwd", "/api/../../vendors.json", "/index.html%00.js",
            "/api/map?table=../vendors", "/api/map?table=..%2fvendors.json",
        ])
    func traversal(path: String) throws {
        let response = try console.send("GET \(path)", headers: [console.bearer])
        #expect((400...499).contains(response.status), "\(response.status)")
        #expect(!response.text.contains("onesignal") && !response.text.contains("\"routes\""))
        #expect(!response.text.contains("root:"))
    }

    @Test(
        "A request with an effect needs JSON and the console's own header",
        arguments: [
            ([], 415), ([own], 415), (["Content-Type: text/plain", own], 415),
            (["Content-Type: application/x-www-form-urlencoded", own], 415),
            (["Content-Type: multipart/form-data; boundary=x", own], 415),
            (["Content-Type: application/jsonp", own], 415),
            ([json], 403), ([json, "X-Linkd-Console: 0"], 403), ([json, "X-Linkd-Console:"], 403), ([json, own], 200),
            (["Content-Type: Application/JSON; charset=utf-8", own], 200),
        ])
    func posts(headers: [String], status: Int) throws {
        let response = try console.send(
            "POST /api/resolve", headers: [console.bearer] + headers, body: #"{"input":"shop:///home"}"#)
        #expect(response.status == status)
    }

    @Test(
        "Other methods than those of an endpoint are refused",
        arguments: [
            "GET /api/resolve", "GET /api/matrix", "POST /api/info", "POST /", "PUT /api/resolve", "DELETE /api/info",
            "PATCH /api/info", "OPTIONS /api/resolve", "TRACE /api/info", "PROPFIND /", "PUT /main.js",
        ])
    func methods(line: String) throws {
        let response = try console.send(line, headers: [console.bearer, Self.json, Self.own], body: "{}")
        #expect([400, 405, 501].contains(response.status), "\(response.status)")
    }

    @Test(
        "A body that is not what the endpoint takes is an error with a next step",
        arguments: [
            "", "{", "[]", "null", "{\"input\":1}", "{\"input\":\"x\",\"other\":1}", "\u{0}", "{\"input\":\"\\ud800\"}",
            "{\"input\":\"x\",\"table\":\"../shop\"}", "{\"input\":\"x\",\"table\":\"absent\"}",
            String(repeating: "[", count: 100_000),
            "{\"input\":\"x\",\"device\":" + String(repeating: "{\"a\":", count: 5000),
        ])
    func bodies(body: String) throws {
        let response = try console.send(
            "POST /api/resolve", headers: [console.bearer, Self.json, Self.own], body: body)
        #expect((400...404).contains(response.status))
        let error = try JSON.parse(response.text)["error"]
        #expect(error["code"].text?.isEmpty == false)
        #expect(error["message"].text?.isEmpty == false)
        #expect(error["next"].text?.isEmpty == false)
    }

    /// Requests of every kind, most of which fail.
    private static let everyKind: [(line: String, headers: [String], host: String?, body: String)] = [
        ("GET /", [], nil, ""), ("GET /main.js", [], nil, ""), ("GET /console.css", [], nil, ""),
        ("GET /icon.svg", [], nil, ""), ("GET /?token=TOKEN", [], nil, ""), ("GET /?token=0", [], nil, ""),
        ("GET /absent", [], nil, ""), ("GET /api/info", ["Authorization: Bearer TOKEN"], nil, ""),
        ("GET /api/info", [], nil, ""), ("GET /api/absent", ["Authorization: Bearer TOKEN"], nil, ""),
        ("GET /", [], "evil.example", ""), ("PUT /", [], nil, ""), ("HEAD /", [], nil, ""),
        ("GET /api/info", ["Authorization: Bearer TOKEN", "Origin: https://evil.example"], nil, ""),
        ("POST /api/resolve", ["Authorization: Bearer TOKEN", json, own], nil, #"{"input":"shop:///home"}"#),
        ("POST /api/resolve", ["Authorization: Bearer TOKEN", json, own], nil, "{"),
        ("POST /api/resolve", ["Authorization: Bearer TOKEN", own], nil, "{}"),
        ("GET /" + String(repeating: "a", count: 20_000), [], nil, ""),
        ("GET /", ["X: " + String(repeating: "a", count: 20_000)], nil, ""),
    ]

    /// The headers of every response.
    private static let common = [
        "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store",
    ]
    /// The directives of every response of the console.
    private static let directives: Set = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
    ]

    @Test("Every response has the headers that restrict what a browser does with it", arguments: everyKind.indices)
    func headers(index: Int) throws {
        let (line, headers, host, body) = Self.everyKind[index]
        let response = try console.send(
            line.replacing("TOKEN", with: console.token),
            headers: headers.map { $0.replacing("TOKEN", with: console.token) }, host: host, body: body)
        let kind = "\(response.status) of \(line.prefix(60))"
        let policy = Set((response.headers["content-security-policy"] ?? "").split(separator: "; ").map(String.init))
        #expect(policy.filter { $0.contains("unsafe") || $0.contains("*") || $0.contains("data:") } == [])
        for (name, value) in Self.common { #expect(response.headers[name] == value, "\(name) in \(kind)") }
        #expect(response.headers["server"] == nil)
        guard response.headers["cross-origin-opener-policy"] != nil else {
            // Requests that the console does not see are refused with plain text.
            #expect([400, 408, 413, 431, 503].contains(response.status), "\(kind)")
            #expect(policy == ["default-src 'none'", "frame-ancestors 'none'"], "\(kind)")
            return #expect(response.headers["content-type"] == "text/plain; charset=utf-8")
        }
        #expect(Self.directives.subtracting(policy) == [], "\(kind)")
        #expect(response.headers["cross-origin-opener-policy"] == "same-origin", "\(kind)")
        #expect(response.headers["cross-origin-resource-policy"] == "same-origin", "\(kind)")
        #expect(response.headers["x-frame-options"] == "DENY", "\(kind)")
    }
}
