import Foundation
import HTTPServer

/// A client with a real socket, which sends exactly the bytes of a test.
final class TestClient {
    /// A response that was read from a socket.
    struct Response {
        var status: Int
        var headers: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// A closed connection is an error and not a signal.
    private static let flags = Int32(MSG_NOSIGNAL)
    private let descriptor: Int32
    private var unread: [UInt8] = []

    /// Connects from a loopback address, such as 127.0.0.2, so that several clients have different addresses.
    init(_ server: HTTPServer, from source: String = "127.0.0.1", seconds: Int = 20) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard Self.withAddress(source, 0, { bind(descriptor, $0, $1) }) == 0,
            Self.withAddress(Self.target(server), server.address.port, { connect(descriptor, $0, $1) }) == 0
        else { throw Failure(description: "no connection: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    private static func target(_ server: HTTPServer) -> String {
        server.address.host.hasPrefix("127.") ? server.address.host : "127.0.0.1"
    }

    private static func withAddress(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    /// Sets the size of the receive buffer, so that a slow reader slows the server down early.
    func setReceiveBuffer(bytes: Int32) {
        var bytes = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends bytes, and returns false if the server has closed the connection.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Self.flags)
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Tells the server that nothing more is sent.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Sends a request, and reads its response.
    func request(_ line: String, headers: [String] = [], body: [UInt8] = []) throws -> Response {
        let length = body.isEmpty ? [] : ["Content-Length: \(body.count)"]
        let lines = ["\(line) HTTP/1.1", "Host: test"] + headers + length + ["", ""]
        send(Array(lines.joined(separator: "\r\n").utf8) + body)
        return try read(isHead: line.hasPrefix("HEAD "))
    }

    /// Reads a response with a length, or without a body.
    func read(isHead: Bool = false) throws -> Response {
        var response = try readHead()
        if isHead { return response }
        if response.headers["transfer-encoding"] == "chunked" {
            while let chunk = try readChunk() { response.body += chunk }
        } else {
            response.body = try take(Int(response.headers["content-length"] ?? "") ?? 0)
        }
        return response
    }

    /// Reads a status line and headers.
    func readHead() throws -> Response {
        let first = try readLine()
        guard let status = Int(first.split(separator: " ").dropFirst().first ?? "") else {
            throw Failure(description: "not a status line: \(first)")
        }
        var headers: [String: String] = [:]
        while true {
            let line = try readLine()
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: ":") else { throw Failure(description: "not a header: \(line)") }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        return Response(status: status, headers: headers, body: [])
    }

    /// Reads a part of a chunked body, and returns nil after the last one.
    func readChunk() throws -> [UInt8]? {
        guard let count = Int(try readLine(), radix: 16) else { throw Failure(description: "not a chunk") }
        let chunk = try take(count)
        _ = try readLine()
        return count == 0 ? nil : chunk
    }

    private func readLine() throws -> String {
        while true {
            if let end = unread.firstIndex(of: 10) {
                let line = unread[..<end].filter { $0 != 13 }
                unread.removeSubrange(...end)
                return String(decoding: line, as: UTF8.self)
            }
            guard try receive() else { throw Failure(description: "the server has closed the connection") }
        }
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while unread.count < count {
            guard try receive() else { throw Failure(description: "the server has closed the connection") }
        }
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    /// Receives available bytes, and returns false at the end of the connection.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 && errno == ECONNRESET { return false }
        guard count >= 0 else { throw Failure(description: "nothing received: \(String(cString: strerror(errno)))") }
        unread += buffer[..<count]
        return count > 0
    }

    /// Reads until the server closes the connection, and returns everything as text.
    func readToEnd() throws -> String {
        while try receive() {}
        return String(decoding: unread, as: UTF8.self)
    }
}

extension HTTPServer {
    /// Starts a server on a free port of the loopback interface.
    static func test(
        _ handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .text("ok") }
    ) throws -> HTTPServer {
        try limited({ _ in }, handler)
    }

    /// Starts a server with other limits than the default ones.
    static func limited(
        _ change: (inout HTTPServerConfiguration) -> Void,
        _ handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .text("ok") }
    ) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0))
        change(&configuration)
        return try HTTPServer(configuration, handler: handler)
    }
}

/// Returns the seconds that a function takes.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
}

/// Returns true as soon as a condition is true, or false after 20 s.
func eventually(_ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(20)
    while !condition() {
        if ContinuousClock.now > end { return false }
        usleep(2_000)
    }
    return true
}
