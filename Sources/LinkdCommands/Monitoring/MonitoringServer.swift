internal import DispatchWorker
internal import HTTPServer
internal import RouteTools

/// The HTTP server of a worker with the setting `http.listen`.
enum MonitoringServer {
    /// Starts the server, or returns nil without an address.
    ///
    /// The server runs until it is released. An address that cannot be used ends the command with exit code 78.
    static func start(
        _ settings: Settings, _ configuration: WorkerConfiguration, _ status: WorkerStatus, _ log: Log
    ) throws(CommandFailure) -> HTTPServer? {
        guard let text = settings.text("http.listen") else { return nil }
        do throws(HTTPServerError) {
            let router = WorkerRoutes.router(status, configuration)
            let server = try HTTPServer(limits(try ListenAddress(parsing: text))) { router.respond(to: $0) }
            log.log(.info, "http", "listening for probes and metrics", ["address": .text("\(server.address)")])
            return server
        } catch {
            throw CommandFailure(
                .configuration, "http.listen: \(error.address): \(error.message) (\(error.code.rawValue))",
                advice: error.next)
        }
    }

    /// Returns the limits of a server that has only pages.
    private static func limits(_ address: ListenAddress) -> HTTPServerConfiguration {
        var result = HTTPServerConfiguration(address: address)
        result.maxConnections = 64
        result.maxConnectionsPerAddress = 32
        result.maxBodyBytes = 0
        result.handlerThreads = 1
        return result
    }
}

/// The pages of a worker: `/ping`, `/ready`, `/metrics`, and `/status`.
///
/// They only read, so the port changes nothing.
enum WorkerRoutes {
    /// Returns the router of the pages.
    ///
    /// Each response is built from the state at the time of its request.
    static func router(_ status: WorkerStatus, _ configuration: WorkerConfiguration) -> HTTPRouter {
        let maxLoopAge = UInt64(configuration.maxLoopAgeMilliseconds) * 1_000_000
        var router = HTTPRouter()
        router.on(.get, "/ping") { _ in health(Health.notLive(read(status), maxLoopAge: maxLoopAge)) }
        router.on(.get, "/ready") { _ in health(Health.notReady(read(status))) }
        router.on(.get, "/metrics") { _ in
            HTTPResponse(
                contentType: PrometheusPage.contentType, body: .bytes(PrometheusPage.text(read(status))))
        }
        router.on(.get, "/status") { _ in
            HTTPResponse(
                contentType: StatusDocument.contentType,
                body: .bytes(Array((StatusDocument.json(read(status)) + "\n").utf8)))
        }
        return router
    }

    private static func read(_ status: WorkerStatus) -> WorkerSnapshot {
        status.snapshot(now: SystemClock.monotonicNanoseconds())
    }

    /// Returns `ok`, or status 503 with one reason in each line.
    private static func health(_ reasons: [String]) -> HTTPResponse {
        if reasons.isEmpty { return .text("ok") }
        return .text(reasons.map(Escaping.visible).joined(separator: "\n"), status: 503)
    }
}
