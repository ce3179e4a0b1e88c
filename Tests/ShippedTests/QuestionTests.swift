import Foundation
import TestSupport
import Testing

/// The commands of the article `Questions`, in their order, with a real broker.
@Suite(
    .enabled(if: BrokerEnvironment.hasBroker, "needs a broker: set KAFKA_BOOTSTRAP_SERVERS"), .serialized,
    .timeLimit(.minutes(10)))
struct QuestionTests {
    private let page: MarkdownText
    private let names: [String: String]

    init() throws {
        page = try MarkdownText(file: "Sources/LinkdCommands/Documentation.docc/Questions.md")
        let name = BrokerEnvironment.uniqueName("questions")
        names = ["LINKD_INPUT": name, "LINKD_OUTPUT": name + "-decisions", "LINKD_GROUP": name]
    }

    @Test("The printed commands answer the questions")
    func answers() async throws {
        try await onThread {
            let blocks = page.blocks("sh", "run", "broker")
            try #require(blocks.count == 16)
            try prepare(blocks[0])
            try why(list: blocks[1], reason: blocks[2])
            try counts(reasons: blocks[3], campaigns: blocks[4], items: blocks[5])
            try replay(list: blocks[6], replay: blocks[7], worker: blocks[8])
            try verify(blocks[9])
            try erase(fill: blocks[10], list: blocks[11], erase: blocks[12])
            #expect(try output(blocks[13]).contains("1 /1/to/1\n"))
            try load(first: blocks[14], second: blocks[15])
        }
    }

    @Test("The printed command says what a campaign will open")
    func forecast() async throws {
        try await onThread {
            let block = try #require(page.blocks("sh", "run", "forecast").first)
            let printed = try #require(page.blocks("text").first { $0.lines.contains { $0.contains("9,341,000") } })
            #expect(try output(block) == printed.lines.joined(separator: "\n") + "\n")
        }
    }

    @Test("The printed commands name the change after which a link opens something else")
    func bisect() async throws {
        try await onThread {
            let blocks = page.blocks("sh", "run", "bisect")
            try #require(blocks.count == 2)
            _ = try output(blocks[0])
            let printed = try #require(page.blocks("text").first { $0.lines.contains { $0.hasPrefix("    was  ") } })
            let text = try output(blocks[1])
            #expect(
                text.hasPrefix("shop:///p/new\n  navigate  new-items  home > feed > account > profile\n"), "\(text)")
            #expect(text.contains("1 change in 2 configurations:\n"), "\(text)")
            #expect(text.hasSuffix(printed.lines.joined(separator: "\n") + "\n"), "\(text)")
        }
    }

    @Test("The printed commands prove properties, and refute one about a wrong table")
    func properties() async throws {
        try await onThread {
            let proved = try output(#require(page.blocks("sh", "run", "prove").first))
            #expect(proved.hasPrefix("proved  account-needs-session") && proved.split(separator: "\n").count == 10)
            let broken = try output(#require(page.blocks("sh", "run", "broken").first), status: 1)
            #expect(
                broken.contains("the table breaks the property `account-needs-session`: navigate to /"), "\(broken)")
            #expect(broken.contains(#"device: {"claims":["sesion"]}"#), "\(broken)")
        }
    }

    @Test("The printed commands write the table of an app, and the link of a screen")
    func imports() async throws {
        try await onThread {
            let table = try output(#require(page.blocks("sh", "run", "import").first))
            #expect(table.contains("navigate") && table.contains("Profile"), "\(table)")
            let block = try #require(page.blocks("sh", "run", "link").first)
            let printed = try #require(
                page.blocks("text").first { $0.lines.first == "https://mychat.example/users/7" })
            #expect(try output(block) == printed.lines.joined(separator: "\n") + "\n")
        }
    }

    @Test("The printed command names events that would be rejected")
    func check() async throws {
        try await onThread {
            let blocks = page.blocks("sh", "run", "check")
            try #require(blocks.count == 1)
            let result = try blocks[0].run(names)
            #expect(result.status == 65, "\(result.errors)")
            // The sample of a shop has 7 events that all their devices reject.
            #expect(result.errors.contains("param_invalid: Product.count"), "\(result.errors)")
            #expect(result.errors.contains("shop.jsonl, line 11: rejected"), "\(result.errors)")
        }
    }

    @Test("The printed commands correct the decisions of a wrong table")
    func recall() async throws {
        try await onThread {
            let blocks = page.blocks("sh", "run", "recall")
            try #require(blocks.count == 4)
            let archive = (names["LINKD_INPUT"] ?? "") + "-tables"
            let wrong = FileManager.default.temporaryDirectory.appending(path: "\(archive).json").path
            defer { try? FileManager.default.removeItem(atPath: wrong) }
            func run(_ block: MarkdownText.Block) throws -> String {
                let script = block.script.replacing("link-tables", with: archive)
                    .replacing("/tmp/wrong.json", with: wrong)
                    .replacing("--to link-decisions", with: "--to \(names["LINKD_OUTPUT"] ?? "")")
                let result = try MarkdownText.Block.run(script, names)
                #expect(result.status == 0, "Questions.md:\(block.line): \(result.errors)")
                return result.output
            }
            #expect(try run(blocks[0]).contains("2 records"))
            let dryRun = try run(blocks[1])
            #expect(dryRun.contains("routes.legal"), "\(dryRun)")
            let count = try #require(dryRun.firstMatch(of: #/would correct (\d+); nothing was sent/#)?.1, "\(dryRun)")
            let corrected = try run(blocks[2])
            #expect(corrected.contains("corrected \(count) of \(count) in "), "\(corrected)")
            #expect(corrected.contains("nothing to correct"), "\(corrected)")
            let applied = try run(blocks[3]).split(separator: "\n")
            #expect(applied.count { $0.contains(#"~1","supersedes":""#) } == Int(count))
        }
    }

    @Test("The printed commands decide for the topics of applications")
    func applications() async throws {
        try await onThread {
            let blocks = page.blocks("sh", "run", "applications")
            try #require(blocks.count == 1)
            let name = names["LINKD_INPUT"] ?? ""
            let folder = try TemporaryFolder()
            let sample = try String(
                contentsOf: Checkout.root.appending(path: "config/samples/applications.json"), encoding: .utf8)
            let file = sample.replacing("shop-decisions", with: name + "-shop")
                .replacing("trips-decisions", with: name + "-trips")
            try file.write(to: folder.url.appending(path: "applications.json"), atomically: true, encoding: .utf8)
            let script = blocks[0].script.replacing("shop-decisions", with: name + "-shop")
                .replacing("config/samples/applications.json", with: folder.url.path + "/applications.json")
            let result = try MarkdownText.Block.run(script, names)
            #expect(result.status == 0, "Questions.md:\(blocks[0].line): \(result.output)\(result.errors)")
            #expect(result.output.contains("nothing is lost, doubled, or out of order"), "\(result.output)")
            for topic in ["-shop", "-trips"] {
                let tables = try values("--topic \(name)\(topic) -f '%{table}\\n'").map { $0.prefix { $0 != "@" } }
                #expect(Set(tables) == [topic == "-shop" ? "shop" : "trips-calendar"])
            }
            #expect(try values("-f '%{table}\\n'").allSatisfy { !$0.hasPrefix("shop") && !$0.hasPrefix("trips") })
        }
    }

    @Test(
        "The printed commands run consumers in Python and TypeScript, which agree",
        .enabled(
            if: (try? ChildProcess.run(["sh", "-c", "command -v tsc"]))?.status == 0,
            "the compiler of TypeScript is not installed: apt-get install node-typescript"))
    func consumers() async throws {
        try await onThread {
            try prepare(page.blocks("sh", "run", "broker")[0])
            let blocks = page.blocks("sh", "run", "consumers")
            try #require(blocks.count == 2)
            let folder = try TemporaryFolder()
            let outputs = try blocks.map { block in
                let script = block.script.replacing("/tmp/", with: folder.url.path + "/")
                let result = try MarkdownText.Block.run(script, names)
                #expect(result.status == 0, "Questions.md:\(block.line): \(result.output)\(result.errors)")
                return result.output
            }
            #expect(outputs[0] == outputs[1])
            #expect(try outputs[0].split(separator: "\n").count == values("-f '%{decision}\\n'").count)
            #expect(outputs[0].contains("\tnavigate\treplace home/feed() > catalog/list()\n"), "\(outputs[0])")
        }
    }

    @Test("The printed commands build a file of short links, and open one of them")
    func shortLinks() async throws {
        try await onThread {
            let blocks = page.blocks("sh", "run", "short")
            try #require(blocks.count == 1)
            let folder = try TemporaryFolder()
            let script = blocks[0].script.replacing("/tmp/", with: folder.url.path + "/")
            let result = try MarkdownText.Block.run(script, names)
            #expect(result.status == 0, "Questions.md:\(blocks[0].line): \(result.errors)")
            let lines = result.output.split(separator: "\n")
            #expect(lines.first?.contains("2 short links (1 through another short link)") == true, "\(result.output)")
            #expect(lines.contains("shop:///p/new"), "\(result.output)")
            #expect(result.output.contains("navigate") && result.output.contains("short_link:"), "\(result.output)")
        }
    }

    @Test("The printed commands name a product that has ended, what delivery needs, and a token of MSK")
    func messages() async throws {
        try await onThread {
            let vendors = try output(#require(page.blocks("sh", "run", "vendors").first))
            #expect(vendors.contains("remark: Campaigns and journeys of Amazon Pinpoint ended"), "\(vendors)")
            let delivery = try output(#require(page.blocks("sh", "run", "delivery").first))
            let printed = try #require(page.blocks("text").first { $0.lines.first?.hasPrefix(#""context":"#) == true })
            #expect(delivery.contains(printed.lines.joined(separator: "\n")), "\(delivery)")
            let token = try output(#require(page.blocks("sh", "run", "token").first))
            let start = Data("https://kafka.eu-central-1.".utf8).base64EncodedString()
            #expect(token.hasPrefix(start) && token.wholeMatch(of: #/[A-Za-z0-9_-]+\n/#) != nil, "\(token)")
        }
    }

    private func output(_ block: MarkdownText.Block, status: Int32 = 0) throws -> String {
        // The registry has no default name.
        let devices = "--devices-topic \(names["LINKD_INPUT"] ?? "")-devices"
        let tables = "--tables-topic \(names["LINKD_INPUT"] ?? "")-tables"
        let script = block.script.replacing("--devices-topic devices", with: devices)
            .replacing("--tables-topic tables", with: tables)
        let result = try MarkdownText.Block.run(script, names)
        #expect(result.status == status, "Questions.md:\(block.line): \(result.errors)")
        return result.output
    }

    /// Prints the values of a member of all decisions or records, one per line.
    private func values(_ arguments: String) throws -> [Substring] {
        let script = "\"$LINKD_TEST_PROGRAM\" inspect \(arguments)"
        let result = try MarkdownText.Block.run(script, names)
        #expect(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n")
    }

    private func prepare(_ block: MarkdownText.Block) throws {
        #expect(try output(block).contains("45 records"))
    }

    /// Checks the answer about the screen of a device.
    private func why(list: MarkdownText.Block, reason: MarkdownText.Block) throws {
        let listed = try output(list)
        #expect(listed.split(separator: "\n").count { $0.contains("  d-0042  ") } == 17, "\(listed)")
        let text = try output(reason)
        #expect(text.contains("the reason:\n    decision   navigate"), "\(text)")
        #expect(text.contains("table: shop@1+"), "\(text)")
    }

    /// Checks the answers about rejections, by reason and by campaign.
    private func counts(
        reasons: MarkdownText.Block, campaigns: MarkdownText.Block, items: MarkdownText.Block
    ) throws {
        let rows = try output(reasons).split(separator: "\n").dropFirst().map { $0.split(separator: " ") }
        let counted = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        let expected = Dictionary(grouping: try values("--outcome reject -f '%{reason}\\n'"), by: { $0 })
        #expect(counted == expected.mapValues { Substring(String($0.count)) })
        #expect(counted.count == 7)
        #expect(try output(campaigns).contains("CAMPAIGN"))
        #expect(try output(items).contains("CONTEXT.QUERY.UTM_CAMPAIGN"))
        let sources = try values("--route item -f '%{context.query.utm_source}\\n'")
        #expect(sources.contains("push"), "\(sources)")
    }

    /// Checks the answer about a replay.
    private func replay(
        list: MarkdownText.Block, replay: MarkdownText.Block, worker: MarkdownText.Block
    ) throws {
        let failed = try values("--dlq -f '%{dlq.reason}\\n'")
        #expect(failed == Array(repeating: "application_unknown", count: 23))
        #expect(try output(list).contains("com.example.coordinator"))
        _ = try output(replay)
        // 45 events, and each of the 23 that failed once more.
        let sent = try values("--topic \(names["LINKD_INPUT"] ?? "") -f '%{id}\\n'")
        #expect(sent.count == 45 + 23)
        let twice = Dictionary(grouping: sent, by: { $0 }).filter { $0.value.count == 2 }
        #expect(twice.count == 23)
        _ = try output(worker)
        let decided = Set(try values("-f '%{event}\\n'"))
        #expect(twice.keys.allSatisfy(decided.contains), "\(twice.keys)")
        #expect(try values("--dlq -f '%{dlq.reason}\\n'").count == 23, "no event failed again")
    }

    /// Checks the answer about lost records, which is printed below its command with the default names.
    private func verify(_ block: MarkdownText.Block) throws {
        let printed = try #require(page.blocks("text").first { $0.lines.contains { $0.hasPrefix("dead_letters ") } })
        let text = try output(block).replacing(names["LINKD_OUTPUT"] ?? "", with: "link-decisions")
            .replacing(names["LINKD_INPUT"] ?? "", with: "link-events")
        #expect(text == printed.lines.joined(separator: "\n") + "\n")
    }

    /// Checks the answer about a person that is erased.
    private func erase(
        fill: MarkdownText.Block, list: MarkdownText.Block, erase: MarkdownText.Block
    ) throws {
        #expect(try output(fill).contains("read 10, sent 10, delivered 10, failed 0, unreadable 0, deleted 1, "))
        let lines = try output(list).split(separator: "\n").filter { !$0.hasPrefix(" ") }
        #expect(lines.map { $0.prefix(13) } == ["d-0042  known", "d-0043  known", "d-0044  known"])
        // After the summary of the deletions, nothing is listed.
        let erased = try output(erase).split(separator: "\n")
        #expect(erased.count == 1)
        #expect(erased.first?.hasPrefix("read 3, sent 3, delivered 3, failed 0, unreadable 0, deleted 3, ") == true)
        let topic = "\(names["LINKD_INPUT"] ?? "")-devices"
        let records = try values("--topic \(topic) -f '%k %S\\n'")
        #expect(records.count { $0.hasSuffix(" -1") } == 4, "\(records)")
        let other = try values("--devices-topic \(topic) --user u-18").filter { !$0.hasPrefix(" ") }
        #expect(other.map { $0.prefix(6) } == ["d-0100", "d-0101"])
    }

    /// Checks the answer about an interrupted file.
    private func load(first: MarkdownText.Block, second: MarkdownText.Block) throws {
        // The file has a name of its own, and SIGINT comes when a partition has 10,000 events.
        let path = FileManager.default.temporaryDirectory.appending(path: "\(names["LINKD_INPUT"] ?? "").jsonl").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = first.script.replacing("/tmp/events.jsonl", with: path).split(separator: "\n")
        try #require(lines.count == 2)
        let script = """
            set -m
            \(lines[0])
            \(lines[1]) & sender=$!
            until "$LINKD_TEST_PROGRAM" inspect --topic "$LINKD_INPUT" --offset 0:10000 --count 1 -q -f '' 2> /dev/null
            do sleep 0.1; done
            kill -INT $sender
            wait $sender
            """
        let interrupted = try MarkdownText.Block.run(script, names)
        #expect(interrupted.status == 130, "\(interrupted.errors)")
        let skip = try #require(interrupted.errors.firstMatch(of: #/--skip (\d+)/#)?.1, "\(interrupted.errors)")
        let sent = try #require(Int(skip))
        #expect((10_000..<500_000).contains(sent))
        let rest = second.script.replacing("/tmp/events.jsonl", with: path).replacing("43443", with: skip)
        let resumed = try MarkdownText.Block.run(rest, names)
        #expect(resumed.status == 0, "\(resumed.errors)")
        let ids = try values("--topic \"$LINKD_INPUT\" -f '%{id}\\n'").filter { $0.hasPrefix("load-") }
        #expect(ids.count == 500_000)
        #expect(Set(ids).count == 500_000)
    }
}
