@testable import DispatchWorker
@testable import KafkaClient
import LinkIngest
import TestSupport
import Testing
import ByteStorage
import LinkDecider

/// The headers of dead letters for other tools, decoded as those tools decode them.
@Suite struct HeaderProfileTests {
    static func worker(_ profile: HeaderProfile) -> WorkerIdentity {
        WorkerIdentity(group: "g", instance: "i.3", lane: 3, version: "1.2.3", profile: profile)
    }

    /// Headers as a client of Kafka in Java reads them.
    ///
    /// Of several headers with a name, `lastHeader` is the last one.
    struct Headers {
        let all: [RecordHeader]

        /// Returns the bytes of the last header with a name.
        func lastHeader(_ name: String) -> [UInt8]? { all.last { $0.name == Array(name.utf8) }?.value }

        /// Decodes as `new String(value, UTF_8)`.
        func text(_ name: String) -> String? { lastHeader(name).flatMap { String(validating: $0, as: UTF8.self) } }

        /// Decodes as `ByteBuffer.wrap(value).getInt()` or `getLong()`, which need exactly these bytes.
        func number<Number: FixedWidthInteger>(_ name: String, _ type: Number.Type) -> Number? {
            guard let bytes = lastHeader(name), bytes.count == Number.bitWidth / 8 else { return nil }
            return bytes.reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }
    }

    static func headers(
        _ profile: HeaderProfile, reason: DeadLetterReason = .badJSON, timestamp: Int64 = 1_700_000_000_123,
        hasBrokerTimestamp: Bool = false
    ) -> Headers {
        Headers(
            all: DeadLetterTests.letter(
                timestamp: timestamp, cause: DeadLetterCause(reason: reason, detail: "expected an object"),
                worker: worker(profile), hasBrokerTimestamp: hasBrokerTimestamp
            ).headerBytes)
    }

    @Test("Kafka Connect's headers have text in every value")
    func connect() {
        let headers = Self.headers(.connect)
        let expected = [
            "topic": "in", "partition": "5", "offset": "77", "connector.name": "g", "task.id": "3",
            "stage": "VALUE_CONVERTER", "class.name": "linkd", "exception.class.name": "linkd.bad_json",
            "exception.message": "expected an object",
        ]
        for (name, value) in expected { #expect(headers.text("__connect.errors.\(name)") == value, "\(name)") }
        #expect(HeaderProfile.connect.names.count == expected.count)
    }

    @Test(
        "The stage is one of Kafka Connect's own",
        arguments: [
            (DeadLetterReason.nullValue, "VALUE_CONVERTER"), (.missingDevice, "TRANSFORMATION"),
            (.crashLoop, "TRANSFORMATION"), (.oversizeOutput, "TASK_PUT"), (.refusedOutput, "TASK_PUT"),
        ])
    func connectStage(reason: DeadLetterReason, stage: String) {
        #expect(Self.headers(.connect, reason: reason).text("__connect.errors.stage") == stage)
    }

    @Test("Spring Kafka's headers have numbers as big-endian bytes of their type")
    func spring() {
        let headers = Self.headers(.spring)
        #expect(headers.number("kafka_dlt-original-partition", Int32.self) == 5)
        #expect(headers.number("kafka_dlt-original-offset", Int64.self) == 77)
        #expect(headers.number("kafka_dlt-original-timestamp", Int64.self) == 1_700_000_000_123)
        #expect(headers.lastHeader("kafka_dlt-original-partition") == [0, 0, 0, 5])
        #expect(headers.lastHeader("kafka_dlt-original-offset") == [0, 0, 0, 0, 0, 0, 0, 77])
        let expected = [
            "original-topic": "in", "original-timestamp-type": "CreateTime", "original-consumer-group": "g",
            "exception-fqcn": "linkd.bad_json", "exception-cause-fqcn": "linkd.bad_json",
            "exception-message": "expected an object",
        ]
        for (name, value) in expected { #expect(headers.text("kafka_dlt-\(name)") == value, "\(name)") }
        #expect(HeaderProfile.spring.names.count == expected.count + 3)
    }

    @Test("The timestamp type has the name of Kafka's own type")
    func timestampType() {
        let name = "kafka_dlt-original-timestamp-type"
        #expect(Self.headers(.spring, hasBrokerTimestamp: true).text(name) == "LogAppendTime")
        let absent = Self.headers(.spring, timestamp: -1)
        #expect(absent.text(name) == "NoTimestampType")
        #expect(absent.number("kafka_dlt-original-timestamp", Int64.self) == -1)
    }

    @Test("Kafka Streams' headers have text in every value, and the error is an exception's text")
    func streams() {
        let headers = Self.headers(.streams)
        let expected = [
            "exception": "linkd.bad_json: expected an object", "message": "expected an object", "topic": "in",
            "partition": "5", "offset": "77",
        ]
        for (name, value) in expected { #expect(headers.text("__streams.errors.\(name)") == value, "\(name)") }
        #expect(HeaderProfile.streams.names.count == expected.count)
    }

    @Test("A profile writes its names in their order after the native headers", arguments: HeaderProfile.allCases)
    func order(profile: HeaderProfile) {
        let native = Self.headers(.native).all
        let headers = Self.headers(profile).all
        #expect(Array(headers.prefix(native.count)) == native)
        let names = headers.dropFirst(native.count).map { String(decoding: $0.name, as: UTF8.self) }
        #expect(names == profile.names.map(\.description))
    }

    @Test("A record that fails again loses the headers of the configured profile, and keeps those of other tools")
    func again() {
        let old = [("__connect.errors.topic", "old"), ("kafka_dlt-original-topic", "old")]
        func topics(_ profile: HeaderProfile) -> [String] {
            DeadLetterTests.letter(headers: old, worker: Self.worker(profile)).headers
                .filter { $0.hasPrefix("__connect.errors.topic=") || $0.hasPrefix("kafka_dlt-original-topic=") }
        }
        #expect(topics(.native) == ["__connect.errors.topic=old", "kafka_dlt-original-topic=old"])
        #expect(topics(.spring) == ["__connect.errors.topic=old", "kafka_dlt-original-topic=in"])
        #expect(topics(.all) == ["__connect.errors.topic=in", "kafka_dlt-original-topic=in"])
    }

    @Test("The bytes of a profile count, and dlq.truncated precedes them")
    func truncated() throws {
        let letter = DeadLetterTests.letter(
            value: [UInt8](repeating: 1, count: 50_000), limit: 20_000, worker: Self.worker(.all))
        let headerBytes = letter.headerBytes.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) + 10 }
        #expect((letter.value?.count ?? 0) + headerBytes + 1 + 512 == 20_000)
        let index = try #require(letter.headers.firstIndex(of: "dlq.truncated=50000"))
        #expect(letter.headers[index - 1] == "dlq.replay.count=0")
        #expect(letter.headers[index + 1] == "__connect.errors.topic=in")
    }

    @Test("A profile whose headers do not fit is left out, and the native headers remain")
    func hopeless() {
        let native = DeadLetterTests.letter(worker: Self.worker(.native))
        let letter = DeadLetterTests.letter(limit: 1_200, worker: Self.worker(.all))
        #expect(Array(letter.headers.prefix(native.headers.count)) == native.headers)
        #expect(letter.headers.dropFirst(native.headers.count) == ["dlq.truncated=1"])
    }
}

extension BrokerTests {
    @Test("A dead letter of a topic with the broker's timestamps says so to Spring Kafka")
    func brokerTimestamps() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun(
                "spring", bootstrap: bootstrap, partitions: 1,
                settings: ["in": ["message.timestamp.type": "LogAppendTime"]])
            try run.produce(count: 1, partitions: 1) { _ in ("d", nil, []) }
            var configuration = run.configuration()
            configuration.deadLetterHeaders = .spring
            configuration.stopAfter = 1
            #expect(Self.work(configuration).exit == nil)
            let sources = try run.read(run.input)
            _ = try becomesTrue(withinSeconds: 20) { try !run.read(run.deadLetters).isEmpty }
            let letter = try #require(try run.read(run.deadLetters).first)
            let headers = HeaderProfileTests.Headers(all: letter.headers)
            #expect(headers.text("kafka_dlt-original-timestamp-type") == "LogAppendTime")
            #expect(headers.number("kafka_dlt-original-timestamp", Int64.self) == sources.first?.timestamp)
        }
    }
}
