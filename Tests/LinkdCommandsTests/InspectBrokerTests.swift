internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// `linkd inspect` with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct InspectBrokerTests {
    /// Writes 60 records with the times 1,000 to 60,000 to 3 partitions, in transactions of 10, with aborted ones
    /// between them.
    private static func filled() throws -> FilledTopic {
        let topic = try FilledTopic("inspect", partitions: 3)
        for start in stride(from: Int64(1), through: 51, by: 10) {
            let records = (start..<start + 10).map { number in
                FilledTopic.Record(
                    partition: Int32(number % 3),
                    value: #"{"outcome":"\#(number % 20 == 0 ? "reject" : "none")","n":\#(number)}"#,
                    time: number * 1000)
            }
            try topic.write(records)
            try topic.write(records.map { FilledTopic.Record(value: "aborted", time: $0.time) }, commit: false)
        }
        return topic
    }

    @Test("Records are chosen by position and time, and aborted ones do not count")
    func choice() throws {
        let topic = try Self.filled()
        func numbers(_ flags: String...) throws -> [Int64] {
            let result = try LinkdProcess.run(
                ["inspect", "--topic", topic.name, "-f", "%{n}\\n"] + flags,
                environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
            #expect(result.code == 0, "\(result.err)")
            return result.out.split(separator: "\n").compactMap { Int64($0) }
        }
        #expect(try numbers().sorted() == Array(1...60))
        #expect(try numbers("--last", "7") == Array(54...60))
        #expect(try numbers("--last", "100") == Array(1...60))
        #expect(try numbers("--last", "2", "--outcome", "reject") == [40, 60])
        #expect(try numbers("--last", "3", "--until", "1970-01-01T00:00:20Z") == [18, 19, 20])
        #expect(try numbers("--since", "1970-01-01T00:00:55Z").sorted() == Array(55...60))
        let span = ["--since", "1970-01-01T00:00:10Z", "--until", "1970-01-01T00:00:11.500Z"]
        #expect(try numbers(span[0], span[1], span[2], span[3]).sorted() == [10, 11])
        let first = try topic.inspect("--partition", "1", "-f", "%o\\n").out.split(separator: "\n")
        try #require(first.count == 20)
        #expect(try numbers("--offset", "1:\(first[18])") == [55, 58])
        #expect(try topic.inspect("--offset", "1:999").err.contains("999 is not one of them"))
    }

    @Test("The number of matching records is printed on standard error, except in quiet mode")
    func matched() throws {
        let topic = try Self.filled()
        #expect(try topic.inspect("--outcome", "navigate").err == "0 of 60 matched\n")
        #expect(try topic.inspect("--outcome", "reject", "-f", "x").err == "3 of 60 matched\n")
        #expect(try topic.inspect("--outcome", "navigate", "-q").err == "")
        #expect(try topic.inspect("-f", "x").err == "")
        #expect(try topic.inspect("--outcome", "reject", "--last", "2").err == "")
        #expect(try topic.inspect("--outcome", "reject", "--last", "4").err == "3 of 60 matched\n")
    }

    @Test("The decisions of one event are printed, and an unknown route is told with the nearest one")
    func events() throws {
        let topic = try FilledTopic("events", partitions: 2)
        try topic.write(
            (0..<4).map { number in
                FilledTopic.Record(
                    partition: Int32(number % 2),
                    value: #"{"outcome":"navigate","route":"product","event":"e-\#(number / 2)","n":\#(number)}"#,
                    time: Int64(number) * 1000)
            })
        let found = try topic.inspect("--event", "e-1", "-f", "%{n} ")
        #expect(found.out.split(separator: " ").sorted() == ["2", "3"])
        #expect(found.err == "2 of 4 matched\n")
        #expect(try topic.inspect("--event", "e-1", "--last", "1", "-f", "%{n} ").out == "3 ")
        let none = try topic.inspect("--route", "prodcut")
        #expect(none.err.contains("has the route `prodcut`; did you mean `product`?\n"), "\(none.err)")
        let other = try topic.inspect("--route", "product", "--event", "e-9")
        #expect(other.err.contains("no decision that was read has the route `product`, and matches the other flags"))
        #expect(try !topic.inspect("--route", "product", "-f", "").err.contains("--route"))
    }

    @Test("A scan shows its progress on a terminal, which is erased at the end, and nothing elsewhere")
    func progress() throws {
        let topic = try Self.filled()
        let arguments = ["inspect", "-b", TestBroker.plain ?? "", "--topic", topic.name, "--group-by", "outcome"]
        let console = Console(
            out: Channel(collecting: Style(enabled: false)),
            err: Channel(collecting: Style(enabled: false), isTerminal: true))
        #expect(Linkd.run(arguments: arguments, environment: [:], console: console) == .success)
        #expect(console.err.text.contains(" of at most "), "\(console.err.text)")
        #expect(console.err.text.hasSuffix("\r\u{1B}[K"))
        #expect(linkd(arguments).err.isEmpty)
    }

    @Test("--follow begins at the end, or with the last records")
    func follow() throws {
        let topic = try Self.filled()
        let plain = try topic.follow("-f", "%{n} ")
        let last = try topic.follow("-f", "%{n} ", "--last", "2")
        let since = try topic.follow("-f", "%{n} ", "--since", "1970-01-01T00:00:59Z")
        #expect(
            becomesTrue(withinSeconds: 30) { last.output == "59 60 " && since.output.split(separator: " ").count == 2 })
        // A record that was written before the first command began to read would not be printed, so write until one is.
        var number: Int64 = 60
        let isPrinted = try becomesTrue(withinSeconds: 30) {
            number += 1
            try topic.write([FilledTopic.Record(value: #"{"n":\#(number)}"#, time: number * 1000)])
            return plain.output.hasSuffix("\(number) ")
        }
        #expect(isPrinted)
        #expect(!plain.output.split(separator: " ").contains { (Int64($0) ?? 0) <= 60 })
        let all = (59...number).map { "\($0) " }.joined()
        #expect(becomesTrue(withinSeconds: 30) { last.output == all && since.output.hasSuffix("\(number) ") })
        for process in [plain, last, since] { process.signal(SIGKILL) }
    }

    @Test("--follow ends after the time of --until")
    func followUntil() throws {
        let topic = try Self.filled()
        let past = try topic.follow("-f", "%{n} ", "--since", "1970-01-01", "--until", "1970-01-01T00:00:02Z")
        #expect(try past.end() == 0)
        #expect(past.output.split(separator: " ").sorted() == ["1", "2"])
    }

    @Test("--dlq with --topic reads the dead letters of that topic")
    func deadLettersOfTopic() throws {
        let topic = try FilledTopic("inspect", partitions: 1, suffix: ".dlq")
        try topic.write([FilledTopic.Record(value: "x", time: 1, headers: [("dlq.reason", "bad_json")])])
        let input = String(topic.name.dropLast(4))
        let result = try LinkdProcess.run(
            ["inspect", "--dlq", "--topic", input, "-f", "%{dlq.reason} %t"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
        #expect(result.out == "bad_json \(topic.name)", "\(result.err)")
    }

    @Test("Records are counted by a property, as a table, CSV, and JSON")
    func groups() throws {
        let topic = try Self.filled()
        let table = try topic.inspect("--group-by", "outcome")
        #expect(table.out == "OUTCOME  COUNT   SHARE\nnone        57  95.0 %\nreject       3   5.0 %\n")
        #expect(try topic.inspect("--group-by", "outcome", "--csv").out == "outcome,count\nnone,57\nreject,3\n")
        let json = try topic.inspect("--group-by", "outcome", "--json", "--last", "1")
        #expect(json.out == "{\"outcome\":\"reject\",\"count\":1}\n")
        let application = try topic.inspect("--group-by", "application")
        #expect(application.err.contains("no record has an application: "))
        #expect(try topic.inspect("--group-by", "reason", "--outcome", "navigate").out == "")
        // Items of the link's query.
        let item = "context.query.utm_campaign"
        #expect(try topic.inspect("--group-by", item).err.contains("no record has a value of this item: "))
        let records = [#"{"utm_campaign":"a b"}"#, #"{"utm_campaign":"a b"}"#, #"{"utm_term":"c"}"#, "1"].map {
            FilledTopic.Record(value: #"{"outcome":"reject","context":{"query":\#($0)}}"#, time: 90_000)
        }
        try topic.write(records)
        let counts = try topic.inspect("--group-by", item, "--since", "1970-01-01T00:01:30Z", "--csv")
        #expect(counts.out == "\(item),count\n'-,2\na b,2\n", "\(counts.err)")
    }

    @Test("--since and --until of dead letters are the times of the failures, and other flags use them too")
    func failedAt() throws {
        let topic = try FilledTopic("inspect", partitions: 2, suffix: ".dlq")
        // The times of the sources are in the opposite order.
        try topic.write(
            (1...10).map { number in
                FilledTopic.Record(
                    partition: Int32(number % 2), value: "\(number)", time: 1000 - Int64(number),
                    headers: [("dlq.reason", "bad_json"), ("dlq.failed.at", "\(100_000 + number * 1000)")])
            })
        func values(_ flags: String...) throws -> [String] {
            let result = try LinkdProcess.run(
                ["inspect", "--dlq", "--topic", String(topic.name.dropLast(4)), "-f", "%s\\n"] + flags,
                environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""])
            #expect(result.code == 0, "\(result.err)")
            return result.out.split(separator: "\n").map(String.init)
        }
        #expect(try values("--since", "1970-01-01T00:01:48Z").sorted() == ["10", "8", "9"])
        #expect(try values("--until", "1970-01-01T00:01:42Z").sorted() == ["1", "2"])
        #expect(try values("--last", "3") == ["8", "9", "10"])
    }

    @Test("Records are printed as CSV, and with the times of a zone")
    func csv() throws {
        let topic = try Self.filled()
        let result = try LinkdProcess.run(
            ["inspect", "--topic", topic.name, "--last", "1", "--csv", "--local"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "", "TZ": "IST-5:30"])
        let offset = try topic.inspect("--last", "1", "-f", "%o").out
        #expect(
            result.out.split(separator: "\n") == [
                "time,topic,partition,offset,device,outcome,route,reason,detail,table,decision"
                    + ",event,campaign,application,user",
                "1970-01-01T05:31:00.000+05:30,\(topic.name),0,\(offset),d-1,reject,,,,,,,,,",
            ])
    }
}
