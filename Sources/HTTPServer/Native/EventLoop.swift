internal import CLibrary
internal import CMicroHTTPD
internal import CPlatform

/// The thread of a server: accepts connections, lets libmicrohttpd work, and enforces the limits.
///
/// It owns the daemon of libmicrohttpd, which is started in `init` and stopped at the end of `run`. Everything in this
/// class runs on that one thread, including all calls of libmicrohttpd and its calls back.
final class EventLoop {
    /// The values that the thread that starts the loop passes to it.
    struct Start: Sendable {
        let configuration: HTTPServerConfiguration
        let mailbox: Mailbox
        let pools: HandlerPools
        let handler: @Sendable (HTTPRequest) -> HTTPResponse
        let answerEarly: (@Sendable (HTTPRequest) -> HTTPResponse?)?
    }

    /// The number of connections beyond the limit that are answered with status 503.
    private static let excessConnections = 16
    /// The number of connections that are accepted between two turns of the library.
    private static let acceptBatch = 64
    /// The time in which a refused client can read the refusal.
    static let refusalNanoseconds: UInt64 = 1_000_000_000
    /// The time between two checks of a waiting stream's connection.
    static let checkNanoseconds: UInt64 = 1_000_000_000

    let configuration: HTTPServerConfiguration
    let mailbox: Mailbox
    let pools: HandlerPools
    let handler: @Sendable (HTTPRequest) -> HTTPResponse
    let answerEarly: (@Sendable (HTTPRequest) -> HTTPResponse?)?
    private(set) var daemon: OpaquePointer?
    private let listener: ListenSocket
    /// The texts of the certificate and the key, which the library keeps.
    private let identity: (certificate: UnsafeMutablePointer<CChar>?, key: UnsafeMutablePointer<CChar>?)
    /// All connections that the library has not closed.
    private var connections: [UInt64: HTTPConnection] = [:]
    /// The numbers of connections that count for the limits: not the excess ones, and not those that are closing.
    private var counted = 0
    private var countedByAddress: [String: Int] = [:]
    private var excess = 0
    private var lastNumber: UInt64 = 0
    /// The connection that is being passed to the library.
    private var admission: (peer: HTTPPeer, isExcess: Bool)?
    /// The earliest time at which a deadline can pass.
    private var nextDeadline = UInt64.max
    /// A Boolean value that indicates whether the library must run before the next wait.
    ///
    /// A resumed connection makes no socket ready.
    private var hasResumed = false
    /// The number of turns in sequence that the library has wanted without a wait although no socket was ready.
    private var idleTurns: UInt32 = 0
    /// The time until which no connection is accepted, because the process has no free file descriptors.
    private var acceptsFrom: UInt64 = 0
    /// The time at which the loop ends, once it stops.
    private var stopDeadline: UInt64?

    var isStopping: Bool { stopDeadline != nil }

    /// Starts the library's daemon, or returns nil if it cannot start.
    init?(_ start: Start, _ listener: ListenSocket) {
        (configuration, mailbox, pools) = (start.configuration, start.mailbox, start.pools)
        (handler, answerEarly, self.listener) = (start.handler, start.answerEarly, listener)
        identity = configuration.tls.map { (strdup($0.certificate), strdup($0.key)) } ?? (nil, nil)
        var callbacks = Self.callbacks
        callbacks.context = Unmanaged.passUnretained(self).toOpaque()
        let connections = configuration.maxConnections + Self.excessConnections + 2 * Self.acceptBatch
        // The library keeps the headers twice in the same memory, and the response's headers and parts.
        let memory = 4 * configuration.maxHeaderBytes
        daemon = linkd_http_start(
            &callbacks, memory, UInt32(connections), identity.certificate, identity.key)
        if daemon == nil { return nil }
    }

    deinit {
        free(identity.certificate)
        free(identity.key)
    }

    /// Serves until the server is stopped.
    func run() {
        while true {
            let now = clock()
            if let stopDeadline, connections.isEmpty || now >= stopDeadline { break }
            let milliseconds = timeout(now)
            hasResumed = false
            let events = linkd_http_turn(
                daemon, isAccepting(now) ? listener.descriptor : -1, mailbox.readEnd, milliseconds, &idleTurns)
            // An error of the wait, such as missing memory in the kernel, must not become a busy loop.
            if events < 0 { poll(nil, 0, 10) }
            if events > 0 && events & 2 != 0 { receive() }
            if events > 0 && events & 1 != 0 { accept() }
            if clock() >= nextDeadline { sweep() }
        }
        end()
    }

    /// Closes everything that is still open, and stops the library.
    private func end() {
        for connection in connections.values {
            connection.isAborted = true
            connection.stream?.close()
            // The library must not be stopped with suspended connections.
            if connection.isSuspended { resume(connection) }
        }
        MHD_stop_daemon(daemon)
        daemon = nil
        mailbox.end()
    }

    func clock() -> UInt64 { linkd_monotonic_nanoseconds() }

    /// Returns the time after a number of milliseconds, and has the deadlines checked then.
    func deadline(milliseconds: Int) -> UInt64 { deadline(nanoseconds: UInt64(milliseconds) * 1_000_000) }

    func deadline(nanoseconds: UInt64) -> UInt64 {
        let deadline = clock() + nanoseconds
        nextDeadline = min(nextDeadline, deadline)
        return deadline
    }

    private func isAccepting(_ now: UInt64) -> Bool { !isStopping && now >= acceptsFrom }

    /// Returns the milliseconds until the next deadline, rounded up, or -1 if there is none.
    private func timeout(_ now: UInt64) -> Int32 {
        var next = min(nextDeadline, stopDeadline ?? .max)
        if hasResumed { return 0 }
        if acceptsFrom > now { next = min(next, acceptsFrom) }
        if next == .max { return -1 }
        return next <= now ? 0 : Int32(clamping: (next - now) / 1_000_000 + 1)
    }

    // MARK: Connections

    private func accept() {
        for _ in 0..<Self.acceptBatch {
            var socket: Int32 = -1
            let peer = PeerAddress.read { address, size in
                // The name is qualified, because this type has a function of the same name.
                socket = CMicroHTTPD.accept(listener.descriptor, address, size)
                return socket < 0 ? -1 : 0
            }
            guard let peer else {
                switch errno {
                case EINTR, ECONNABORTED: continue
                case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                    _ = replaceOldest { _ in true }
                    acceptsFrom = clock() + 100_000_000
                default: break
                }
                return
            }
            linkd_http_configure(socket)
            admit(socket, peer)
        }
    }

    /// Passes a connection to the library, in place of an incomplete one if a limit is reached.
    private func admit(_ socket: Int32, _ peer: HTTPPeer) {
        if isFull || isFull(peer) {
            // A request that has arrived completely is read first, so that its connection is not replaced.
            MHD_run(daemon)
        }
        var isExcess = false
        if isFull(peer) {
            isExcess = !replaceOldest { $0.peer.address == peer.address }
        } else if isFull {
            isExcess = !replaceOldest { _ in true } && !replaceBusy(for: peer)
        }
        guard !isExcess || excess < Self.excessConnections else {
            close(socket)
            return
        }
        admission = (peer, isExcess)
        _ = PeerAddress.read { address, size in
            // The library closes the socket if it fails.
            guard getpeername(socket, address, size) == 0 else {
                close(socket)
                return -1
            }
            return MHD_add_connection(daemon, socket, address, size.pointee) == linkd_http_yes ? 0 : -1
        }
        admission = nil
    }

    private var isFull: Bool { counted >= configuration.maxConnections }

    private func isFull(_ peer: HTTPPeer) -> Bool {
        countedByAddress[peer.address, default: 0] >= configuration.maxConnectionsPerAddress
    }

    /// Closes the oldest connection without a complete request among some.
    ///
    /// Returns false if there is none.
    private func replaceOldest(_ isCandidate: (HTTPConnection) -> Bool) -> Bool {
        let oldest = connections.values.filter { !$0.isExcess && $0.isReplaceable && isCandidate($0) }
            .min { $0.deadline < $1.deadline }
        guard let oldest else { return false }
        shutDown(oldest)
        return true
    }

    /// Closes the oldest connection of the address with the most connections, if this address then still has at least
    /// as many as the address of a new connection.
    ///
    /// A probe is answered even if a few clients keep all connections busy, for example by not reading their responses.
    /// Returns false if no address has that many.
    private func replaceBusy(for peer: HTTPPeer) -> Bool {
        let own = countedByAddress[peer.address, default: 0]
        guard let most = countedByAddress.max(by: { $0.value < $1.value }), most.value > own + 1 else { return false }
        let oldest = connections.values.filter { connection in
            !connection.isExcess && connection.phase != .closing && connection.peer.address == most.key
        }.min { $0.number < $1.number }
        guard let oldest else { return false }
        if oldest.isSuspended { resume(oldest) }
        shutDown(oldest)
        return true
    }

    /// Shuts a connection down, which then no longer counts for the limits.
    func shutDown(_ connection: HTTPConnection) {
        if connection.phase != .closing { uncount(connection) }
        connection.shutDown()
    }

    private func uncount(_ connection: HTTPConnection) {
        if connection.isExcess {
            excess -= 1
            return
        }
        counted -= 1
        let left = countedByAddress[connection.peer.address, default: 1] - 1
        countedByAddress[connection.peer.address] = left > 0 ? left : nil
    }

    /// Creates the state of a connection that the library has accepted.
    func begin(_ handle: OpaquePointer) -> HTTPConnection {
        let (peer, isExcess) = admission ?? (HTTPPeer(address: "unknown", port: 0), true)
        lastNumber += 1
        let connection = HTTPConnection(
            number: lastNumber, handle: handle, peer: peer, isExcess: isExcess,
            deadline: deadline(milliseconds: configuration.requestMilliseconds))
        connections[lastNumber] = connection
        if isExcess {
            excess += 1
        } else {
            counted += 1
            countedByAddress[peer.address, default: 0] += 1
        }
        return connection
    }

    /// Removes a connection that the library closes.
    func end(_ connection: HTTPConnection) {
        connection.response?.discard()
        connection.stream?.close()
        if connection.phase != .closing { uncount(connection) }
        connections[connection.number] = nil
    }

    // MARK: Messages

    private func receive() {
        let messages = mailbox.take()
        for (number, request, response) in messages.responses {
            if let connection = connections[number], connection.phase == .handling, connection.requests == request {
                answer(connection, response)
            } else {
                response.discard()
            }
        }
        for number in messages.streams {
            guard let connection = connections[number], let stream = connection.stream else { continue }
            if connection.phase == .waiting { continueStream(connection) }
            produce(stream)
        }
        if messages.isStopping && !isStopping { beginStop() }
    }

    /// Lets the library send a response.
    private func answer(_ connection: HTTPConnection, _ response: HTTPResponse) {
        connection.response = response
        resume(connection)
    }

    private func continueStream(_ connection: HTTPConnection) {
        connection.deadline = deadline(milliseconds: configuration.responseMilliseconds)
        resume(connection)
    }

    private func resume(_ connection: HTTPConnection) {
        connection.phase = .responding
        MHD_resume_connection(connection.handle)
        hasResumed = true
    }

    /// Has a thread of handlers fill a stream's queue if there is room.
    func produce(_ stream: HTTPStream) {
        if let job = stream.productionIfNeeded() { pools.streams.submit(job) }
    }

    private func beginStop() {
        stopDeadline = clock() + UInt64(configuration.stopMilliseconds) * 1_000_000
        listener.close()
        for connection in connections.values {
            if connection.isReplaceable { shutDown(connection) }
            connection.stream?.finish()
        }
    }

    // MARK: Deadlines

    private func sweep() {
        let now = clock()
        nextDeadline = .max
        for connection in connections.values where connection.deadline <= now { expire(connection) }
        for connection in connections.values { nextDeadline = min(nextDeadline, connection.deadline) }
    }

    private func expire(_ connection: HTTPConnection) {
        switch connection.phase {
        case .receiving where connection.hasBegun || connection.requests == 0:
            refuse(connection, .requestTimeout)
        case .handling:
            connection.deadline = deadline(milliseconds: configuration.responseMilliseconds)
            answer(connection, Refusal.unavailable.response)
        case .waiting:
            if linkd_http_is_closed(connection.socket) != 0 {
                resume(connection)
                shutDown(connection)
            } else {
                connection.deadline = deadline(nanoseconds: Self.checkNanoseconds)
            }
        case .receiving, .responding, .refused, .closing:
            shutDown(connection)
        }
    }
}
