internal import CMicroHTTPD
internal import SystemThreads

/// A small HTTP/1.1 server for pages, probes, and metrics.
///
/// The server listens as soon as it is created. One thread accepts connections, reads requests, writes responses, and
/// enforces the limits of the configuration. The handler runs on other threads of the server and may block.
package final class HTTPServer: Sendable {
    /// The address that the server listens on, with the port that the system has selected for port 0.
    package let address: ListenAddress
    private let configuration: HTTPServerConfiguration
    private let mailbox: Mailbox
    private let pools: HandlerPools
    /// A Boolean value that indicates whether the server's thread has ended.
    private let hasEnded = Monitor(false)

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - configuration: The address and the limits. Limits outside their range are replaced with the nearest value.
    ///   - answerEarly: A function that answers a request when its headers have arrived, or returns nil. The body of an
    ///     answered request is discarded as it arrives. It is called on the server's thread, so it must not wait.
    ///   - handler: The function that answers all other requests. It can be called on several threads at the same time.
    /// - Throws: An error that names the address, the cause, and the next step.
    package init(
        _ configuration: HTTPServerConfiguration, answerEarly: (@Sendable (HTTPRequest) -> HTTPResponse?)? = nil,
        handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws(HTTPServerError) {
        let configuration = configuration.bounded()
        let listener = try ListenSocket(configuration.address)
        guard let mailbox = Mailbox() else {
            throw .resources(configuration.address.description, "no pipe can be created")
        }
        guard let pools = HandlerPools(configuration) else {
            throw .resources(configuration.address.description, "no thread can be created")
        }
        (self.configuration, self.mailbox, self.pools) = (configuration, mailbox, pools)
        address = ListenAddress(host: configuration.address.host, port: listener.port)
        let start = EventLoop.Start(
            configuration: configuration, mailbox: mailbox, pools: pools, handler: handler, answerEarly: answerEarly)
        let hasBegun = Monitor<Bool?>(nil)
        let isStarted = SystemThread.start("http") { [hasEnded] in
            let loop = EventLoop(start, listener)
            hasBegun.signal { $0 = loop != nil }
            loop?.run()
            hasEnded.signal { $0 = true }
        }
        if !isStarted { hasEnded.signal { $0 = true } }
        let isRunning = isStarted && hasBegun.wait(milliseconds: 10_000) { $0 } == true
        // All properties are set, so that `deinit` runs after this error and stops what runs.
        if isStarted, !isRunning, configuration.tls != nil {
            throw .unusableIdentity(configuration.address.description, isSupported: linkd_http_has_tls() != 0)
        }
        if !isRunning {
            throw .resources(configuration.address.description, "libmicrohttpd or its thread cannot be started")
        }
    }

    deinit { stop() }

    /// Stops the server.
    ///
    /// No more connections are accepted, and idle ones are closed at once. Requests whose handlers are running are
    /// answered, and streams end, within the time of the configuration. After it they are closed. A handler that still
    /// runs then is not interrupted, and its response is discarded. Further calls have no effect.
    package func stop() {
        mailbox.post { $0.isStopping = true }
        // The server's thread never blocks, so that it ends within its own limit.
        _ = hasEnded.wait(milliseconds: configuration.stopMilliseconds + 1_000) { $0 ? true : nil }
        pools.stop(milliseconds: 100)
    }
}

/// The threads that only the requests of some paths use, so that they hold up no others.
package struct HTTPThreadShare: Sendable {
    package var paths: Set<String>
    /// The number of threads.
    package var threads: Int

    /// Creates a share.
    package init(_ paths: Set<String>, threads: Int) {
        self.paths = paths
        self.threads = threads
    }
}

/// The settings and limits of a server.
package struct HTTPServerConfiguration: Sendable {
    /// The address that the server listens on.
    package var address: ListenAddress
    /// The certificate and the key for TLS, or nil for HTTP without TLS.
    package var tls: TLSIdentity?
    /// The maximum number of connections.
    ///
    /// A new connection beyond the limit replaces the oldest connection without a complete request. If there is none,
    /// it replaces the oldest connection of the address with the most connections, if this address then still has at
    /// least as many as the address of the new one. Otherwise, the new connection is answered with status 503.
    package var maxConnections = 256
    /// The maximum number of connections from one IP address.
    ///
    /// A new connection beyond the limit replaces the oldest connection of this address without a complete request. If
    /// there is none, the new connection is answered with status 503.
    package var maxConnectionsPerAddress = 64
    /// The maximum size of the request line and the headers in bytes.
    ///
    /// A larger request is answered with status 431.
    package var maxHeaderBytes = 8192
    /// The maximum size of a request's body in bytes.
    ///
    /// A larger request is answered with status 413.
    package var maxBodyBytes = 65_536
    /// The time in milliseconds in which a whole request must arrive.
    ///
    /// It begins when the connection is accepted, or when the previous response is complete. After it the request is
    /// answered with status 408, and an idle connection is closed.
    package var requestMilliseconds = 10_000
    /// The time in milliseconds in which the handler must return.
    ///
    /// After it the request is answered with status 503.
    package var handlerMilliseconds = 10_000
    /// The time in milliseconds in which the client must receive a whole response, or the next part of a stream.
    ///
    /// After it the connection is closed.
    package var responseMilliseconds = 30_000
    /// The time in milliseconds that `stop()` waits for requests and streams to end before it closes them.
    package var stopMilliseconds = 2_000
    /// The number of threads that run the handler for paths without a share of their own.
    package var handlerThreads = 2
    /// The threads that only the requests of some paths use.
    ///
    /// With shares, streams are produced by threads of their own too, as many as `handlerThreads`.
    package var shares: [HTTPThreadShare] = []

    /// Creates a configuration with the default limits.
    package init(address: ListenAddress) { self.address = address }

    /// Returns the configuration with every limit in the range that the server supports.
    func bounded() -> HTTPServerConfiguration {
        var result = self
        result.maxConnections = maxConnections.clamped(1, 10_000)
        result.maxConnectionsPerAddress = maxConnectionsPerAddress.clamped(1, 10_000)
        result.maxHeaderBytes = maxHeaderBytes.clamped(1024, 1_048_576)
        result.maxBodyBytes = maxBodyBytes.clamped(0, 1_073_741_824)
        result.requestMilliseconds = requestMilliseconds.clamped(1, 3_600_000)
        result.handlerMilliseconds = handlerMilliseconds.clamped(1, 3_600_000)
        result.responseMilliseconds = responseMilliseconds.clamped(1, 3_600_000)
        result.stopMilliseconds = stopMilliseconds.clamped(0, 60_000)
        result.handlerThreads = handlerThreads.clamped(1, 64)
        result.shares = shares.prefix(16).map { HTTPThreadShare($0.paths, threads: $0.threads.clamped(1, 64)) }
        return result
    }
}

extension Int {
    /// Returns the nearest value of a range.
    fileprivate func clamped(_ low: Int, _ high: Int) -> Int { Swift.min(Swift.max(self, low), high) }
}

/// The address that a server listens on.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IP address without brackets or a host name, or an empty string for all interfaces.
    package var host: String
    /// The port, or 0 for a free port that the system selects.
    package var port: UInt16

    /// Creates an address.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Parses `host:port`, `[IPv6 address]:port`, or `:port`.
    package init(parsing text: String) throws(HTTPServerError) {
        guard let colon = text.lastIndex(of: ":") else { throw .invalid(text, "the port is missing") }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits)
        else { throw .invalid(text, "the port is not a number from 0 to 65535") }
        host = try Self.host(text[..<colon], of: text)
        self.port = port
    }

    private static func host(_ host: Substring, of text: String) throws(HTTPServerError) -> String {
        if host.hasPrefix("[") {
            let inner = host.dropFirst().dropLast()
            guard host.hasSuffix("]"), inner.contains(":"), inner.utf8.count <= 64,
                inner.utf8.allSatisfy({ isNameByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "%") })
            else { throw .invalid(text, "the brackets do not contain an IPv6 address") }
            return String(inner)
        }
        guard !host.contains(":") else { throw .invalid(text, "an IPv6 address needs brackets") }
        guard host.utf8.count <= 253, host.utf8.allSatisfy(isNameByte) else {
            throw .invalid(text, "the host is not an IP address or a host name")
        }
        return String(host)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The address as text, with an IPv6 address in brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The certificate and the private key with which a server proves its name in TLS.
package struct TLSIdentity: Sendable {
    /// The certificate, and the certificates between it and a known authority, in the PEM format.
    package var certificate: String
    /// The private key in the PEM format, without a password.
    package var key: String

    /// Creates an identity.
    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// An error that prevents the start of a server.
package struct HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The stable identifiers of errors.
    package enum Code: String, Sendable, CaseIterable {
        /// The text is not an address with a port.
        case invalidAddress = "http.address.invalid"
        /// The host name has no IP address.
        case unknownHost = "http.host.unknown"
        /// Another socket listens on the address and the port.
        case addressInUse = "http.address.in_use"
        /// The process is not allowed to use the port.
        case permissionDenied = "http.permission.denied"
        /// No network interface of this machine has the address.
        case addressNotAvailable = "http.address.not_available"
        /// The certificate or the key cannot be used for TLS.
        case unusableIdentity = "http.tls.unusable"
        /// The system has no more sockets, threads, or memory.
        case outOfResources = "http.resources.exhausted"
    }

    /// The identifier.
    package var code: Code
    /// The address as it was written.
    package var address: String
    /// The cause.
    package var message: String
    /// The next step.
    package var next: String

    /// The address, the message, the code, and the next step.
    package var description: String { "\(address): \(message) (\(code.rawValue)). Next: \(next)" }

    /// Returns the error for an address that cannot be parsed.
    static func invalid(_ address: String, _ message: String) -> HTTPServerError {
        HTTPServerError(
            code: .invalidAddress, address: address, message: message,
            next: "write host:port, [IPv6 address]:port, or :port for all interfaces, such as 127.0.0.1:8080")
    }

    /// Returns the error for a host name without an IP address.
    static func unknownHost(_ address: String, _ cause: String) -> HTTPServerError {
        HTTPServerError(
            code: .unknownHost, address: address, message: "the host name has no IP address: \(cause)",
            next: "correct the name, or use an IP address of this machine")
    }

    /// Returns the error for a certificate or a key that the library does not accept.
    static func unusableIdentity(_ address: String, isSupported: Bool) -> HTTPServerError {
        HTTPServerError(
            code: .unusableIdentity, address: address,
            message: isSupported
                ? "the certificate and the key cannot be used for TLS" : "libmicrohttpd was built without TLS",
            next: isSupported
                ? "check that both are in the PEM format, that the key has no password, and that they belong together"
                : "install libmicrohttpd with TLS, or put a proxy with TLS in front of the server")
    }

    /// Returns the error for a missing thread or another missing resource.
    static func resources(_ address: String, _ message: String) -> HTTPServerError {
        HTTPServerError(
            code: .outOfResources, address: address, message: message,
            next: "increase the limits of open files, threads, and memory of this process")
    }
}
