internal import HTTPServer

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A client that gets one page of a worker: HTTP/1.1 without redirects, with limits of size and time.
enum WorkerClient {
    /// The reason why there is no page.
    struct Failure: Error, Equatable {
        /// The reason, without a period.
        var message: String
    }

    /// The maximum size of a response in bytes.
    static let maxBytes = 8 << 20
    /// The maximum time from the search for the host's addresses to the end of the response, in seconds.
    static let maxSeconds = 2.0

    /// Returns the body of the page at an address.
    static func get(_ worker: WorkerAddress) throws(Failure) -> [UInt8] {
        let deadline = Platform.monotonicSeconds + maxSeconds
        let socket = try open(worker.address, until: deadline)
        defer { Platform.close(socket) }
        let request =
            "GET \(worker.path) HTTP/1.1\r\nHost: \(worker.address)\r\nAccept: application/json\r\n"
            + "Connection: close\r\n\r\n"
        try write(Array(request.utf8), to: socket)
        return try body(of: try read(from: socket, until: deadline))
    }

    /// Returns a connected socket that does not block.
    private static func open(_ address: ListenAddress, until deadline: Double) throws(Failure) -> Int32 {
        guard let list = HostAddresses.find(address, until: deadline) else {
            throw Failure(message: "the address of the name `\(address.host)` was not found within 2 s")
        }
        guard !list.isEmpty else { throw Failure(message: "the name `\(address.host)` has no address") }
        for entry in list {
            let descriptor = socket(entry.family, HostAddresses.streamType, 0)
            guard descriptor >= 0 else { continue }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            let code = entry.bytes.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { name in
                    connect(descriptor, name.baseAddress, socklen_t(bytes.count))
                }
            }
            if code == 0 { return descriptor }
            if errno == EINPROGRESS, isReady(descriptor, Int16(POLLOUT), until: deadline) {
                var error: Int32 = 0
                var size = socklen_t(MemoryLayout<Int32>.size)
                getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
                if error == 0 { return descriptor }
            }
            Platform.close(descriptor)
        }
        throw Failure(message: "\(address) does not accept connections")
    }

    private static func write(_ bytes: [UInt8], to socket: Int32) throws(Failure) {
        let sent = bytes.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, 0) }
        guard sent == bytes.count else { throw Failure(message: "the connection was closed") }
    }

    private static func read(from socket: Int32, until deadline: Double) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            guard isReady(socket, Int16(POLLIN), until: deadline) else {
                throw Failure(message: "the response did not end within 2 s")
            }
            let count = buffer.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
            if count == 0 { return bytes }
            if count < 0 {
                guard errno == EAGAIN || errno == EINTR else { throw Failure(message: "the connection was closed") }
                continue
            }
            bytes += buffer[..<count]
            guard bytes.count <= maxBytes else { throw Failure(message: "the response has more than 8 MiB") }
        }
    }

    /// Returns the body of a response with status 200, which ends with the connection.
    ///
    /// A body of another length than the stated one is an error, because a part of a page can be valid JSON.
    static func body(of response: [UInt8]) throws(Failure) -> [UInt8] {
        let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        guard let separator = response.firstRange(of: end) else {
            throw Failure(message: "the response is not HTTP")
        }
        let lines = String(decoding: response[..<separator.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ") ?? []
        guard status.count >= 2, status[0].hasPrefix("HTTP/1."), status[1] == "200" else {
            throw Failure(message: "the response has status \(status.count >= 2 ? status[1].prefix(3) : "none")")
        }
        let isChunked = lines.contains { $0.lowercased().hasPrefix("transfer-encoding:") }
        guard !isChunked else { throw Failure(message: "the response has an encoding that linkd does not use") }
        let body = Array(response[separator.upperBound...])
        for line in lines where line.lowercased().hasPrefix("content-length:") {
            let value = line.dropFirst("content-length:".count).filter { $0 != " " && $0 != "\t" }
            guard value == "\(body.count)" else {
                throw Failure(message: "the response has \(body.count) bytes instead of its `Content-Length`")
            }
        }
        return body
    }

    /// Waits until a socket is ready.
    private static func isReady(_ socket: Int32, _ events: Int16, until deadline: Double) -> Bool {
        var entry = pollfd(fd: socket, events: events, revents: 0)
        let rest = deadline - Platform.monotonicSeconds
        return rest > 0 && poll(&entry, 1, Int32(rest * 1000) + 1) > 0
    }
}
