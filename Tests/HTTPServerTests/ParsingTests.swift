@testable import HTTPServer
import TestSupport
import Testing

/// Targets of requests and listen addresses as text.
@Suite struct ParsingTests {
    static let targets: [(text: String, path: String?, query: String)] = [
        ("/", "/", ""), ("/a", "/a", ""), ("/a?", "/a", ""), ("/a?b", "/a", "b="), ("/a?b=c=d", "/a", "b=c=d"),
        ("/a?&&b=1&", "/a", "b=1"), ("/a?=", "/a", "="), ("/%41%2f?%3d=%26", "/A/", "==&"),
        ("/a+b?c+d=e", "/a+b", "c d=e"),
        ("/a?x=%0A", "/a", "x=\n"), ("/%F0%9F%98%80", "/😀", ""),
        ("", nil, ""), ("a", nil, ""), ("*", nil, ""), ("http://host/a", nil, ""), ("/%", nil, ""), ("/%4", nil, ""),
        ("/%zz", nil, ""), ("/%00", nil, ""), ("/%0a", nil, ""), ("/%7F", nil, ""), ("/%ff", nil, ""),
        ("/%C3", nil, ""), ("/%ED%A0%80", nil, ""), ("/a?%", nil, ""), ("/a?b=%GG", nil, ""), ("/a?b=%00", nil, ""),
        ("/a?%80=b", nil, ""),
    ]

    @Test("A target is a path and query items, or it is refused", arguments: targets)
    func target(text: String, path: String?, query: String) {
        let target = HTTPTarget(Array(text.utf8))
        #expect(target?.path == path)
        #expect(target.map { $0.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&") } ?? "" == query)
    }

    static let addresses: [(text: String, host: String, port: UInt16)] = [
        ("127.0.0.1:8080", "127.0.0.1", 8080), (":8080", "", 8080), ("[::1]:80", "::1", 80),
        ("localhost:0", "localhost", 0),
        ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535), ("my-host.example:1", "my-host.example", 1),
    ]

    @Test("A listen address has a host and a port, and is printed as it was written", arguments: addresses)
    func address(text: String, host: String, port: UInt16) throws {
        let address = try ListenAddress(parsing: text)
        #expect(address == ListenAddress(host: host, port: port) && address.description == text)
    }

    @Test(
        "An invalid listen address is refused with an example",
        arguments: [
            "", "8080", "localhost", ":", "a:", "a:x", "a:-1", "a:65536", "a:+1", "::1:80", "[::1]", "[::1:80", "[]:80",
            "[a]:80", "a b:80", "a/b:80", "http://a:80", "a:80 ", "ä:80", "a\0:80", "a:٣",
        ])
    func invalidAddress(text: String) {
        let error = #expect(throws: HTTPServerError.self) { try ListenAddress(parsing: text) }
        #expect(error?.code == .invalidAddress && error?.next.contains("127.0.0.1:8080") == true)
    }
}

/// The start of a server.
@Suite struct StartTests {
    private func error(of text: String) throws -> HTTPServerError? {
        let configuration = HTTPServerConfiguration(address: try ListenAddress(parsing: text))
        return #expect(throws: HTTPServerError.self) { _ = try HTTPServer(configuration) { _ in .text("") } }
    }

    @Test("The port that the system selects is readable, and a second server on it is refused")
    func usedPort() throws {
        let server = try HTTPServer.test()
        #expect(server.address.port > 0)
        let error = try error(of: server.address.description)
        #expect(error?.code == .addressInUse && error?.next.contains("another port") == true)
        #expect(error?.description.hasPrefix("127.0.0.1:\(server.address.port): ") == true)
    }

    @Test("An address of another machine and an unknown host are refused")
    func unusableAddresses() throws {
        #expect(try error(of: "192.0.2.1:0")?.code == .addressNotAvailable)
        #expect(try error(of: "host.invalid:0")?.code == .unknownHost)
    }

    @Test("A server on all interfaces accepts IPv4", arguments: [":0", "0.0.0.0:0", "localhost:0"])
    func interfaces(text: String) throws {
        let configuration = HTTPServerConfiguration(address: try ListenAddress(parsing: text))
        let server = try HTTPServer(configuration) { .text($0.peer.address) }
        #expect(try TestClient(server).request("GET /").text == "127.0.0.1\n")
    }

    @Test("A port is free as soon as its server has stopped")
    func restart() throws {
        // No client of other tests can get a port of this address.
        let first = try HTTPServer.limited { $0.address.host = "127.0.0.99" }
        #expect(try TestClient(first).request("GET /").status == 200)
        let address = first.address
        first.stop()
        let second = try HTTPServer.limited { $0.address = address }
        #expect(try TestClient(second).request("GET /").status == 200)
    }
}
