import Foundation
import LinkIngest
import TestSupport
import Testing

/// The commands, the event, and the links in the README.
@Suite struct ReadmeTests {
    let text: MarkdownText

    init() throws {
        text = try MarkdownText(file: "README.md")
    }

    @Test("The commands without a broker end with exit code 0")
    func commands() throws {
        let blocks = text.blocks("sh", "run")
        #expect(!blocks.isEmpty)
        for block in blocks {
            let result = try block.run()
            #expect(result.status == 0, "README.md:\(block.line): \(result.errors)")
            #expect(!result.output.isEmpty)
        }
    }

    @Test(
        "The commands with a cluster end with exit code 0 and print the expected output",
        .enabled(if: BrokerEnvironment.hasBroker, "needs a broker: set KAFKA_BOOTSTRAP_SERVERS"))
    func clusterCommands() throws {
        let name = BrokerEnvironment.uniqueName("readme")
        let names = ["LINKD_INPUT": name, "LINKD_OUTPUT": name + "-decisions", "LINKD_GROUP": name]
        let blocks = text.blocks("sh", "run", "broker")
        #expect(!blocks.isEmpty)
        for block in blocks {
            let result = try block.run(names)
            #expect(result.status == 0, "README.md:\(block.line): \(result.errors)")
            #expect(result.output.contains(#""reason":"param_invalid""#), "the last command prints rejections")
        }
    }

    @Test("The event has exactly the decision in the README")
    func decision() throws {
        let events = text.blocks("json", "input")
        let decisions = text.blocks("json", "output")
        try #require(events.count == 1 && decisions.count == 1)
        // An event is a single line.
        let event = events[0].lines.joined(separator: " ")
        let result = try ChildProcess.run(
            [BuiltProgram.linkd, "resolve", "--json"], in: Checkout.root, input: event + "\n")
        #expect(result.output.split(separator: "\n") == [Substring(decisions[0].lines.joined())])
    }

    @Test("The links of the five apps have the stacks in the table")
    func apps() throws {
        let rows = text.rows.filter { $0.count == 4 && $0[2].hasPrefix("`") }
        try #require(rows.count == 5)
        for row in rows {
            let link = String(row[2].dropFirst().dropLast())
            let result = try ChildProcess.run([BuiltProgram.linkd, "resolve", "--json", link], in: Checkout.root)
            #expect(result.output.contains("\"path\":\"\(row[3].dropFirst().dropLast())\""), "\(link)")
        }
    }

    @Test("The README names every vendor and link platform", arguments: [("vendors", 17), ("platforms", 4)])
    func vendors(kind: String, count: Int) throws {
        let file = kind == "vendors" ? "vendors" : "link-platforms"
        let data = try Data(contentsOf: Checkout.root.appending(path: "config/\(file).json"))
        let table = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let names = try #require(table[kind] as? [[String: Any]]).compactMap { $0["name"] as? String }
        #expect(names.count >= count)
        let readme = try String(contentsOf: Checkout.root.appending(path: "README.md"), encoding: .utf8)
        let words = Set(readme.split { !$0.isLetter })
        for name in names {
            let missing = name.split { !$0.isLetter }.filter { !words.contains($0) }
            #expect(missing == [], "\(name)")
        }
    }

    @Test("The vendor in the README is a valid table, whose examples have their results")
    func vendorRow() throws {
        let blocks = text.blocks("json", "vendor")
        try #require(blocks.count == 1)
        let table = Array(blocks[0].lines.joined(separator: "\n").utf8)
        #expect(VendorTable.check(table).problems.map(\.expected) == [])
    }

    @Test("Links between documents refer to existing files")
    func targets() throws {
        var missing: [String] = []
        for file in try Checkout.trackedFiles() where file.suffix == "md" {
            let folder = Checkout.root.appending(path: file.path).deletingLastPathComponent()
            for target in MarkdownText(file.text ?? "").targets where !target.contains(":") && !target.hasPrefix("#") {
                let path = String(target.prefix { $0 != "#" })
                // DocC finds an image by its name in the resources of the catalog.
                let places = [path, "Resources/" + path].map { folder.appending(path: $0).path }
                if !places.prefix(path.hasSuffix(".png") ? 2 : 1).contains(where: FileManager.default.fileExists) {
                    missing.append("\(file.path): \(target)")
                }
            }
        }
        #expect(missing == [])
    }
}
