internal import Foundation
internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// A worker whose connections are encrypted and authenticated, with a real broker.
@Suite(
    .enabled(
        if: TestBroker.refusing != nil && TestBroker.plain != nil && TestBroker.mutualTLS != nil,
        "no broker with TLS and users: KAFKA_SECURE_BOOTSTRAP or KAFKA_TLS_BOOTSTRAP is not set"))
struct SecurityTests {
    struct Access: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var variables: [String: String]
        /// Returns the flags for a path of a file with a token.
        var flags: @Sendable (String) -> [String] = { _ in [] }
        /// A Boolean value that indicates whether this version of librdkafka cannot connect in this way.
        var isUnsupported = false
    }

    static let accesses: [Access] = {
        let scram = (TestBroker.permitting ?? [:]).merging(["KAFKA_SASL_MECHANISMS": "SCRAM-SHA-512"]) { $1 }
        let token = TestBroker.accepting ?? [:]
        return [
            Access(testDescription: "PLAIN", variables: TestBroker.permitting ?? [:]),
            Access(testDescription: "client certificate", variables: TestBroker.mutualTLS ?? [:]),
            Access(testDescription: "token file", variables: token, flags: { ["--sasl-token-file", $0] }),
            Access(
                testDescription: "token command", variables: token, flags: { ["--sasl-token-command", "cat \($0)"] }),
            // Both outcomes are expected, so that no version of librdkafka skips the case.
            Access(
                testDescription: LibraryInfo.supportsSCRAM ? "SCRAM" : "SCRAM, which this librdkafka does not support",
                variables: scram, isUnsupported: !LibraryInfo.supportsSCRAM),
        ]
    }()

    /// Creates topics whose names begin with `name`, and returns their flags.
    static func topics(_ name: String) throws -> [String] {
        let topics = ["--input", name, "--output", name + ".out"]
        let plain = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
        #expect(try LinkdProcess.run(["topics", "create"] + topics, environment: plain).code == 0)
        return topics
    }

    static let table = Checkout.root.appending(path: "config/routes/shop.json").path
    static let event = #"{"id":"e1","link":"shop:///p/new","device":{"id":"d-1"}}"#

    @Test("A worker processes records, and no output contains a secret", arguments: accesses)
    func worker(access: Access) throws {
        let name = TestBroker.uniqueName("commands-secure")
        let topics = try Self.topics(name)
        try TestBroker.tool([
            "acls", "--add", "--allow-principal", "User:CN=client", "--operation", "All", "--topic", name,
            "--group", name, "--transactional-id", "linkd.\(name).", "--resource-pattern-type", "prefixed",
        ])
        let token = WebToken.unsecured("alice", seconds: 600)
        try withTemporaryFile(token) { path in
            let flags = access.flags(path)
            let environment = access.variables
            let run = ["worker", "--group", name, "--table", Self.table, "--stop-after", "1", "--lanes", "1"] + topics
            if access.isUnsupported {
                let worker = try LinkdProcess.run(run, environment: environment)
                #expect(worker.code == 78, "\(worker.err)")
                #expect(worker.err.contains("librdkafka 2.6.1 or later is required"), "\(worker.err)")
                return
            }
            var produced = CommandResult(code: 77, out: "", err: "")
            // The brokers know a new right some time after the tool that grants it has ended.
            for _ in 0..<20 where produced.code == 77 {
                produced = try LinkdProcess.run(
                    ["produce", "--topic", name] + flags, input: Self.event, environment: environment)
            }
            #expect(produced.code == 0, "\(produced.err)")
            let worker = try LinkdProcess.run(run + ["--log-level", "debug"] + flags, environment: environment)
            #expect(worker.code == 0, "\(worker.err)")
            let doctor = try LinkdProcess.run(["doctor", "--group", name] + topics + flags, environment: environment)
            #expect(doctor.code == 0, "\(doctor.out)\(doctor.err)")
            let inspected = try LinkdProcess.run(
                ["inspect", "--topic", name + ".out", "--count", "1"] + flags, environment: environment)
            #expect(inspected.out.contains("d-1"), "\(inspected.err)")
            let passwords = environment.filter { $0.key.hasSuffix("PASSWORD") }.map(\.value)
            for secret in passwords + [token] {
                for result in [produced, worker, doctor, inspected] {
                    #expect(!(result.out + result.err).contains(secret))
                }
            }
        }
    }

    @Test(
        "A token that expires while the worker runs is renewed without an outage",
        arguments: [("--sasl-token-file", ""), ("--sasl-token-command", "cat ")])
    func renewal(flag: String, program: String) async throws {
        try await onThread {
            let name = TestBroker.uniqueName("commands-token")
            let topics = try Self.topics(name)
            let seconds = 15
            let began = ContinuousClock.now
            try withTemporaryFile(WebToken.unsecured("alice", seconds: seconds)) { path in
                let worker = try RunningLinkd(
                    ["worker", "--group", name, "--table", Self.table, "--lanes", "1", "--stop-after", "2"] + topics
                        + ["--log-format", "json", flag, program + path, "--start-timeout", "5s"],
                    environment: TestBroker.accepting ?? [:])
                try #require(worker.says(#""event":"ready""#), "\(worker.log)")
                try Self.produce(name)
                // The file has another token before the time of the first one is over.
                _ = becomesTrue(withinSeconds: 5) { ContinuousClock.now - began > .seconds(3) }
                try WebToken.unsecured("alice", seconds: 600).write(toFile: path, atomically: true, encoding: .utf8)
                let isRenewed = becomesTrue(withinSeconds: 30) {
                    worker.log.split(separator: "\n").count { $0.contains(#""event":"token.renewed""#) } == 2
                }
                #expect(isRenewed, "\(worker.log)")
                // The brokers close connections whose token has expired.
                Thread.sleep(until: Date(timeIntervalSinceNow: Double(seconds)))
                #expect(worker.isRunning)
                try Self.produce(name)
                #expect(try worker.end() == 0, "\(worker.log)")
                for event in ["brokers.unreachable", "token.failed", "exit"] {
                    #expect(!worker.log.contains(#""event":"\#(event)""#), "\(worker.log)")
                }
            }
        }
    }

    @Test("A token that is refused for a moment ends no worker, and every record is decided once")
    func refusedForAMoment() async throws {
        try await onThread {
            let name = TestBroker.uniqueName("commands-moment")
            let topics = try Self.topics(name)
            let count = 4_000
            let plain = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
            let events = (0..<count).map { #"{"id":"e\#($0)","link":"shop:///p/new","device":{"id":"d-\#($0 % 97)"}}"# }
            try withTemporaryFile(WebToken.unsecured("alice", seconds: 12)) { path in
                let worker = try RunningLinkd(
                    ["worker", "--group", name, "--table", Self.table, "--lanes", "4", "--stop-after", "\(count)"]
                        + topics + ["--log-format", "json", "--sasl-token-file", path],
                    environment: TestBroker.accepting ?? [:])
                try #require(worker.says(#""event":"ready""#), "\(worker.log)")
                try withTemporaryFile(events.joined(separator: "\n")) { file in
                    let producer = try RunningLinkd(
                        ["produce", file, "--topic", name, "--rate", "150"], environment: plain)
                    // The brokers close the connections when the time of the first token is over.
                    try "no-token".write(toFile: path, atomically: true, encoding: .utf8)
                    // A lane tells it if it calls the brokers at that time, and the connection in any case.
                    let isRefused = becomesTrue(withinSeconds: 60) {
                        worker.log.contains(#""code":"_AUTHENTICATION""#)
                            || worker.log.contains("refused the token")
                    }
                    try #require(isRefused, "\(worker.log)")
                    try WebToken.unsecured("alice", seconds: 600).write(toFile: path, atomically: true, encoding: .utf8)
                    #expect(try producer.end(within: 90) == 0, "\(producer.log)")
                    #expect(try worker.end(within: 90) == 0, "\(worker.log)")
                }
            }
            let decided = try LinkdProcess.run(
                ["inspect", "--topic", name + ".out", "--json"], environment: plain
            ).out.split(separator: "\n").compactMap { try JSONValue.parse(Array($0.utf8))["value"]?["event"]?.string }
            #expect(decided.count == count && Set(decided).count == count, "\(decided.count) decisions")
        }
    }

    private static func produce(_ topic: String) throws {
        let plain = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
        #expect(try LinkdProcess.run(["produce", "--topic", topic], input: event, environment: plain).code == 0)
    }

    @Test(
        "A token that is expired, or that the brokers refuse, ends with exit code 77 and the next step",
        arguments: [
            ("no-token", "refused the token", "its audience and issuer"),
            (WebToken.unsecured("alice", seconds: -5), "contains a token that has expired", "sasl.token.file"),
        ])
    func refusedToken(token: String, cause: String, advice: String) throws {
        try withTemporaryFile(token) { path in
            for command in [["topics", "check"], ["worker", "--table", Self.table], ["doctor"]] {
                let result = try LinkdProcess.run(
                    command + ["--sasl-token-file", path], environment: TestBroker.accepting ?? [:])
                #expect(result.code == 77, "\(command) \(result.err)")
                #expect(result.err.contains(cause) && result.err.contains(advice), "\(command) \(result.err)")
                #expect(!(result.out + result.err).contains(token))
            }
        }
    }

    @Test("A TLS listener and a plain client, and the reverse, have a cause")
    func wrongProtocol() throws {
        let plain = try LinkdProcess.run(
            ["topics", "check", "--start-timeout", "2s"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.mutualTLS?["KAFKA_BOOTSTRAP_SERVERS"] ?? ""])
        #expect(plain.code == 69)
        #expect(plain.err.contains("set KAFKA_SECURITY_PROTOCOL to SSL or SASL_SSL"), "\(plain.err)")
        let tls = try LinkdProcess.run(
            ["topics", "check", "--start-timeout", "2s"],
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "", "KAFKA_SECURITY_PROTOCOL": "SSL",
            ])
        #expect(tls.code == 69)
        #expect(tls.err.contains("does not use TLS"), "\(tls.err)")
    }

    @Test("A missing client certificate has a cause")
    func noCertificate() throws {
        var variables = TestBroker.mutualTLS ?? [:]
        variables["KAFKA_SSL_CERTIFICATE_LOCATION"] = nil
        variables["KAFKA_SSL_KEY_LOCATION"] = nil
        let result = try LinkdProcess.run(["topics", "check", "--start-timeout", "2s"], environment: variables)
        #expect(result.code == 69)
        #expect(result.err.contains("requires a client certificate"), "\(result.err)")
    }
}
