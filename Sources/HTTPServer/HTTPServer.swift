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
