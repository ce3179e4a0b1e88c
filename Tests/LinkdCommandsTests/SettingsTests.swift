internal import ByteStorage
internal import LinkDecider
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
        let known: Set<String> = [
            "sasl.password", "sasl.mechanisms", "fetch.min.bytes", "debug", "client.id", "transaction.timeout.ms",
        ]
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

    @Test("The topics of applications come from a flag, a variable, or an object in the file")
    func outputs() throws {
        let names = ["all", "shop-decisions", "trips"]
        let texts = ["com.example.trips=trips,com.example.shop=shop-decisions", "b=c=all"]
        let flags = try Self.settings(flags: ["output": ["all"], "output.applications": texts])
        #expect(flags.outputs.names == names)
        let variable = try Self.settings(environment: [
            "LINKD_OUTPUT": "all", "LINKD_OUTPUT_APPLICATIONS": texts.joined(separator: ","),
        ])
        #expect(variable.outputs == flags.outputs)
        let file = #"{"output": "all", "output.applications": {"com.example.trips": "trips", "b=c": "all","#
        let object = try Self.settings(file: file + #" "com.example.shop": "shop-decisions"}}"#)
        #expect(object.outputs.names == names)
        for (application, topic) in [("com.example.trips", "trips"), ("b=c", "all"), ("b", "all")] {
            for outputs in [flags.outputs, object.outputs] {
                let index = Array(application.utf8).withUnsafeBufferPointer { outputs.index(of: ByteView($0)) }
                #expect(outputs.names[Int(index)] == topic)
            }
        }
        // A name in the file can have a comma.
        #expect(try Self.settings(file: #"{"output.applications": {"a,b": "x"}}"#).outputs.names.last == "x")
        #expect(try Self.settings().outputs == OutputTopics("link-decisions"))
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
        let url = "https://user:hidden@a.example/token?to=b@c"
        let pair = LibrdkafkaPair(key: "sasl.oauthbearer.token.endpoint.url", value: url, source: .default)
        #expect(pair.shown == "https://****@a.example/token?to=b@c")
        let error = #expect(throws: CommandFailure.self) {
            try Self.settings(flags: ["librdkafka": ["sasl.password=hidden"]])
        }
        #expect(error?.code == .usage)
        #expect(error?.line.contains("hidden") == false)
        #expect(error?.advice.contains("KAFKA_SASL_PASSWORD_FILE") == true)
    }

    /// A wrong setting with the expected exit code and parts of the message.
    struct InvalidSetting: Sendable, CustomTestStringConvertible {
        var flags: [String: [String]] = [:]
        var environment: [String: String] = [:]
        var file: String?
        var code: ExitCode
        var parts: [String]
        var testDescription: String { parts.joined(separator: " ") }
    }

    static let invalidSettings: [InvalidSetting] = [
        InvalidSetting(flags: ["lanes": ["0"]], code: .usage, parts: ["--lanes", "`0`", "1..64"]),
        InvalidSetting(flags: ["lanes": ["four"]], code: .usage, parts: ["`four`", "an integer"]),
        InvalidSetting(flags: ["commit.interval": ["20s"]], code: .usage, parts: ["5ms..10s"]),
        InvalidSetting(flags: ["commit.bytes": ["1GiB"]], code: .usage, parts: ["64KiB..128MiB"]),
        InvalidSetting(flags: ["guarantee": ["maybe"]], code: .usage, parts: ["exactly-once, at-least-once"]),
        InvalidSetting(flags: ["bootstrap": ["nowhere"]], code: .usage, parts: ["host:port", "1..32"]),
        InvalidSetting(flags: ["instance": ["a b"]], code: .usage, parts: ["`a b`", "A-Za-z0-9._-"]),
        InvalidSetting(flags: ["output": ["link-events"]], code: .usage, parts: ["link-events", "--output"]),
        InvalidSetting(
            flags: ["output.applications": ["shop=link-events"]], code: .usage,
            parts: ["--output.applications", "link-events", "input or dead-letter"]),
        InvalidSetting(
            environment: ["LINKD_OUTPUT_APPLICATIONS": "a=b,c=link-events.dlq"], code: .configuration,
            parts: ["LINKD_OUTPUT_APPLICATIONS", "link-events.dlq"]),
        InvalidSetting(
            flags: ["output.applications": ["a=b", "a=c"]], code: .usage,
            parts: ["`a=b,a=c`", "1..64 different names"]),
        InvalidSetting(
            flags: ["output.applications": ["shop=link-events.dlq.replayed"]], code: .usage,
            parts: ["link-events.dlq.replayed", "input or dead-letter"]),
        InvalidSetting(flags: ["output.applications": ["a=b c"]], code: .usage, parts: ["valid topic names"]),
        InvalidSetting(flags: ["output.applications": ["=b"]], code: .usage, parts: ["1..256 bytes"]),
        InvalidSetting(
            flags: ["output.applications": (0..<65).map { "a\($0)=b" }], code: .usage, parts: ["1..64"]),
        InvalidSetting(
            flags: ["devices.topic": ["shop"], "output.applications": ["a=shop"]], code: .usage,
            parts: ["--devices.topic", "output"]),
        InvalidSetting(
            file: #"{"output.applications": {"a": 1}}"#, code: .configuration,
            parts: ["`output.applications`", "wrong type"]),
        InvalidSetting(
            file: #"{"output": {"applications": {"a": "b"}}}"#, code: .configuration,
            parts: ["`output`", "wrong type"]),
        InvalidSetting(flags: ["input": ["a", "b"], "dlq.topic": ["dead"]], code: .usage, parts: ["{input}"]),
        InvalidSetting(flags: ["input": ["^a["]], code: .usage, parts: ["`^a[`", "not a valid regular expression"]),
        InvalidSetting(flags: ["input": ["a", "a"]], code: .usage, parts: ["twice"]),
        InvalidSetting(
            flags: ["dlq.topic": ["{input}"]], code: .usage, parts: ["dead-letter topic link-events is an input"]),
        InvalidSetting(
            flags: ["input": ["a", "link-decisions.recalled"], "dlq.topic": ["{input}.dlq"]], code: .usage,
            parts: ["link-decisions.recalled", "`input`", "belongs to link-decisions"]),
        InvalidSetting(
            flags: ["input": ["a", "a.dlq.replayed"], "dlq.topic": ["{input}.dlq"]], code: .usage,
            parts: ["`input`", "belongs to a.dlq"]),
        InvalidSetting(
            flags: ["dlq.topic": ["link-decisions.recalled"]], code: .usage, parts: ["`dlq.topic`", "--dlq-topic"]),
        InvalidSetting(
            flags: ["output.applications": ["a=link-decisions.recalled"]], code: .usage,
            parts: ["`output.applications`"]),
        InvalidSetting(
            flags: ["tables.topic": ["link-events.dlq.parked"]], code: .usage, parts: ["`tables.topic`"]),
        InvalidSetting(
            flags: ["devices.topic": ["link-decisions"]], code: .usage, parts: ["--devices-topic", "also an input"]),
        InvalidSetting(
            environment: ["LINKD_DEVICES_TOPIC": "link-events.dlq"], code: .configuration,
            parts: ["LINKD_DEVICES_TOPIC", "dead-letter topic"]),
        InvalidSetting(
            flags: ["devices.topic": ["d"], "guarantee": ["at-least-once"]], code: .configuration,
            parts: ["needs `guarantee` exactly-once", "event with `user`", "--guarantee exactly-once"]),
        InvalidSetting(
            flags: ["devices.members": ["platform", "tier"]], code: .usage,
            parts: ["--devices.members", "unknown name", "attributes.NAME"]),
        InvalidSetting(flags: ["report": ["json"]], code: .usage, parts: ["stop.after"]),
        InvalidSetting(
            flags: ["passthrough": ["campaign", "push"]], code: .usage,
            parts: ["--passthrough", "names `push`", "remove `push`"]),
        InvalidSetting(
            environment: ["LINKD_PASSTHROUGH": "query"], code: .configuration,
            parts: ["LINKD_PASSTHROUGH", "names `query`"]),
        InvalidSetting(
            flags: ["context.query": (0..<17).map { "n\($0)" }], code: .usage, parts: ["--context.query", "0..16"]),
        InvalidSetting(
            flags: ["commit.interval": ["5s"], "librdkafka": ["transaction.timeout.ms=10000"]], code: .usage,
            parts: ["a third", "3333ms"]),
        InvalidSetting(
            flags: ["dlq.max.ratio": ["1.01"]], code: .usage, parts: ["`1.01`", "0..1,", "4 decimal places"]),
        InvalidSetting(flags: ["http.listen": ["8080"]], code: .usage, parts: ["`8080`", ":port for all interfaces"]),
        InvalidSetting(flags: ["http.listen": ["::1:80"]], code: .usage, parts: ["[IPv6 address]:port"]),
        InvalidSetting(
            flags: ["canary.percent": ["0.5"]], code: .usage, parts: ["needs `canary.table`", "--canary-table FILE"]),
        InvalidSetting(
            environment: ["LINKD_PORT": "tcp://10.0.0.1:8080"], code: .configuration,
            parts: ["LINKD_PORT is not a setting", "Kubernetes", "Service named linkd", "`enableServiceLinks: false`"]),
        InvalidSetting(
            environment: ["LINKD_SERVICE_HOST": "10.0.0.1"], code: .configuration,
            parts: ["LINKD_SERVICE_HOST is not a setting", "`enableServiceLinks: false`"]),
        InvalidSetting(
            environment: ["LINKD_CANARY_COMPARE": "2"], code: .configuration,
            parts: ["LINKD_CANARY_COMPARE", "needs `canary.table`"]),
        InvalidSetting(
            flags: ["sasl.token.file": ["token"]], code: .usage, parts: ["OAUTHBEARER", "-X sasl.mechanisms"]),
        InvalidSetting(
            flags: ["sasl.token.file": ["token"], "sasl.token.command": ["print-token"]], code: .usage,
            parts: ["both set", "one of them"]),
        InvalidSetting(flags: ["librdkafka": ["client.id=x"]], code: .usage, parts: ["client.id", "--instance"]),
        InvalidSetting(flags: ["librdkafka": ["no.such=x"]], code: .usage, parts: ["no property `no.such`"]),
        InvalidSetting(flags: ["librdkafka": ["justakey"]], code: .usage, parts: ["key=value"]),
        InvalidSetting(
            environment: ["LINKD_LANES": "0"], code: .configuration, parts: ["LINKD_LANES", "`0`", "1..64"]),
        InvalidSetting(environment: ["LINKD_LANE": "1"], code: .configuration, parts: ["LINKD_LANE", "LINKD_LANES"]),
        InvalidSetting(environment: ["KAFKA_CLIENT_ID": "x"], code: .configuration, parts: ["KAFKA_CLIENT_ID"]),
        InvalidSetting(
            environment: ["KAFKA_SASL_PASSWORD_FILE": "/none"], code: .configuration,
            parts: ["/none", "cannot be read"]),
        InvalidSetting(file: #"{"lanes": 0}"#, code: .configuration, parts: [":1", "`0`", "1..64"]),
        InvalidSetting(
            file: #"{"dlq": {"max": {"ratio": "0.5"}}}"#, code: .configuration,
            parts: ["`dlq.max.ratio`", "wrong type"]),
        InvalidSetting(file: #"{"lanes": "2"}"#, code: .configuration, parts: ["line 1, column 11", "wrong type"]),
        InvalidSetting(
            file: #"{"commit": {"intervall": "1s"}}"#, code: .configuration,
            parts: ["`commit.intervall`", "`commit.interval`"]),
        InvalidSetting(
            file: #"{"commit.interval": "1s"}"#, code: .configuration,
            parts: ["nested", #"{"commit": {"interval": …}}"#]),
        InvalidSetting(file: #"{"commit": 3}"#, code: .configuration, parts: ["`commit`"]),
        InvalidSetting(
            file: "{\n \"lanes\": 1,\n \"lanes\": 2}", code: .configuration, parts: ["line 3", "two members"]),
        InvalidSetting(file: "[]", code: .configuration, parts: ["not a JSON object"]),
        InvalidSetting(file: "{", code: .configuration, parts: ["ends inside"]),
    ]

    @Test(
        "A wrong value ends with exit code 64 from a flag or 78 otherwise, with source, value, and bounds",
        arguments: invalidSettings)
    func errors(invalid: InvalidSetting) {
        let error = #expect(throws: CommandFailure.self) {
            try Self.settings(flags: invalid.flags, environment: invalid.environment, file: invalid.file)
        }
        #expect(error?.code == invalid.code)
        for word in invalid.parts { #expect(error?.line.contains(word) == true, "\(error?.line ?? "")") }
    }

    @Test("Settings of a canary are accepted with the file of its table")
    func canarySettings() throws {
        let settings = try Self.settings(
            flags: ["canary.table": ["shop.json"], "canary.percent": ["12.5"]],
            file: #"{"dlq": {"max": {"ratio": 0.5}}, "canary": {"compare": 0}}"#)
        #expect(settings.number("canary.percent") == 1250)
        #expect(settings.entry("canary.percent").value?.description == "12.5")
        #expect(settings.number("canary.compare") == 0)
        #expect(settings.number("dlq.max.ratio") == 5000)
    }

    @Test(
        "An address to listen on has a port, and a host if it has one",
        arguments: [
            (":8080", true), ("127.0.0.1:0", true), ("[::1]:80", true), ("", false), (":", false), ("a b:1", false),
            ("host:65536", false), ("host", false),
        ])
    func listenAddresses(text: String, isValid: Bool) {
        #expect((ValueType.address.parse([text], splitting: true) != nil) == isValid)
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
