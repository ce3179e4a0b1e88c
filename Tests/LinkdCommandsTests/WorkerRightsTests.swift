internal import Foundation
internal import KafkaClient
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The worker as a user with the rights that `linkd doctor --print-acls` prints, and no others.
@Suite(
    .enabled(
        if: TestBroker.refusing != nil && TestBroker.plain != nil && TestBroker.script != nil,
        "no broker whose access rules the tests can set: LINKD_TEST_BROKER is not set"))
struct WorkerRightsTests {
    @Test("A worker with the printed rights starts, and warns of each topic that loses records or configurations")
    func printed() throws {
        let name = TestBroker.uniqueName("worker-rights")
        let policies = ["": "compact", ".out": "compact", ".dlq": "compact", "-devices": "compact,delete"]
        let results = try KafkaAdmin(["bootstrap.servers": TestBroker.plain ?? ""]).create(
            topics: policies.merging(["-tables": "delete"]) { $1 }.map {
                TopicSpecification(name: name + $0, partitions: 1, settings: ["cleanup.policy": $1])
            }, timeoutMilliseconds: 20_000)
        try #require(results.allSatisfy { $0.error == nil })
        let flags = [
            "--group", name, "--input", name, "--output", name + ".out", "--devices-topic", name + "-devices",
            "--tables-topic", name + "-tables",
        ]
        let user = (TestBroker.refusing ?? [:]).merging(["LINKD_VENDORS": "none", "LINKD_LINK_PLATFORMS": "none"]) {
            $1
        }
        let rules = linkd(["doctor", "--print-acls"] + flags, environment: user)
        for line in rules.out.replacing("\\\n", with: "").split(separator: "\n") {
            let command = line.split(separator: " ").map(String.init).drop { $0 != "--add" }
            #expect(command.contains("User:mallory"), "\(rules.out)")
            try TestBroker.tool(["acls"] + command)
        }
        let path = Checkout.root.appending(path: "config/routes/shop.json").path
        let worker = try RunningLinkd(["worker", "--table", path] + flags, environment: user)
        try #require(worker.says(#""event":"ready""#), "\(worker.log)")
        let warned = worker.log.split(separator: "\n").compactMap { try? JSONValue.parse(Array($0.utf8)) }
            .filter { $0["event"]?.string == "topic.policy" }.compactMap { $0["topic"]?.string }
        #expect(warned.sorted() == ["", "-devices", "-tables", ".dlq", ".out"].map { name + $0 }, "\(worker.log)")
        worker.signal(SIGTERM)
        #expect(try worker.end() == 0, "\(worker.log)")
    }
}
