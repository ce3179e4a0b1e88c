@testable import HTTPServer
import Synchronization
import TestSupport
import Testing

/// Requests and responses over real sockets.
@Suite struct RequestTests {
    @Test("The handler receives the method, path, query, headers, body, and peer of a request")
    func parts() throws {
        let seen = Mutex<HTTPRequest?>(nil)
        let server = try HTTPServer.test { request in
            seen.withLock { $0 = request }
            return .text("ok")
        }
        let client = try TestClient(server, from: "127.0.0.7")
        let response = try client.request(
            "POST /a%20b/%C3%A9?x=1&y=%26+z&x=2&flag", headers: ["X-Case: One", "x-case: two"], body: [0, 255, 10])
        #expect(response.status == 200 && response.text == "ok\n")
        let request = try #require(seen.withLock { $0 })
        #expect(request.method == .post && request.path == "/a b/é" && request.body == [0, 255, 10])
        #expect(request.query.map { "\($0.name)=\($0.value)" } == ["x=1", "y=& z", "x=2", "flag="])
        #expect(request.queryValue("x") == "1" && request.queryValue("z") == nil)
        #expect(request.headers["X-CASE"] == "One" && request.headers["host"] == "test" && request.headers["no"] == nil)
        #expect(request.peer.address == "127.0.0.7" && request.peer.port > 0)
    }

    @Test("Every response has a date, forbids caching and content sniffing, and tells its type and length")
    func standardHeaders() throws {
        let server = try HTTPServer.test()
        let response = try TestClient(server).request("GET /")
        #expect(response.headers["cache-control"] == "no-store")
        #expect(response.headers["x-content-type-options"] == "nosniff")
        #expect(response.headers["content-type"] == "text/plain; charset=utf-8")
        #expect(response.headers["content-length"] == "3")
        #expect(response.headers["date"]?.hasSuffix(" GMT") == true)
    }

    @Test("A header of the response replaces the one that the server adds")
    func replacedHeaders() throws {
        let server = try HTTPServer.test { _ in .text("ok", headers: ["cache-control": "max-age=60", "X-More": "1"]) }
        let response = try TestClient(server).request("GET /")
        #expect(response.headers["cache-control"] == "max-age=60" && response.headers["x-more"] == "1")
    }

    static let invalidResponses: [(String, HTTPResponse)] = [
        ("line feed", .text("no", headers: ["X": "a\r\nSet-Cookie: b=c"])),
        ("name with a colon", .text("no", headers: ["X: y": "a"])),
        ("NUL", .text("no", headers: ["X": "a\0b"])),
        ("header of the library", .text("no", headers: ["transfer-encoding": "chunked"])),
        ("type", HTTPResponse(contentType: "a\nb", body: .bytes([]))),
        ("status 99", .text("no", status: 99)), ("status -1", .text("no", status: -1)),
        ("status 100000", .text("no", status: 100_000)),
    ]

    @Test("An invalid response of the handler becomes status 500", arguments: invalidResponses.indices)
    func invalidResponse(index: Int) throws {
        let server = try HTTPServer.test { _ in Self.invalidResponses[index].1 }
        let response = try TestClient(server).request("GET /")
        #expect(response.status == 500 && response.headers["set-cookie"] == nil)
    }

    @Test("Several requests use one connection, also if they are sent before the first response")
    func pipelining() throws {
        let server = try HTTPServer.test { .text($0.path) }
        let client = try TestClient(server)
        for index in 0..<3 { #expect(try client.request("GET /\(index)").text == "/\(index)\n") }
        client.send((0..<50).map { "GET /p\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        for index in 0..<50 { #expect(try client.read().text == "/p\(index)\n") }
    }

    @Test("A client of HTTP/1.0 gets a response and the end of the connection")
    func oldVersion() throws {
        let server = try HTTPServer.test()
        let client = try TestClient(server)
        client.send("GET / HTTP/1.0\r\n\r\n")
        #expect(try client.readToEnd().hasSuffix("\r\n\r\nok\n"))
    }

    @Test("A client that ends its side of the connection after a request receives the response")
    func halfClose() throws {
        let server = try HTTPServer.test()
        let client = try TestClient(server)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.endSending()
        #expect(try client.read().text == "ok\n")
    }

    @Test("A body of chunks and a body after 100 Continue arrive as one array")
    func bodies() throws {
        let server = try HTTPServer.test { HTTPResponse(contentType: "text/plain", body: .bytes($0.body)) }
        let client = try TestClient(server)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send("3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n")
        #expect(try client.read().text == "abcdefg")
        client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(try client.readHead().status == 100)
        client.send("hi")
        #expect(try client.read().text == "hi")
    }

    @Test("Requests are answered while another handler blocks")
    func blockedHandler() throws {
        let isReleased = Mutex(false)
        let server = try HTTPServer.test { request in
            if request.path == "/slow" { _ = eventually { isReleased.withLock { $0 } } }
            return .text(request.path)
        }
        let slow = try TestClient(server)
        slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        for _ in 0..<5 { #expect(try TestClient(server).request("GET /fast").text == "/fast\n") }
        isReleased.withLock { $0 = true }
        #expect(try slow.read().text == "/slow\n")
    }
}

/// The router.
@Suite struct RouterTests {
    private func server() throws -> HTTPServer {
        var router = HTTPRouter()
        router.on(.get, "/ping") { _ in .text("pong") }
        router.on(.post, "/action") { .text("did \($0.body.count)") }
        router.on(.get, "/both") { _ in .text("got") }
        router.on(.post, "/both") { _ in .text("posted") }
        return try HTTPServer.test { [router] in router.respond(to: $0) }
    }

    static let cases: [(line: String, status: Int, text: String, allow: String?)] = [
        ("GET /ping", 200, "pong\n", nil), ("GET /ping?x=1", 200, "pong\n", nil), ("HEAD /ping", 200, "", nil),
        ("POST /ping", 405, "method not allowed; methods: GET, HEAD\n", "GET, HEAD"),
        ("DELETE /both", 405, "method not allowed; methods: GET, HEAD, POST\n", "GET, HEAD, POST"),
        ("BREW /action", 405, "method not allowed; methods: POST\n", "POST"),
        ("HEAD /action", 405, "", "POST"), ("POST /both", 200, "posted\n", nil), ("GET /both", 200, "got\n", nil),
        ("get /ping", 405, "method not allowed; methods: GET, HEAD\n", "GET, HEAD"),
        ("GET /PING", 404, "not found\n", nil), ("GET /ping/", 404, "not found\n", nil),
        ("GET /%70ing", 200, "pong\n", nil), ("GET //ping", 404, "not found\n", nil),
        ("GET /x/../ping", 404, "not found\n", nil),
        ("OPTIONS /ping", 405, "method not allowed; methods: GET, HEAD\n", "GET, HEAD"),
    ]

    @Test("Paths are exact, HEAD has the headers of GET, and other methods are listed", arguments: cases.indices)
    func routes(index: Int) throws {
        let (line, status, text, allow) = Self.cases[index]
        let server = try server()
        let response = try TestClient(server).request(line)
        #expect(response.status == status && response.text == text && response.headers["allow"] == allow)
        if line == "HEAD /ping" { #expect(response.headers["content-length"] == "5") }
    }

    @Test("The connection is usable after a HEAD request")
    func headKeepsConnection() throws {
        let server = try server()
        let client = try TestClient(server)
        for _ in 0..<3 {
            #expect(try client.request("HEAD /ping").status == 200)
            #expect(try client.request("GET /ping").text == "pong\n")
        }
    }
}
