import Foundation
import TestSupport
import Testing

/// The table, the commands, and the links in the README.
@Suite struct ReadmeTests {
    let text: MarkdownText

    init() throws {
        text = try MarkdownText(file: "README.md")
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

    @Test("The table, the command, and its answer are what linkd prints")
    func answer() throws {
        let tables = text.blocks("json", "table")
        let commands = text.blocks("sh", "table")
        let answers = text.blocks("text", "answer")
        try #require(tables.count == 1 && commands.count == 1 && answers.count == 1)
        let folder = try TemporaryFolder()
        // An editor ends the last line too, which the hash of the table shows.
        try tables[0].lines.map { $0 + "\n" }.joined().write(
            to: folder.url.appending(path: "my-shop.json"), atomically: true, encoding: .utf8)
        let result = try MarkdownText.Block.run(
            "cd '\(folder.url.path)'\n" + commands[0].script,
            ["LINKD_HOME": Checkout.root.appending(path: "config").path])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n") == answers[0].lines)
    }

    @Test("The links of the five apps have the stacks in the article")
    func apps() throws {
        let article = try MarkdownText(file: "Sources/LinkCoordinator/LinkCoordinator.docc/SeedArticles.md")
        let rows = article.rows.filter { $0.count == 4 && $0[2].hasPrefix("`") }
        try #require(rows.count == 5)
        for row in rows {
            let link = String(row[2].dropFirst().dropLast())
            let result = try ChildProcess.run([BuiltProgram.linkd, "resolve", "--json", link], in: Checkout.root)
            #expect(result.output.contains("\"path\":\"\(row[3].dropFirst().dropLast())\""), "\(link)")
        }
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
