internal import DispatchWorker
internal import HTTPServer
internal import RouteTools

/// The pages of a worker: `/ping`, `/ready`, `/metrics`, and `/status`.
///
/// They only read, so that the port changes nothing.
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
