import Foundation
import TestSupport
import Testing

@testable import HTTPServer

/// Requests over TLS, with `openssl s_client` as the client.
@Suite(.enabled(if: TLSServer.isAvailable, "the program openssl is not installed"))
struct TLSTests {
    /// A certificate for `localhost` that signs itself.
    private static let identity = Result {
        let files = try TestIdentity("localhost")
        return TLSIdentity(
            certificate: try String(contentsOfFile: files.certificate, encoding: .utf8),
            key: try String(contentsOfFile: files.key, encoding: .utf8))
    }

    private static func server(
        _ handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .text("ok") }
    ) throws -> HTTPServer {
        let identity = try identity.get()
        return try HTTPServer.limited(
            {
                $0.tls = identity
                $0.requestMilliseconds = 1000
            }, handler)
    }

    /// Sends a request over TLS, and returns what the server has sent.
    private static func exchange(_ server: HTTPServer, _ request: String, _ options: [String] = []) throws -> String {
        try ChildProcess.run(
            ["openssl", "s_client", "-quiet", "-ign_eof", "-connect", "127.0.0.1:\(server.address.port)"] + options,
            input: request
        ).output
    }

    @Test("A request over TLS is answered, with a body in several records", arguments: ["-tls1_2", "-tls1_3"])
    func answers(version: String) throws {
        let server = try Self.server { .text(String(repeating: "x", count: 200_000 + $0.body.count)) }
        let body = String(repeating: "b", count: 50_000)
        let answer = try Self.exchange(
            server,
            "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 50000\r\n\r\n\(body)", [version]
        )
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
        #expect(answer.count { $0 == "x" } >= 250_000)
    }

    @Test("A stream over TLS is sent as it is filled")
    func streams() throws {
        let server = try Self.server { _ in
            let stream = HTTPStream()
            stream.send(Array("first;".utf8))
            Thread.detachNewThread {
                usleep(100_000)
                stream.send(Array("second;".utf8))
                stream.finish()
            }
            return HTTPResponse(contentType: "text/plain", body: .stream(stream))
        }
        let answer = try Self.exchange(server, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(answer.contains("first;") && answer.contains("second;"))
    }

    @Test("Old versions, and HTTP without TLS, get no answer")
    func others() throws {
        let server = try Self.server()
        let old = try Self.exchange(server, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", ["-tls1_1"])
        #expect(!old.contains("HTTP/1.1"))
        let plain = try TestClient(server)
        plain.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let answer = try? plain.readToEnd()
        #expect(answer?.contains("HTTP/1.1") != true)
    }

    @Test("A client that ends in the handshake, or says nothing after it, is disconnected")
    func slow() throws {
        let server = try Self.server()
        for bytes in ["", "\u{16}\u{3}\u{1}", "GET"] {
            let client = try TestClient(server)
            client.send(bytes)
            // A connection that stays open is an error after the time limit of the client.
            #expect(throws: Never.self) { try client.readToEnd() }
        }
        let answer = try Self.exchange(server, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 "), "the server still serves")
    }

    @Test("A certificate that cannot be used is an error with a next step")
    func unusable() throws {
        let identity = try Self.identity.get()
        let wrong = [
            TLSIdentity(certificate: "no certificate", key: identity.key),
            TLSIdentity(certificate: identity.certificate, key: "no key"), TLSIdentity(certificate: "", key: ""),
        ]
        for wrong in wrong {
            do throws(HTTPServerError) {
                var configuration = HTTPServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0))
                configuration.tls = wrong
                _ = try HTTPServer(configuration) { _ in .text("ok") }
                Issue.record("a server with \(wrong) has started")
            } catch {
                #expect(error.code == .unusableIdentity && error.next.contains("PEM"))
            }
        }
    }
}
