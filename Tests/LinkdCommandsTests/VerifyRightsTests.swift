internal import Testing

@testable internal import LinkdCommands

/// `linkd verify` as a user with the documented rights, and no others.
@Suite(
    .enabled(
        if: TestBroker.refusing != nil && TestBroker.plain != nil && TestBroker.script != nil,
        "no broker whose access rules the tests can set: LINKD_TEST_BROKER is not set"))
struct VerifyRightsTests {
    @Test("A check ends with exit code 77 until it may read the topics and describe the group, and needs no more")
    func rights() throws {
        let input = try FilledTopic("verify-rights", partitions: 1)
        let names = [input.name, input.name + ".out", input.name + ".dlq"]
        let others = try names.dropFirst().map { try FilledTopic(exactly: $0, partitions: 1) }
        #expect(others.count == 2)
        func verify() throws -> CommandResult {
            try LinkdProcess.run(
                ["verify", "--input", names[0], "--output", names[1], "--group", names[0]],
                environment: TestBroker.refusing ?? [:])
        }
        var rules = names.map { ["Read", "--topic", $0] }
        rules.insert(["Describe", "--group", names[0]], at: 1)
        for rule in rules {
            let refused = try verify()
            #expect(refused.code == 77, "\(refused)")
            #expect(refused.err.contains("lacks \(rule[0]) on"), "\(refused)")
            try TestBroker.tool(["acls", "--add", "--allow-principal", "User:mallory", "--operation"] + rule)
        }
        let done = try verify()
        #expect(done.code == 0, "\(done)")
    }
}
