internal import Foundation

/// A connection to an HTTP server on this machine, for one request.
final class LoopbackClient {
    /// The response to a request.
    struct Response {
        /// The status code.
        var status: Int
        /// The body.
        var body: [UInt8]

        /// The body as text.
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let descriptor: Int32
    private var unread: [UInt8] = []
    private var isChunked = false
    private var left = 0

    /// Connects to a port.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - seconds: The time limit of each read.
    init(port: UInt16, seconds: Int = 60) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw BenchmarkError(text: "nothing answers on port \(port)", code: 70) }
    }

    deinit { close(descriptor) }

    /// Sends a request, and reads the head of its response.
    ///
    /// - Parameters:
    ///   - line: The method and the path.
    ///   - headers: The header lines without `Host`, `Content-Length`, and `Connection`.
    ///   - body: The body.
    /// - Returns: The status code.
    func send(_ line: String, host: String, headers: [String], body: [UInt8] = []) throws -> Int {
        let length = body.isEmpty ? [] : ["Content-Length: \(body.count)"]
        let lines = ["\(line) HTTP/1.1", "Host: \(host)", "Connection: close"] + headers + length + ["", ""]
        let bytes = Array(lines.joined(separator: "\r\n").utf8) + body
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw BenchmarkError(text: "the console has closed a connection", code: 70) }
            sent += count
        }
        let status = try readLine().split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        left = .max
        while case let line = try readLine().lowercased(), !line.isEmpty {
            if line.hasPrefix("transfer-encoding:") { isChunked = line.contains("chunked") }
            if line.hasPrefix("content-length:") {
                left = Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) ?? 0
            }
        }
        if isChunked { left = 0 }
        return status
    }

    /// Returns the next part of the body, or nil at its end.
    func next() throws -> [UInt8]? {
        if isChunked, left == 0 {
            left = Int(try readLine(), radix: 16) ?? 0
            if left == 0 { return nil }
        }
        if left == 0 { return nil }
        if unread.isEmpty, try !receive() { return nil }
        let part = Array(unread.prefix(left))
        unread.removeFirst(part.count)
        left -= part.count
        if isChunked, left == 0 { _ = try readLine() }
        return part
    }

    /// Returns the rest of the body.
    func rest() throws -> [UInt8] {
        var body: [UInt8] = []
        while let part = try next() { body += part }
        return body
    }

    private func readLine() throws -> String {
        while true {
            if let end = unread.firstIndex(of: 10) {
                let line = unread[..<end].filter { $0 != 13 }
                unread.removeSubrange(...end)
                return String(decoding: line, as: UTF8.self)
            }
            guard try receive() else { throw BenchmarkError(text: "the console has closed a connection", code: 70) }
        }
    }

    /// Receives available bytes, and returns false at the end of the connection.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw BenchmarkError(text: "the console has not answered in time", code: 70) }
        unread += buffer[..<count]
        return count > 0
    }
}
