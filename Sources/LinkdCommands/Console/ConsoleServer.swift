internal import DecisionIndex
internal import HTTPServer
internal import RouteTools
internal import SystemThreads

/// The running server of a console.
final class ConsoleServer {
    /// The address to open, with the token unless a file contains it.
    let url: String
    /// The file of the token, or nil if the token is random.
    private let tokenFile: String?
    private let server: HTTPServer
    /// The reader of decisions and dead letters, or nil without a broker.
    private let feed: DecisionFeed?

    /// Starts the server.
    ///
    /// An address beyond this machine without TLS and without a proxy ends with exit code 64, and one that cannot be
    /// used with 78.
    ///
    /// - Parameters:
    ///   - call: The call of the command.
    ///   - settings: The settings.
    ///   - connection: The cluster, or nil for the cluster of the settings, if they name one.
    init(_ call: Invocation, _ settings: Settings, connection: Connection? = nil) throws(CommandFailure) {
        let files = try ConsoleFiles(ShippedFiles(environment: call.environment))
        let hasBroker = !settings.list("bootstrap").isEmpty
        let cluster = hasBroker && connection == nil ? try Connection(settings) : connection
        let site = try ConsoleSite(call, settings, cluster)
        feed = cluster.map { DecisionFeed(Self.feedOptions(call, site, $0)) }
        let address = try ConsoleAddress(call)
        tokenFile = call.text("token-file")
        let given = try tokenFile.map { path throws(CommandFailure) in try AccessToken(file: path) }
        do throws(HTTPServerError) {
            // The check needs the port, which the system selects for port 0.
            let router = Monitor<ConsoleRouter?>(nil)
            server = try HTTPServer(
                Self.limits(address), answerEarly: { request in router.withLock { $0 }?.answerEarly(request) }
            ) { request in
                router.wait(milliseconds: 10_000) { $0 }?.respond(to: request)
                    ?? .problem(503, "starting", "the console is starting", next: "try again")
            }
            let token = given ?? AccessToken()
            let check = ConsoleGuard(
                token: token, address: server.address, hosts: address.authorities(port: server.address.port),
                isSecure: address.isSecure, session: given.map(AccessToken.init(sessionOf:)) ?? AccessToken())
            let ready = Self.router(check, files, site, feed, call)
            router.signal { $0 = ready }
            // Whoever can read the output of a service must not learn the token of its file.
            url = address.origin(of: server.address) + (given == nil ? "/?token=\(token.text)" : "/")
            feed?.start()
        } catch {
            throw ConsoleAddress.failure(error)
        }
    }

    /// Prints the address.
    func announce(on console: Console) {
        console.out.line("The console is at " + console.out.style.heading(url))
        if let tokenFile {
            console.note(
                "Open it once in each browser with `?token=` and the token in \(Escaping.visible(tokenFile)).")
        }
        console.note("Press Ctrl-C to stop.")
        console.flush()
    }

    /// Stops the server, its readers, and its streams.
    func stop() {
        feed?.stop()
        server.stop()
    }

    /// Returns the options of the reader of decisions and dead letters.
    private static func feedOptions(
        _ call: Invocation, _ site: ConsoleSite, _ connection: Connection
    ) -> FeedOptions {
        let now = Platform.nowMilliseconds
        let since = Timestamps.parse(call.text("since") ?? "24h", now: now) ?? now - 86_400_000
        return FeedOptions(
            connection: connection, settings: site.settings, since: since, masks: site.masks)
    }

    private static func router(
        _ check: ConsoleGuard, _ files: ConsoleFiles, _ site: ConsoleSite, _ feed: DecisionFeed?,
        _ call: Invocation
    ) -> ConsoleRouter {
        var router = ConsoleRouter(check, files)
        InfoRoute.add(to: &router, site)
        TryRoutes.add(to: &router, site)
        LinkRoutes.add(to: &router, site)
        WorkerRoute.add(to: &router, site, RecordMask(hash: KeyedHash(), isOn: site.masks))
        ReplayRoute.add(to: &router, site, call)
        ReplayReasons.add(to: &router, site, feed)
        let traffic = feed?.routeTraffic
        MapRoutes.add(to: &router, site, traffic: traffic)
        let status = site.worker.map { worker in { @Sendable in try? WorkerClient.get(worker) } }
        CompareRoutes.add(to: &router, site, traffic: traffic, status: status)
        DecisionRoutes.add(to: &router, feed)
        DecisionRoute.add(to: &router, site, feed)
        return router
    }

    /// Returns the limits of the server.
    private static func limits(_ address: ConsoleAddress) -> HTTPServerConfiguration {
        var result = HTTPServerConfiguration(address: address.listen)
        result.tls = address.tls
        result.maxConnections = 128
        // All users of a proxy have its address.
        result.maxConnectionsPerAddress = 128
        result.maxBodyBytes = 8 << 20
        result.handlerMilliseconds = 60_000
        result.handlerThreads = 4
        result.shares = shares
        return result
    }

    /// The threads of each kind of request, so that many requests of one kind do not hold up the others.
    private static let shares = [
        HTTPThreadShare(["/api/resolve", "/api/matrix"], threads: 4),
        HTTPThreadShare(["/api/map", "/api/route"], threads: 2),
        HTTPThreadShare(["/api/compare"], threads: 2),
        HTTPThreadShare(["/api/decision"], threads: 4),
        HTTPThreadShare(["/api/decisions.csv"], threads: 2),
        HTTPThreadShare(["/api/decisions", "/api/deadletters", "/api/chart"], threads: 4),
        HTTPThreadShare(["/api/replay", "/api/replay/reasons"], threads: 2),
        HTTPThreadShare(["/api/worker"], threads: 2),
    ]
}
