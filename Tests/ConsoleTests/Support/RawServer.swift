import Foundation
import Synchronization
import TestSupport

/// A server in the place of a worker, which answers each connection in a way that a test chooses.
final class RawServer: Sendable {
    /// An answer to a connection.
    enum Answer: Sendable {
        /// These bytes, then the end of the connection.
        case bytes([UInt8])
        /// The page `/status` of another port of this machine.
        case page(of: UInt16)
        /// A head, then spaces without an end.
        case endless
        /// A head, then a byte every 200 ms.
        case slow
        /// Nothing, while the connection stays open.
        case silent
    }

    /// The port.
    let port: UInt16
    private let descriptor: Int32
    private let answer: Mutex<Answer>
    private let isStopped = Mutex(false)

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - port: The port, or 0 for a free one.
    ///   - answer: The answer until another one is chosen.
    init(port: UInt16 = 0, _ answer: Answer) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.answer = Mutex(answer)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound, listen(descriptor, 64) == 0 else { throw DriverFailure("no port for a server") }
        self.port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self, descriptor] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                guard let self else {
                    close(client)
                    return
                }
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    deinit { stop() }

    /// Chooses the answer to connections from now on.
    func set(_ answer: Answer) { self.answer.withLock { $0 = answer } }

    /// Ends the server, so that connections are refused.
    func stop() {
        let isFirst = isStopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        guard isFirst else { return }
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Returns a response with a body.
    static func response(_ body: String, head: String = "HTTP/1.1 200 OK\r\nContent-Type: application/json") -> Answer {
        .bytes(Array("\(head)\r\nConnection: close\r\n\r\n\(body)".utf8))
    }

    private func serve(_ client: Int32) {
        defer { close(client) }
        var request = [UInt8](repeating: 0, count: 4096)
        guard recv(client, &request, request.count, 0) > 0 else { return }
        let answer = answer.withLock { $0 }
        let head = Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n".utf8)
        switch answer {
        case .bytes(let bytes): _ = send(bytes, to: client)
        case .page(let port):
            let body = try? RawClient(port: port).request(
                "GET /status", host: "127.0.0.1:\(port)", headers: ["Connection: close"])
            if let body { _ = send(head + body.body, to: client) }
        case .endless:
            guard send(head, to: client) else { return }
            while send([UInt8](repeating: 32, count: 65_536), to: client) {}
        case .slow:
            guard send(head, to: client) else { return }
            while send([32], to: client) { pause(milliseconds: 200) }
        case .silent: while recv(client, &request, request.count, 0) > 0 {}
        }
    }

    private func send(_ bytes: [UInt8], to client: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Foundation.send(client, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
