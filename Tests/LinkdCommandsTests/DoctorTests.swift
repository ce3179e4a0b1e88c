internal import Foundation
@testable import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// `linkd doctor` without a broker, and its pure checks.
@Suite struct DoctorTests {
    /// Returns the output of the command without the line about the library, whose version differs between machines.
    static func lines(_ result: CommandResult, _ names: [(String, String)] = []) -> String {
        var text = result.out.split(separator: "\n").filter { !$0.hasPrefix("ok   library") }.joined(separator: "\n")
        text += "\n" + result.err
        for (name, replacement) in names { text = text.replacing(name, with: replacement) }
        return text.replacing(LibraryInfo.versionText, with: "VERSION")
    }

    @Test("Without a broker, the cause and the next step are printed")
    func noBroker() throws {
        let result = try LinkdProcess.run(["doctor", "-b", "127.0.0.1:1", "--start-timeout", "1s"])
        #expect(result.code == 69)
        expectSnapshot(Self.lines(result), "doctor-no-broker")
    }

    @Test("The report as JSON has the same checks as the lines")
    func json() throws {
        let result = try LinkdProcess.run(["doctor", "-b", "127.0.0.1:1", "--start-timeout", "1s", "--json"])
        #expect(result.code == 69)
        let json = try JSONValue.parse(Array(result.out.utf8))
        #expect(json["status"]?.string == "fail")
        #expect(json["checks"]?.array?.map { $0["name"]?.string } == ["library", "security", "brokers"])
        #expect(json["checks"]?.array?.last?["next"]?.string?.hasPrefix("check that the broker runs") == true)
    }

    static func topic(_ name: String, partitions: Int, replicas: Int) -> TopicDescription {
        let brokers = (1...Int32(replicas)).map { $0 }
        return TopicDescription(
            name: name,
            partitions: (0..<Int32(partitions)).map {
                PartitionDescription(id: $0, leader: 1, replicas: brokers, inSyncReplicas: brokers, error: nil)
            }, error: nil)
    }

    @Test("A replicated topic with min.insync.replicas 1 is a risk")
    func minimumInSync() {
        let names = ["events", "decisions", "events.dlq"]
        let declarations = zip(names, [TopicDeclaration.Role.input, .output, .deadLetters]).map {
            TopicDeclaration(name: $0, role: $1, input: nil)
        }
        let state = TopicState(
            descriptions: names.map { Self.topic($0, partitions: 6, replicas: 3) },
            settings: [
                "events": ["min.insync.replicas": "2"], "decisions": ["min.insync.replicas": "1"],
                "events.dlq": ["min.insync.replicas": "1"],
            ])
        let report = DoctorReport(
            checks: BrokerChecks.topics(declarations, state, TopicExpectations(lanes: 6, brokers: 3)))
        #expect(report.failure == nil)
        let out = Channel(collecting: Style(enabled: false))
        report.printLines(out)
        expectSnapshot(out.text, "doctor-min-insync")
    }

    @Test("A refusal counts more than an unreachable broker, and that more than other problems")
    func exitCodes() {
        let finding = DoctorCheck.fail("topics", "t does not exist", next: "create it")
        let unavailable = DoctorCheck.fail("brokers", "no answer", next: "look", code: .unavailable)
        let refused = DoctorCheck.fail("rights", "u lacks r", next: "allow it", code: .refused)
        #expect(DoctorReport(checks: [.ok("a", "b"), .warn("c", "d", next: "e")]).failure == nil)
        #expect(DoctorReport(checks: [finding]).failure?.code == .finding)
        #expect(DoctorReport(checks: [finding, unavailable]).failure?.code == .unavailable)
        #expect(DoctorReport(checks: [finding, unavailable, refused]).failure?.code == .refused)
    }

    @Test(
        "The requests of a broker tell its release",
        arguments: [
            ([9: (0, 6), 11: (0, 5)], "2.5 or later", false), ([9: (0, 7), 11: (0, 7)], "2.5 or later", true),
            ([9: (0, 8), 11: (0, 9), 71: (0, 0)], "3.7 or later", true),
            ([9: (1, 10), 1: (4, 18), 75: (0, 0)], "4.0 or later", true),
        ] as [([Int32: (Int32, Int32)], String, Bool)])
    func release(versions: [Int32: (Int32, Int32)], text: String, hasStableOffsets: Bool) throws {
        let release = try #require(BrokerRelease(versions.mapValues { RequestVersions(min: $0.0, max: $0.1) }))
        #expect(release.text == text)
        #expect(release.hasStableOffsets == hasStableOffsets)
    }

    @Test(
        "Clocks that differ by more than 5 s are a risk",
        arguments: [
            (0, "ok   clock: less than 5 s of difference"), (5_000, "ok   clock:"), (-5_000, "ok   clock:"),
            (5_001, "warn clock: the clock of the brokers is 5 s ahead of the one"),
            (-3_600_000, "warn clock: the clock of the brokers is 3600 s behind the one"),
            (Int64.min, "warn clock: the clock of the brokers is 9223372036854775 s behind"),
        ])
    func clock(difference: Int64, expected: String) {
        let line = ClockCheck.judge(difference).line
        #expect(line.hasPrefix(expected), "\(line)")
    }

    @Test("A hostile text of a broker reaches the terminal escaped")
    func hostile() {
        let out = Channel(collecting: Style(enabled: false))
        let report = DoctorReport(checks: [.fail("group", "a\u{1B}[31m\nfail b", next: "c\u{202E}")])
        report.printLines(out)
        for line in [String(out.text.dropLast()), report.json, report.failure?.line ?? ""] {
            #expect(!line.isEmpty && !line.contains("\n"))
            #expect(!line.contains("\u{1B}") && !line.contains("\u{202E}"))
        }
    }
}

/// The access rules that `--print-acls` prints.
@Suite struct AccessRulesTests {
    private static let user = [
        "KAFKA_BOOTSTRAP_SERVERS": "broker:9092", "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "KAFKA_SASL_MECHANISMS": "PLAIN", "KAFKA_SASL_USERNAME": "linkd",
    ]

    @Test("The commands for the default settings are those of the worker's reference")
    func reference() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/DispatchWorker/DispatchWorker.docc/WorkerReference.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(page.firstRange(of: "```sh\nkafka-acls.sh"))
        let block = page[start.lowerBound...].dropFirst(6)
        let end = try #require(block.firstRange(of: "```"))
        let result = linkd("doctor", "--print-acls", environment: Self.user)
        #expect(result.code == 0)
        #expect(result.out == String(block[..<end.lowerBound]))
    }

    @Test(
        "The commands follow the settings",
        arguments: [
            (["--group", "it's"], "--group 'it'\\''s'"), (["--group", "a b"], "--transactional-id 'linkd.a b.'"),
            (["--input", "a,b"], "--operation Read --operation DescribeConfigs --topic a --topic b"),
            (["--input", "a,b"], "--topic link-decisions --topic a.dlq --topic b.dlq"),
            (["--input", "^events-.*"], "--operation Read --operation DescribeConfigs --topic TOPIC"),
            (["--guarantee", "at-least-once"], "--operation IdempotentWrite --cluster"),
            (
                ["--devices-topic", "d"],
                "--operation Read --operation Describe --operation DescribeConfigs --topic d\n"
            ),
            (["--tables-topic", "t"], "--operation Read --operation Write --operation DescribeConfigs --topic t\n"),
        ])
    func settings(flags: [String], expected: String) {
        let result = linkd(["doctor", "--print-acls"] + flags, environment: Self.user)
        #expect(result.code == 0, "\(result.err)")
        #expect(result.out.contains(expected), "\(result.out)")
    }

    @Test("The rules for a registry of devices come with what a right to write it means")
    func registry() {
        let result = linkd("doctor", "--print-acls", "--devices-topic", "d", environment: Self.user)
        #expect(result.err == "whoever may write to d may set the `claims` of devices, by which tables choose\n")
        #expect(linkd("doctor", "--print-acls", environment: Self.user).err.isEmpty)
        let names = ["d", "events"]
        let roles = zip(names, [TopicDeclaration.Role.devices, .input])
        let declarations = roles.map { TopicDeclaration(name: $0, role: $1, input: nil) }
        let topics = names.map { DoctorTests.topic($0, partitions: 1, replicas: 1) }
        let state = TopicState(descriptions: topics, settings: [:])
        let lines = BrokerChecks.registry(declarations, state).map(\.line)
        #expect(lines.count == 1)
        #expect(lines.first?.contains("no mutual order") == true, "\(lines)")
        let denied = TopicState(descriptions: [], settings: [:])
        #expect(BrokerChecks.registry(declarations, denied).isEmpty)
    }

    @Test("The rules of a replay are those of the worker's reference, for its own principal")
    func replay() throws {
        let result = linkd("doctor", "--print-acls", "--replay", "--input", "a,b", environment: Self.user)
        #expect(result.code == 0, "\(result.err)")
        let start = "kafka-acls.sh --bootstrap-server broker:9092 --add --allow-principal User:linkd \\\n  "
        let expected = [
            "--operation Read --topic a.dlq --topic b.dlq --topic a.dlq.replayed --topic b.dlq.replayed "
                + "--topic link-decisions",
            "--operation Write --operation DescribeConfigs --topic a --topic b --topic a.dlq.replayed "
                + "--topic b.dlq.replayed --topic a.dlq.parked --topic b.dlq.parked",
            "--operation Write --operation Describe --transactional-id linkd-replay. --resource-pattern-type prefixed",
        ]
        #expect(result.out == expected.map { start + $0 + "\n" }.joined())
        let page = try ReferencePage(path: "Sources/DispatchWorker/DispatchWorker.docc/WorkerReference.md")
        let table = try #require(page.table("Access rights", "Operation of a replay"))
        let names = [
            "DLQ": "a.dlq", "`DLQ.replayed`": "a.dlq.replayed", "OUTPUT": "link-decisions", "INPUT": "a",
            "PARKED": "a.dlq.parked", "`linkd-replay.`": "linkd-replay.",
        ]
        let operations = table.column("Operation of a replay")
        #expect(Set(operations) == ["Read", "Write", "DescribeConfigs", "Write, Describe"])
        for (operation, name) in zip(operations, table.column("Name")) where operation != "DescribeConfigs" {
            let first = operation.prefix { $0 != "," }
            let name = try #require(names[name], "\(name)")
            #expect(expected.contains { $0.contains("--operation \(first) ") && ($0 + " ").contains(" \(name) ") })
        }
        let alone = linkd("doctor", "--replay", environment: Self.user)
        #expect(alone.code == 64 && alone.err.contains("--replay needs --print-acls"))
    }

    @Test("The rules of a recall are those of the worker's reference, for its own principal")
    func recall() throws {
        let flags = ["doctor", "--print-acls", "--recall", "--input", "a,b", "--tables-topic", "t"]
        let result = linkd(flags, environment: Self.user)
        #expect(result.code == 0, "\(result.err)")
        let start = "kafka-acls.sh --bootstrap-server broker:9092 --add --allow-principal User:linkd \\\n  "
        let expected = [
            "--operation Read --topic a --topic b --topic link-decisions --topic link-decisions.recalled --topic t",
            "--operation Write --operation DescribeConfigs --topic link-decisions --topic link-decisions.recalled "
                + "--topic t",
            "--operation Write --operation Describe --transactional-id linkd-recall. --resource-pattern-type prefixed",
        ]
        #expect(result.out == expected.map { start + $0 + "\n" }.joined())
        let page = try ReferencePage(path: "Sources/DispatchWorker/DispatchWorker.docc/WorkerReference.md")
        let table = try #require(page.table("Access rights", "Operation of a recall"))
        let names = [
            "INPUT": "a", "OUTPUT": "link-decisions", "CORRECTIONS": "link-decisions", "ARCHIVE": "t",
            "`CORRECTIONS.recalled`": "link-decisions.recalled", "`linkd-recall.`": "linkd-recall.",
        ]
        let operations = table.column("Operation of a recall")
        for (operation, name) in zip(operations, table.column("Name")) where operation != "DescribeConfigs" {
            let first = operation.prefix { $0 != "," }
            let name = try #require(names[name], "\(name)")
            #expect(expected.contains { $0.contains("--operation \(first) ") && ($0 + " ").contains(" \(name) ") })
        }
        #expect(linkd("doctor", "--recall", environment: Self.user).code == 64)
        #expect(linkd("doctor", "--print-acls", "--recall", "--replay", environment: Self.user).code == 64)
    }

    @Test("Without a user in the settings the principal is a placeholder, and without security it is ANONYMOUS")
    func principals() {
        let tls = ["KAFKA_BOOTSTRAP_SERVERS": "b:1", "KAFKA_SECURITY_PROTOCOL": "SSL"]
        #expect(linkd("doctor", "--print-acls", environment: tls).out.contains("--allow-principal User:PRINCIPAL "))
        let plain = ["KAFKA_BOOTSTRAP_SERVERS": "b:1"]
        #expect(linkd("doctor", "--print-acls", environment: plain).out.contains("--allow-principal User:ANONYMOUS "))
    }
}

/// `linkd doctor` with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct DoctorBrokerTests {
    private static let plain = TestBroker.plain ?? ""

    private static func doctor(_ name: String, partitions: String, _ flags: [String]) throws -> CommandResult {
        let topics = ["--input", name, "--output", name + ".out"]
        let environment = ["KAFKA_BOOTSTRAP_SERVERS": plain]
        let created = try LinkdProcess.run(
            ["topics", "create", "--partitions", partitions] + topics, environment: environment)
        #expect(created.code == 0, "\(created.err)")
        return try LinkdProcess.run(["doctor", "--group", name] + topics + flags, environment: environment)
    }

    @Test("All checks of a plain broker pass")
    func passes() throws {
        let name = TestBroker.uniqueName("doctor-plain")
        let result = try Self.doctor(name, partitions: "6", ["--probe"])
        #expect(result.code == 0, "\(result.out)\(result.err)")
        expectSnapshot(DoctorTests.lines(result, [(name, "TOPIC"), (Self.plain, "BROKER")]), "doctor-plain")
    }

    @Test("A dead entry of --bootstrap is a risk, although another one answers")
    func deadEntry() throws {
        let name = TestBroker.uniqueName("doctor-entry")
        let both = "127.0.0.1:1,\(Self.plain)"
        let result = try LinkdProcess.run(
            ["doctor", "--group", name, "-b", both, "--input", name, "--output", name + ".out"])
        #expect(
            result.out.contains(
                "warn bootstrap: 127.0.0.1:1 does not answer: 127.0.0.1:1 refused the connection. Next: check that the "
                    + "broker runs, and the port in --bootstrap."), "\(result.out)")
        #expect(!result.out.contains("bootstrap: \(Self.plain)"), "\(result.out)")
    }

    @Test("Fewer partitions than lanes are a problem")
    func partitions() throws {
        let name = TestBroker.uniqueName("doctor-lanes")
        let result = try Self.doctor(name, partitions: "1", ["--lanes", "3", "--probe"])
        #expect(result.code == 1, "\(result.out)\(result.err)")
        expectSnapshot(DoctorTests.lines(result, [(name, "TOPIC"), (Self.plain, "BROKER")]), "doctor-partitions")
    }
}

/// The comparison of needed rights with access rules.
@Suite struct RuleCheckTests {
    private static let needed = [
        AccessRight(["Write"], on: .topic, ["out", "in.dlq"]), AccessRight("Read", on: .group, "g"),
        AccessRight(["Write"], on: .transactionalID, ["linkd.g."], isPrefixed: true),
    ]

    private static func rule(
        _ resource: AccessBinding.Resource, _ name: String, _ operation: AccessBinding.Operation,
        prefixed: Bool = false, who: String = "User:u", host: String = "*", denies: Bool = false
    ) -> AccessBinding {
        AccessBinding(
            resource: resource, name: name, isPrefixed: prefixed, principal: who, host: host, operation: operation,
            isDenial: denies)
    }

    private static let all = [
        rule(.topic, "*", .write), rule(.group, "g", .read), rule(.transactionalID, "linkd.", .all, prefixed: true),
    ]

    /// Rules, and the texts of the missing rights.
    static let rows: [([AccessBinding], [String])] = [
        ([], ["Write on Topic out, in.dlq", "Read on Group g", "Write on TransactionalId linkd.g. (prefixed)"]),
        (all, []), (all.map { Self.changed($0) { $0.principal = "User:*" } }, []),
        (all.map { Self.changed($0) { $0.principal = "User:other" } }, Self.needed.map(\.description)),
        (all.map { Self.changed($0) { $0.host = "10.0.0.1" } }, Self.needed.map(\.description)),
        (all + [rule(.topic, "in.", .all, prefixed: true, denies: true)], ["Write on Topic in.dlq"]),
        (all + [rule(.topic, "out", .read, denies: true)], []),
        (all + [rule(.topic, "out", .write, who: "User:*", host: "10.0.0.1", denies: true)], ["Write on Topic out"]),
        (
            all + [rule(.transactionalID, "linkd.g.w.0", .write, denies: true)],
            ["Write on TransactionalId linkd.g. (prefixed)"]
        ),
        (
            [rule(.topic, "out", .write), rule(.topic, "in.dlq", .all), rule(.group, "*", .all)]
                + [rule(.transactionalID, "linkd.g.", .write)],
            ["Write on TransactionalId linkd.g. (prefixed)"]
        ),
    ]

    private static func changed(_ rule: AccessBinding, _ change: (inout AccessBinding) -> Void) -> AccessBinding {
        var rule = rule
        change(&rule)
        return rule
    }

    @Test(
        "Rights are allowed by rules for the principal, all hosts, and the name, unless a rule denies them",
        arguments: rows)
    func missing(rules: [AccessBinding], expected: [String]) {
        let missing = RuleCheck(rules: rules, principal: "User:u").missing(Self.needed)
        #expect(missing.map(\.description) == expected)
    }
}

/// `linkd doctor` with a broker that has users and access rules.
@Suite(.enabled(if: TestBroker.refusing != nil, "no broker with access rules: KAFKA_SECURE_BOOTSTRAP is not set"))
struct DoctorRefusalTests {
    private static let broker = TestBroker.refusing?["KAFKA_BOOTSTRAP_SERVERS"] ?? ""

    private static func doctor(_ flags: [String], _ changes: [String: String]) throws -> CommandResult {
        let environment = (TestBroker.refusing ?? [:]).merging(changes) { $1 }
        let result = try LinkdProcess.run(["doctor"] + flags, environment: environment)
        for secret in environment.filter({ $0.key.contains("PASSWORD") }).values {
            #expect(!(result.out + result.err).contains(secret))
        }
        return result
    }

    @Test("A wrong password is refused")
    func wrongPassword() throws {
        let result = try Self.doctor([], ["KAFKA_SASL_PASSWORD": "not-the-password"])
        #expect(result.code == 77, "\(result.out)\(result.err)")
        expectSnapshot(DoctorTests.lines(result, [(Self.broker, "BROKER")]), "doctor-password")
    }

    @Test(
        "SCRAM with an old library is a problem of the library",
        .enabled(if: !LibraryInfo.supportsSCRAM, "this librdkafka implements SCRAM correctly"))
    func oldLibrary() throws {
        let result = try Self.doctor(
            [],
            [
                "KAFKA_SASL_MECHANISMS": "SCRAM-SHA-512", "KAFKA_SASL_USERNAME": "alice",
                "KAFKA_SASL_PASSWORD": "alice-secret",
            ])
        #expect(result.code == 1, "\(result.out)\(result.err)")
        expectSnapshot(DoctorTests.lines(result, [(Self.broker, "BROKER")]), "doctor-old-scram")
    }

    @Test("All missing rights are named at once")
    func missingRights() throws {
        let name = TestBroker.uniqueName("doctor-denied")
        let result = try Self.doctor(
            ["--group", name, "--input", name, "--output", name + ".out", "--probe"], [:])
        #expect(result.code == 77, "\(result.out)\(result.err)")
        expectSnapshot(DoctorTests.lines(result, [(name, "TOPIC"), (Self.broker, "BROKER")]), "doctor-acl")
    }

    @Test("The right to read the registry of devices is needed too")
    func unreadableRegistry() throws {
        let name = TestBroker.uniqueName("doctor-registry")
        let flags = ["--input", name, "--output", name + ".out", "--devices-topic", name + ".devices"]
        let result = try Self.doctor(["--group", name] + flags, [:])
        #expect(result.code == 77, "\(result.out)\(result.err)")
        #expect(result.out.contains("Read on Topic \(name), \(name).devices; "), "\(result.out)")
        #expect(!result.out.contains("devices: whoever"), "\(result.out)")
    }

    @Test(
        "Access rules tell the rights to write, and the commands of --print-acls add them",
        .enabled(if: TestBroker.script != nil, "the tests did not start the broker"))
    func accessRules() throws {
        let plain = TestBroker.plain ?? ""
        let name = TestBroker.uniqueName("doctor-rules")
        let flags = ["--group", name] + (try SecurityTests.topics(name))
        let environment = ["KAFKA_BOOTSTRAP_SERVERS": plain]
        let names = [(name, "TOPIC"), (plain, "BROKER")]
        // Without any rule, it is unknown whether the user may read the rules.
        try TestBroker.tool(
            ["acls", "--add", "--allow-principal", "User:other", "--operation", "Read", "--topic", name])
        let before = try LinkdProcess.run(["doctor"] + flags, environment: environment)
        #expect(before.code == 0, "\(before.err)")
        expectSnapshot(DoctorTests.lines(before, names), "doctor-rules-missing")
        let printed = try LinkdProcess.run(["doctor", "--print-acls"] + flags, environment: environment)
        for command in printed.out.replacing("\\\n", with: "").split(separator: "\n") {
            // Without the program and the brokers, which the script adds.
            try TestBroker.tool(["acls"] + command.split(separator: " ").dropFirst(3).map(String.init))
        }
        let after = try LinkdProcess.run(["doctor"] + flags, environment: environment)
        #expect(after.code == 0, "\(after.err)")
        expectSnapshot(DoctorTests.lines(after, names), "doctor-rules")
    }

    @Test(
        "If the user may not read the access rules, the rights to write are not said to be missing",
        .enabled(if: TestBroker.script != nil, "the tests did not start the broker"))
    func unreadableRules() throws {
        let name = TestBroker.uniqueName("doctor-unreadable")
        let topics = try SecurityTests.topics(name)
        let allow = ["acls", "--add", "--allow-principal", "User:mallory", "--operation"]
        try TestBroker.tool(allow + ["Read", "--topic", name])
        try TestBroker.tool(allow + ["Write", "--topic", name + ".out", "--topic", name + ".dlq"])
        try TestBroker.tool(allow + ["Read", "--group", name])
        let result = try Self.doctor(["--group", name] + topics, [:])
        #expect(result.code == 0, "\(result.out)\(result.err)")
        #expect(result.out.contains("writing and the transactional id were not tested"), "\(result.out)")
    }
}
