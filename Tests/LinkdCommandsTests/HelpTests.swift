internal import Foundation
internal import Testing

@testable internal import LinkdCommands

@Suite struct HelpTests {
    @Test("The help of all commands equals the snapshot")
    func overview() { expectSnapshot(linkd("--help").out, "help") }

    @Test("The help of every command equals the snapshot", arguments: CommandIndex.all.map(\.name))
    func help(name: String) {
        let result = linkd(name.split(separator: " ").map(String.init) + ["--help"])
        #expect(result.code == 0)
        #expect(!result.out.split(separator: "\n").contains { $0.count > 100 })
        expectSnapshot(result.out, "help-" + name.replacing(" ", with: "-"))
    }

    @Test("The settings article equals the reference generated from the table")
    func reference() {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/LinkdCommands/Documentation.docc/Settings.md").standardizedFileURL
        expectFile(linkd("config", "--reference").out, file)
    }
}
