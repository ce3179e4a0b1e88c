internal import CMicroHTTPD

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The state of a connection, used only on the server's thread.
final class Connection {
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
    /// A Boolean value that indicates whether the library is told to close the connection at its next call.
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
