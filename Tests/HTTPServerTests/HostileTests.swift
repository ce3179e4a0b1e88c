import CPlatform
import Foundation
@testable import HTTPServer
import TestSupport
import Testing

/// Bytes that are not requests, and clients that leave.
@Suite struct HostileTests {
    static let refused: [String] = [
        "\r\n\r\n\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
        "GET / XTTP/1.1\r\nHost: a\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /?%q HTTP/1.1\r\nHost: a\r\n\r\n", "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{1}b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX\u{0}y: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX\t: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n X: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX(y): a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\u{E4}: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{7F}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: \u{1B}[31m\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\"X\": a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffffff\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /" + String(repeating: "a", count: 200_000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 20_000) + "\r\n",
        String(repeating: "\u{0}", count: 100_000), String(repeating: "\n", count: 100_000),
    ]

    @Test("Bytes that are not a valid request are answered with an error or the end", arguments: refused.indices)
    func refuses(index: Int) throws {
        let server = try HTTPServer.limited {
            $0.requestMilliseconds = 300
        } _: { _ in
            .text("reached the handler")
        }
        let client = try TestClient(server)
        client.send(Self.refused[index])
        let text = try client.readToEnd()
        #expect(
            text == "" || text.hasPrefix("HTTP/1.1 4") || text.hasPrefix("HTTP/1.1 5") || text.hasPrefix("HTTP/1.0 4"))
        #expect(!text.contains("reached the handler"))
        #expect(try TestClient(server).request("GET /").status == 200)
    }

    @Test(
        "Nothing after a header that a proxy can read in another way is a request",
        arguments: [
            "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked", "Content-Length : 39", "X(y): a", "X: \u{1}",
            "Content-Length: 1, 1", "Content-Length: +1", "Transfer-Encoding: chunked, identity",
        ])
    func smuggling(header: String) throws {
        let server = try HTTPServer.test { .text("reached \($0.path)") }
        let client = try TestClient(server)
        client.send(
            "POST /first HTTP/1.1\r\nHost: a\r\n\(header)\r\n\r\n0\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n")
        let text = try client.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 400") && !text.contains("reached"), "\(text)")
    }

    @Test(
        "Requests that the library reads tolerantly are answered",
        arguments: [
            "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n",
            "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /\u{0}x HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{0}b\r\n\r\n",
        ])
    func tolerates(text: String) throws {
        let server = try HTTPServer.test { .text($0.path) }
        let client = try TestClient(server)
        client.send(text)
        let response = try client.read()
        // A path or a value ends before a NUL.
        #expect(response.text == "/\n" || response.status == 400)
    }

    @Test("A request that is cut off at any byte does not disturb the server")
    func cutRequests() throws {
        let server = try HTTPServer.test()
        let whole = Array("POST /a?b=c HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd".utf8)
        for count in whole.indices { try TestClient(server).send(whole[..<count]) }
        #expect(try TestClient(server).request("GET /").status == 200)
    }

    @Test("Clients that close before the response are forgotten")
    func earlyClose() throws {
        let body = [UInt8](repeating: 65, count: 1_000_000)
        let server = try HTTPServer.limited {
            $0.maxConnections = 5
        } _: { _ in
            HTTPResponse(contentType: "text/plain", body: .bytes(body))
        }
        for _ in 0..<100 { try TestClient(server).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
        #expect(eventually { (try? TestClient(server).request("GET /").body.count) == body.count })
    }

    @Test("Changed bytes of a request never end the server")
    func mutations() throws {
        let server = try HTTPServer.limited { $0.requestMilliseconds = 200 }
        let whole = Array(
            "POST /a?b=c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".utf8)
        for index in whole.indices {
            for byte: UInt8 in [0, 10, 13, 32, 37, 58, 128, 255] {
                var bytes = whole
                bytes[index] = byte
                try TestClient(server).send(bytes)
            }
        }
        #expect(try TestClient(server).request("GET /").status == 200)
    }

    @Test("10,000 requests leave no memory behind")
    func memory() throws {
        let server = try HTTPServer.test { .text($0.path) }
        func serve(_ count: Int) throws -> Int64 {
            let before = linkd_allocated_bytes()
            for index in 0..<count / 100 {
                let client = try TestClient(server)
                for number in 0..<99 { #expect(try client.request("GET /\(index)?n=\(number)").status == 200) }
                #expect(try client.request("POST /", body: [UInt8](repeating: 1, count: 5000)).status == 200)
            }
            return linkd_allocated_bytes() - before
        }
        _ = try serve(1000)
        // Other tests of the process allocate at the same time. A leak would show in every attempt.
        var growth: [Int64] = []
        repeat { growth.append(try serve(10_000)) } while growth.last.map { $0 > 500_000 } == true && growth.count < 12
        #expect((growth.min() ?? 0) < 500_000)
    }
}
