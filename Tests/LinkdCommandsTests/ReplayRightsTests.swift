internal import StrictJSON
internal import Testing

@testable internal import LinkdCommands

/// `linkd dlq replay` as a user with the rights that `linkd doctor --print-acls --replay` prints, and no others.
@Suite(
    .enabled(
        if: TestBroker.refusing != nil && TestBroker.plain != nil && TestBroker.script != nil,
        "no broker whose access rules the tests can set: LINKD_TEST_BROKER is not set"))
struct ReplayRightsTests {
    @Test("A replay ends with exit code 77 until it has all printed rights, and needs no others")
    func printed() throws {
        let input = TestBroker.uniqueName("replay-rights")
        let topics = ["--input", input, "--output", input + ".out"]
        let plain = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]
        let user = TestBroker.refusing ?? [:]
        let dead = try FilledTopic(exactly: input + ".dlq", partitions: 1)
        try dead.write(
            (1...2).map { number in
                let headers = DeadLetterSample.headers(topic: input, partition: 0, offset: number)
                let truncated = number == 2 ? [("dlq.truncated", "9")] : []
                return FilledTopic.Record(
                    value: "v\(number)", time: 1, headers: headers.map { ($0.0, $0.1 ?? "") } + truncated)
            })
        let created = try LinkdProcess.run(
            ["topics", "create", "--replay", "--partitions", "1"] + topics, environment: plain)
        #expect(created.code == 0, "\(created.err)")
        let rules = linkd(["doctor", "--print-acls", "--replay"] + topics, environment: user)
        let commands = rules.out.replacing("\\\n", with: "").split(separator: "\n").map { line in
            Array(line.split(separator: " ").map(String.init).drop { $0 != "--add" })
        }
        #expect(commands.count == 3, "\(rules.out)\(rules.err)")
        func replay(_ flags: String...) throws -> CommandResult {
            try LinkdProcess.run(
                ["dlq", "replay", "--topic", input, "--yes", "--json"] + topics + flags, environment: user)
        }
        // Without dead letters to park, the right on the parking topic is not needed.
        let parked = try #require(commands[1].firstIndex(of: input + ".dlq.parked"))
        var withoutParking = commands[1]
        withoutParking.removeSubrange(parked - 1...parked)
        for command in [commands[0], withoutParking, commands[2]] {
            let refused = try replay("--offsets", "0:0-0")
            #expect(refused.code == 77, "\(refused.out)\(refused.err)")
            try TestBroker.tool(["acls"] + command)
        }
        let first = try replay("--offsets", "0:0-0")
        #expect(first.code == 0, "\(first.err)")
        #expect(try JSONValue.parse(Array(first.out.utf8))["order"]?["devices"]?.integer == 1, "\(first.err)")
        let refused = try replay()
        #expect(refused.code == 77, "\(refused.err)")
        #expect(refused.err.contains("lacks Write on Topic \(input).dlq.parked"), "\(refused.err)")
        try TestBroker.tool(["acls"] + commands[1])
        let done = try replay()
        #expect(done.code == 0, "\(done.err)")
        let summary = try JSONValue.parse(Array(done.out.utf8))
        #expect(summary["already_replayed"]?.integer == 1 && summary["parked"]?.integer == 1)
    }
}
