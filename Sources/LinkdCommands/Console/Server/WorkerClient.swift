internal import CLibrary
internal import HTTPServer
internal import SystemThreads

/// The address of a worker's page `/status`.
struct WorkerAddress: Sendable, Equatable {
    /// The address of the worker's server.
    let address: ListenAddress
    /// The path of the page.
    let path: String

    /// Reads a URL such as `http://worker-0:8080`.
    ///
    /// A URL with another scheme, a user, or a query ends with exit code 64. The path is `/status` if the URL has none.
    init(_ text: String) throws(CommandFailure) {
        let failure = CommandFailure(
            .usage, "--worker: `\(text.filter { $0.isASCII && !$0.isWhitespace }.prefix(200))` is not an http URL",
            advice: "pass the address of the worker's setting `http.listen`, such as http://worker-0:8080")
        guard text.hasPrefix("http://"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw failure }
        let rest = text.dropFirst("http://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        guard !authority.isEmpty, !authority.contains("@"), !rest.contains("?"), !rest.contains("#") else {
            throw failure
        }
        let hasPort = authority.last.map { $0.isNumber } == true && authority.contains(":") && !authority.hasSuffix("]")
        do throws(HTTPServerError) {
            address = try ListenAddress(parsing: hasPort ? String(authority) : "\(authority):80")
        } catch {
            throw failure
        }
        guard !address.host.isEmpty else { throw failure }
        path = slash == rest.endIndex || rest[slash...] == "/" ? "/status" : String(rest[slash...])
    }
}

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
            let descriptor = socket(entry.family, streamSocketType, 0)
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

/// The addresses of a host, with a limit of the time that the system's resolver takes.
///
/// A resolver cannot be ended. A thread of its own waits for it, and at most one such thread exists.
enum HostAddresses {
    /// An address of a socket.
    struct Address: Equatable, Sendable {
        /// The family of the addresses.
        var family: Int32
        /// The bytes of the system's structure.
        var bytes: [UInt8]
    }

    /// A function that asks a resolver.
    typealias Resolver = @Sendable (ListenAddress) -> [Address]

    private static let isResolving = Monitor(false)

    /// Returns the addresses of a host, or nil if the resolver does not answer in time.
    ///
    /// - Parameters:
    ///   - address: The host and the port.
    ///   - deadline: The time on the monotonic clock at which the wait ends.
    ///   - resolver: The function that asks the resolver for the addresses of a name.
    static func find(
        _ address: ListenAddress, until deadline: Double, _ resolver: @escaping Resolver = { list($0, flags: 0) }
    ) -> [Address]? {
        // An IP address needs no resolver.
        let literal = list(address, flags: AI_NUMERICHOST)
        guard literal.isEmpty else { return literal }
        let isFree = isResolving.wait(milliseconds: milliseconds(deadline)) { (isResolving: inout Bool) -> Bool? in
            guard !isResolving else { return nil }
            isResolving = true
            return true
        }
        guard isFree == true else { return nil }
        let answer = Monitor<[Address]?>(nil)
        let isStarted = SystemThread.start("resolver") {
            let found = resolver(address)
            isResolving.signal { $0 = false }
            answer.signal { $0 = found }
        }
        guard isStarted else {
            isResolving.signal { $0 = false }
            return nil
        }
        return answer.wait(milliseconds: milliseconds(deadline)) { $0 }
    }

    private static func milliseconds(_ deadline: Double) -> Int {
        Int(max(0, deadline - Platform.monotonicSeconds) * 1000)
    }

    /// Returns the addresses that the system's resolver knows.
    private static func list(_ address: ListenAddress, flags: Int32) -> [Address] {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_socktype = streamSocketType
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [Address] = []
        var next = list
        while let info = next {
            next = info.pointee.ai_next
            guard let name = info.pointee.ai_addr else { continue }
            let bytes = UnsafeRawBufferPointer(start: name, count: Int(info.pointee.ai_addrlen))
            found.append(Address(family: info.pointee.ai_family, bytes: Array(bytes)))
        }
        return found
    }
}
