internal import DispatchWorker
internal import HTTPServer

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
            log.log(
                LogEntry(
                    .info, "http", "listening for probes and metrics",
                    [LogField("address", .text(server.address.description))]))
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
