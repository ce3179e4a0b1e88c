import Foundation

/// An HTTP client with a real socket, which sends exactly the bytes of a test.
package final class RawClient {
    /// A response that was read from a socket.
    package struct Response: Sendable {
        /// The status code.
        package var status: Int
        /// The headers, with names in lowercase.
        package var headers: [String: String]
        /// The body.
        package var body: [UInt8]

        /// The body as text, in which ill-formed bytes are repaired.
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// A connection that failed, or bytes that are not HTTP.
    package struct Failure: Error, CustomStringConvertible {
        /// A description of the failure.
        package let text: String

        package var description: String { text }
    }

    /// A closed connection is an error and not a signal.
    private static let flags = Int32(MSG_NOSIGNAL)
    private let descriptor: Int32
    private var unread: [UInt8] = []

    /// Connects to a port of the loopback interface.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - host: The address of the server.
    ///   - source: The client's loopback address, such as 127.0.0.2, so that clients can have different addresses.
    ///   - seconds: The time limit of each read and write.
    /// - Throws: `Failure` if the connection fails.
    package init(
        port: UInt16, host: String = "127.0.0.1", from source: String = "127.0.0.1", seconds: Int = 60
    ) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard Self.withAddress(source, 0, { bind(descriptor, $0, $1) }) == 0,
            Self.withAddress(host, port, { connect(descriptor, $0, $1) }) == 0
        else { throw Failure(text: "no connection: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

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
    package func setReceiveBuffer(bytes: Int32) {
        var bytes = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends bytes, and returns false if the server has closed the connection.
    @discardableResult
    package func send(_ bytes: some Collection<UInt8>) -> Bool {
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

    /// Sends text, and returns false if the server has closed the connection.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends text every 20 ms until the server has closed the connection, and returns how many times it was sent.
    package func sends(_ text: String, most: Int) -> Int {
        var count = 0
        while count < most, send(text) {
            count += 1
            usleep(20_000)
        }
        return count
    }

    /// Tells the server that nothing more is sent.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Sends a request, and reads its response.
    package func request(
        _ line: String, host: String = "test", headers: [String] = [], body: [UInt8] = []
    ) throws -> Response {
        let length = body.isEmpty ? [] : ["Content-Length: \(body.count)"]
        let lines = ["\(line) HTTP/1.1", "Host: \(host)"] + headers + length + ["", ""]
        send(Array(lines.joined(separator: "\r\n").utf8) + body)
        return try read(isHead: line.hasPrefix("HEAD "))
    }

    /// Reads a response with a length, or without a body.
    package func read(isHead: Bool = false) throws -> Response {
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
    package func readHead() throws -> Response {
        let first = try readLine()
        guard let status = Int(first.split(separator: " ").dropFirst().first ?? "") else {
            throw Failure(text: "not a status line: \(first)")
        }
        var headers: [String: String] = [:]
        while true {
            let line = try readLine()
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: ":") else { throw Failure(text: "not a header: \(line)") }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        return Response(status: status, headers: headers, body: [])
    }

    /// Reads a part of a chunked body, and returns nil after the last one.
    package func readChunk() throws -> [UInt8]? {
        guard let count = Int(try readLine(), radix: 16) else { throw Failure(text: "not a chunk") }
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
            guard try receive() else { throw Failure(text: "the server has closed the connection") }
        }
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while unread.count < count {
            guard try receive() else { throw Failure(text: "the server has closed the connection") }
        }
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    /// Receives available bytes, and returns false at the end of the connection.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 && errno == ECONNRESET { return false }
        guard count >= 0 else { throw Failure(text: "nothing received: \(String(cString: strerror(errno)))") }
        unread += buffer[..<count]
        return count > 0
    }

    /// Reads until the server closes the connection, and returns everything as text.
    package func readToEnd() throws -> String {
        while try receive() {}
        return String(decoding: unread, as: UTF8.self)
    }
}
