/// The threads that only the requests of some paths use, so that they hold up no others.
package struct HTTPThreadShare: Sendable {
    /// The paths.
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
    /// least as many as the address of the new connection. Otherwise, the new connection is answered with status 503.
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
    /// The maximum number of items of a query.
    ///
    /// A request with more items is answered with status 431.
    var maxQueryItems: Int { maxHeaderBytes / 32 }
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
    /// The threads of their own that the requests of some paths have.
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
