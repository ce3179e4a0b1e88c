import Foundation
import Synchronization

/// A TCP proxy in front of a Kafka broker.
///
/// It can discard requests of certain kinds, or hold back all data like a broker that does not answer.
///
/// The broker must have a listener whose advertised address is the address of the proxy.
package final class KafkaProxy: Sendable {
    /// The keys of requests in Kafka's protocol.
    package enum Request: Int16, Sendable {
        case listOffsets = 2
        case offsetCommit = 8
        case apiVersions = 18
        case endTransaction = 26
        case transactionOffsetCommit = 28
    }

    private struct State {
        var discarded: Set<Int16> = []
        var counts: [Int16: Int] = [:]
        var isHeld = false
        var isClosed = false
        var sockets: [Int32] = []
    }

    private let state = Mutex(State())
    private let listener: Int32
    private let target: UInt16
    /// The address that clients connect to, as `HOST:PORT`.
    package let bootstrapServers: String

    /// Starts a proxy that listens on a local port and forwards connections to the port `target`.
    ///
    /// With the port 0, it listens on a free port.
    ///
    /// - Throws: `ChildProcess.Failure` if the proxy cannot listen on the port.
    package init(port: UInt16, target: UInt16) throws {
        self.target = target
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let bound = Self.withAddress(port) { bind(listener, $0, $1) }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        bootstrapServers = "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        guard bound == 0, isNamed == 0, listen(listener, 64) == 0 else {
            closeSocket(listener)
            throw ChildProcess.Failure(text: "the proxy cannot listen on port \(port): errno \(errno)")
        }
        Thread.detachNewThread { [self] in accept() }
    }

    /// Discards all requests of a kind from now on.
    package func discard(_ request: Request) { state.withLock { _ = $0.discarded.insert(request.rawValue) } }

    /// Forwards requests of a kind again.
    package func forward(_ request: Request) { state.withLock { _ = $0.discarded.remove(request.rawValue) } }

    /// Starts or stops holding back all data.
    package func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

    /// Returns the number of requests of a kind.
    package func count(of request: Request) -> Int { state.withLock { $0.counts[request.rawValue] ?? 0 } }

    /// Closes all connections and stops listening.
    package func close() {
        let sockets = state.withLock { state in
            state.isClosed = true
            return state.sockets
        }
        for one in sockets + [listener] { shutdown(one, Int32(SHUT_RDWR)) }
        closeSocket(listener)
    }

    private static func withAddress<Result>(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func accept() {
        while true {
            let client = acceptConnection(listener)
            if client < 0 { return }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard Self.withAddress(target, { connect(server, $0, $1) }) == 0 else {
                closeSocket(client)
                closeSocket(server)
                continue
            }
            let isClosed = state.withLock { state in
                state.sockets += [client, server]
                return state.isClosed
            }
            if isClosed { return }
            Thread.detachNewThread { [self] in
                forwardRequests(from: client, to: server)
                end(client, server)
            }
            Thread.detachNewThread { [self] in
                forwardAnswers(from: server, to: client)
                end(client, server)
            }
        }
    }

    /// Wakes the other direction.
    ///
    /// Descriptors stay open until the process ends, so that they are not reused.
    private func end(_ client: Int32, _ server: Int32) {
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
    }

    private func forwardRequests(from client: Int32, to server: Int32) {
        while let head = read(client, exactly: 4) {
            let length = head.reduce(0) { $0 << 8 | Int($1) }
            guard length >= 8, length < 200_000_000, let body = read(client, exactly: length) else { return }
            let key = Int16(body[0]) << 8 | Int16(body[1])
            let isDiscarded = state.withLock { state in
                state.counts[key, default: 0] += 1
                return state.discarded.contains(key)
            }
            waitWhileHeld()
            if !isDiscarded && !write(head + body, to: server) { return }
        }
    }

    private func forwardAnswers(from server: Int32, to client: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(server, &buffer, buffer.count, 0)
            if count <= 0 { return }
            waitWhileHeld()
            if !write(Array(buffer[..<count]), to: client) { return }
        }
    }

    private func waitWhileHeld() {
        while state.withLock({ $0.isHeld && !$0.isClosed }) { Thread.sleep(forTimeInterval: 0.01) }
    }

    private func read(_ socket: Int32, exactly count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let received = bytes.withUnsafeMutableBytes { recv(socket, $0.baseAddress! + done, count - done, 0) }
            if received <= 0 { return nil }
            done += received
        }
        return bytes
    }

    private func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let sent = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
            }
            if sent <= 0 { return false }
            done += sent
        }
        return true
    }
}

/// Calls `accept(2)`, which a method of the proxy would hide.
private func acceptConnection(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }

private func closeSocket(_ socket: Int32) { close(socket) }
