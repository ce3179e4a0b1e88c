internal import Foundation
internal import SystemThreads
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

    @Test("A worker that never ends its answer costs at most 2 s", .timeLimit(.minutes(5)))
    func slow() throws {
        let endless = HTTPStream { _ in }
        #expect(throws: WorkerClient.Failure(message: "the response did not end within 2 s")) {
            try Self.page(HTTPResponse(contentType: "text/plain", body: .stream(endless)))
        }
    }

    @Test(
        "A body of another length than the stated one is an error",
        arguments: [
            ("Content-Length: 2", true), ("content-length:2", true), ("Content-Length:\t2 ", true), ("X: 1", true),
            ("Content-Length: 3", false), ("Content-Length: 1", false), ("Content-Length: 02", false),
            ("Content-Length: x", false), ("Content-Length:", false),
            ("Content-Length: 2\r\nContent-Length: 3", false), ("Content-Length: 2\r\nContent-Length: 2", true),
        ])
    func lengths(header: String, isValid: Bool) {
        let response = Array("HTTP/1.1 200 OK\r\nA: b\r\n\(header)\r\n\r\n{}".utf8)
        #expect((try? WorkerClient.body(of: response)) == (isValid ? Array("{}".utf8) : nil))
    }

    @Test("A resolver that hangs costs the limit of time and one thread, and later questions are answered again")
    func resolver() throws {
        let state = Monitor((calls: 0, isReleased: false))
        let address = ListenAddress(host: "worker.invalid", port: 80)
        @Sendable func find(_ seconds: Double) -> [HostAddresses.Address]? {
            HostAddresses.find(address, until: Platform.monotonicSeconds + seconds) { _ in
                state.signal { $0.calls += 1 }
                _ = state.wait(milliseconds: 60_000) { $0.isReleased ? true : nil }
                return [HostAddresses.Address(family: 2, bytes: [1])]
            }
        }
        for _ in 0..<3 { #expect(find(0.1) == nil) }
        #expect(state.withLock { $0.calls } == 1)
        state.signal { $0.isReleased = true }
        #expect(find(30) == [HostAddresses.Address(family: 2, bytes: [1])])
        // An IP address is found without the resolver.
        let literal = HostAddresses.find(ListenAddress(host: "::1", port: 80), until: 0) { _ in [] }
        #expect(literal?.count == 1 && literal?.first?.bytes.count ?? 0 > 16)
    }

    @Test("A name that the system knows is found, and another one is an error that names it")
    func names() throws {
        let server = try HTTPServer(HTTPServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0))) { _ in
            .text("page")
        }
        defer { server.stop() }
        let page = try WorkerClient.get(try WorkerAddress("http://localhost:\(server.address.port)"))
        #expect(page == Array("page\n".utf8))
        let failure = #expect(throws: WorkerClient.Failure.self) {
            try WorkerClient.get(try WorkerAddress("http://worker.invalid"))
        }
        #expect(failure?.message.contains("`worker.invalid`") == true)
    }

    @Test("A port without a server is an error that names the address")
    func unreachable() throws {
        #expect(throws: WorkerClient.Failure(message: "127.0.0.1:9 does not accept connections")) {
            try WorkerClient.get(try WorkerAddress("http://127.0.0.1:9"))
        }
    }
}
