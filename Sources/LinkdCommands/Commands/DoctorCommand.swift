internal import KafkaClient

/// `linkd doctor`: checks everything that a worker with these settings needs.
enum DoctorCommand {
    static let command = Command(
        path: ["doctor"],
        summary: "Check the library, the files, the brokers, the topics, the group, and the access rights",
        discussion: [
            "Prints one line per check as soon as it is known, which begins with ok, warn, or fail, and states the "
                + "next step. Without --start-timeout, it waits 4 s for the first reply of a broker. It never joins "
                + "the group, commits nothing, and uses no worker's transactional id. Without a reply from a broker "
                + "the checks of brokers are left out. Brokers do not tell a client its principal, so that the "
                + "principal is presumed from the settings.",
            "Exit codes: 0 (no check failed), 1 (a check failed), 69 (no broker), 77 (credentials were refused, or "
                + "access rights are missing).",
        ],
        flags: [
            Flag(
                "--probe",
                "Also test the rights to write, with one aborted transaction for each output and dead-letter topic, "
                    + "and compare the clocks with a topic that is created and deleted, if that is allowed."),
            Flag(
                "--print-acls",
                "Only print the commands that add the access rules for these settings. No broker is needed."),
            Flag(
                "--replay", "With --print-acls, print the rules for `linkd dlq replay` instead of those for a worker."),
            Flag("--recall", "With --print-acls, print the rules for `linkd recall` instead of those for a worker."),
            Flag("--json", "Print one JSON object."),
        ],
        settings: .doctor,
        examples: [
            "linkd doctor -b localhost:9092 --probe": "Checks all that a worker needs, including the rights to write.",
            "linkd doctor -b localhost:9092 --print-acls":
                "The kafka-acls.sh commands for an administrator of the brokers.",
        ],
        run: run)

    /// Returns the program whose rules are printed.
    private static func program(_ call: Invocation) throws(CommandFailure) -> AccessRules.Program {
        let flags = ["replay", "recall"].filter(call.isOn)
        guard let first = flags.first else { return .worker }
        guard call.isOn("print-acls") else {
            throw CommandFailure(
                .usage, "--\(first) needs --print-acls", advice: "add --print-acls, or remove --\(first)")
        }
        guard flags.count == 1 else {
            throw CommandFailure(
                .usage, "--replay and --recall cannot be combined", advice: "print the rules of one after the other")
        }
        return first == "replay" ? .replay : .recall
    }

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try call.settings()
        let connection = try Connection(settings)
        let program = try program(call)
        if call.isOn("print-acls") {
            let rules = AccessRules(settings, bootstrap: connection.bootstrap, of: program)
            for command in rules.commands {
                call.console.out.line(command)
            }
            if let topic = settings.text("devices.topic") { call.console.note(BrokerChecks.registryRisk(topic)) }
            return .success
        }
        var report = DoctorReport(out: call.json ? nil : call.console.out)
        report.add(
            ClientChecks.library(
                LibraryInfo.versionText, isFixed: LibraryInfo.supportsSCRAM,
                mechanism: ClientChecks.mechanism(settings)))
        report.add(ClientChecks.security(settings))
        report.add(FileChecks.state(settings))
        report.add(FileChecks.tables(settings))
        report.add(FileChecks.shortLinks(settings))
        askBrokers(settings, connection, probes: call.isOn("probe"), &report)
        if call.json { call.console.out.line(report.json) }
        if let failure = report.failure { throw failure }
        return .success
    }

    /// The time for the first answer of a broker if `start.timeout` is not given, in milliseconds.
    private static let answerMilliseconds: Int64 = 4_000

    /// Adds the checks that need a broker, up to the first one without an answer.
    private static func askBrokers(
        _ settings: Settings, _ connection: Connection, probes: Bool, _ report: inout DoctorReport
    ) {
        var name = "brokers"
        do throws(CommandFailure) {
            // A longer wait for an answer must be requested, so that the cause is normally reported soon.
            let isGiven = settings.entry("start.timeout").source != .default
            let admin = try connection.makeAdmin(within: isGiven ? nil : answerMilliseconds)
            let metadata = try attempt("listing brokers") { () throws(KafkaError) in
                try admin.metadata(timeoutMilliseconds: 10_000)
            }
            report.add(BrokerChecks.brokers(metadata, try requestVersions(connection)))
            report.add(BootstrapCheck(connection: connection).check())
            let threads = Int(settings.number("lanes"))
            report.add(ClientChecks.descriptors(lanes: threads, brokers: metadata.brokers.count))
            name = "topics"
            let declarations = TopicDeclaration.all(of: try ClusterTopics(settings, admin))
            let state = try TopicState(declarations, admin)
            let lanes = settings.entry("lanes").source == .default ? nil : Int(settings.number("lanes"))
            let expected = TopicExpectations(
                partitions: nil, replication: nil, lanes: lanes, brokers: metadata.brokers.count)
            report.add(BrokerChecks.topics(declarations, state, expected))
            report.add(BrokerChecks.registry(declarations, state))
            let inputs = declarations.filter { $0.role == .input }.compactMap { state.description(of: $0.name) }
            let isGroupDenied = checkGroup(settings, admin, inputs, &report)
            name = "rights"
            let rights = RightsCheck(
                connection: connection, settings: settings, declarations: declarations, state: state)
            let missing = try rights.missing(isGroupDenied: isGroupDenied, probes: probes)
            let writing = rights.writing(admin, probes: probes)
            report.add(BrokerChecks.rights(missing, as: connection.principal, writing))
            let rules = (try? admin.accessRules(timeoutMilliseconds: 10_000)) ?? []
            report.add(BrokerChecks.archive(declarations, state, rules, as: connection.principal))
            name = "transactions"
            report.add(transactions(settings, admin, metadata))
            if probes { report.add(ClockCheck(connection: connection, admin: admin).check()) }
        } catch {
            report.add(.fail(name, error))
        }
    }

    /// Returns the versions of requests that the brokers support, which only a producer's debug lines contain.
    private static func requestVersions(_ connection: Connection) throws(CommandFailure) -> [Int32: RequestVersions] {
        let configuration = connection.configuration(.producer, ["debug": "feature"])
        let producer = try connection.make(configuration) { config throws(ConfigurationError) in
            try KafkaProducer(config)
        }
        defer { producer.close() }
        let end = Platform.monotonicSeconds + 5
        while producer.debugLog.requestVersions.isEmpty, Platform.monotonicSeconds < end {
            producer.poll(timeoutMilliseconds: 50)
        }
        return producer.debugLog.requestVersions
    }

    /// Adds the check of the group, and returns a Boolean value that indicates whether this user may not describe it.
    ///
    /// The other checks do not need the group's coordinator.
    private static func checkGroup(
        _ settings: Settings, _ admin: KafkaAdmin, _ inputs: [TopicDescription], _ report: inout DoctorReport
    ) -> Bool {
        do throws(CommandFailure) {
            guard let group = try describeGroup(settings, admin) else { return true }
            report.add(BrokerChecks.group(group, inputs))
        } catch {
            report.add(.fail("group", error))
        }
        return false
    }

    /// Returns the state of the group, or nil if this user is not allowed to describe it.
    private static func describeGroup(
        _ settings: Settings, _ admin: KafkaAdmin
    ) throws(CommandFailure) -> GroupDescription? {
        // A coordinator that starts or moves does not answer for a moment, or answers such an error.
        let passing: [KafkaErrorCode] = [
            .notCoordinator, .coordinatorNotAvailable, .coordinatorLoadInProgress, .timedOut,
        ]
        let end = Platform.monotonicSeconds + 20
        while true {
            do throws(KafkaError) {
                let name = settings.text("group") ?? "linkd"
                let group = try admin.describe(group: name, timeoutMilliseconds: 10_000)
                // A group that this user may not describe is missing in the answer.
                if group.state == "Dead", let refusal = try admin.refusal(toDescribe: name, timeoutMilliseconds: 10_000)
                {
                    throw refusal
                }
                return group
            } catch {
                if error.code == .groupAuthorizationFailed { return nil }
                guard passing.contains(error.code), Platform.monotonicSeconds < end else {
                    throw CommandFailure(error, while: "describing the group")
                }
                Platform.sleep(milliseconds: 100)
            }
        }
    }

    /// Returns the check of the time limit of transactions.
    ///
    /// It is left out if this user may not read the settings of brokers, which a worker does not need.
    private static func transactions(
        _ settings: Settings, _ admin: KafkaAdmin, _ metadata: ClusterMetadata
    ) -> [DoctorCheck] {
        guard settings.text("guarantee") != "at-least-once", let broker = metadata.brokers.first,
            let found = try? admin.settings(ofBroker: broker.id, timeoutMilliseconds: 10_000),
            let limit = found.values["transaction.max.timeout.ms"].flatMap({ Int64($0) })
        else { return [] }
        let own = settings.property("transaction.timeout.ms", client: "producer").flatMap { Int64($0.value) }
        return [BrokerChecks.transactions(milliseconds: own ?? 30_000, brokerLimit: limit)]
    }
}
