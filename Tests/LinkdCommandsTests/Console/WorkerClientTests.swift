internal import Foundation
internal import Testing

@testable internal import HTTPServer
@testable internal import LinkdCommands

/// The client that gets a worker's state.
@Suite struct WorkerClientTests {
    @Test(
        "The address of a worker is an http URL",
        arguments: [
            ("http://worker-0:8080", "worker-0:8080", "/status"), ("http://worker-0", "worker-0:80", "/status"),
            ("http://[::1]:9000/", "[::1]:9000", "/status"), ("http://w/status", "w:80", "/status"),
        ])
    func addresses(text: String, address: String, path: String) throws {
        let worker = try WorkerAddress(text)
        #expect(worker.address.description == address)
        #expect(worker.path == path)
    }

    @Test(
        "Other URLs are refused",
        arguments: [
            "https://worker", "worker:8080", "http://", "http://user@worker", "http://w?x=1", "http://w\r\nX: 1/",
            "http://w:99999", "file:///etc/passwd", "http://:8080",
        ])
    func refused(text: String) {
        #expect(throws: CommandFailure.self) { try WorkerAddress(text) }
    }

    /// Returns the page of a server that answers with a response.
    private static func page(_ response: HTTPResponse) throws -> [UInt8] {
        let server = try HTTPServer(HTTPServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0))) { _ in
            response
        }
        defer { server.stop() }
        return try WorkerClient.get(try WorkerAddress("http://\(server.address)"))
    }

    @Test("The page of a worker is read to its end")
    func page() throws {
        let text = String(repeating: "x", count: 300_000)
        #expect(try Self.page(.text(text)).count == 300_001)
    }

    @Test("A page of another status, or beyond 8 MiB, is an error")
    func errors() throws {
        #expect(throws: WorkerClient.Failure(message: "the response has status 404")) {
            try Self.page(.text("", status: 404))
        }
        let large = HTTPResponse(contentType: "text/plain", body: .bytes([UInt8](repeating: 0x20, count: 9 << 20)))
        #expect(throws: WorkerClient.Failure(message: "the response has more than 8 MiB")) { try Self.page(large) }
    }

    @Test("A worker that never ends its answer costs at most 2 s")
    func slow() throws {
        let endless = HTTPStream { _ in }
        let begun = Date()
        #expect(throws: WorkerClient.Failure(message: "the response did not end within 2 s")) {
            try Self.page(HTTPResponse(contentType: "text/plain", body: .stream(endless)))
        }
        #expect(Date().timeIntervalSince(begun) < 10)
    }

    @Test("A port without a server is an error that names the address")
    func unreachable() throws {
        #expect(throws: WorkerClient.Failure(message: "127.0.0.1:9 does not accept connections")) {
            try WorkerClient.get(try WorkerAddress("http://127.0.0.1:9"))
        }
    }
}
