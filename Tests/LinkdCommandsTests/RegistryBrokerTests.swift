internal import ByteStorage
internal import Foundation
internal import KafkaClient
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The registry of devices with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct RegistryBrokerTests {
    private let name = TestBroker.uniqueName("registry")
    private var topic: String { name + "-devices" }

    private func run(_ arguments: [String], input: String = "") throws -> CommandResult {
        try LinkdProcess.run(
            arguments, input: input,
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "", "LINKD_DEVICES_TOPIC": topic,
            ])
    }

    private var topics: [String] { ["--input", name, "--output", name + ".out"] }

    private func create(_ flags: String...) throws -> CommandResult {
        try run(["topics", "create"] + topics + flags)
    }

    @Test("The topic is created compacted, with as many partitions as the inputs, and one that is not is a finding")
    func topicCommands() throws {
        let inputs = try LinkdProcess.run(
            ["topics", "create", "--partitions", "3"] + topics,
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(inputs.code == 0 && !inputs.out.contains(topic), "\(inputs.err)")
        let created = try create("--partitions", "2", "--dry-run", "--json")
        #expect(created.out.contains(#""\#(topic)","role":"devices","state":"would be created","partitions":2"#))
        let result = try create("--set", "max.message.bytes=100000", "--json")
        #expect(result.out.contains(#""topic":"\#(topic)","role":"devices","state":"created","partitions":3"#))
        let check = try run(["topics", "check", "--json"] + topics)
        #expect(check.code == 0, "\(check.err)")
        let row = try #require(check.out.split(separator: "{").first { $0.contains(topic) })
        #expect(row.contains(#""partitions":3"#) && row.contains(#""retention_ms":null"#), "\(row)")
        #expect(row.contains(#""max_message_bytes":100000,"cleanup_policy":"compact""#), "\(row)")
        // A topic with fewer partitions than the inputs is no problem, because workers read all of it.
        #expect(try create().code == 1, "the inputs have 3 of 6 partitions")
        #expect(try !create().err.contains(topic))
        let doctor = try run(["doctor", "--group", name, "--json"] + topics)
        #expect(doctor.out.contains("whoever may write to \(topic) may set the `claims`"), "\(doctor.out)")
        let deleting = try LinkdProcess.run(
            ["topics", "check", "--devices-topic", name] + ["--input", topic, "--output", name + ".out"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(deleting.code == 1)
        #expect(deleting.out.contains("\(name) is not compacted, so that devices are lost"), "\(deleting.out)")
    }

    @Test("A worker warns at the start of each topic that loses records, devices, or configurations")
    func warnings() throws {
        let policies = [
            ("", "delete"), (".out", "compact"), (".dlq", "delete,compact"), ("-devices", "compact,delete"),
            ("-tables", "delete"),
        ]
        let results = try KafkaAdmin(["bootstrap.servers": TestBroker.plain ?? ""]).create(
            topics: policies.map {
                TopicSpecification(name: name + $0.0, partitions: 1, settings: ["cleanup.policy": $0.1])
            }, timeoutMilliseconds: 20_000)
        try #require(results.allSatisfy { $0.error == nil })
        let path = Checkout.root.appending(path: "config/routes/shop.json").path
        let worker = try RunningLinkd(
            ["worker", "--table", path, "--tables-topic", name + "-tables", "--group", name] + topics,
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "", "LINKD_DEVICES_TOPIC": topic,
                "LINKD_VENDORS": "none", "LINKD_LINK_PLATFORMS": "none",
            ])
        try #require(worker.says(#""event":"ready""#), "\(worker.log)")
        let lines = worker.log.split(separator: "\n").filter { $0.contains(#""event":"topic.policy""#) }
        #expect(lines.count == 4, "\(worker.log)")
        for (suffix, text, advice) in [
            (".out", "is compacted, which deletes older records of a device", "delete"),
            (".dlq", "is compacted, which deletes older records of a device", "delete"),
            ("-devices", "deletes devices after retention.ms", "compact"),
            ("-tables", "is not only compacted, so that configurations are lost", "compact"),
        ] {
            let line = lines.first { $0.contains(#""topic":"\#(name)\#(suffix)""#) }
            #expect(line?.contains("the topic \(name)\(suffix) \(text)") == true, "\(lines)")
            #expect(line?.contains(#""level":"warning""#) == true, "\(lines)")
            #expect(line?.contains(#""advice":"set cleanup.policy=\#(advice)""#) == true, "\(lines)")
        }
        worker.signal(SIGTERM)
        #expect(try worker.end() == 0)
    }

    @Test("Devices are written, inspected, changed, and erased by the lines that inspect prints")
    func devices() throws {
        #expect(try create("--partitions", "3").code == 0)
        // A partition whose leader was just elected answers errors for a moment.
        var missing = try run(["inspect", "--devices", "d-1"])
        let isReadable = try becomesTrue(withinSeconds: 30) {
            if missing.code != 0 { missing = try run(["inspect", "--devices", "d-1"]) }
            return missing.code == 0
        }
        #expect(isReadable, "\(missing.err)")
        #expect(missing.out.hasPrefix("d-1  unknown: \(topic) has no record of it; "), "\(missing.out)")
        let lines = (1...300).map { #"{"id":"d-\#($0)","user":"u-\#($0 % 100)","app":"1.\#($0)"}"# }
        let sent = try run(["produce", "--devices", "-"], input: lines.joined(separator: "\n"))
        #expect(sent.out.hasPrefix("read 300, sent 300, delivered 300, "), "\(sent.out) \(sent.err)")
        let placed = try run(["inspect", "--topic", topic, "-f", "%k %p\\n"])
        let records = placed.out.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(records.count == 300)
        for record in records {
            let partition = Array(record[0].utf8).withUnsafeBufferPointer {
                Murmur2.partition(of: ByteView($0), among: 3)
            }
            #expect(record[1] == "\(partition)")
        }
        let user = try run(["inspect", "--user", "u-7"])
        let names = user.out.split(separator: "\n").filter { !$0.hasPrefix(" ") }
        #expect(names.map { $0.prefix { $0 != " " } } == ["d-107", "d-207", "d-7"], "\(user.out)")
        #expect(names.allSatisfy { $0.contains("  known since 20") && $0.hasSuffix("of the user u-7") })
        #expect(user.out.contains("\n    {\"user\":\"u-7\",\"app\":\"1.7\"}\n"), "\(user.out)")
        #expect(user.err == "\(topic) has 3 devices of the user u-7\n")
        let json = try run(["inspect", "--user", "u-7", "--json"])
        let erased = json.out.split(separator: "\n").map { #"{"deleted":true,"# + $0.dropFirst() }
        let result = try run(["produce", "--devices", "-"], input: erased.joined(separator: "\n"))
        #expect(result.out.contains("delivered 3, failed 0, unreadable 0, deleted 3, "), "\(result.out) \(result.err)")
        let after = try run(["inspect", "--user", "u-7"])
        #expect(after.out.isEmpty)
        #expect(after.err.contains("has no device of the user u-7; 3 other devices belonged to it before"))
        #expect(try run(["inspect", "--devices", "d-7"]).out.hasPrefix("d-7  deleted since 20"))
        #expect(
            try run(["inspect", "--devices", "d-8", "--json"]).out.hasPrefix(#"{"id":"d-8","state":"known","user""#))
    }

    @Test("A record in another partition is found, with a warning, and a malformed one changes nothing")
    func otherPartition() throws {
        let filled = try FilledTopic(exactly: topic, partitions: 3)
        let own = Array("d-1".utf8).withUnsafeBufferPointer { Murmur2.partition(of: ByteView($0), among: 3) }
        let other = (own + 1) % 3
        try filled.write([
            FilledTopic.Record(partition: own, value: #"{"app":"1"}"#, time: 1000),
            FilledTopic.Record(partition: other, value: #"{"app":"2"}"#, time: 2000),
            FilledTopic.Record(partition: other, value: #"{"app":2}"#, time: 3000),
        ])
        try filled.write([FilledTopic.Record(partition: own, value: #"{"app":"3"}"#, time: 4000)], commit: false)
        let result = try run(["inspect", "--devices", "d-1"])
        let time = "1970-01-01T00:00:02"
        #expect(result.out.hasPrefix("d-1  known since \(time)"), "\(result.out)")
        #expect(result.out.contains("  \(topic)-\(other)-0\n    {\"app\":\"2\"}\n"), "\(result.out)")
        #expect(result.out.contains("1 malformed record after it changes nothing, the last 1970-01-01T00:00:03"))
        let partitions = [own, other].sorted().map(String.init).joined(separator: ", ")
        #expect(result.err.contains("are in partition \(partitions) of \(topic)"), "\(result.err)")
        let json = try run(["inspect", "--devices", "d-1", "--json", "--partition", "\(own)"])
        #expect(json.out.contains(#""timestamp":1000,"value":{"app":"1"}}"#), "\(json.out)")
        #expect(json.err.isEmpty, "\(json.err)")
        let deletion = #"{"id":"d-1","deleted":true}"#
        let deleted = try run(["produce", "--devices", "--partition", "\(other)"], input: deletion)
        #expect(deleted.code == 0, "\(deleted.err)")
        #expect(try run(["inspect", "--devices", "d-1", "--json"]).out.contains(#""state":"deleted""#))
    }

    @Test("Other flags, and a missing topic, are refused")
    func refusals() throws {
        let both = try run(["inspect", "--devices", "d", "--user", "u"])
        #expect(both.code == 64 && both.err.contains("--devices and --user cannot be combined"), "\(both.err)")
        let last = try run(["inspect", "--user", "u", "--last", "1"])
        #expect(last.code == 64 && last.err.contains("--user and --last cannot be combined"), "\(last.err)")
        let none = linkd("inspect", "-b", "127.0.0.1:1", "--devices", "d")
        #expect(none.code == 64 && none.err.contains("`devices.topic` names no topic"), "\(none.err)")
        let missing = try run(["inspect", "--devices", "d"])
        #expect(missing.code == 78 && missing.err.contains("the topic does not exist"), "\(missing.err)")
    }
}
