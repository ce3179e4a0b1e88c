internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient
internal import LinkCoordinator
internal import LinkIngest
internal import StrictJSON
internal import SystemThreads
internal import LinkDecider

/// The pipeline of `linkd demo`: a producer of samples, and a worker with the shipped tables.
struct DemoPipeline: Sendable {
    /// The cluster inside this process.
    let connection: Connection
    /// The input topic.
    let topic: String
    /// The registry of devices.
    let registry: String
    let tables: [RouteTable]
    /// The vendors and link platforms.
    let vendors: LoadedVendors
    /// The settings, which are the defaults.
    let settings: Settings

    /// Sends samples to the input or to another topic, and waits until the cluster has them.
    func send(_ samples: [SampleRecord], to other: String? = nil) throws(CommandFailure) {
        var sender = try EventSender(connection, topic: other ?? topic)
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
        configuration.devicesTopic = registry
        // The mock group coordinator waits for up to a session timeout when a member joins.
        configuration.clientProperties = [
            ClientProperty("consumer.session.timeout.ms", "6000"),
            ClientProperty("consumer.heartbeat.interval.ms", "500"),
        ]
        return Worker(configuration, log: log)
    }

    /// Runs a worker until it stops.
    func run(_ worker: Worker, passthrough: Passthrough = []) -> WorkerOutcome {
        var configuration = DeciderConfiguration(settings, tables, vendors)
        configuration.passthrough = passthrough
        return worker.run(configuration)
    }
}

/// The samples of `linkd demo --console`, which go through a worker again and again, so that the page shows what
/// happens now.
final class DemoTraffic: Sendable {
    /// The time between two samples in milliseconds.
    private static let pauseMilliseconds = 500

    private let worker: Worker
    private let isStopped = Monitor(false)
    private let running = Monitor(2)

    /// Starts a worker and a producer.
    init(_ pipeline: DemoPipeline, _ samples: [SampleRecord]) {
        let log = Log(level: .error, format: .text)
        worker = pipeline.makeWorker(log)
        SystemThread.start("demo worker") { [worker, running] in
            _ = pipeline.run(worker, passthrough: .campaign)
            log.close()
            running.signal { $0 -= 1 }
        }
        SystemThread.start("demo samples") { [isStopped, running] in
            var index = 0
            while isStopped.wait(milliseconds: Self.pauseMilliseconds, until: { $0 ? true : nil }) == nil {
                // A sample that is not accepted is missing on the page, and the next one follows.
                try? pipeline.send([samples[index % max(1, samples.count)]])
                index += 7
            }
            running.signal { $0 -= 1 }
        }
    }

    /// Stops both, and waits for their ends.
    func stop() {
        isStopped.signal { $0 = true }
        worker.stop()
        _ = running.wait(milliseconds: 10_000) { $0 == 0 ? true : nil }
    }
}

/// A record of the samples.
struct SampleRecord: Equatable {
    /// The key, or nil for none.
    var key: [UInt8]?
    /// The value, or nil for none.
    var value: [UInt8]?
    var headers: [RecordHeader] = []

    /// Reads the samples: events, links, CSV rows, and complete records.
    ///
    /// Most complete records become dead letters.
    static func all(_ files: ShippedFiles, _ check: EventKeys) throws(CommandFailure) -> [SampleRecord] {
        let directory = try files.path("samples")
        var records: [SampleRecord] = []
        for name in Platform.names(in: directory) {
            let path = directory + "/" + name
            switch name {
            case "records.jsonl": records += try whole(path)
            case devicesFile, listsFile: continue
            case _ where [".jsonl", ".csv", ".txt"].contains(where: name.hasSuffix): records += try events(path, check)
            default: continue
            }
        }
        return records
    }

    /// Reads the devices of the registry, each with its key, and without a value to delete it.
    static func devices(_ files: ShippedFiles, _ members: DeviceMembers) throws(CommandFailure) -> [SampleRecord] {
        let path = try files.path("samples") + "/" + devicesFile
        let (source, devices) = (try ByteSource(path: path), DeviceRecords(members))
        var records: [SampleRecord] = []
        while let line = source.line(limit: EventInput.limit) {
            guard case .success(let device) = devices.record(of: line) else {
                throw unreadable(path, records.count + 1)
            }
            records.append(SampleRecord(key: device.key.array, value: device.value?.array))
        }
        return records
    }

    private static let devicesFile = "devices.jsonl"
    /// The samples for `produce --raw`, which are no events by themselves.
    private static let listsFile = "lists.jsonl"

    private static func unreadable(_ path: String, _ line: Int) -> CommandFailure {
        CommandFailure(
            .badData, "\(path), line \(line) cannot be read", advice: "reinstall the samples that come with linkd")
    }

    private static func events(_ path: String, _ check: EventKeys) throws(CommandFailure) -> [SampleRecord] {
        let input = try EventInput(
            try ByteSource(path: path), format: .auto, raw: false, map: ColumnMap(passthrough: []))
        var records: [SampleRecord] = []
        while let line = input.next() {
            guard case .success(let value) = line.value, case .success(let key) = check.key(of: value) else {
                throw unreadable(path, line.line)
            }
            records.append(SampleRecord(key: key?.array, value: value.array))
        }
        return records
    }

    /// Reads lines with `key`, `value` as text or `hex` as bytes, and `headers`.
    private static func whole(_ path: String) throws(CommandFailure) -> [SampleRecord] {
        let source = try ByteSource(path: path)
        var records: [SampleRecord] = []
        while let line = source.line(limit: EventInput.limit) {
            guard let json = try? JSONValue.parse(line.array), json.object != nil else { continue }
            records.append(SampleRecord(whole: json))
        }
        return records
    }

    private init(key: [UInt8]?, value: [UInt8]?) {
        self.key = key
        self.value = value
    }

    private init(whole json: JSONValue) {
        key = json["key"]?.string.map { Array($0.utf8) }
        value = json["value"]?.string.map { Array($0.utf8) } ?? json["hex"]?.string.map(Self.bytes)
        headers = (json["headers"]?.object ?? []).map { header in
            RecordHeader(name: Array(header.name.utf8), value: header.value.string.map { Array($0.utf8) })
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
