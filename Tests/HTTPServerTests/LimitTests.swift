import Foundation
@testable import HTTPServer
import Synchronization
import TestSupport
import Testing

/// The limits of sizes, times, and connections.
@Suite struct LimitTests {
    @Test("A body beyond the limit is refused with 413, with a length and in chunks")
    func bodySize() throws {
        let server = try HTTPServer.limited({ $0.maxBodyBytes = 1000 }, { .text("\($0.body.count)") })
        #expect(try TestClient(server).request("POST /", body: .init(repeating: 1, count: 1000)).text == "1000\n")
        #expect(try TestClient(server).request("POST /", body: .init(repeating: 1, count: 1001)).status == 413)
        #expect(
            try TestClient(server).request("POST /", headers: ["Content-Length: 99999999999999999999"]).status == 413)
        let client = try TestClient(server)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "100\r\n" + String(repeating: "x", count: 256) + "\r\n"
        for _ in 0..<20 where client.send(chunk) {}
        #expect(try client.read().status == 413)
    }

    @Test("A client that waits for 100 Continue before a large body is refused at once")
    func expectedBody() throws {
        let server = try HTTPServer.limited { $0.maxBodyBytes = 1000 }
        let client = try TestClient(server)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n")
        #expect(try client.read().status == 413)
    }

    @Test("The body of a request that is answered at its headers is discarded, and the handler never sees it")
    func answerEarly() throws {
        let handled = Mutex<[String]>([])
        let server = try HTTPServer(
            HTTPServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0)),
            answerEarly: { request in request.path == "/early" ? .text("\(request.body.count)", status: 403) : nil }
        ) { request in
            handled.withLock { $0.append(request.path) }
            return .text("\(request.body.count)")
        }
        let client = try TestClient(server)
        let early = try client.request("POST /early", body: .init(repeating: 1, count: 60_000))
        #expect(early.status == 403 && early.text == "0\n")
        #expect(try client.request("POST /late", body: .init(repeating: 1, count: 1000)).text == "1000\n")
        #expect(handled.withLock { $0 } == ["/late"])
    }

    @Test("Chunks that never end are cut off within a second after the refusal")
    func endlessChunks() throws {
        let server = try HTTPServer.limited { $0.maxBodyBytes = 1000 }
        let client = try TestClient(server)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "1000\r\n" + String(repeating: "x", count: 4096) + "\r\n"
        #expect(client.sends(chunk, most: 500) < 500)
    }

    @Test("Headers beyond the limit are refused with 431", arguments: [2100, 5000, 100_000])
    func headerSize(bytes: Int) throws {
        let server = try HTTPServer.limited { $0.maxHeaderBytes = 2048 }
        #expect(
            try TestClient(server).request("GET /", headers: ["X: " + String(repeating: "a", count: 1900)]).status
                == 200)
        #expect(
            try TestClient(server).request("GET /", headers: ["X: " + String(repeating: "a", count: bytes)]).status
                == 431)
        #expect(try TestClient(server).request("GET /").status == 200)
    }

    @Test("A query with many items is answered, and one with too many is refused with 431")
    func queryItems() throws {
        let server = try HTTPServer.limited { _ in }
        for (count, status) in [(256, 200), (257, 431), (600, 431), (4000, 431)] {
            let query = [String](repeating: "a", count: count).joined(separator: "&")
            #expect(try TestClient(server).request("GET /?\(query)", headers: ["Cookie: a=1"]).status == status)
        }
        // A line that fits with its items in no memory of the connection.
        let long = String(repeating: "a", count: 20_000) + String(repeating: "&", count: 250)
        #expect(try TestClient(server).request("GET /?\(long)").status == 431)
        let client = try TestClient(server)
        client.send("POST /?\(String(repeating: "&", count: 600)) HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
        client.send(String(repeating: "x", count: 60_000))
        #expect(try client.readToEnd().hasPrefix("HTTP/1.1 431 "))
        #expect(try TestClient(server).request("GET /").status == 200)
    }

    static let drips: [(name: String, start: String, next: String)] = [
        ("request line", "", "G"), ("path", "GET /", "a"), ("headers", "GET / HTTP/1.1\r\nHost: a\r\n", "X: y\r\n"),
        ("body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n", "x"),
        ("chunks", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
    ]

    @Test("A client that sends a byte at a time is cut off at the time limit with 408", arguments: drips.indices)
    func drip(index: Int) throws {
        let server = try HTTPServer.limited { $0.requestMilliseconds = 400 }
        let client = try TestClient(server)
        let (_, start, next) = Self.drips[index]
        client.send(start)
        #expect((10..<500).contains(client.sends(next, most: 500)))
        #expect(try client.readToEnd().hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }

    @Test("An idle connection is closed at the time limit without a response after the first")
    func idle() throws {
        let server = try HTTPServer.limited { $0.requestMilliseconds = 300 }
        let client = try TestClient(server)
        #expect(try client.request("GET /").status == 200)
        #expect(try client.readToEnd() == "")
    }

    @Test("A handler beyond its time is answered with 503, and its response is discarded")
    func slowHandler() throws {
        let isReleased = Mutex(false)
        let server = try HTTPServer.limited {
            $0.handlerMilliseconds = 200
        } _: { request in
            if request.path == "/slow" { _ = eventually { isReleased.withLock { $0 } } }
            return .text(request.path)
        }
        let client = try TestClient(server)
        let response = try client.request("GET /slow")
        #expect(response.status == 503 && response.headers["retry-after"] == "1")
        isReleased.withLock { $0 = true }
        for _ in 0..<3 { #expect(try client.request("GET /next").text == "/next\n") }
    }

    @Test("A client that does not read its response is cut off at the time limit")
    func slowReader() throws {
        let body = [UInt8](repeating: 65, count: 30_000_000)
        let server = try HTTPServer.limited {
            $0.responseMilliseconds = 300
        } _: { request in
            request.path == "/large" ? HTTPResponse(contentType: "text/plain", body: .bytes(body)) : .text("ok")
        }
        let client = try TestClient(server)
        client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        // Another connection is served in the meantime and is closed later than the first one.
        let other = try TestClient(server)
        #expect(try other.request("GET /").status == 200)
        usleep(600_000)
        let text = try client.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.utf8.count < body.count)
    }

    @Test("While 200 clients send a byte at a time, each probe is answered", arguments: [true, false])
    func probes(fromOneAddress: Bool) throws {
        let server = try HTTPServer.limited {
            $0.maxConnections = 100
            $0.maxConnectionsPerAddress = 50
        }
        let clients = try (0..<200).map {
            try TestClient(server, from: fromOneAddress ? "127.0.0.1" : "127.0.1.\($0 % 250 + 1)")
        }
        for client in clients { client.send("GET /") }
        for probe in 0..<20 {
            for client in clients { client.send("a") }
            let response = try TestClient(server).request("GET /ping")
            #expect(response.status == 200, "probe \(probe)")
        }
    }

    @Test("200 idle connections and a busy one are served")
    func idleConnections() throws {
        let server = try HTTPServer.limited {
            $0.maxConnectionsPerAddress = 256
            // On a busy machine, the idle connections wait longer than the default.
            $0.requestMilliseconds = 600_000
        }
        let clients = try (0..<200).map { _ in try TestClient(server) }
        for client in clients { #expect(try client.request("GET /").status == 200) }
        let busy = try TestClient(server)
        for _ in 0..<100 { #expect(try busy.request("GET /").status == 200) }
        for client in clients { #expect(try client.request("GET /").status == 200) }
    }

    @Test("Connections beyond the limit are answered with 503 if all others have a request", arguments: [true, false])
    func allBusy(perAddress: Bool) throws {
        let isReleased = Mutex(false)
        let server = try HTTPServer.limited {
            if perAddress { $0.maxConnectionsPerAddress = 3 } else { $0.maxConnections = 3 }
        } _: { _ in
            _ = eventually { isReleased.withLock { $0 } }
            return .text("done")
        }
        let busy = try (0..<3).map { _ in try TestClient(server) }
        for client in busy { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
        let refused = try TestClient(server).request("GET /")
        #expect(refused.status == 503 && refused.headers["connection"] == "close")
        isReleased.withLock { $0 = true }
        for client in busy { #expect(try client.read().text == "done\n") }
        #expect(try TestClient(server).request("GET /").text == "done\n")
    }

    @Test("Another address is served while one keeps all connections busy", arguments: [true, false])
    func otherAddress(readsNothing: Bool) throws {
        let isReleased = Mutex(false)
        defer { isReleased.withLock { $0 = true } }
        let body = [UInt8](repeating: 65, count: 30_000_000)
        let server = try HTTPServer.limited {
            $0.maxConnections = 3
            $0.handlerThreads = 4
        } _: { request in
            if request.path == "/ping" { return .text("ok") }
            if readsNothing { return HTTPResponse(contentType: "text/plain", body: .bytes(body)) }
            _ = eventually { isReleased.withLock { $0 } }
            return .text("done")
        }
        let busy = try (0..<3).map { _ in try TestClient(server) }
        for client in busy { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
        if readsNothing { for client in busy { #expect(try client.readHead().status == 200) } }
        for _ in 0..<3 {
            #expect(try TestClient(server, from: "127.0.1.1").request("GET /ping").status == 200)
        }
        // Only the oldest connection was replaced.
        #expect(try busy[0].readToEnd().utf8.count < body.count)
        isReleased.withLock { $0 = true }
        if !readsNothing { for client in busy[1...] { #expect(try client.read().text == "done\n") } }
    }
    @Test("Requests of one kind hold up only requests of the same kind")
    func shares() throws {
        let isReleased = Mutex(false)
        defer { isReleased.withLock { $0 = true } }
        let started = Mutex(0)
        let server = try HTTPServer.limited {
            $0.handlerThreads = 1
            $0.shares = [HTTPThreadShare(["/slow", "/slower"], threads: 2)]
        } _: { request in
            if request.path == "/info" { return .text("ok") }
            started.withLock { $0 += 1 }
            _ = eventually { isReleased.withLock { $0 } }
            return .text("done")
        }
        let busy = try (0..<32).map { _ in try TestClient(server) }
        for (number, client) in busy.enumerated() {
            client.send("GET /\(number % 2 == 0 ? "slow" : "slower") HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        #expect(eventually { started.withLock { $0 } == 2 })
        for _ in 0..<3 { #expect(try TestClient(server).request("GET /info").text == "ok\n") }
        // All others wait for the two threads of their kind.
        #expect(started.withLock { $0 } == 2)
        isReleased.withLock { $0 = true }
        for client in busy { #expect(try client.read().text == "done\n") }
    }
}
