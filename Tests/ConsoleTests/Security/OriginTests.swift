import Foundation
import TestSupport
import Testing

/// Requests of other sites, of which a browser sends some to the console's address.
@Suite struct OriginTests {
    let console: RunningConsole

    init() throws { console = try RunningConsole.offline.get() }

    /// Replaces `PORT` by the port of the console, and `OTHER` by another one.
    private func filled(_ text: String) -> String {
        text.replacing("PORT", with: "\(console.port)").replacing("OTHER", with: "\(console.port ^ 1)")
    }

    @Test(
        "A name of another site that was bound to the address is refused, for pages and data",
        arguments: [
            "evil.example", "evil.example:PORT", "127.0.0.1.evil.example:PORT", "localhost.evil.example:PORT",
            "127.0.0.1:OTHER", "localhost:OTHER", "127.0.0.1", "localhost", "127.0.0.1:PORT.evil.example",
            "127.0.0.1:PORT@evil.example", "evil.example@127.0.0.1:PORT", "0.0.0.0:PORT", "127.1:PORT",
            "2130706433:PORT", "[::ffff:127.0.0.1]:PORT", "localhost.:PORT", "127.0.0.1:PORT,evil.example",
            "127.0.0.1:0PORT", "*",
        ])
    func rebinding(host: String) throws {
        for path in ["/", "/main.js", "/api/info", "/?token=\(console.token)", "/absent"] {
            let response = try console.send("GET \(path)", headers: [console.bearer], host: filled(host))
            #expect(response.status == 403, "\(path)")
            #expect(response.headers["set-cookie"] == nil)
            #expect(!response.text.contains("tables"))
        }
    }

    @Test("The console's own names are served", arguments: ["127.0.0.1:PORT", "localhost:PORT", "LocalHost:PORT"])
    func ownNames(host: String) throws {
        #expect(try console.send("GET /api/info", headers: [console.bearer], host: filled(host)).status == 200)
    }

    @Test("A request without a name, or with two, is refused", arguments: [[], ["127.0.0.1:PORT", "evil.example"]])
    func hostCount(hosts: [String]) throws {
        let client = try RawClient(port: console.port)
        let lines = ["GET /api/info HTTP/1.1", console.bearer] + hosts.map { "Host: " + filled($0) }
        client.send((lines + ["Connection: close", "", ""]).joined(separator: "\r\n"))
        let response = try client.read()
        #expect([400, 403].contains(response.status))
        #expect(!response.text.contains("tables"))
    }

    @Test(
        "A page of another site is refused, also with the cookie and the header of the console",
        arguments: [
            "Origin: https://evil.example", "Origin: null", "Origin: http://127.0.0.1:OTHER", "Origin: ",
            "Origin: http://127.0.0.1:PORT.evil.example", "Origin: https://127.0.0.1:PORT", "Origin: file://",
            "Origin: http://evil.example:PORT", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
            "Sec-Fetch-Site: unheard-of",
        ])
    func crossSite(header: String) throws {
        let own = [filled(header), try console.cookie()]
        let get = try console.send("GET /api/info", headers: own)
        #expect(get.status == 403)
        #expect(!get.text.contains("tables"))
        let post = try console.send(
            "POST /api/resolve", headers: own + ["Content-Type: application/json", "X-Linkd-Console: 1"],
            body: #"{"input":"shop:///home"}"#)
        #expect(post.status == 403)
    }

    @Test("No response allows another site to read it")
    func noSharing() throws {
        let asked = [
            console.bearer, "Origin: https://evil.example", "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: x-linkd-console",
        ]
        for line in ["OPTIONS /api/resolve", "GET /api/info", "GET /", "GET /absent"] {
            let response = try console.send(line, headers: asked)
            #expect(response.headers.keys.filter { $0.hasPrefix("access-control") } == [], "\(line)")
        }
    }

    @Test("The console's own page and a script without an origin are answered")
    func ownPage() throws {
        let page = [
            "Origin: http://\(console.host)", "Sec-Fetch-Site: same-origin",
            "Cookie: a=b; " + (try console.cookie().dropFirst("Cookie: ".count)),
        ]
        #expect(try console.send("GET /api/info", headers: page).status == 200)
        #expect(try console.send("GET /api/info", headers: [console.bearer]).status == 200)
    }
}
