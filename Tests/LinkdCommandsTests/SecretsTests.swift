internal import Foundation
internal import KafkaClient
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// A search for secrets and payloads in everything that a worker and the commands print, with a real broker.
@Suite(.enabled(if: TestBroker.refusing != nil && TestBroker.mutualTLS != nil, "KAFKA_SECURE_BOOTSTRAP is not set"))
struct SecretsTests {
    /// A directory with the files of secrets.
    private struct Files: ~Copyable {
        let directory: URL

        init() throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: directory) }

        func path(_ name: String) -> String { directory.appending(path: name).path }

        func write(_ name: String, _ text: String) throws -> String {
            try text.write(toFile: path(name), atomically: true, encoding: .utf8)
            return path(name)
        }
    }

    private static let payload = ["hidden-device", "hidden-path", "hidden-payload"]

    /// Returns the variables with all secrets, those in files included, and the secrets.
    private static func variables(_ files: borrowing Files) throws -> ([String: String], [String]) {
        var result = try #require(TestBroker.permitting)
        let mutual = try #require(TestBroker.mutualTLS)
        let key = files.path("key")
        let encrypted = try ChildProcess.run([
            "openssl", "pkey", "-aes256", "-passout", "pass:hidden-key", "-out", key, "-in",
            mutual["KAFKA_SSL_KEY_LOCATION"] ?? "",
        ])
        try #require(encrypted.status == 0, "\(encrypted.errors)")
        let password = result.removeValue(forKey: "KAFKA_SASL_PASSWORD") ?? ""
        result["KAFKA_SASL_PASSWORD_FILE"] = try files.write("password", password + "\n")
        result["KAFKA_SSL_CERTIFICATE_LOCATION"] = mutual["KAFKA_SSL_CERTIFICATE_LOCATION"]
        result["KAFKA_SSL_KEY_LOCATION"] = key
        result["KAFKA_SSL_KEY_PASSWORD"] = "hidden-key"
        result["KAFKA_SSL_KEYSTORE_PASSWORD"] = "hidden-store"
        let contents = try String(contentsOfFile: key, encoding: .utf8).split(separator: "\n").map(String.init)
        return (result, [password, "hidden-key", "hidden-store"] + contents.dropFirst().dropLast())
    }

    @Test("Nothing contains a secret or a payload, with all debugging of the library", arguments: [false, true])
    func everything(usesToken: Bool) async throws {
        try await onThread {
            let files = try Files()
            var (variables, secrets) = try Self.variables(files)
            var flags: [String] = []
            if usesToken {
                let token = WebToken.unsecured("alice", seconds: 600)
                variables["KAFKA_SASL_MECHANISMS"] = "OAUTHBEARER"
                flags = ["--sasl-token-file", try files.write("token", token)]
                secrets += token.split(separator: ".").map(String.init)
            }
            let name = TestBroker.uniqueName("commands-secrets")
            let topics = try SecurityTests.topics(name)
            let texts =
                try Self.worker(name, topics, flags, variables.merging(["KAFKA_DEBUG": "all"]) { $1 })
                + Self.commands(name, topics, flags, variables)
            for secret in secrets + Self.payload {
                for (source, text) in texts { #expect(!text.contains(secret), "\(secret) in \(source)") }
            }
        }
    }

    /// Returns the log and the pages of a worker that has processed a record and a dead letter.
    private static func worker(
        _ name: String, _ topics: [String], _ flags: [String], _ variables: [String: String]
    ) throws -> [(String, String)] {
        let events = """
            {"id":"e1","link":"shop:///p/hidden-path","device":{"id":"hidden-device"}}
            {hidden-payload
            """
        let plain = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
        let produced = try LinkdProcess.run(["produce", "--raw", "--topic", name], input: events, environment: plain)
        #expect(produced.code == 0, "\(produced.err)")
        let worker = try RunningLinkd(
            ["worker", "--group", name, "--table", SecurityTests.table, "--lanes", "1", "--log-level", "debug"]
                + ["--log-format", "json", "--http-listen", "127.0.0.1:0", "--dlq-max-ratio", "0"] + topics + flags,
            environment: variables)
        let address = try #require(worker.httpAddress)
        try #require(worker.says(#""event":"dead_letter""#), "\(worker.log.suffix(3_000))")
        try #require(worker.says(#""event":"committed""#), "\(worker.log.suffix(3_000))")
        let pages = try ["/status", "/metrics", "/ready", "/ping", "/nothing"].map { path in
            let page = try HTTPFetch(address, path)
            return (path, page.head + page.body)
        }
        worker.signal(SIGQUIT)
        try #require(worker.says(#""event":"status""#))
        worker.signal(SIGTERM)
        #expect(try worker.end() == 0, "\(worker.log.suffix(3_000))")
        return pages + [("log", worker.log), ("output", worker.output)]
    }

    /// Returns the output of commands that succeed, and of some that fail.
    private static func commands(
        _ name: String, _ topics: [String], _ flags: [String], _ variables: [String: String]
    ) throws -> [(String, String)] {
        var wrong = variables
        wrong["KAFKA_SASL_PASSWORD_FILE"] = nil
        wrong["KAFKA_SASL_PASSWORD"] = "hidden-wrong"
        wrong["KAFKA_SASL_MECHANISMS"] = "PLAIN"
        let key = ["KAFKA_SSL_KEY_PASSWORD": "hidden-wrong"]
        // Some builds of the library refuse the property.
        let client = ["KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET": "hidden-wrong"]
        let runs: [([String], [String: String])] = [
            (["config"] + flags, variables), (["config", "--json"] + flags, variables),
            (["doctor", "--probe", "--group", name] + topics + flags, variables),
            (["doctor", "--json", "--group", name] + topics + flags, variables), (["doctor"], wrong),
            (["topics", "check"] + topics, wrong), (["topics", "check"] + flags, variables.merging(key) { $1 }),
            (["topics", "check"] + flags, variables.merging(client) { $1 }),
            (["topics", "check", "-X", "sasl.password=hidden-flag"], [:]),
        ]
        return try runs.map { arguments, environment in
            let result = try LinkdProcess.run(arguments, environment: environment)
            #expect(!(result.out + result.err).contains("hidden-wrong"), "\(arguments)")
            #expect(!(result.out + result.err).contains("hidden-flag"), "\(arguments)")
            return (arguments.joined(separator: " "), result.out + result.err)
        }
    }
}

/// Hostile names in settings, which must not control a terminal, a log, or a page.
@Suite struct HostileNameTests {
    /// A name with control characters, a line feed, HTML, quotation marks, and a reversal of the direction of text.
    private static let name = "x\u{1B}[31m\nfail injected: \"<script>alert('1')</script>\u{202E}\\y\u{7F}\u{9B}2J"

    /// Returns a Boolean value that indicates whether a text has no character that controls a terminal.
    private static func isPlain(_ text: String) -> Bool {
        !text.contains("\nfail injected")
            && text.unicodeScalars.allSatisfy { scalar in
                let isControl = scalar.properties.generalCategory == .control && !"\r\n".unicodeScalars.contains(scalar)
                let isFormat = scalar.properties.generalCategory == .format
                return !isControl && !isFormat
            }
    }

    static let commands: [[String]] = [
        ["worker", "-b", name, "--table", "t"], ["worker", "-b", name + ":9092", "--table", "t"],
        ["worker", "-b", "h:1", "--table", name], ["worker", "-b", "h:1", "--table", "t", "--input", name],
        ["worker", "-b", "h:1", "--table", "t", "--output", String(repeating: name, count: 9)],
        ["worker", "-b", "h:1", "--table", "t", "--instance", name],
        ["worker", "-b", "h:1", "--table", "t", "--group", String(repeating: name, count: 9)],
        ["worker", "-b", "h:1", "--table", "t", "--http-listen", name],
        ["worker", "-b", "h:1", "--table", "t", "--state-dir", "/dev/null/" + name],
        ["worker", "-b", "h:1", "--table", "t", "--config", name], ["topics", "check", "-X", name + "=1"],
        ["topics", "check", "-b", "h:1", "-X", "security.protocol=" + name],
        ["doctor", "-b", "127.0.0.1:1", "--group", name, "--start-timeout", "1s"],
        ["doctor", "-b", "127.0.0.1:1", "--group", name, "--print-acls"],
        [
            "doctor", "-b", "127.0.0.1:1", "-X", "sasl.mechanisms=OAUTHBEARER", "-X",
            "security.protocol=sasl_plaintext",
            "--sasl-token-command", name.replacing(" ", with: "_"), "--start-timeout", "1s",
        ],
        [
            "doctor", "-b", "127.0.0.1:1", "-X", "sasl.username=" + name, "-X", "security.protocol=sasl_plaintext",
            "-X", "sasl.mechanisms=PLAIN", "--start-timeout", "1s",
        ],
        ["config", "--group", name], ["config", "--json", "--group", name], ["inspect", "-b", "h:1", "--topic", name],
        ["resolve", name], ["routes", "check", name], [name],
    ]

    @Test("A command prints hostile names escaped", arguments: commands)
    func commandLine(arguments: [String]) throws {
        let result = try LinkdProcess.run(arguments)
        #expect(Self.isPlain(result.out), "\(result.out.debugDescription)")
        #expect(Self.isPlain(result.err), "\(result.err.debugDescription)")
    }

    @Test("A worker with a hostile group has a plain log and plain pages", arguments: ["text", "json"])
    func worker(format: String) async throws {
        try await onThread {
            let cluster = try MockCluster()
            for topic in ["in", "in.out", "in.dlq"] { try cluster.createTopic(topic, partitions: 2) }
            let worker = try RunningLinkd([
                "worker", "-b", cluster.bootstrapServers, "--input", "in", "--output", "in.out", "--table",
                SecurityTests.table, "--guarantee", "at-least-once", "--lanes", "1", "--group", Self.name,
                "--log-format", format, "--log-level", "debug", "--http-listen", "127.0.0.1:0",
            ])
            try #require(worker.says("ready"), "\(worker.log)")
            let address = try #require(
                worker.log.firstMatch(of: #/address"?[:=]"?(127\.0\.0\.1:\d+)/#).map { String($0.1) })
            for path in ["/status", "/metrics", "/ready", "/<script>"] {
                let page = try HTTPFetch(address, path)
                #expect(Self.isPlain(page.body), "\(page.body.debugDescription)")
                #expect(!page.head.lowercased().contains("text/html"))
                #expect(page.head.contains("X-Content-Type-Options: nosniff"))
            }
            worker.signal(SIGQUIT)
            #expect(worker.says("status"))
            worker.signal(SIGTERM)
            #expect(try worker.end() == 0)
            #expect(Self.isPlain(worker.log), "\(worker.log.debugDescription)")
        }
    }
}
