internal import CPlatform
internal import DispatchWorker
internal import HTTPServer
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteTools
internal import StrictJSON

/// `linkd worker`: runs the worker.
enum WorkerCommand {
    static let command = Command(
        path: ["worker"],
        summary: "Resolve events into decisions, exactly once",
        discussion: [
            "Consumes the input topics, resolves every event with the route tables, and publishes one decision per "
                + "device in the same transaction as the offsets of the input. An event that cannot be processed "
                + "becomes a dead letter. SIGTERM or SIGINT ends the worker after it has committed its current work. "
                + "A second signal, at least one second later, ends it at once. SIGHUP loads the tables again, "
                + "SIGUSR1 pauses consumption, SIGUSR2 resumes it, and SIGQUIT writes the state to the log.",
            "Exit codes: 0 (after a signal or `--stop-after`), 64 (a wrong flag), 65 (a refused table, data loss), 69 "
                + "(no broker), 70 (internal error), 75 (gave up for now), 77 (not authorized), 78 (a wrong setting, "
                + "or a missing file or topic), 79 (another process uses the instance name), 80 (forced end), 81 "
                + "(too many dead letters).",
        ],
        settings: .worker,
        main: [
            "--bootstrap", "--input", "--output", "--table", "--vendors", "--group", "--instance", "--lanes",
            "--passthrough", "--state-dir", "--http-listen", "--log-format", "--config",
        ],
        examples: [
            "linkd worker -b localhost:9092 --table config/routes/shop.json": "Runs with one table and all defaults.",
            "linkd worker -b k1:9092,k2:9092 --table shop.json --instance shop-0 --lanes 4":
                "Runs a member of a fleet of fixed size. A restart takes over at once.",
            "linkd worker -b localhost:9092 --table shop.json --stop-after 100000 --report json":
                "Processes 100,000 records, then prints a report as JSON.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        // Installed before anything slow, so that a signal during the start stops the worker.
        StopSignals.install()
        linkd_keep_freed_memory()
        let settings: Settings
        do throws(CommandFailure) {
            settings = try call.settings()
        } catch {
            return try report(error, words: call.words, environment: call.environment, call.console)
        }
        let log = Log(level: logLevel(settings), format: logFormat(settings, call.console))
        defer { log.close() }
        do throws(CommandFailure) {
            return try run(call, settings, log)
        } catch {
            log.log(exit(error))
            return error.code
        }
    }

    /// Reports a failure before the settings are known, in the format of the log.
    ///
    /// Tools that read the log also read the reason why a worker did not start. In the format `text`, the failure is
    /// thrown, so that it is reported as in other commands.
    static func report(
        _ failure: CommandFailure, words: [String], environment: [String: String], _ console: Console
    ) throws(CommandFailure) -> ExitCode {
        guard EarlyLogFormat.of(words, environment) ?? defaultFormat(console) == .json else { throw failure }
        let log = Log(level: .info, format: .json)
        log.log(exit(failure))
        log.close()
        return failure.code
    }

    /// Returns the last line of the log.
    private static func exit(_ failure: CommandFailure) -> LogEntry {
        LogEntry(
            .error, LogEntry.exit, failure.reason,
            [
                "code": .number(Int64(failure.code.rawValue)), "reason": .text(failure.reason),
                "advice": .text(failure.advice),
            ])
    }

    private static func run(_ call: Invocation, _ settings: Settings, _ log: Log) throws(CommandFailure) -> ExitCode {
        var configuration = try configuration(settings)
        configuration.tokens = TokenProvider(settings)?.source { log.log(TokenProvider.entry($0)) }
        let notifier = SystemdNotifier(environment: call.environment)
        let worker = Worker(configuration, log: log, handlesSignals: true, notifier: notifier)
        worker.watch()
        // A failure is the last line of the log.
        defer { worker.endWatch() }
        let server = try MonitoringServer.start(settings, configuration, worker.status, log)
        defer { server?.stop() }
        let state = try stateDirectory(configuration)
        if let state { worker.status.show(state) }
        let vendors = try loadVendors(settings, ShippedFiles(environment: call.environment), log)
        let tables = try TableReloader(
            TableFiles(settings), archive: state.map(TableArchive.init), topic: WorkerArchive(settings, vendors),
            log: log, notifier: notifier
        ) { [requests = worker.requests] in requests.reload }
        let crashes = state.map { CrashFiles($0, log: log).isolation(of: tables.served, call, log: log) }
        let shortLinks = try ShortLinkReloader(path: settings.text("short.links"), log: log) {
            [requests = worker.requests] in requests.reload
        }
        var decider = DeciderConfiguration(settings, [], vendors)
        decider.shortLinks = shortLinks?.shortLinks
        tables.start()
        defer { tables.stop() }
        shortLinks?.start()
        defer { shortLinks?.stop() }
        let outcome = worker.run(tables: tables.served, decider, crashes: crashes)
        if let format = configuration.report { call.console.out.line(outcome.report.text(format)) }
        return ExitCode(rawValue: outcome.code)
    }

    /// Takes the state directory, or returns nil if none is set.
    ///
    /// A directory that cannot be used ends with exit code 78.
    private static func stateDirectory(
        _ configuration: WorkerConfiguration
    ) throws(CommandFailure) -> StateDirectory? {
        guard let path = configuration.stateDirectory else { return nil }
        do throws(StateDirectoryError) {
            return try StateDirectory(path: path)
        } catch {
            throw CommandFailure(.configuration, Escaping.visible(error.reason), advice: error.advice)
        }
    }

    private static func loadVendors(
        _ settings: Settings, _ shipped: ShippedFiles, _ log: Log
    ) throws(CommandFailure) -> LoadedVendors {
        let loaded = try LoadedVendors(settings, shipped, opensShortLinks: false) { file, problem in
            log.log(
                .error, "vendors.refused", problem.message,
                [
                    "file": .text(file), "line": .count(problem.location.line),
                    "column": .count(problem.location.column), "code": .text(problem.code),
                    "advice": .text(problem.suggestion),
                ])
        }
        try loaded.requireShipped()
        if !loaded.paths.isEmpty {
            log.log(.info, "vendors.loaded", "vendors and link platforms loaded", ["files": .list(loaded.paths)])
        }
        return loaded
    }

    private static func logLevel(_ settings: Settings) -> LogLevel {
        LogLevel.allCases.first { $0.name == settings.text("log.level") } ?? .info
    }

    private static func logFormat(_ settings: Settings, _ console: Console) -> LogFormat {
        settings.text("log.format").flatMap(LogFormat.init) ?? defaultFormat(console)
    }

    private static func defaultFormat(_ console: Console) -> LogFormat { console.err.isTerminal ? .text : .json }

    /// Returns the configuration of the worker.
    static func configuration(_ settings: Settings) throws(CommandFailure) -> WorkerConfiguration {
        var result = WorkerConfiguration(bootstrap: try settings.requireBootstrap())
        let inputs = settings.list("input")
        result.input = inputs.first?.hasPrefix("^") == true ? .pattern(inputs[0]) : .topics(inputs)
        result.outputs = settings.outputs
        result.deadLetterTemplate = settings.text("dlq.topic") ?? result.deadLetterTemplate
        result.deadLetterHeaders = choice(settings, "dlq.headers", result.deadLetterHeaders)
        result.deadLetterMaxRatio = Double(settings.number("dlq.max.ratio")) / 10_000
        result.deadLetterExcess = choice(settings, "dlq.excess", result.deadLetterExcess)
        result.deadLetterMaxRate = Int(settings.number("dlq.max.rate"))
        result.deadLetterMaxConsecutive = Int(settings.number("dlq.max.consecutive"))
        result.group = settings.text("group") ?? result.group
        result.instance = settings.text("instance")
        result.lanes = Int(settings.number("lanes"))
        result.guarantee = choice(settings, "guarantee", result.guarantee)
        result.from = choice(settings, "from", result.from)
        result.dataLoss = choice(settings, "data.loss", result.dataLoss)
        result.assignor = choice(settings, "assignor", result.assignor)
        result.commit = commitLimits(settings)
        result.batchRecords = Int(settings.number("batch.records"))
        result.stopAfter = settings.number("stop.after")
        result.report = settings.text("report").flatMap(ReportFormat.init)
        result.startTimeoutMilliseconds = Int(settings.number("start.timeout"))
        result.shutdownGraceMilliseconds = Int(settings.number("shutdown.grace"))
        result.stateDirectory = settings.text("state.dir")
        result.devicesTopic = settings.text("devices.topic")
        result.tablesTopic = settings.text("tables.topic")
        result.deviceMembers = try settings.deviceMembers
        result.maxDevices = Int(settings.number("devices.max"))
        result.maxLoopAgeMilliseconds = Int(settings.number("http.max.loop.age"))
        result.maxStallMilliseconds = Int(settings.number("http.max.stall"))
        result.logsTraces = settings.entry("trace.log").value == .boolean(true)
        result.clientProperties = settings.properties.map { ClientProperty($0.key, $0.value) }
        result.version = LinkdVersion.text
        return result
    }

    private static func commitLimits(_ settings: Settings) -> CommitLimits {
        var limits = CommitLimits()
        limits.intervalMilliseconds =
            settings.entry("commit.interval").value == .auto ? nil : Int(settings.number("commit.interval"))
        limits.records = Int(settings.number("commit.records"))
        limits.bytes = Int(settings.number("commit.bytes"))
        limits.idleMilliseconds = Int(settings.number("commit.idle"))
        return limits
    }

    private static func choice<Choice: RawRepresentable<String>>(
        _ settings: Settings, _ name: String, _ otherwise: Choice
    ) -> Choice {
        settings.text(name).flatMap(Choice.init) ?? otherwise
    }
}

/// `linkd try-record`: resolves one record as the worker that started it would, and ends with 0 if it survives.
///
/// A worker starts it with its own flags and a record on standard input. It connects to nothing, and prints one byte
/// before it resolves the record. It asks the worker what the registry knows about the record's devices.
enum TryRecordCommand {
    /// The size limit of the input in bytes.
    private static let inputBytes = 128 << 20

    static let command = Command(
        path: [RecordTrial.command], summary: "Resolve a record in a child process of a worker",
        settings: .worker,
        examples: [
            "linkd \(RecordTrial.command)": "Resolves the record on standard input."
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        guard case .success(let input?) = TrialPipe.field(from: 0, limit: inputBytes),
            let received = TriedRecord.read(input), let directory = settings.text("state.dir")
        else { throw CommandFailure(.usage, "no record", advice: "this command is started by a worker") }
        let tables = try received.tables.map { hash throws(CommandFailure) in try table(hash, in: directory) }
        var canary: CanaryPlan?
        if let candidate = received.candidate, let file = CanaryFile(settings) {
            canary = try file.plan(try table(candidate, in: directory), for: tables)
        }
        let vendors = try LoadedVendors(settings, ShippedFiles(environment: call.environment)) { _, _ in }
        let configuration = DeciderConfiguration(settings, tables, vendors, candidate: canary)
        let limits = configuration.limits
        var decider = Decider(configuration, devices: received.asksDevices ? AskedDevices() : nil)
        linkd_limit_process(
            RecordTrial.seconds,
            RecordTrial.memoryBytes(recordBytes: limits.recordBytes, outputBytes: limits.outputBytes))
        withUnsafeBytes(of: UInt8(ascii: ".")) { _ = Platform.write(1, $0) }
        received.record.resolve(with: &decider)
        return .success
    }

    /// Returns a table that the worker has checked and kept.
    private static func table(_ hash: String, in directory: String) throws(CommandFailure) -> RouteTable {
        if let table = TableArchive.table(hash: hash, in: directory).flatMap({ RouteTable.unchecked($0) }) {
            return table
        }
        throw CommandFailure(.configuration, "a table is not in state.dir", advice: "free space in state.dir")
    }
}
