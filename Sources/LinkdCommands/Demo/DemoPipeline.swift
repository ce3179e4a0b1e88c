internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient
internal import LinkCoordinator
internal import LinkIngest
internal import SystemThreads

/// The pipeline of `linkd demo`: a producer of samples, and a worker with the shipped tables.
struct DemoPipeline: Sendable {
    /// The cluster inside this process.
    let connection: Connection
    /// The input topic.
    let topic: String
    /// The tables.
    let tables: [RouteTable]
    /// The vendors and link platforms.
    let vendors: LoadedVendors
    /// The settings, which are the defaults.
    let settings: Settings

    /// Sends samples, and waits until the cluster has them.
    func send(_ samples: [SampleRecord]) throws(CommandFailure) {
        var sender = try EventSender(connection, topic: topic)
        var arena = OutputArena()
        for (index, sample) in samples.enumerated() {
            var (key, value): (ByteView?, ByteView?) = (nil, nil)
            if let bytes = sample.key { key = arena.copy(bytes) }
            if let bytes = sample.value { value = arena.copy(bytes) }
            let headers = arena.copy(sample.headers)
            _ = try sender.send(key: key, value: value, headers: headers, entry: index + 1)
        }
        sender.finish { _ in }
        guard sender.deliveries.delivered == samples.count else {
            throw CommandFailure(
                .internalError, "the mock cluster accepted \(sender.deliveries.delivered) of \(samples.count) records",
                advice: "run `linkd demo` again")
        }
    }

    /// Runs a worker until it has processed a number of records.
    func runWorker(records: Int) throws(CommandFailure) {
        let log = Log(level: .error, format: .text)
        defer { log.close() }
        let worker = makeWorker(log, stopAfter: Int64(records))
        // Stops the worker after a minute, in case the mock cluster has lost a record.
        SystemThread.start("demo limit") {
            Platform.sleep(milliseconds: 60_000)
            worker.stop()
        }
        let outcome = run(worker)
        if let exit = outcome.exit {
            throw CommandFailure(ExitCode(rawValue: exit.code.rawValue), exit.reason, advice: exit.advice)
        }
        guard outcome.report.records == records else {
            throw CommandFailure(
                .internalError,
                "the worker processed \(outcome.report.records) of \(records) records in a minute",
                advice: "run `linkd demo` again")
        }
    }

    /// Returns a worker of the cluster, which ends after a number of records, or never for 0.
    func makeWorker(_ log: Log, stopAfter: Int64 = 0) -> Worker {
        var configuration = WorkerConfiguration(bootstrap: connection.bootstrap)
        configuration.isMockBroker = true
        configuration.stopAfter = stopAfter
        configuration.version = LinkdVersion.text
        // The mock group coordinator waits for up to a session timeout when a member joins.
        configuration.clientProperties = [
            ClientProperty("consumer.session.timeout.ms", "6000"),
            ClientProperty("consumer.heartbeat.interval.ms", "500"),
        ]
        return Worker(configuration, log: log)
    }

    /// Runs a worker until it stops.
    func run(_ worker: Worker, passthrough: [String] = []) -> WorkerOutcome {
        worker.run(
            tables: TableSet(tables), limits: IngestLimits(settings), passthrough: passthrough, vendors: vendors.table,
            platforms: vendors.platforms)
    }
}
