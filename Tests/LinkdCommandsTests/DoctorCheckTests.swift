internal import Foundation
@testable import KafkaClient
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The checks of `linkd doctor` of files, replicas, members, and limits.
@Suite struct DoctorCheckTests {
    @Test("Partitions with fewer replicas in sync than they have are a risk, and fewer than the minimum are a problem")
    func underReplicated() {
        let declarations = [TopicDeclaration(name: "events", role: .input, input: nil)]
        var topic = DoctorTests.topic("events", partitions: 6, replicas: 3)
        topic.partitions[1].inSyncReplicas = [1, 2]
        let lines = { (minimum: String) in
            BrokerChecks.topics(
                declarations,
                TopicState(descriptions: [topic], settings: ["events": ["min.insync.replicas": minimum]]),
                TopicExpectations(lanes: 6, brokers: 3)
            ).map(\.line)
        }
        #expect(
            lines("2") == [
                "warn topics: events: 1 of 6 partitions have fewer replicas in sync than they have replicas. Next: "
                    + "start the brokers that are down, and read the logs of those that are behind."
            ])
        let failed = lines("3")
        #expect(failed.count == 1)
        #expect(
            failed.first?.hasPrefix(
                "fail topics: events: 1 of 6 partitions have fewer replicas in sync than min.insync.replicas 3, and "
                    + "refuse records.") == true, "\(failed)")
    }

    @Test("A group that rebalances or has partitions without an owner is not ok")
    func group() {
        let input = DoctorTests.topic("events", partitions: 3, replicas: 1)
        let partition = { TopicPartition(topic: "events", partition: $0) }
        let line = { (state: String, members: [[TopicPartition]]) in
            let members = members.enumerated().map { GroupMember(id: "\($0.offset)", partitions: $0.element) }
            return BrokerChecks.group(GroupDescription(name: "g", state: state, members: members), [input]).line
        }
        #expect(line("Dead", []) == "ok   group: g does not exist yet.")
        #expect(line("Empty", []) == "ok   group: g is Empty with 0 members.")
        #expect(line("Stable", [(0..<3).map(partition)]) == "ok   group: g is Stable with 1 member.")
        let stable = line("Stable", [[partition(1)], []])
        #expect(
            stable.hasPrefix("warn group: g is Stable with 2 members, and 2 of 3 partitions have no owner. Next: "),
            "\(stable)")
        for state in ["PreparingRebalance", "CompletingRebalance"] {
            let rebalancing = line(state, Array(repeating: [], count: 22))
            #expect(
                rebalancing.hasPrefix(
                    "warn group: g is \(state) with 22 members, so that partitions may have no owner. Next: "),
                "\(rebalancing)")
        }
    }

    @Test("Too few open files are named with their number")
    func descriptors() {
        #expect(ClientChecks.descriptors(lanes: 1, brokers: 1, limit: 1_024) == [])
        #expect(ClientChecks.descriptors(lanes: 8, brokers: 3, limit: 0) == [])
        let checks = ClientChecks.descriptors(lanes: 8, brokers: 3, limit: 256)
        #expect(
            checks.map(\.line) == [
                "warn descriptors: this process may open 256 files, and a worker with 8 lanes and 3 brokers needs up "
                    + "to 379. Next: raise the limit (LimitNOFILE= of systemd, `ulimit -n`), or use fewer lanes."
            ])
    }

    @Test("The file of short links is read")
    func shortLinks() throws {
        let folder = try TemporaryFolder()
        let export = folder.path("a.csv")
        try Data("short,long\ngo.example/a,shop://a\n".utf8).write(to: URL(fileURLWithPath: export))
        let file = folder.path("short.links")
        #expect(linkd("short-links", "build", export, "--out", file).code == 0)
        let good = linkd("doctor", "-b", "127.0.0.1:1", "--start-timeout", "1s", "--short-links", file)
        #expect(good.out.contains("ok   short links: \(file) has 1 short link."), "\(good.out)")
        var bytes = try Data(contentsOf: URL(filePath: file))
        bytes[150] ^= 1
        try bytes.write(to: URL(filePath: file))
        let damaged = linkd("doctor", "-b", "127.0.0.1:1", "--start-timeout", "1s", "--short-links", file)
        #expect(damaged.out.contains("fail short links: short.links: \(file) is damaged"), "\(damaged.out)")
    }

    @Test("The tables and the state directory are checked without a broker, and each line is printed when it is known")
    func files() throws {
        let folder = try TemporaryFolder()
        let table = Checkout.root.appending(path: "config/routes/shop.json").path
        let bad = folder.path("bad.json")
        try Data(#"{"id": 1}"#.utf8).write(to: URL(fileURLWithPath: bad))
        let flags = ["doctor", "-b", "127.0.0.1:1", "--table", table, "--state-dir", folder.url.path]
        let good = try LinkdProcess.run(flags + ["--start-timeout", "1s"])
        #expect(good.code == 69)
        let lines = good.out.split(separator: "\n").map(String.init)
        #expect(lines.count == 5, "\(good.out)")
        #expect(lines[2] == "ok   state: \(folder.url.path) can be written.")
        #expect(lines[3].hasPrefix("ok   tables: shop@"))
        let refused = linkd(
            "doctor", "-b", "127.0.0.1:1", "--start-timeout", "1s", "--table", bad, "--state-dir", bad, "--short-links",
            bad)
        #expect(refused.out.contains("fail short links: short.links: \(bad): expected a file"), "\(refused.out)")
        #expect(refused.out.contains("fail state: the state directory \(bad) "), "\(refused.out)")
        #expect(refused.out.contains("fail tables: table \(bad) is refused"), "\(refused.out)")
        #expect(FileChecks.judge("/s", free: 0).line.hasPrefix("warn state: /s has 0 free bytes"))
        // Without --start-timeout, the time for the first answer is that of the command.
        let fast = try LinkdProcess.run(flags)
        #expect(fast.code == 69)
        #expect(fast.out.contains("answered within 4s"), "\(fast.out)")
    }
}
