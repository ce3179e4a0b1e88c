internal import Testing

@testable internal import LinkdCommands

@Suite struct SettingsTests {
    /// Returns settings from flags (name and texts), the environment, and a file.
    private static func settings(
        flags: [String: [String]] = [:], environment: [String: String] = [:], file: String? = nil
    ) throws -> Settings {
        var texts: [String: SettingTexts] = [:]
        for (name, values) in flags {
            texts[name] = SettingTexts(texts: values, splitting: true, source: .flag("--\(name)"))
        }
        let known: Set<String> = ["sasl.password", "fetch.min.bytes", "debug", "client.id", "transaction.timeout.ms"]
        guard let file else {
            return try Settings(
                flags: texts, environment: environment, configFile: nil, isKnownProperty: known.contains)
        }
        return try withTemporaryFile(file) { path in
            try Settings(
                flags: texts, environment: environment, configFile: (path, .flag("--config")),
                isKnownProperty: known.contains)
        }
    }

    @Test("Flags override the environment, the environment overrides the file, and the file overrides defaults")
    func precedence() throws {
        let file = #"{"group": "file", "commit": {"interval": "200ms", "records": 7}, "lanes": 3}"#
        let all = try Self.settings(
            flags: ["group": ["flag"]], environment: ["LINKD_GROUP": "env", "LINKD_COMMIT_RECORDS": "9"], file: file)
        #expect(all.text("group") == "flag")
        #expect(all.entry("group").source == .flag("--group"))
        #expect(all.number("commit.records") == 9)
        #expect(all.entry("commit.records").source == .environment("LINKD_COMMIT_RECORDS"))
        #expect(all.number("commit.interval") == 200)
        #expect(all.number("lanes") == 3)
        #expect(all.number("batch.records") == 1000)
        #expect(all.entry("batch.records").source == .default)
    }

    @Test("An empty variable counts as not set, and variables of the tests are ignored")
    func emptyVariables() throws {
        let settings = try Self.settings(environment: [
            "LINKD_GROUP": "", "LINKD_UNKNOWN": "", "LINKD_TEST_SIZE": "3", "LINKD_FAULTS": "x", "LINKD_HOME": "/x",
        ])
        #expect(settings.text("group") == "linkd")
    }

    @Test("Lists come from repeated flags, commas, or arrays, and a regular expression is not split")
    func lists() throws {
        #expect(try Self.settings(flags: ["input": ["a,b", "c"]]).list("input") == ["a", "b", "c"])
        #expect(try Self.settings(environment: ["LINKD_INPUT": "a,b"]).list("input") == ["a", "b"])
        #expect(try Self.settings(file: #"{"input": ["a", "b"]}"#).list("input") == ["a", "b"])
        #expect(try Self.settings(flags: ["input": ["^ev{1,2}$"]]).list("input") == ["^ev{1,2}$"])
        #expect(
            try Self.settings(environment: ["KAFKA_BOOTSTRAP_SERVERS": "a:1,[::1]:2"]).list("bootstrap")
                == ["a:1", "[::1]:2"])
        #expect(
            try Self.settings(environment: ["KAFKA_BOOTSTRAP_SERVERS": "a:1", "LINKD_BOOTSTRAP": "b:1"])
                .list("bootstrap") == ["b:1"])
    }

    @Test("Properties of librdkafka are merged by key")
    func properties() throws {
        let settings = try Self.settings(
            flags: ["librdkafka": ["consumer.fetch.min.bytes=3,debug=eos,feature"]],
            environment: [
                "KAFKA_FETCH_MIN_BYTES": "2", "KAFKA_HEAP_OPTS": "-Xmx1g", "KAFKA_DEBUG": "all",
                "LINKD_LIBRDKAFKA": "transaction.timeout.ms=60000",
            ], file: #"{"librdkafka": {"debug": "cgrp", "fetch.min.bytes": 1}}"#)
        #expect(
            settings.properties.map { "\($0.key)=\($0.value)" } == [
                "consumer.fetch.min.bytes=3", "debug=eos,feature", "fetch.min.bytes=2", "transaction.timeout.ms=60000",
            ])
        #expect(settings.property("fetch.min.bytes", client: "consumer")?.value == "3")
        #expect(settings.property("fetch.min.bytes", client: "producer")?.value == "2")
    }

    @Test("A secret comes from a variable or a file, is masked, and is refused as a flag")
    func secrets() throws {
        try withTemporaryFile("hidden\n") { path in
            let settings = try Self.settings(environment: ["KAFKA_SASL_PASSWORD_FILE": path])
            #expect(settings.properties.map(\.value) == ["hidden"])
            #expect(settings.properties.map(\.shown) == ["****"])
        }
        let error = #expect(throws: CommandFailure.self) {
            try Self.settings(flags: ["librdkafka": ["sasl.password=hidden"]])
        }
        #expect(error?.code == .usage)
        #expect(error?.line.contains("hidden") == false)
        #expect(error?.advice.contains("KAFKA_SASL_PASSWORD_FILE") == true)
    }

    /// A wrong setting with the expected exit code and parts of the message.
    struct Wrong: Sendable, CustomTestStringConvertible {
        var flags: [String: [String]] = [:]
        var environment: [String: String] = [:]
        var file: String?
        var code: ExitCode
        var words: [String]
        var testDescription: String { words.joined(separator: " ") }
    }

    static let wrong: [Wrong] = [
        Wrong(flags: ["lanes": ["0"]], code: .usage, words: ["--lanes", "`0`", "1..64"]),
        Wrong(flags: ["lanes": ["four"]], code: .usage, words: ["`four`", "an integer"]),
        Wrong(flags: ["commit.interval": ["20s"]], code: .usage, words: ["5ms..10s"]),
        Wrong(flags: ["commit.bytes": ["1GiB"]], code: .usage, words: ["64KiB..128MiB"]),
        Wrong(flags: ["guarantee": ["maybe"]], code: .usage, words: ["exactly-once, at-least-once"]),
        Wrong(flags: ["bootstrap": ["nowhere"]], code: .usage, words: ["host:port", "1..32"]),
        Wrong(flags: ["instance": ["a b"]], code: .usage, words: ["`a b`", "A-Za-z0-9._-"]),
        Wrong(flags: ["output": ["link-events"]], code: .usage, words: ["link-events", "--output"]),
        Wrong(flags: ["input": ["a", "b"], "dlq.topic": ["dead"]], code: .usage, words: ["{input}"]),
        Wrong(flags: ["input": ["a", "a"]], code: .usage, words: ["twice"]),
        Wrong(flags: ["dlq.topic": ["{input}"]], code: .usage, words: ["dead-letter topic link-events is an input"]),
        Wrong(flags: ["report": ["json"]], code: .usage, words: ["stop.after"]),
        Wrong(
            flags: ["commit.interval": ["5s"], "librdkafka": ["transaction.timeout.ms=10000"]], code: .usage,
            words: ["a third", "3333ms"]),
        Wrong(flags: ["librdkafka": ["client.id=x"]], code: .usage, words: ["client.id", "--instance"]),
        Wrong(flags: ["librdkafka": ["no.such=x"]], code: .usage, words: ["no property `no.such`"]),
        Wrong(flags: ["librdkafka": ["justakey"]], code: .usage, words: ["key=value"]),
        Wrong(environment: ["LINKD_LANES": "0"], code: .configuration, words: ["LINKD_LANES", "`0`", "1..64"]),
        Wrong(environment: ["LINKD_LANE": "1"], code: .configuration, words: ["LINKD_LANE", "LINKD_LANES"]),
        Wrong(environment: ["KAFKA_CLIENT_ID": "x"], code: .configuration, words: ["KAFKA_CLIENT_ID"]),
        Wrong(
            environment: ["KAFKA_SASL_PASSWORD_FILE": "/none"], code: .configuration,
            words: ["/none", "cannot be read"]),
        Wrong(file: #"{"lanes": 0}"#, code: .configuration, words: [":1", "`0`", "1..64"]),
        Wrong(file: #"{"lanes": "2"}"#, code: .configuration, words: ["line 1, column 11", "wrong type"]),
        Wrong(
            file: #"{"commit": {"intervall": "1s"}}"#, code: .configuration,
            words: ["`commit.intervall`", "`commit.interval`"]),
        Wrong(
            file: #"{"commit.interval": "1s"}"#, code: .configuration,
            words: ["nested", #"{"commit": {"interval": …}}"#]),
        Wrong(file: #"{"commit": 3}"#, code: .configuration, words: ["`commit`"]),
        Wrong(file: "{\n \"lanes\": 1,\n \"lanes\": 2}", code: .configuration, words: ["line 3", "two members"]),
        Wrong(file: "[]", code: .configuration, words: ["not a JSON object"]),
        Wrong(file: "{", code: .configuration, words: ["ends inside"]),
    ]

    @Test(
        "A wrong value ends with exit code 64 from a flag or 78 otherwise, with source, value, and bounds",
        arguments: wrong)
    func errors(wrong: Wrong) {
        let error = #expect(throws: CommandFailure.self) {
            try Self.settings(flags: wrong.flags, environment: wrong.environment, file: wrong.file)
        }
        #expect(error?.code == wrong.code)
        for word in wrong.words { #expect(error?.line.contains(word) == true, "\(error?.line ?? "")") }
    }

    @Test("A missing settings file ends with exit code 78")
    func missingFile() {
        let result = linkd("config", "--config", "/no/such/file.json")
        #expect(result.code == 78)
        #expect(result.err.contains("/no/such/file.json (flag --config) cannot be read"))
    }

    @Test("The default of each row has its type, and names, flags, and variables are unique")
    func table() {
        for row in SettingsTable.rows {
            if case .value(let text) = row.default {
                #expect(row.type.parse([text], splitting: true) != nil, "\(row.name)")
            }
            #expect(row.help.hasSuffix("."), "\(row.name)")
        }
        let rows = SettingsTable.rows
        #expect(Set(rows.map(\.name)).count == rows.count)
        #expect(Set(rows.map(\.variable)).count == rows.count)
        #expect(Set(rows.flatMap(\.flags)).count == rows.flatMap(\.flags).count)
    }
}
