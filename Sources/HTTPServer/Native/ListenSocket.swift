internal import CLibrary
internal import CMicroHTTPD
internal import Synchronization

/// A socket that listens.
///
/// Names of C functions are qualified, because this type has members of the same names.
final class ListenSocket: Sendable {
    /// The file descriptor, or -1 once the socket is closed.
    private let socket: Atomic<Int32>
    /// The port, which the system has selected if the address has port 0.
    let port: UInt16

    /// Binds the first usable IP address of a host.
    init(_ address: ListenAddress) throws(HTTPServerError) {
        // An empty host is the IPv6 wildcard, which also accepts IPv4, or the IPv4 wildcard if there is no IPv6.
        let hosts = address.host.isEmpty ? ["::", "0.0.0.0"] : [address.host]
        var failure = HTTPServerError.unknownHost(address.description, "no address")
        for host in hosts {
            switch Self.bind(host, address) {
            case .success(let descriptor):
                guard let port = Self.port(of: descriptor) else {
                    _ = CMicroHTTPD.close(descriptor)
                    throw .resources(address.description, "the port of the socket is unknown")
                }
                socket = Atomic(descriptor)
                self.port = port
                return
            case .failure(let error):
                failure = error
                // A used port of the IPv6 wildcard must not be hidden by a free port of the IPv4 wildcard.
                if error.code == .addressInUse || error.code == .permissionDenied { throw error }
            }
        }
        throw failure
    }

    deinit { close() }

    /// The file descriptor, or -1 once the socket is closed.
    var descriptor: Int32 { socket.load(ordering: .relaxed) }

    /// Closes the socket, so that the port is free at once.
    ///
    /// The release of the object can be later, because several threads refer to it.
    func close() {
        let descriptor = socket.exchange(-1, ordering: .relaxed)
        if descriptor >= 0 { _ = CMicroHTTPD.close(descriptor) }
    }

    private static func bind(_ host: String, _ address: ListenAddress) -> Result<Int32, HTTPServerError> {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        hints.ai_socktype = streamSocketType
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(address.port)", &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else { return .failure(.unknownHost(address.description, String(cString: gai_strerror(code)))) }
        var failure = HTTPServerError.unknownHost(address.description, "no address")
        var next = list
        while let info = next?.pointee {
            switch listen(info, address) {
            case .success(let descriptor): return .success(descriptor)
            case .failure(let error): failure = error
            }
            next = info.ai_next
        }
        return .failure(failure)
    }

    private static func listen(_ info: addrinfo, _ address: ListenAddress) -> Result<Int32, HTTPServerError> {
        let descriptor = CMicroHTTPD.socket(info.ai_family, info.ai_socktype, info.ai_protocol)
        guard descriptor >= 0 else { return .failure(error(errno, address)) }
        linkd_http_configure(descriptor)
        var on: Int32 = 1
        var isOnlyIPv6: Int32 = address.host.isEmpty ? 0 : 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
        if info.ai_family == AF_INET6 {
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isOnlyIPv6, size)
        }
        let isBound = CMicroHTTPD.bind(descriptor, info.ai_addr, info.ai_addrlen) == 0
        guard isBound, CMicroHTTPD.listen(descriptor, 512) == 0 else {
            let code = errno
            _ = CMicroHTTPD.close(descriptor)
            return .failure(error(code, address))
        }
        return .success(descriptor)
    }

    private static func error(_ code: Int32, _ address: ListenAddress) -> HTTPServerError {
        let (result, message, next): (HTTPServerError.Code, String, String) =
            switch code {
            case EADDRINUSE:
                (
                    .addressInUse, "another socket listens on the port",
                    "use another port, or stop the other process (`ss -ltnp` lists the ports and their processes)"
                )
            case EACCES, EPERM:
                (
                    .permissionDenied, "the process is not allowed to use the port",
                    "use a port from 1024, or give the process the right to use the port"
                )
            case EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL:
                (
                    .addressNotAvailable, "no network interface of this machine has the address",
                    "use an address of this machine, or :\(address.port) for all interfaces"
                )
            default:
                (
                    .outOfResources, "the socket cannot be opened: \(String(cString: strerror(code)))",
                    "increase the limits of open files and memory of this process"
                )
            }
        return HTTPServerError(code: result, address: address.description, message: message, next: next)
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        PeerAddress.read { getsockname(descriptor, $0, $1) }?.port
    }
}

/// Conversions of the system's socket addresses.
enum PeerAddress {
    /// Returns the address that a system call writes, or nil if the call fails.
    static func read(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> HTTPPeer? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                call(address, &size) == 0 ? peer(address, size) : nil
            }
        }
    }

    private static func peer(_ address: UnsafeMutablePointer<sockaddr>, _ size: socklen_t) -> HTTPPeer {
        var host = [CChar](repeating: 0, count: 64)
        var port = [CChar](repeating: 0, count: 8)
        let code = getnameinfo(
            address, size, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
        guard code == 0 else { return HTTPPeer(address: "unknown", port: 0) }
        let text = Self.text(host)
        // An IPv4 address of a socket for both versions is written as IPv4.
        let mapped = text.hasPrefix("::ffff:") && text.contains(".")
        return HTTPPeer(address: mapped ? String(text.dropFirst(7)) : text, port: UInt16(Self.text(port)) ?? 0)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The state of a connection, used only on the server's thread.
final class HTTPConnection {
    /// The steps of a request.
    enum Phase {
        /// The request has not arrived completely, or the connection is idle.
        case receiving
        /// The handler has the request, and the connection is suspended.
        case handling
        /// The response is being sent.
        case responding
        /// The stream of the response has no bytes, and the connection is suspended.
        case waiting
        /// The connection was refused. Its remaining bytes are discarded, so that the client reads the refusal.
        case refused
        /// The socket is shut down, and the library has not closed it yet.
        case closing
    }

    let number: UInt64
    let handle: OpaquePointer
    let socket: Int32
    let peer: HTTPPeer
    /// A Boolean value that indicates whether the connection is beyond the limits and is answered with status 503.
    let isExcess: Bool

    var phase = Phase.receiving
    /// The time of the monotonic clock in nanoseconds at which the phase ends.
    var deadline: UInt64
    /// The number of requests that have begun.
    var requests: UInt64 = 0
    /// A Boolean value that indicates whether the current request has begun.
    var hasBegun = false
    /// The path and the query, or nil if they are not valid.
    var target: HTTPTarget?
    /// The request, once its headers have arrived.
    var request: HTTPRequest?
    /// The response, until the library has it.
    var response: HTTPResponse?
    /// The stream of the response.
    var stream: HTTPStream?
    /// A Boolean value that indicates whether the library must close the connection at its next call.
    var isAborted = false

    init(number: UInt64, handle: OpaquePointer, peer: HTTPPeer, isExcess: Bool, deadline: UInt64) {
        self.number = number
        self.handle = handle
        self.peer = peer
        self.isExcess = isExcess
        self.deadline = deadline
        socket = linkd_http_socket(handle)
    }

    /// A Boolean value that indicates whether the library does not process the connection until it is resumed.
    var isSuspended: Bool {
        switch phase {
        case .handling, .waiting: true
        default: false
        }
    }

    /// A Boolean value that indicates whether a new connection can replace this one.
    var isReplaceable: Bool {
        switch phase {
        case .receiving, .refused: true
        default: false
        }
    }

    /// Returns to the state before a request.
    func endRequest(deadline: UInt64) {
        stream?.close()
        (target, request, response, stream) = (nil, nil, nil, nil)
        hasBegun = false
        if phase != .refused && phase != .closing {
            phase = .receiving
            self.deadline = deadline
        }
    }

    /// Shuts the socket down, so that the library closes the connection.
    func shutDown() {
        phase = .closing
        deadline = .max
        isAborted = true
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Sends a refusal past the library, and begins to discard what the client still sends.
    ///
    /// The connection is not closed at once, because then the system would discard the refusal if unread bytes have
    /// arrived.
    func refuse(_ refusal: Refusal, deadline: UInt64) {
        let bytes = refusal.bytes(seconds: time(nil))
        _ = linkd_http_send(socket, bytes, bytes.count)
        shutdown(socket, Int32(SHUT_WR))
        phase = .refused
        self.deadline = deadline
    }
}
